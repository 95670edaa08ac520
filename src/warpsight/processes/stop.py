"""What SIGINT, SIGTERM and SIGHUP do to a command: it stops cleanly, with what was finished kept and a code that tells.

A signal becomes a KeyboardInterrupt in the main thread, so everything that ends well on Ctrl-C ends well on all three.
A command that does not come to it, in a long C call, is left without ceremony: all our files are whole after a kill.
What must stay true: a signal that was ignored when we were started (nohup, a job in the background) stays ignored.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
STUCK_S = 1.0  # a main thread that has not seen the signal by then is in a C call
TIDY_S = 8.0  # to write down what is known
AGAIN_S = 1.0  # `timeout` and some launchers send a signal twice at once; a person who means it comes later


class Stopped(KeyboardInterrupt):
    """A signal asks us to end. A type of its own, since Python kills itself after a plain KeyboardInterrupt."""


class _Seen:
    number: int = 0
    at: float = 0.0
    at_once: bool = False
    reached = threading.Event()


def install() -> None:
    """Handle the signals from here on; call it once, in the main thread of a command."""
    ours = [one for one in SIGNALS if signal.getsignal(one) in (signal.SIG_DFL, signal.default_int_handler)]
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    for one in ours:
        signal.signal(one, _stop)
    threading.Thread(target=_watch, args=(reading, {int(one) for one in ours}), daemon=True, name="stop").start()


def leave_at_once() -> None:
    """From here on nothing is open that would have to be written down: a signal ends the process where it stands."""
    _Seen.at_once = True


def code_of_stop() -> int | None:
    """The exit code that the signal means to a shell, when one came."""
    return 128 + _Seen.number if _Seen.number else None


def name_of_stop() -> str:
    """SIGTERM and the like."""
    return signal.Signals(_Seen.number).name


def _stop(number: int, _frame: FrameType | None) -> None:
    if number == signal.SIGHUP and signal.getsignal(signal.SIGTERM) is not _stop:
        signal.raise_signal(signal.SIGTERM)  # a server has its own way to end, and knows only this one
        return
    if _Seen.number:
        if time.monotonic() - _Seen.at > AGAIN_S:
            _leave(number)
        return
    if _Seen.at_once:
        _leave(number, "")
    _Seen.number, _Seen.at = number, time.monotonic()
    _Seen.reached.set()
    raise Stopped(signal.Signals(number).name)


def _watch(reading: int, ours: set[int]) -> None:
    """Told by the kernel at once, whatever the main thread does."""
    while (number := os.read(reading, 1)[0]) not in ours:
        pass
    if _Seen.reached.wait(STUCK_S):
        time.sleep(TIDY_S)
    _leave(number)


def _leave(number: int, where: str = " in the middle of a step") -> None:
    name = signal.Signals(number).name
    os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, f"stopped by {name}{where}\n".encode())
    os._exit(128 + number)
