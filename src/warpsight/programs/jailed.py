"""One program or build in the jail, from outside: what it sees, its output as it comes, what is left when it has ended.

The worker is asked by a thread, so that the caller's own is free for launches. Output goes through pipes: a program
never holds our terminal. What must stay true: leaving the `with` ends the jail and all that runs in it.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import sys
import tarfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self, cast

from warpsight.errors import BrokenMachine, UsageError, WarpsightError
from warpsight.jail import JailedWorker, Limits, WorkerLost

WORKER = Path(__file__).with_name("program_worker.py")
HAND_BACK_BYTES = 512 << 20
MOST_OUTPUT_BYTES = 256 << 20
Sink = Callable[[bytes], None]


@dataclass(frozen=True)
class Command:
    """What to start, and what it sees. `links` are names beside the scratch folder and where they lead."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    copy: tuple[Path, ...] = ()
    readable: tuple[Path, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    hand_back: Literal["", "new", "all"] = ""


@dataclass
class ProgramEnding:
    """How it ended: its status, or the event that lost it; the files that it made."""

    status: int | None = None
    problem: str = ""
    lost: WorkerLost | None = None
    files: bytes = b""
    left_out: int = 0
    cpu_s: float = 0.0
    failure: BaseException | None = None


@dataclass
class _Pump:
    """Passes on what comes through a pipe until its other end closes."""

    fd: int
    sink: Sink
    too_much: Callable[[], None]
    thread: threading.Thread = field(init=False)

    def __post_init__(self) -> None:
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        total = 0
        while data := os.read(self.fd, 1 << 16):
            total += len(data)
            if total > MOST_OUTPUT_BYTES:
                self.too_much()
                break
            with contextlib.suppress(OSError, ValueError):
                self.sink(data)


class JailedProgram:
    """A running program. `channel` and `memory` are descriptors for it, closed here by nobody."""

    def __init__(
        self, command: Command, limits: Limits, *, output: Sink, errors: Sink, passed: tuple[int, int] | None = None
    ) -> None:
        out_read, out_write = os.pipe()
        err_read, err_write = os.pipe()
        null = os.open(os.devnull, os.O_RDONLY) if passed is None else -1
        fds = (*(passed or (null, null)), out_write, err_write)
        try:
            self._worker = JailedWorker(
                [sys.executable, "-I", "-S", str(WORKER)], limits=limits, readable=command.readable, level="tools",
                name=Path(command.argv[0]).name, passed=fds, links=command.links, builds=passed is None,
            )  # fmt: skip
        finally:
            for fd in (out_write, err_write, *([null] if null >= 0 else [])):
                os.close(fd)
        self.too_much_output = False
        self._fds = (out_read, err_read)
        self._pumps = [_Pump(out_read, output, self._flooded), _Pump(err_read, errors, self._flooded)]
        self.ending = ProgramEnding()
        self.done = threading.Event()
        self._thread = threading.Thread(target=self._ask, args=(command, limits, passed is not None), daemon=True)
        self._thread.start()

    def _flooded(self) -> None:
        self.too_much_output = True
        self.kill()

    def _ask(self, command: Command, limits: Limits, with_gpu: bool) -> None:
        request = {
            "argv": command.argv, "environment": dict(command.environment), "copy": [str(p) for p in command.copy],
            "hand_back": command.hand_back, "cap_bytes": HAND_BACK_BYTES, "pass": [6, 7] if with_gpu else [],
        }  # fmt: skip
        try:
            self._read(self._worker.ask(json.dumps(request).encode(), limits.wall_s))
        except WorkerLost as lost:
            self.ending.lost = lost
        except BaseException as failure:
            self.ending.failure = failure
        finally:
            self.ending.cpu_s = self._worker.cpu_s()
            self.done.set()

    def _read(self, answer: bytes) -> None:
        line, _, self.ending.files = answer.partition(b"\n")
        try:
            told = cast("dict[str, Any]", json.loads(line))
            self.ending.problem = str(told.get("problem", ""))
            self.ending.status = int(told.get("status", 127))
            self.ending.left_out = int(told.get("left_out", 0))
        except (ValueError, TypeError, AttributeError):
            raise WarpsightError("expected how the program ended, its worker sent something else") from None

    def cpu_s(self) -> float:
        """Processor time of the program so far; of its children once they have ended."""
        return self._worker.tree_cpu_s()

    def kill(self) -> None:
        """End everything in the jail at once; `done` is set soon after."""
        pid = self._worker.pid
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def close(self) -> None:
        if not self.done.is_set():
            self.kill()
        self.done.wait()
        self._thread.join()
        self._worker.close()
        for pump in self._pumps:
            pump.thread.join()
        for fd in self._fds:
            with contextlib.suppress(OSError):
                os.close(fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        if isinstance(self.ending.failure, WarpsightError):
            raise self.ending.failure


def unpack(files: bytes, folder: Path) -> int:
    """Put the files of a tar into a folder: plain files alone, and none outside of it. Returns how many."""
    count = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(files)) as tar:
            for member in tar:
                target = Path(os.path.normpath(folder / member.name))
                if not member.isfile() or not target.is_relative_to(folder) or target == folder:
                    continue
                target.parent.mkdir(parents=True, exist_ok=True)
                content = tar.extractfile(member)
                assert content is not None
                target.write_bytes(content.read())
                target.chmod(0o755 if member.mode & 0o100 else 0o644)
                count += 1
    except tarfile.TarError as problem:
        raise WarpsightError(f"expected the files of a program, they cannot be read: {problem}") from None
    except OSError as problem:
        raise BrokenMachine(f"cannot write to {folder}: {problem.strerror}") from None
    return count


def require_file(path: Path, what: str) -> Path:
    if not path.is_file():
        raise UsageError(f"expected {what}, found nothing at {path}")
    return path
