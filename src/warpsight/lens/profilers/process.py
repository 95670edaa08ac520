"""Runs a profiler: an argument list, a clean environment, a group of its own that is killed whole, capped output.

The numbers of many tools follow the locale, so it is set to C here. What must stay true: nothing of our environment
reaches the tool but the names listed, so no key or token does.
"""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from warpsight.lens.profilers.failures import BrokenOutput, ProfilerMissing, ProfilerTimedOut
from warpsight.processes.start import RunningProgram, start_program

PASSED_ON = (
    "PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES", "ROCM_PATH", "CUDA_HOME", "WARPSIGHT_CHANNEL",
)  # fmt: skip
CAP_BYTES = 64 << 20
LOOK_EVERY_S = 0.02


@dataclass(frozen=True)
class ToolOutput:
    """What a tool printed and its exit status."""

    stdout: str
    stderr: str
    status: int


@dataclass(frozen=True)
class Beside:
    """A tool that is running, and what it has printed so far."""

    process: RunningProgram
    printed: Callable[[], str]


def clean_environment(given: Mapping[str, str] = os.environ) -> dict[str, str]:
    """What a profiler gets of our environment, in the C locale."""
    return {name: given[name] for name in PASSED_ON if name in given} | {"LC_ALL": "C", "LANG": "C"}


def run_tool(argv: Sequence[str], *, tool: str, deadline_s: float, folder: Path | None = None) -> ToolOutput:
    """Run it to its end. A tool that cannot be started, hangs or floods is an error of its own type."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = _started(argv, out, err, tool, folder)
        try:
            _wait(process, (out, err), tool, deadline_s)
        finally:
            _end_group(process)
        return ToolOutput(_text(out), _text(err), process.returncode)


@contextlib.contextmanager
def alongside(argv: Sequence[str], *, tool: str, folder: Path | None = None) -> Generator[Beside]:
    """A tool that runs while something else does; everything it started is ended on leaving."""
    with tempfile.TemporaryFile() as out:
        process = _started(argv, out, out, tool, folder)
        try:
            yield Beside(process, lambda: _text(out))
        finally:
            _end_group(process)


def _started(argv: Sequence[str], out: IO[bytes], err: IO[bytes], tool: str, folder: Path | None) -> RunningProgram:
    try:
        return start_program(argv, env=clean_environment(), stdout=out, stderr=err, cwd=folder)
    except (FileNotFoundError, PermissionError) as problem:
        why = f"{argv[0]} cannot be started: {problem.strerror}"
        raise ProfilerMissing(tool, why, "`warpsight doctor` lists how to get it") from None


def _wait(process: RunningProgram, files: Sequence[IO[bytes]], tool: str, deadline_s: float) -> None:
    ends_at = time.monotonic() + deadline_s
    # The tool is left unreaped until its group was ended, so its number cannot have become another's.
    while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        if time.monotonic() > ends_at:
            raise ProfilerTimedOut(
                tool,
                f"did not end within {deadline_s:g} s and was stopped",
                "ask for fewer counters or fewer launches (each pass runs the kernel again), or give it more time",
            )
        if any(os.fstat(file.fileno()).st_size > CAP_BYTES for file in files):
            raise BrokenOutput(tool, f"printed more than {CAP_BYTES >> 20} MB and was stopped", "limit the launches")
        time.sleep(LOOK_EVERY_S)


def _end_group(process: RunningProgram) -> None:
    """Everything that the tool started and that is still there; its group has the number of its leader."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(CAP_BYTES).decode(errors="replace")
