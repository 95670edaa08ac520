"""OpenCL C to a Build: PoCL compiles it in a jailed worker that never runs it.

A text that does not compile, or that ends the compiler, is a Build with ok=False and diagnostics at its lines; only a
missing package or a broken jail raises. The native code is made for block sizes that are named beforehand, others are
added when they come up. Builds are cached by content and by the processor they are for.
"""

from __future__ import annotations

import functools
import hashlib
import platform
import re
import shutil
import sys
from collections.abc import Sequence
from importlib import metadata, util
from pathlib import Path

from warpsight.devices.opencl_assembly import NO_ASSEMBLY, refused_assembly
from warpsight.devices.opencl_cpu import instructions_of_this_machine, relative_of_this_machine
from warpsight.errors import TaskError, ToolMissing, UsageError
from warpsight.jail import Limits, package_files, run_jailed, wire
from warpsight.jail.scrub import scrubbed
from warpsight.nouns import Build, Candidate, Diagnostic, Dim3, Task
from warpsight.tasks import evaluate_launch
from warpsight.toolchain.cache import Cache, content_key
from warpsight.toolchain.clocks import refused_clocks
from warpsight.toolchain.compile import build_cache, stored_build
from warpsight.toolchain.includes import refused_includes
from warpsight.toolchain.process import cpu_limit_s, ended_badly, wall_limit_s

SCHEMA = "opencl-2"
COMPILE_WORKER = Path(__file__).with_name("opencl_compile_worker.py")
SHARED_FILES = (Path(wire.__file__), *(Path(__file__).with_name(f"opencl_{name}.py") for name in ("worker", "cpu")))
PACKAGES = (
    "pyopencl", "pocl_binary_distribution", "numpy", "pytools", "platformdirs", "siphash24", "typing_extensions",
)  # fmt: skip
DEADLINE_S = 60.0
MAX_DIAGNOSTICS, LOG_CAP_CHARS = 200, 64_000
MAX_BLOCKS = 8
ALWAYS = ("-cl-kernel-arg-info",)  # what the compiling worker reads parameters from
ALLOWED = re.compile(
    r"-cl-(fast-relaxed-math|mad-enable|no-signed-zeros|unsafe-math-optimizations|finite-math-only|denorms-are-zero"
    r"|single-precision-constant|opt-disable|std=CL(1\.[12]|2\.0|3\.0))|-D[A-Za-z_][A-Za-z0-9_]{0,63}(=[\w.+-]{0,200})?"
)
_MESSAGE = re.compile(r"^(?:fatal )?(error|warning|note): (?:(\S+?):(\d+):(\d+): )?(.*)$")
_TEMPORARY = re.compile(r"\S*tempfile_\w+(\.preproc)?\.cl")


def build_opencl(task: Task, candidate: Candidate, *, unsafe: bool = False) -> Build:
    """The candidate compiled, with native code for the block sizes of the task's workloads."""
    name = task.opencl_file or "kernel.cl"
    if refused := refused_assembly(candidate.source, candidate.options, name):
        return _build(False, candidate.source, candidate.options, refused, "")
    options = (*candidate.options, *NO_ASSEMBLY)
    blocks = blocks_of(task, candidate)
    return compile_opencl(candidate.source, entry=task.entry, options=options, name=name, blocks=blocks, unsafe=unsafe)


def blocks_of(task: Task, candidate: Candidate) -> tuple[Dim3, ...]:
    """The block sizes the candidate asks for; a workload its launch is impossible with has none."""
    found: list[Dim3] = []
    for workload in task.workloads:
        try:
            block = evaluate_launch(candidate, workload.axes).block
        except TaskError:
            continue
        if block not in found:
            found.append(block)
    return tuple(found[:MAX_BLOCKS])


def compile_opencl(
    source: str,
    *,
    entry: str,
    options: Sequence[str] = (),
    name: str = "kernel.cl",
    blocks: Sequence[Dim3] = (),
    deadline_s: float = DEADLINE_S,
    unsafe: bool = False,
    cache: Cache | None = None,
) -> Build:
    """Compile OpenCL C for this machine's processor; a source that lacks `entry` is a failed Build."""
    checked = _checked_options(options)
    cache = cache if cache is not None else build_cache()
    wanted = repr([tuple(block) for block in blocks])
    native = (processor(), instructions_of_this_machine())
    key = content_key(SCHEMA, source, name, entry, wanted, compiler_identity(), *native, *checked)
    if (stored := stored_build(cache.get(key), source, "", checked)) is not None:
        return stored
    build, keep = _compile(source, entry, checked, name, blocks, deadline_s, unsafe)
    if keep:
        cache.put(key, build.model_dump_json().encode())
    return build


def has_block(build: Build, entry: str, block: Dim3) -> bool:
    """Whether the build has native code for this block size."""
    wanted = f"/{entry}/{block[0]}-{block[1]}-{block[2]}-goffs0/"
    return any(wanted in name for name in wire.unpack(build.native)[0]["names"])


def worker_argv(worker: Path, *more: str) -> list[str]:
    """How one of the OpenCL workers is started."""
    return [sys.executable, "-I", str(worker), *more]


def worker_files() -> tuple[Path, ...]:
    """What an OpenCL worker must see: a few installed packages and its own files."""
    for package, wheel in (("pyopencl", "pyopencl"), ("pocl_binary_distribution", "pocl-binary-distribution")):
        if util.find_spec(package) is None:
            raise ToolMissing(f"the OpenCL device needs {wheel}", hint="pip install 'warpsight[opencl]'")
    return (*package_files(*PACKAGES), *SHARED_FILES)


def compiler_identity() -> str:
    """The compiler by name and version."""
    return f"pocl {metadata.version('pocl-binary-distribution')} (pyopencl {metadata.version('pyopencl')})"


@functools.cache
def processor() -> str:
    """This machine's processor: native code is for no other."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        text = ""
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return found[1].strip() if found else platform.processor() or platform.machine()


def _checked_options(options: Sequence[str]) -> tuple[str, ...]:
    for option in options:
        if not ALLOWED.fullmatch(option):
            raise UsageError(
                f"the OpenCL compile option {option!r} is not allowed",
                hint="allowed: -DNAME=VALUE, -cl-std=CL1.2, -cl-fast-relaxed-math and the other -cl- math options",
            )
    return tuple(options)


def _linker() -> tuple[Path, ...]:
    found = shutil.which("ld", path="/usr/bin")
    if found is None:
        raise ToolMissing("the OpenCL compiler needs the linker /usr/bin/ld", hint="install binutils")
    return (Path(found),)


def _compile(
    source: str,
    entry: str,
    options: tuple[str, ...],
    name: str,
    blocks: Sequence[Dim3],
    deadline_s: float,
    unsafe: bool,
) -> tuple[Build, bool]:
    """The build, and whether the same text will give the same one again."""

    def failed(diagnostics: Sequence[Diagnostic], log: str = "") -> Build:
        return _build(False, source, options, diagnostics, log)

    if refused := (*refused_includes(source, name), *refused_clocks(source, options, name)):
        return failed(refused), True
    request = {"text": source, "options": [*ALWAYS, *options], "entry": entry, "blocks": [list(b) for b in blocks]}
    answer = run_jailed(
        worker_argv(COMPILE_WORKER, relative_of_this_machine()),
        wire.pack(request),
        limits=Limits(wall_s=wall_limit_s(deadline_s), cpu_s=cpu_limit_s(deadline_s), answer_bytes=64 << 20),
        readable=(*worker_files(), *_linker()),
        unsafe=unsafe,
        level="tools",
    )
    if answer.event is not None and answer.event.kind == "deadline":
        raise ended_badly("the OpenCL compiler", answer.event, deadline_s, answer.log)
    if answer.event is not None or answer.body is None:
        told = f"{answer.event.kind}: {answer.event.detail}" if answer.event else "no answer"
        return failed([_error(name, f"the OpenCL compiler was stopped: {told}")]), False
    try:
        header, blobs = wire.unpack(answer.body)
        ok, log, names = header["ok"] is True, str(header["log"]), [str(file) for file in header["names"]]
    except (wire.BadMessage, KeyError, TypeError) as problem:
        return failed([_error(name, f"the OpenCL compiler gave no valid answer: {problem}")]), False
    log = scrubbed(_TEMPORARY.sub(name, log))[:LOG_CAP_CHARS]
    diagnostics = read_messages(log, name)
    if not ok or any(d.severity == "error" for d in diagnostics):
        if not any(d.severity == "error" for d in diagnostics):
            diagnostics = (*diagnostics, _error(name, log.strip()[:2000] or "the compiler failed and said nothing"))
        return failed(diagnostics, log), True
    return _build(True, source, options, diagnostics, log, wire.pack({"names": names}, blobs)), True


def read_messages(log: str, name: str) -> tuple[Diagnostic, ...]:
    """The compiler's messages in their order, at the lines of the kernel where they name one."""
    found: list[Diagnostic] = []
    for line in log.splitlines():
        if not (told := _MESSAGE.match(line)):
            continue
        severity, file, number, column, message = told.groups()
        place = {"line": int(number), "column": int(column)} if number else {"line": None, "column": None}
        fields = {"severity": severity, "file": Path(file).name if file else name, "message": message, **place}
        found.append(Diagnostic.model_validate(fields))
    return tuple(found[:MAX_DIAGNOSTICS])


def _error(name: str, message: str) -> Diagnostic:
    return Diagnostic(severity="error", file=name, line=None, column=None, message=message)


def _build(
    ok: bool, source: str, options: tuple[str, ...], diagnostics: Sequence[Diagnostic], log: str, native: bytes = b""
) -> Build:
    return Build(
        ok=ok,
        language="opencl",
        source_sha256=hashlib.sha256(source.encode()).hexdigest(),
        options=options,
        compiler=compiler_identity(),
        text=source,
        native=native,
        diagnostics=tuple(diagnostics),
        log=log,
    )
