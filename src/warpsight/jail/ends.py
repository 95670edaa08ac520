"""From the wait status of a worker to the event that says how it ended. Pure.

What a worker printed is read for one thing only: whether it ran out of memory, which ends programs in many ways.
"""

from __future__ import annotations

import os
import signal

from warpsight.jail.records import Limits, WorkerEvent
from warpsight.jail.scrub import scrubbed

OUT_OF_MEMORY_STATUS = 77  # as in worker_io
_MEMORY_WORDS = (b"MemoryError", b"bad_alloc", b"ut of memory", b"Cannot allocate memory", b"memory exhausted")
_TAIL_BYTES = 2000


def event_of(status: int, limits: Limits, log: bytes = b"", cpu_s: float = 0.0, partial_bytes: int = 0) -> WorkerEvent:
    """How a worker ended that owed an answer; `partial_bytes` of it had come."""
    last = scrubbed(log[-300:].decode(errors="replace").strip().rpartition("\n")[2])
    tail = f": {last}" if last else ""
    starved = any(word in log[-_TAIL_BYTES:] for word in _MEMORY_WORDS)
    if os.WIFSIGNALED(status):
        return _from_signal(os.WTERMSIG(status), limits, cpu_s, starved, tail)
    code = os.waitstatus_to_exitcode(status)
    if code == OUT_OF_MEMORY_STATUS or starved:
        return WorkerEvent("out_of_memory", f"asked for more than {limits.memory_bytes} bytes{tail}")
    if partial_bytes:
        return WorkerEvent("bad_frame", f"ended with status {code} after {partial_bytes} bytes of an answer{tail}")
    return WorkerEvent("exited_early", f"ended with status {code} before it answered{tail}")


def _from_signal(number: int, limits: Limits, cpu_s: float, starved: bool, tail: str) -> WorkerEvent:
    name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
    if number == signal.SIGSYS:
        return WorkerEvent("seccomp_violation", f"made a system call that is not allowed (SIGSYS){tail}")
    if number == signal.SIGXCPU or (number == signal.SIGKILL and cpu_s >= limits.cpu_s):
        return WorkerEvent("cpu_limit", f"used {cpu_s:.1f} s of processor time, the cap is {limits.cpu_s} s")
    if starved:
        return WorkerEvent("out_of_memory", f"asked for more than {limits.memory_bytes} bytes ({name}){tail}")
    return WorkerEvent("killed_by_signal", f"ended by {name}{tail}")
