"""Until when the tools of a run may work: a call that is at work then ends at its next step, and says what was cut.

Told by the loop, asked by the session before each step (a compile, a check of one input, a simulation), in the same
thread. What it does not do: stop a step inside the native core, around which nothing may be taken down.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import ClassVar

from warpsight.errors import WarpsightError

_ends_at: ContextVar[float | None] = ContextVar("ends_at", default=None)
_given_up: ContextVar[threading.Event | None] = ContextVar("given_up", default=None)


class OutOfTime(WarpsightError):
    """The seconds of the run are over; nothing is wrong with the kernel or the machine."""

    exit_code: ClassVar[int] = 1


@contextmanager
def time_limit(seconds: float | None) -> Generator[None]:
    """Tools that are called in here have so many seconds; None is no limit."""
    token = _ends_at.set(None if seconds is None else time.monotonic() + seconds)
    try:
        yield
    finally:
        _ends_at.reset(token)


@contextmanager
def unless(given_up: threading.Event) -> Generator[None]:
    """What is asked for in here, of this thread, is work ahead: it goes on until it is given up, and says nothing."""
    token = _given_up.set(given_up)
    try:
        yield
    finally:
        _given_up.reset(token)


def is_ahead() -> bool:
    """Whether this thread works ahead: nobody has asked for what it does."""
    return _given_up.get() is not None


def require_time(step: str) -> None:
    """Go no further when the time is over; `step` is what is not begun."""
    given_up = _given_up.get()
    if given_up is not None and given_up.is_set():
        raise OutOfTime(f"given up before {step}: something else is wanted")
    ends_at = _ends_at.get()
    if ends_at is not None and time.monotonic() >= ends_at:
        raise OutOfTime(f"cut off before {step}: the seconds of this run are over")
