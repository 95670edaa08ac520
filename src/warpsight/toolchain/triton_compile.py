"""A Triton kernel to a Build: PTX by Triton in the jail, machine code from that PTX by our own run of the assembler.

The candidate's Python runs in the jail to make the PTX, so the Build says `host_code`: that the program is what the
text shows is not proved. Of what comes back only PTX text and two numbers are used; the machine code is assembled here
from that very PTX, so results, counts and time are of one program. Needs the `triton` package and no GPU.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from warpsight.cubin.usage import read_entries
from warpsight.errors import UsageError
from warpsight.nouns import Argument, Build, Candidate, Diagnostic, Task
from warpsight.toolchain.cache import Cache, content_key
from warpsight.toolchain.compile import DEADLINE_S, LOG_CAP_CHARS, SOURCE_FOLDER, build_cache, stored_build
from warpsight.toolchain.process import DeadlinePassed, ProgramDied
from warpsight.toolchain.triton_assemble import AssemblerRefused, assemble, assembler_version
from warpsight.toolchain.triton_process import RawTriton, TritonProcess, triton_version
from warpsight.toolchain.triton_ptx import BadPtx, tidy

SCHEMA = "triton-3"
SOURCE_CAP_BYTES = 1 << 20
NEWEST_CLASS = 89
"""From sm_90 on Triton writes instructions (wgmma, tcgen05) that the virtual GPU does not run."""
CLASS_BEYOND = 80
BY_THE_TEXT = ("out_of_memory", "killed_by_signal", "cpu_limit", "too_much_output", "seccomp_violation", "exited_early")
TYPES = {
    "float16": "fp16", "bfloat16": "bf16", "float8_e4m3fn": "fp8e4nv", "float8_e5m2": "fp8e5",
    "float32": "fp32", "float64": "fp64", "int8": "i8", "int16": "i16", "int32": "i32",
    "int64": "i64", "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
}  # fmt: skip
_ARCH = re.compile(r"sm_([0-9]{2,3})[af]?")


@dataclass(frozen=True)
class TritonArgument:
    """One plain parameter: Triton's name of its type, and whether it is known to be a multiple of 16."""

    name: str
    type: str
    divisible: bool


@functools.cache
def shared_triton_process() -> TritonProcess:
    """The Triton process that callers share when they bring none: importing Triton is paid once."""
    return TritonProcess()


def arguments_of(task: Task) -> tuple[TritonArgument, ...]:
    """The task's arguments as Triton is told of them.

    Arrays start at multiples of 16 bytes on every device. A scalar is a multiple of 16 only where the task's axes leave
    no other value: one program serves all workloads, hidden ones too.
    """
    return tuple(_argument(task, argument) for argument in task.arguments)


def build_triton(
    task: Task, candidate: Candidate, *, name: str, gpu_arch: str, deadline_s: float = DEADLINE_S, unsafe: bool = False
) -> Build:
    """The candidate compiled; a text that Triton does not survive, or does not finish in time, does not compile."""
    try:
        return compile_triton(
            candidate.source,
            entry=task.entry,
            arguments=arguments_of(task),
            gpu_arch=gpu_arch,
            options=candidate.options,
            name=name,
            deadline_s=deadline_s,
        )
    except (DeadlinePassed, ProgramDied) as stopped:
        if isinstance(stopped, ProgramDied) and (stopped.event is None or stopped.event.kind not in BY_THE_TEXT):
            raise
        told = _error(name, stopped.message[:2000])
        return _build(False, candidate.source, gpu_arch, candidate.options, (told,), "")


def compile_triton(
    source: str,
    *,
    entry: str,
    arguments: Sequence[TritonArgument],
    gpu_arch: str = "sm_80",
    options: Sequence[str] = (),
    name: str = "kernel.py",
    deadline_s: float = DEADLINE_S,
    process: TritonProcess | None = None,
    cache: Cache | None = None,
) -> Build:
    """Compile the `@triton.jit` function `entry`. `options` are `num_warps=4`, `num_stages=3` and `NAME=VALUE`s."""
    _check_request(source, gpu_arch, name)
    asked = (*options, signature_word(arguments))
    cache = cache if cache is not None else build_cache()
    names = ",".join(argument.name for argument in arguments)
    key = content_key(SCHEMA, source, name, entry, names, gpu_arch, triton_version(), assembler_version(), *asked)
    build = stored_build(cache.get(key), source, gpu_arch, asked)
    if build is None:
        ready = process or shared_triton_process()
        build = _compile(source, entry, tuple(arguments), gpu_arch, asked, name, deadline_s, ready)
        cache.put(key, build.model_dump_json().encode())
    return build


def signature_word(arguments: Sequence[TritonArgument]) -> str:
    """The types as Triton's own tools write them, `:16` where a multiple of 16 is known; part of a build's options."""
    return "signature=" + ",".join(f"{a.type}:16" if a.divisible else a.type for a in arguments)


def triton_class(gpu_arch: str) -> int:
    """The class of GPU that Triton is told to compile for."""
    found = _ARCH.fullmatch(gpu_arch)
    number = int(found[1]) if found else 0
    return number if number <= NEWEST_CLASS else CLASS_BEYOND


def _argument(task: Task, argument: Argument) -> TritonArgument:
    kind = TYPES[argument.dtype]
    if argument.role != "scalar":
        return TritonArgument(argument.python_name, f"*{kind}", divisible=True)
    steps = {axis.name: axis.multiple_of for axis in task.axes}
    value = argument.value
    known = value if isinstance(value, int) else steps.get(value, 1) if isinstance(value, str) else 1
    whole = argument.dtype.startswith(("int", "uint"))
    return TritonArgument(argument.python_name, kind, divisible=whole and known % 16 == 0)


def _check_request(source: str, gpu_arch: str, name: str) -> None:
    if len(source.encode()) > SOURCE_CAP_BYTES:
        raise UsageError(f"expected a source of at most {SOURCE_CAP_BYTES} bytes, got {len(source.encode())}")
    if not _ARCH.fullmatch(gpu_arch):
        raise UsageError(f"expected a GPU architecture such as sm_80, got {gpu_arch!r}")
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}\.py", name):
        raise UsageError(f"expected a plain file name such as kernel.py, got {name!r}")


def _compile(
    source: str,
    entry: str,
    arguments: tuple[TritonArgument, ...],
    gpu_arch: str,
    options: tuple[str, ...],
    name: str,
    deadline_s: float,
    process: TritonProcess,
) -> Build:
    def failed(message: str, line: int | None = None, column: int | None = None, log: str = "") -> Build:
        return _build(False, source, gpu_arch, options, (_error(name, message, line, column),), log)

    told = [(a.name, a.type, a.divisible) for a in arguments]
    raw = process.compile(source, name, entry, told, options, triton_class(gpu_arch), deadline_s)
    if not raw.ok:
        return failed(raw.message, raw.line, raw.column, raw.log)
    try:
        ptx = tidy(raw.ptx, entry=entry, parameters=len(arguments), file=f"{SOURCE_FOLDER}/{name}")
        machine_code, log = assemble(ptx, gpu_arch, deadline_s)
    except (BadPtx, AssemblerRefused) as refused:
        return failed(refused.message, log=raw.log)
    notes = (
        ()
        if triton_class(gpu_arch) >= 80 and gpu_arch == f"sm_{triton_class(gpu_arch)}"
        else _class_note(name, gpu_arch)
    )
    return _build(True, source, gpu_arch, options, notes, log, raw, ptx, machine_code)


def _class_note(name: str, gpu_arch: str) -> tuple[Diagnostic, ...]:
    told = f"compiled as for sm_{triton_class(gpu_arch)} and assembled for {gpu_arch}: no instruction newer than that"
    return (Diagnostic(severity="note", file=name, line=None, column=None, message=told),)


def _error(name: str, message: str, line: int | None = None, column: int | None = None) -> Diagnostic:
    return Diagnostic(severity="error", file=name, line=line, column=column, message=message)


def _build(
    ok: bool,
    source: str,
    gpu_arch: str,
    options: tuple[str, ...],
    diagnostics: tuple[Diagnostic, ...],
    log: str,
    raw: RawTriton | None = None,
    ptx: str = "",
    machine_code: bytes = b"",
) -> Build:
    return Build(
        ok=ok,
        language="triton",
        source_sha256=hashlib.sha256(source.encode()).hexdigest(),
        gpu_arch=gpu_arch,
        options=options,
        compiler=f"triton {triton_version()} (ptxas {assembler_version()})",
        ptx=ptx,
        cubin=machine_code,
        text=source,
        entries=read_entries(machine_code) if ok else (),
        diagnostics=diagnostics,
        log=log[:LOG_CAP_CHARS],
        dynamic_shared_bytes=raw.shared_bytes if ok and raw is not None else 0,
        trust="host_code",
    )
