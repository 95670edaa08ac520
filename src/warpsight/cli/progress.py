"""What a command is doing, on stderr, but only when it takes longer than a person waits without wondering.

A terminal gets one moving line that goes away; anything else gets plain lines. Never touches stdout.
"""

from __future__ import annotations

import io
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.status import Status

PATIENCE_SECONDS = 2.0
PLAIN_SECONDS = 10.0


@contextmanager
def progress_on_stderr(patience_seconds: float = PATIENCE_SECONDS) -> Generator[Callable[[str], None], None, None]:
    """Gives a function that says what is being done; it is shown once `patience_seconds` have passed."""
    line = _Line()
    timer = threading.Timer(patience_seconds, line.show)
    timer.daemon = True
    timer.start()
    try:
        yield line.say
    finally:
        timer.cancel()
        line.end()


@contextmanager
def counted_on_stderr(
    things: str, *, quiet: bool = False, every_seconds: float = PLAIN_SECONDS
) -> Generator[Callable[[int, int], None], None, None]:
    """Gives a function of (done, all). A terminal gets a bar that goes away; else a plain line now and then."""
    if quiet:
        yield lambda _done, _all: None
    elif sys.stderr.isatty():
        with _bar(things) as count:
            yield count
    else:
        yield _Plain(things, every_seconds)


@contextmanager
def lines_on_stderr(*, quiet: bool = False) -> Generator[None, None, None]:
    """What is printed meanwhile is progress: never on stdout. A terminal gets one moving line with the last of it."""
    if quiet or not sys.stderr.isatty():
        with redirect_stdout(_Lines(lambda text: None if quiet else print(text, file=sys.stderr, flush=True))):
            yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False) as shown:
        task = shown.add_task("starting", total=None)
        with redirect_stdout(_Lines(lambda text: shown.update(task, description=text))):
            yield


class _Lines(io.TextIOBase):
    """A text stream that hands over whole lines."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show, self._open = show, ""

    def writable(self) -> bool:
        return True

    def write(self, text: str, /) -> int:
        *whole, self._open = (self._open + text).split("\n")
        for line in whole:
            if line.strip():
                self._show(line)
        return len(text)


@contextmanager
def _bar(things: str) -> Generator[Callable[[int, int], None], None, None]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn(things), TimeElapsedColumn(), TextColumn("left:"))
    shown = Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True)
    with shown:
        task = shown.add_task(things, total=None)
        yield lambda done, wanted: shown.update(task, completed=done, total=wanted)


class _Plain:
    """A line at the start, then one as often as a person looks into a log, and one at the end."""

    def __init__(self, things: str, every_seconds: float) -> None:
        self._things, self._every = things, every_seconds
        self._began = self._told = time.monotonic()
        self._first: int | None = None

    def __call__(self, done: int, wanted: int) -> None:
        now = time.monotonic()
        first, self._first = self._first is None, done if self._first is None else self._first
        if not first and done != wanted and now - self._told < self._every:
            return
        self._told = now
        fresh = done - self._first
        left = (now - self._began) / fresh * (wanted - done) if fresh else None
        told = "" if left is None or done == wanted else f", about {left:.0f} s left"
        print(f"... {done} of {wanted} {self._things}{told}", file=sys.stderr, flush=True)


class _Line:
    """The present message and how it is shown. The timer's thread and the working one both come here."""

    def __init__(self) -> None:
        self.text = ""
        self.shown = self.ended = False
        self.status: Status | None = None
        self.lock = threading.Lock()

    def say(self, text: str) -> None:
        with self.lock:
            self.text = text
            self._draw()

    def show(self) -> None:
        with self.lock:
            self.shown = not self.ended
            self._draw()

    def end(self) -> None:
        with self.lock:
            self.ended, self.shown = True, False
            if self.status is not None:
                self.status.stop()

    def _draw(self) -> None:
        if not self.shown or not self.text:
            return
        if not sys.stderr.isatty():
            print(f"... {self.text}", file=sys.stderr, flush=True)
        elif self.status is None:
            from rich.console import Console

            self.status = Console(stderr=True, highlight=False).status(self.text)
            self.status.start()
        else:
            self.status.update(self.text)
