"""The compiler in its jail: what a source tries in order to read files, and what is left for the next."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from warpsight.errors import ToolchainError
from warpsight.jail import WorkerEvent
from warpsight.nouns import Build
from warpsight.toolchain import nvrtc, packages
from warpsight.toolchain.nvrtc import NvrtcProcess
from warpsight.toolchain.process import DeadlinePassed, MachineTooBusy, ProgramDied, ended_badly

Compile = Callable[..., Build]
SECRET = "warpsight_secret_value_41"


@pytest.fixture
def secret(tmp_path: Path) -> Iterator[Path]:
    """A readable file of this machine whose text would show in a diagnostic or in the output."""
    path = tmp_path / "secret.h"
    path.write_text(f"int {SECRET} = 1; this does not compile\n")
    path.chmod(0o644)
    tmp_path.chmod(0o755)
    yield path


READING = {
    "include": '#include "{path}"',
    "include behind a macro": "#define PLACE <{path}>\n#include PLACE",
    "include behind a pasted macro": '#define TEXT(x) #x\n#define PLACE(x) TEXT(x)\n#include PLACE({path})',
    "include_next": "#define PLACE <{path}>\n#include_next PLACE",
    "embed": '__global__ void k(char* x) {{ const char a[] = {{\n#embed "{path}"\n}}; x[0] = a[threadIdx.x]; }}',
    "embed behind a macro": '#define PLACE "{path}"\nextern "C" __global__ void k(char* x) {{ const char a[] = {{\n'
    "#embed PLACE\n}}; x[0] = a[threadIdx.x]; }}",
    "incbin in inline assembly": 'extern "C" __global__ void k(char* x) {{ asm(".incbin \\"{path}\\";"); }}',
    "include in inline assembly": 'extern "C" __global__ void k(char* x) {{ asm(".include \\"{path}\\";"); }}',
    "through the headers": "#define PLACE <../../../../../../../../../..{path}>\n#include PLACE",
    "dependency pragma": '#define PLACE "{path}"\n#pragma GCC dependency PLACE\n#include PLACE',
    "import": "import <{path}>;",
}  # fmt: skip


@pytest.mark.parametrize("source", READING.values(), ids=READING.keys())
def test_a_source_reads_no_file(compiled: Compile, secret: Path, source: str) -> None:
    build = compiled(source.format(path=secret) + "\n")
    assert not build.ok and any(diagnostic.severity == "error" for diagnostic in build.diagnostics)
    shown = build.log + build.ptx + repr(build.diagnostics)
    assert SECRET not in shown and SECRET.encode() not in build.cubin


@pytest.mark.parametrize("place", ["/etc/passwd", "/proc/self/environ", "/root", str(Path(__file__))])
def test_a_source_cannot_ask_whether_a_file_is_there(compiled: Compile, place: str) -> None:
    source = (
        f"#define PLACE <{place}>\n#if __has_include(PLACE)\n#error it is there\n#else\n#error nothing there\n#endif\n"
    )
    build = compiled(source)
    assert "nothing there" in build.log and "it is there" not in build.log


def test_system_files_in_the_jail_are_not_read_either(compiled: Compile) -> None:
    stdlib = Path(os.__file__)
    for path in (stdlib, Path("/etc/ld.so.cache"), Path(nvrtc.__file__).with_name("worker.py")):
        build = compiled(f"#define PLACE <{path}>\n#include PLACE\n")
        assert not build.ok and "Permission denied" in build.log, build.log
        assert len(build.diagnostics) == 1


def test_assembly_outside_functions_is_dropped(compiled: Compile, secret: Path) -> None:
    build = compiled(f'asm(".incbin \\"{secret}\\"");\nextern "C" __global__ void k(char* x) {{ x[0] = 1; }}\n')
    assert "incbin" not in build.ptx and SECRET not in build.log and SECRET.encode() not in build.cubin


def test_logs_name_no_folder_of_this_machine(compiled: Compile) -> None:
    build = compiled("#define __half 3\n#include <cuda_fp16.h>\n#include <no_such.h>\n")
    assert not build.ok and str(packages.include_dirs()[1]) not in build.log and "site-packages" not in build.log


def test_each_source_gets_a_compiler_no_other_has_used(process: NvrtcProcess, compiled: Compile) -> None:
    assert compiled('extern "C" __global__ void a(int* x) { x[0] = 1; }').ok
    pid, starts = process.pid, process.starts
    bad = "\n".join(f"#include <missing_{n}.h>" for n in range(3))
    assert not compiled(bad).ok
    assert compiled('extern "C" __global__ void b(int* x) { x[0] = 2; }').ok
    assert process.pid == pid and process.starts == starts and process.missing == ()


def test_a_child_that_dies_leaves_an_event_and_the_compiler_lives(process: NvrtcProcess, compiled: Compile) -> None:
    assert compiled('extern "C" __global__ void a(int* x) { x[0] = 5; }').ok
    starts = process.starts
    worker = process._worker  # pyright: ignore[reportPrivateUsage]
    assert worker is not None
    broken = {"id": 77, "source": "", "name": "k.cu", "options": 5, "headers": {}, "deadline_s": 10, "folders": []}
    frame = worker.ask(json.dumps(broken).encode(), 20)
    with pytest.raises(ProgramDied, match="TypeError") as died:
        nvrtc._body(frame, 77, worker, 10)  # pyright: ignore[reportPrivateUsage]
    assert died.value.event is not None and died.value.event.kind == "exited_early"
    assert compiled('extern "C" __global__ void b(int* x) { x[0] = 6; }').ok
    assert process.starts == starts


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not json",
        b"[1, 2]",
        json.dumps({"result": "NVRTC_SUCCESS", "log": "", "ptx": ""}).encode(),
        json.dumps({"result": 1, "log": "", "ptx": "", "cubin": ""}).encode(),
        json.dumps({"result": "x", "log": "", "ptx": "", "cubin": "***"}).encode(),
    ],
)
def test_answers_of_another_shape_are_errors(process: NvrtcProcess, compiled: Compile, body: bytes) -> None:
    compiled('extern "C" __global__ void a(int* x) { x[0] = 7; }')
    worker = process._worker  # pyright: ignore[reportPrivateUsage]
    assert worker is not None
    with pytest.raises(ToolchainError):
        nvrtc._checked(nvrtc._body(nvrtc._HEAD.pack(9, 0) + body, 9, worker, 10))  # pyright: ignore[reportPrivateUsage]


def test_a_right_answer_is_taken(process: NvrtcProcess, compiled: Compile) -> None:
    compiled('extern "C" __global__ void a(int* x) { x[0] = 7; }')
    worker = process._worker  # pyright: ignore[reportPrivateUsage]
    assert worker is not None
    body = {"result": "r", "log": "l", "ptx": "p", "cubin": base64.b64encode(b"c").decode()}
    raw = nvrtc._checked(nvrtc._body(nvrtc._HEAD.pack(9, 0) + json.dumps(body).encode(), 9, worker, 10))  # pyright: ignore
    assert (raw.result, raw.log, raw.ptx, raw.cubin) == ("r", "l", "p", b"c")


def test_events_become_errors_of_the_toolchain() -> None:
    assert type(ended_badly("x", WorkerEvent("cpu_limit", ""), 1)) is DeadlinePassed
    assert type(ended_badly("x", WorkerEvent("deadline", ""), 1)) is MachineTooBusy
    died = ended_badly("x", WorkerEvent("seccomp_violation", "made a call"), 1, b"a message")
    assert isinstance(died, ProgramDied) and died.event is not None and "seccomp_violation" in died.message
