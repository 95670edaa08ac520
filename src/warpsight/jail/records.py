"""What travels in and out of the jail: limits in, an answer or an event out. Records only.

An event is how a worker ended badly; it is a result of the worker's doing and no fault of ours. Its detail was scrubbed
of local paths. `BrokenMachine` (from the error tree) is for a jail that could not be built.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from warpsight.errors import WarpsightError

EventKind = Literal[
    "deadline",  # still working when its wall time was over
    "cpu_limit",  # used more processor time than it was given
    "out_of_memory",  # asked for more memory than it was given
    "too_much_output",  # its answer or its log passed the cap
    "seccomp_violation",  # called the system in a way that no honest worker does
    "killed_by_signal",  # crashed, or was ended by a signal of its own making
    "exited_early",  # ended by itself before it answered
    "bad_frame",  # closed its channel in the middle of an answer, or answered without being asked
    "not_locked",  # asked for work before the kernel showed its filters in place
]
EVENT_KINDS: tuple[str, ...] = get_args(EventKind)

Level = Literal["tools", "serve", "work", "compute"]
LEVELS: tuple[Level, ...] = get_args(Level)


@dataclass(frozen=True)
class Limits:
    """What one worker may use. Memory and processor time hold for each of its processes; the memory of all together
    is watched from outside. `shared_bytes` of addresses come on top, for a file that it shares with the parent, who
    watches how much of that is in use."""

    wall_s: float = 60
    cpu_s: int = 60
    memory_bytes: int = 4 << 30
    threads: int = 64
    file_bytes: int = 256 << 20
    open_files: int = 256
    answer_bytes: int = 256 << 20
    scratch_bytes: int = 256 << 20
    shared_bytes: int = 0
    log_bytes: int = 64_000


@dataclass(frozen=True)
class WorkerEvent:
    """One way a worker ended badly."""

    kind: EventKind
    detail: str


@dataclass(frozen=True)
class WorkerAnswer:
    """What came of one worker: a body or an event, never both. `missing` names protections it ran without."""

    body: bytes | None
    event: WorkerEvent | None
    log: bytes
    cpu_s: float
    wall_s: float
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if (self.body is None) == (self.event is None):
            raise ValueError("a WorkerAnswer has a body or an event, exactly one of them")


class WorkerLost(WarpsightError):
    """The worker ended badly and is gone; `event` says how, `log` is what it printed."""

    exit_code = 5

    def __init__(self, name: str, event: WorkerEvent, log: bytes = b"") -> None:
        super().__init__(f"{name} was lost: {event.kind}: {event.detail}")
        self.event = event
        self.log = log


@dataclass(frozen=True)
class Protection:
    """One wall of the jail: whether it stands here, what it stops, how to get it. Optional ones double another."""

    name: str
    present: bool
    stops: str
    remedy: str
    required: bool = True
