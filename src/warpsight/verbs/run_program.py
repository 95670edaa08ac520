"""Run a whole CUDA program on the virtual GPU: build it where it is source, then run it in the jail."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from warpsight.errors import UsageError
from warpsight.nouns import WholeRun
from warpsight.programs.build import build_program, run_command, runtime_folder
from warpsight.programs.device_memory import DeviceMemory
from warpsight.programs.jailed import Command, Sink
from warpsight.programs.kernel_times import OnProfile
from warpsight.programs.launches import CheckLevel, Launcher
from warpsight.programs.run import NEVER_S, RunOptions, run_program
from warpsight.programs.scripts import require_script, script_command, with_driver
from warpsight.programs.sources import readable
from warpsight.programs.timeline import Timeline
from warpsight.verbs.program_progress import ProgramProgress
from warpsight.vgpu.gpus import find_gpu

DEFAULT_GPU = "a100"
MOST_FOLDER_BYTES = 512 << 20


@dataclass(frozen=True)
class ProgramQuestion:
    """What to run and how. With `driver` a built program finds a stand-in for NVIDIA's driver too, as a Python script
    always does. `tell` gets what is worth saying meanwhile."""

    target: Path
    arguments: tuple[str, ...] = ()
    gpu: str = DEFAULT_GPU
    check: CheckLevel | None = None
    times: bool = True
    on_profile: OnProfile | None = None
    cores: int = 0
    limit_s: float = NEVER_S
    cpu_limit_s: float = NEVER_S
    launch_limit_s: float = NEVER_S
    device_bytes: int = 0
    make: tuple[str, ...] = ()
    show: tuple[Path, ...] = ()
    driver: bool = False
    out: Path | None = None
    timeline: Timeline | None = None
    tell: Callable[[str], None] = lambda text: None
    launcher: Callable[[DeviceMemory, int], Launcher] | None = None


def run_whole(question: ProgramQuestion, *, output: Sink, errors: Sink) -> WholeRun:
    """The account of one run. Raises BuildFailed with the compiler's words where it does not build."""
    gpu = find_gpu(question.gpu)
    command = _command(question, gpu.arch)
    options = RunOptions(
        gpu=gpu, check=question.check, times=question.times, on_profile=question.on_profile, cores=question.cores,
        limit_s=question.limit_s, cpu_limit_s=question.cpu_limit_s, launch_limit_s=question.launch_limit_s,
        device_bytes=question.device_bytes, out=question.out, timeline=question.timeline,
        look=ProgramProgress(question.tell, question.cores),
        launcher=question.launcher,
    )  # fmt: skip
    return run_program(question.target.name, command, options, output=output, errors=errors)


def _command(question: ProgramQuestion, arch: str) -> Command:
    target = question.target
    if target.suffix == ".py":
        return script_command(require_script(target), question.arguments, _data_of(target.resolve()), question.show)
    if not target.exists():
        raise UsageError(f"expected a .cu file, a folder or a program, found nothing at {target}")
    if target.is_dir() or target.suffix in (".cu", ".cpp"):
        question.tell(f"building {target.name}")
        built = build_program(target, arch, make=question.make, show=question.show)
        return run_command(built, question.arguments, _data_of(built.source))
    program = readable(target.resolve())
    data = _data_of(program)
    command = Command(
        argv=(str(program), *question.arguments),
        environment={"LC_ALL": "C.UTF-8", "LD_LIBRARY_PATH": str(runtime_folder()), "PATH": "/usr/bin:/bin"},
        copy=() if data is None else (data,),
        readable=(program, *(() if data is None else (data,)), *question.show, runtime_folder()),
    )
    return with_driver(command) if question.driver else command


def _data_of(target: Path) -> Path | None:
    """A folder, or that of a file, as a place with the program's data; left out where it is large."""
    folder, total = target if target.is_dir() else target.parent, 0
    for count, file in enumerate(folder.rglob("*")):
        total += file.stat().st_size if file.is_file() else 0
        if total > MOST_FOLDER_BYTES or count > 20_000:
            return None
    return folder


def to_streams() -> tuple[Sink, Sink]:
    """Pass on what the program prints."""

    def output(data: bytes) -> None:
        sys.stdout.buffer.write(data)
        sys.stdout.flush()

    def errors(data: bytes) -> None:
        sys.stderr.buffer.write(data)
        sys.stderr.flush()

    return output, errors


def arguments_of(words: Sequence[str]) -> tuple[Path, tuple[str, ...]]:
    """The program and what is for it."""
    if not words:
        raise UsageError("expected a program", "warpsight run saxpy.cu")
    return Path(words[0]), tuple(words[1:])
