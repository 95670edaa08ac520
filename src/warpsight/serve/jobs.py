"""Calls as jobs: each gets a handle, and anybody may wait for the end. Fair between conversations.

A job begins in one thread, the front, which takes the conversations in turn: what is known already is answered there.
What has to be worked out (`Later`) goes on in one of the workers. A conversation has one call under way at a time, so
one with many calls takes no worker from one with few. Work that has the key of work under way waits for that and then
begins anew: its result is there by then. Too many calls are refused at once, with words that say when to come again.
A job that is cancelled and waits has ended; one at work ends when it next says what it does (`run.py` leaves in another
way). What must stay true: no job is lost, each ends once, and a handle that was given keeps its result for a while.
"""

from __future__ import annotations

import contextlib
import secrets
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar, cast

from warpsight.errors import UsageError

MOST_WAITING = 32  # of one conversation
MOST_IN_ALL = 2048
MOST_KEPT = 256  # of one conversation
MOST_KEPT_IN_ALL = 8192
FIRST_GUESS_S = 2.0  # how long a call takes, before any was seen
Result = TypeVar("Result")
Say = Callable[[str], None]


class Cancelled(BaseException):
    """Raised inside a job that is not wanted any more. No fault, so nothing that handles faults may stop it."""


@dataclass(frozen=True)
class Later(Generic[Result]):
    """The part of a job that a worker does; it gets its job and the number of its worker. Same `key`, same result."""

    key: str
    work: Callable[[ServedCall[Result], int], Result]


@dataclass(eq=False)
class ServedCall(Generic[Result]):
    """One call. `result` is there when `ended`; what it does meanwhile is in `doing`."""

    handle: str
    work: Callable[[Say], Result | Later[Result]]
    conversation: str = ""
    started: float = field(default_factory=time.monotonic)
    doing: str = "waiting"
    ended: bool = False
    cancelled: bool = False
    result: Result | None = None
    later: Later[Result] | None = None
    drop: Callable[[ServedCall[Result]], None] | None = None
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
        if self.cancelled and self.drop is not None:
            self.drop(self)

    def say(self, text: str) -> None:
        if self.cancelled:
            raise Cancelled
        self.doing = text
        self.tell()

    def end(self, result: Result | None) -> None:
        """It has ended; None where it has no result."""
        self.result = result
        if result is not None:
            self.cancelled = False  # it came too late
        self.ended = True
        self.tell()

    @contextlib.contextmanager
    def watched(self, watcher: Callable[[], None]):
        """Have `watcher` called, from the job's thread, whenever something changed."""
        self._watchers.append(watcher)
        try:
            yield
        finally:
            self._watchers.remove(watcher)

    def tell(self) -> None:
        for watcher in tuple(self._watchers):
            with contextlib.suppress(RuntimeError):  # its event loop may have ended
                watcher()


class Jobs(Generic[Result]):
    """The jobs of a server, with so many workers."""

    def __init__(self, workers: int = 1) -> None:
        self._workers = workers
        self._changed = threading.Condition()
        self._jobs: OrderedDict[str, ServedCall[Result]] = OrderedDict()
        self._kept: dict[str, deque[str]] = {}  # handles by conversation
        self._lines: dict[str, deque[ServedCall[Result]]] = {}  # by conversation, of those that have one
        self._ready: deque[str] = deque()  # conversations with a line and nothing under way
        self._again: deque[ServedCall[Result]] = deque()  # that waited for the same work
        self._late: deque[ServedCall[Result]] = deque()  # for the workers
        self._alike: dict[str, list[ServedCall[Result]]] = {}  # by key of work: who waits for it
        self._under_way: set[str] = set()
        self._open = 0
        self._seconds = FIRST_GUESS_S
        self._threads: list[threading.Thread] = []

    def start(self, work: Callable[[Say], Result | Later[Result]], conversation: str | None = "") -> ServedCall[Result]:
        """A new job, behind those of its conversation; None is a conversation of its own."""
        handle = "j" + secrets.token_hex(6)
        job = ServedCall(handle, work, handle if conversation is None else conversation, drop=self._drop)
        with self._changed:
            self._require_room(job.conversation)
            job.doing = f"waiting, {self._open} calls before it" if self._open else "waiting"
            self._open += 1
            self._lines.setdefault(job.conversation, deque()).append(job)
            self._let(job.conversation)
            self._keep(job)
            if not self._threads:
                self._start_threads()
            self._changed.notify_all()
        return job

    @property
    def busy(self) -> bool:
        """Whether a job runs or waits."""
        return self._open > 0

    @property
    def open(self) -> int:
        """How many run or wait."""
        return self._open

    def is_open(self, conversation: str) -> bool:
        """Whether a call of this conversation runs or waits."""
        return conversation in self._under_way or conversation in self._lines

    def find(self, handle: str) -> ServedCall[Result]:
        found = self._jobs.get(handle)
        if found is None:
            hint = "call the tool again: what was computed is kept"
            raise UsageError(f"no job has the handle {handle[:40]!r}", hint=hint)
        return found

    def _require_room(self, conversation: str) -> None:
        mine = len(self._lines.get(conversation, ()))
        if mine >= MOST_WAITING:
            raise UsageError(f"{mine} calls wait already", hint="wait for one, then call again")
        if self._open >= MOST_IN_ALL:
            wait = max(1.0, self._seconds * len(self._late) / self._workers / 2)
            raise UsageError(
                f"the server is full: {self._open} calls wait already", hint=f"call again in {wait:.0f} seconds"
            )

    def _keep(self, job: ServedCall[Result]) -> None:
        self._jobs[job.handle] = job
        mine = self._kept.setdefault(job.conversation, deque())
        mine.append(job.handle)
        oldest = next((handle for handle in mine if self._jobs[handle].ended), None) if len(mine) > MOST_KEPT else None
        if oldest is None and len(self._jobs) > MOST_KEPT_IN_ALL:
            oldest = next((handle for handle, one in self._jobs.items() if one.ended), None)
        if oldest is not None:
            self._forget(oldest)

    def _forget(self, handle: str) -> None:
        conversation = self._jobs.pop(handle).conversation
        self._kept[conversation].remove(handle)
        if not self._kept[conversation]:
            del self._kept[conversation]

    def _let(self, conversation: str) -> None:
        """The conversation's turn may come, where it has a call and none under way."""
        if conversation in self._under_way or conversation in self._ready:
            return
        if self._lines.get(conversation):
            self._ready.append(conversation)
        else:
            self._lines.pop(conversation, None)

    def _drop(self, job: ServedCall[Result]) -> None:
        """End a cancelled job that is not at work; who waited for its work begins anew."""
        with self._changed:
            line = self._lines.get(job.conversation, deque[ServedCall[Result]]())
            followers = self._alike.get(job.later.key, []) if job.later is not None else []
            if job in line:
                line.remove(job)
                self._open -= 1
                if not line and job.conversation in self._ready:
                    self._ready.remove(job.conversation)
                    self._let(job.conversation)
                job.end(None)
            elif job in followers:
                followers.remove(job)
                self._end(job, None)
            elif job in self._late:
                self._late.remove(job)
                self._end(job, None)

    def _end(self, job: ServedCall[Result], result: Result | None) -> None:
        """The end of a job that was under way."""
        with self._changed:
            self._open -= 1
            self._under_way.discard(job.conversation)
            self._let(job.conversation)
            if job.later is not None and job not in self._alike.get(job.later.key, ()):
                for one in self._alike.pop(job.later.key, ()):
                    one.later = None
                    self._again.append(one)
            job.later = None  # lets go of what the work holds
            self._changed.notify_all()
        job.end(result)

    def _start_threads(self) -> None:
        """They live as long as the server: processes end with the thread that started them."""
        targets = [self._front, *((lambda number=number: self._worker(number)) for number in range(self._workers))]
        self._threads = [threading.Thread(target=one, name="warpsight jobs", daemon=True) for one in targets]
        for thread in self._threads:
            thread.start()

    def _front(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._ready or self._again)
                if self._again:
                    job = self._again.popleft()
                else:
                    conversation = self._ready.popleft()
                    job = self._lines[conversation].popleft()
                    self._under_way.add(conversation)
            self._begin(job)

    def _begin(self, job: ServedCall[Result]) -> None:
        found: Result | Later[Result] | None = None
        with contextlib.suppress(Exception, Cancelled):  # it ends without a result, as its callers are told
            job.say("starting")
            found = job.work(job.say)
        if not isinstance(found, Later):
            self._end(job, found)
            return
        later = cast(Later[Result], found)
        with self._changed:
            job.later = later
            if later.key in self._alike:
                self._alike[later.key].append(job)
            else:
                self._alike[later.key] = []
                self._late.append(job)
            self._changed.notify_all()
        if job.cancelled:
            self._drop(job)

    def _worker(self, number: int) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._late)
                job = self._late.popleft()
            result, started = None, time.monotonic()
            with contextlib.suppress(Exception, Cancelled):
                assert job.later is not None
                result = job.later.work(job, number)
            self._seconds += 0.1 * (time.monotonic() - started - self._seconds)
            self._end(job, result)
