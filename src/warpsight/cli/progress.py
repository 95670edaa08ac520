"""What a command is doing, on stderr, but only when it takes longer than a person waits without wondering.

A terminal gets one moving line that goes away; anything else gets plain lines. Never touches stdout.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.status import Status

PATIENCE_SECONDS = 2.0


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
