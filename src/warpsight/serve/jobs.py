"""Calls as jobs: each gets a handle, they run one after another in one thread, and anybody may wait for the end.

One at a time, because a device takes every core and a measured time must be of a quiet machine. A caller that has a
handle and stops waiting loses nothing: the job goes on. A job that is cancelled does not begin, or ends when it next
says what it does: between two steps, never inside the native core, around which the interpreter must not be taken down
either (`run.py` leaves in another way).
"""

from __future__ import annotations

import contextlib
import queue
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from warpsight.errors import UsageError

MOST_WAITING = 32
MOST_KEPT = 256
Result = TypeVar("Result")
Say = Callable[[str], None]


class Cancelled(BaseException):
    """Raised inside a job that is not wanted any more. No fault, so nothing that handles faults may stop it."""


@dataclass(eq=False)
class ServedCall(Generic[Result]):
    """One call. `result` is there when `ended`; what it does meanwhile is in `doing`."""

    handle: str
    work: Callable[[Say], Result]
    started: float = field(default_factory=time.monotonic)
    doing: str = "waiting"
    ended: bool = False
    cancelled: bool = False
    result: Result | None = None
    _watchers: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    @property
    def is_waited_for(self) -> bool:
        return bool(self._watchers)

    def cancel(self) -> None:
        """Have it end soon, without a result. One that has ended keeps its result."""
        self.cancelled = not self.ended

    def say(self, text: str) -> None:
        if self.cancelled:
            raise Cancelled
        self.doing = text
        self._tell()

    def run(self) -> None:
        """Do the work; it turns its own failures into results, and anything else ends up as no result at all."""
        try:
            self.say("starting")
            self.result = self.work(self.say)
            self.cancelled = False  # it came too late
        finally:
            self.ended = True
            self._tell()

    @contextlib.contextmanager
    def watched(self, watcher: Callable[[], None]):
        """Have `watcher` called, from the job's thread, whenever something changed."""
        self._watchers.append(watcher)
        try:
            yield
        finally:
            self._watchers.remove(watcher)

    def _tell(self) -> None:
        for watcher in tuple(self._watchers):
            with contextlib.suppress(RuntimeError):  # its event loop may have ended
                watcher()


class Jobs(Generic[Result]):
    """The jobs of a server."""

    def __init__(self) -> None:
        self._waiting: queue.Queue[ServedCall[Result]] = queue.Queue(MOST_WAITING)
        self._jobs: OrderedDict[str, ServedCall[Result]] = OrderedDict()
        self._thread: threading.Thread | None = None

    def start(self, work: Callable[[Say], Result]) -> ServedCall[Result]:
        """A new job, behind those that wait already."""
        job: ServedCall[Result] = ServedCall("j" + secrets.token_hex(6), work)
        try:
            self._waiting.put_nowait(job)
        except queue.Full:
            raise UsageError(f"{MOST_WAITING} calls wait already", hint="wait for one, then call again") from None
        self._jobs[job.handle] = job
        while len(self._jobs) > MOST_KEPT:
            self._jobs.popitem(last=False)
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="warpsight jobs", daemon=True)
            self._thread.start()
        return job

    @property
    def busy(self) -> bool:
        """Whether a job runs or waits."""
        return self._waiting.unfinished_tasks > 0

    def find(self, handle: str) -> ServedCall[Result]:
        found = self._jobs.get(handle)
        if found is None:
            hint = "call the tool again: what was computed is kept"
            raise UsageError(f"no job has the handle {handle[:40]!r}", hint=hint)
        return found

    def _work(self) -> None:
        while True:
            job = self._waiting.get()
            with contextlib.suppress(Exception, Cancelled):  # it has ended without a result, as its callers are told
                job.run()
            self._waiting.task_done()
