"""Work for the tests of executors; a module of its own, so that workers find it."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

from warpsight.errors import UsageError


def square(number: int) -> int:
    return number * number


def slow_first(number: int) -> tuple[int, float]:
    time.sleep(0.5 if number == 0 else 0)
    return number, time.monotonic()


def noted(unit: tuple[str, int]) -> int:
    """Leaves a note of each time that it ran, and where."""
    folder, number = Path(unit[0]), unit[1]
    (folder / f"{number}-{os.getpid()}-{time.monotonic_ns()}").touch()
    time.sleep(0.05)
    return number


def refuse(number: int) -> int:
    if number == 3:
        raise UsageError("three is refused", hint="another")
    return number


def die_once(unit: tuple[str, int]) -> int:
    """The worker of number 2 is killed the first time, as by want of memory."""
    mark = Path(unit[0]) / "died"
    if unit[1] == 2 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return unit[1]


def stay(number: int) -> int:
    """Leaves a thread behind that outlives the work, so that its process cannot end by itself."""
    threading.Thread(target=time.sleep, args=(600,)).start()
    return number
