"""Real compiles by Triton in the jail: what comes out, how bad texts are reported, and what host code cannot do."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from warpsight.errors import UsageError
from warpsight.nouns import Build
from warpsight.toolchain.cache import Cache
from warpsight.toolchain.process import DeadlinePassed, ProgramDied
from warpsight.toolchain.sass import disassemble
from warpsight.toolchain.triton_compile import TritonArgument, compile_triton
from warpsight.toolchain.triton_process import TritonProcess

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="needs triton: pip install 'warpsight[triton]'"
)
ARGUMENTS = (TritonArgument("x", "*fp32", True), TritonArgument("n", "i32", False))
OPTIONS = ("num_warps=4", "num_stages=3", "BLOCK=256")
SCALE = """import triton
import triton.language as tl


@triton.jit
def scale(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n)
    tl.store(x + at, value * 2, mask=at < n)
"""
Compile = Callable[..., Build]


@pytest.fixture(scope="module")
def process() -> Iterator[TritonProcess]:
    process = TritonProcess()
    yield process
    process.close()


@pytest.fixture
def compiled(process: TritonProcess, tmp_path: Path) -> Compile:
    def run(source: str, **more: object) -> Build:
        given = {"entry": "scale", "arguments": ARGUMENTS, "options": OPTIONS, "process": process}
        return compile_triton(source, **{**given, "cache": Cache(tmp_path), **more})  # type: ignore[arg-type]

    return run


def error(build: Build) -> tuple[str, int | None]:
    assert not build.ok and build.trust == "host_code" and not build.ptx and not build.cubin
    (found,) = build.diagnostics
    return found.message, found.line


def test_a_good_kernel(compiled: Compile) -> None:
    build = compiled(SCALE)
    assert build.ok, build.diagnostics
    assert build.language == "triton" and build.trust == "host_code" and build.text == SCALE
    assert build.compiler.startswith("triton 3.") and "ptxas" in build.compiler
    assert build.options == (*OPTIONS, "signature=*fp32:16,i32")
    assert ".visible .entry scale(" in build.ptx and ".target sm_80" in build.ptx
    assert '.file\t1 "/warpsight/kernel.py"' in build.ptx.replace(' "', ' "')
    assert build.cubin.startswith(b"\x7fELF")
    (usage,) = build.entries
    assert usage.name == "scale" and usage.registers > 4 and usage.spill_load_bytes == 0
    assert compiled(SCALE).cached and compiled(SCALE).ptx == build.ptx


def test_no_path_of_this_machine_is_in_it(compiled: Compile) -> None:
    build = compiled(SCALE.replace("value * 2", "tl.sum(value, axis=0)"))
    assert build.ok, build.diagnostics
    for place in (str(Path.home()), str(Path(__file__).parents[2]), "site-packages"):
        assert place not in build.ptx and place.encode() not in build.cubin


PRESSED = """import triton
import triton.language as tl


@triton.jit
def scale(x, n, BLOCK: tl.constexpr):
    rows, columns = tl.arange(0, BLOCK)[:, None], tl.arange(0, BLOCK)[None, :]
    value = tl.load(x + rows * BLOCK + columns)
    value = tl.inline_asm_elementwise(
        "// ptxas info    : Used 8 registers, used 0 barriers\\n mov.b32 $0, $1;", "=f,f", [value],
        dtype=tl.float32, is_pure=False, pack=1)
    tl.store(x + columns * BLOCK + rows, value * tl.sum(value))
"""


@pytest.mark.parametrize("block", [32, 128])
def test_numbers_come_from_the_machine_code(compiled: Compile, block: int) -> None:
    build = compiled(PRESSED, options=("num_warps=2", "num_stages=1", f"BLOCK={block}"))
    assert build.ok, build.diagnostics
    (usage,) = build.entries
    stack, stores, loads = map(int, re.findall(r"(\d+) bytes (?:stack frame|spill stores|spill loads)", build.log))
    used = re.search(r"Used (\d+) registers, used (\d+) barriers", build.log)
    assert used is not None and (usage.registers, usage.barriers) == (int(used[1]), int(used[2]))
    assert (usage.local_bytes, usage.spill_store_bytes, usage.spill_load_bytes) == (stack, stores, loads)
    assert (stores > 0) == (block == 128) and usage.max_threads == 64


@pytest.mark.parametrize("arch", ["sm_86", "sm_89", "sm_90"])
def test_other_architectures(compiled: Compile, arch: str) -> None:
    build = compiled(SCALE, gpu_arch=arch)
    assert build.ok and build.gpu_arch == arch, build.diagnostics
    assert "wgmma" not in build.ptx
    noted = [d for d in build.diagnostics if d.severity == "note"]
    assert len(noted) == (arch == "sm_90")


@pytest.mark.parametrize(
    ("edit", "told", "line"),
    [
        (("tl.arange(0, BLOCK)", "tl.arange(0, BLOCK"), "SyntaxError", 7),
        (("value * 2", "valu * 2"), "valu", 9),
        (("tl.load(x + at, mask=at < n)", "tl.load(x + at, mask=at < n, no_such=1)"), "no_such", 8),
        (("import triton\n", "import no_such_module\n"), "no_such_module", 1),
        (("@triton.jit\n", ""), "@triton.jit", None),
        (("x, n, BLOCK", "y, n, BLOCK"), "the parameters x, n", None),
        (("x, n, BLOCK", "x, n, MORE: tl.constexpr, BLOCK"), "MORE", None),
        (("BLOCK: tl.constexpr", "SIZE: tl.constexpr"), "SIZE", None),
        (("import triton\n", "import triton\nraise SystemExit(0)\n"), "SystemExit", 2),
    ],
)
def test_what_does_not_compile_is_told_with_its_line(
    compiled: Compile, edit: tuple[str, str], told: str, line: int | None
) -> None:
    assert edit[0] in SCALE
    message, at = error(compiled(SCALE.replace(*edit)))
    assert told in message
    assert at == line


@pytest.mark.parametrize(
    "attack",
    [
        "open('/etc/passwd').read()",
        f"open({str(Path(__file__).resolve())!r}).read()",
        "__import__('os').listdir('/home')",
        "open('/proc/self/environ').read()",
        "__import__('os').fork()",
        "__import__('subprocess').run(['/bin/true'])",
        "__import__('socket').create_connection(('127.0.0.1', 9))",
        "__import__('ctypes').string_at(0)",
        "__import__('os').kill(__import__('os').getppid(), 9)",
        "bytearray(64 << 30)",
    ],
)
def test_host_code_reaches_nothing(compiled: Compile, attack: str) -> None:
    try:
        build = compiled(f"{attack}\n{SCALE}")
    except ProgramDied as died:
        assert died.event is not None
    else:
        error(build)


def test_host_code_that_does_not_end_is_ended(process: TritonProcess, compiled: Compile) -> None:
    with pytest.raises((DeadlinePassed, ProgramDied)):
        compiled(f"while True: pass\n{SCALE}", deadline_s=3.0)
    assert compiled(SCALE).ok  # and the next candidate is none the wiser


def test_host_code_may_write_any_ptx_and_machine_code_is_of_that_ptx(compiled: Compile) -> None:
    """What the lower trust means: the answer can be forged. But there is one program, and no other is timed."""
    forged = """
import json, os, stat
PTX = '''.version 8.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 scale_param_0, .param .u32 scale_param_1) { ret; }
'''
for fd in range(6, 64):
    try:
        if stat.S_ISFIFO(os.fstat(fd).st_mode):
            os.write(fd, json.dumps({"ok": True, "ptx": PTX, "shared": 0}).encode())
            os._exit(0)
    except OSError:
        continue
"""
    build = compiled(forged + SCALE)
    assert build.ok and build.trust == "host_code", build.diagnostics
    assert "tl.load" not in build.ptx and "ld.global" not in build.ptx
    texts = [raw.text for raw in disassemble(build.cubin, name="kernel.py") if raw.function == "scale"]
    assert texts and not any(text.startswith(("LDG", "STG")) for text in texts)


def test_bad_requests_are_told_before_anything_runs(compiled: Compile) -> None:
    with pytest.raises(UsageError, match="architecture"):
        compiled(SCALE, gpu_arch="gfx942")
    with pytest.raises(UsageError, match="file name"):
        compiled(SCALE, name="../kernel.py")
