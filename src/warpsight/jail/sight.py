"""What the kernel shows of a worker, read from outside in /proc: filters, processor time, memory, children.

Nothing here is told by the worker itself. A process that is gone shows nothing: zeros and empty records.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

_CPU_CLOCK = 2  # of clock_getcpuclockid(3): what the scheduler counted, of a process by its number
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""


def status_of(pid: int | None) -> dict[str, str]:
    """The lines of /proc/<pid>/status by name."""
    pairs = (line.partition(":") for line in _read(f"/proc/{pid}/status").splitlines())
    return {name: value.strip() for name, _, value in pairs}


def children(pid: int) -> list[int]:
    """The children of a process in the order they came."""
    return [int(word) for word in _read(f"/proc/{pid}/task/{pid}/children").split()]


def first_child(pid: int) -> int | None:
    """The worker, when asked of the first process of a jail."""
    return next(iter(children(pid)), None)


def cpu_s(pid: int | None) -> float:
    """Processor time of a process and of the children it has collected.

    Its own, with all threads that it had, comes from its clock; /proc counts in hundredths of a second.
    """
    fields = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    if pid is None or len(fields) <= 15:
        return 0.0
    own, children = (sum(int(field) for field in fields[at : at + 2]) / _TICKS for at in (11, 13))
    with contextlib.suppress(OSError):
        own = time.clock_gettime(~pid << 3 | _CPU_CLOCK)
    return own + children


def tree_cpu_s(pid: int) -> float:
    """Processor time of a process and all its descendants, those that have ended and were collected included."""
    total, waiting = 0.0, [pid]
    while waiting:
        here = waiting.pop()
        total += cpu_s(here)
        for thread in _threads(here):
            waiting += [int(word) for word in _read(f"/proc/{here}/task/{thread}/children").split()]
    return total


def resident_bytes(pid: int, *, shared: bool = True) -> int:
    """Memory held by a process and all its descendants; pages they share count more than once, or not at all."""
    total, waiting = 0, [pid]
    while waiting:
        here = waiting.pop()
        fields = _read(f"/proc/{here}/statm").split()
        if len(fields) > 2:
            total += (int(fields[1]) - (0 if shared else int(fields[2]))) * _PAGE
        for thread in _threads(here):
            waiting += [int(word) for word in _read(f"/proc/{here}/task/{thread}/children").split()]
    return total


def _threads(pid: int) -> list[str]:
    try:
        return [entry.name for entry in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return []


def same_namespace(pid: int | None, kind: str) -> bool:
    """Whether a process is in our own namespace of this kind; False where the kernel does not let us look."""
    try:
        return Path(f"/proc/{pid}/ns/{kind}").readlink() == Path(f"/proc/self/ns/{kind}").readlink()
    except OSError:
        return False
