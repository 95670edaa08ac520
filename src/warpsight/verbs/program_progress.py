"""Says how far a program is, from two seconds on: how many blocks of a long launch, how long it will take, or launches.

The estimate takes blocks to cost alike, so it comes once some have ended. A launch of one long block has none.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from warpsight.programs.estimate import LONG_S, in_words, launch_seconds_left
from warpsight.vgpu.symbols import kernel_title

if TYPE_CHECKING:
    from warpsight.programs.serve import Server

PATIENCE_S = 2.0
EVERY_S = 10.0


class ProgramProgress:
    """Asked four times a second or so; tells now and then."""

    def __init__(self, tell: Callable[[str], None], cores: int) -> None:
        self._tell, self._cores = tell, cores or os.cpu_count() or 1
        self._next, self._told_launch = PATIENCE_S, -1

    def __call__(self, server: Server, elapsed_s: float) -> None:
        from warpsight.vgpu import _core

        told = server.told
        begun, blocks = _core.progress()
        spent = time.monotonic() - told.since if told.running else 0.0
        fresh = told.launches != self._told_launch and spent >= PATIENCE_S
        if elapsed_s < self._next and not fresh:
            return
        if told.running and blocks and spent >= PATIENCE_S:
            self._say(elapsed_s, long_launch(told.launches, told.running, begun, blocks, spent, self._cores))
            self._told_launch = told.launches
        elif elapsed_s >= self._next and told.launches:
            repeats = f", {server.repeats.skipped:,} of them repeats" if server.repeats.skipped else ""
            self._say(elapsed_s, f"{told.launches:,} launches after {elapsed_s:.0f} s{repeats}")

    def _say(self, elapsed_s: float, text: str) -> None:
        self._tell(text)
        self._next = elapsed_s + EVERY_S


def long_launch(number: int, kernel: str, begun: int, blocks: int, spent_s: float, cores: int) -> str:
    """A launch in words, with what is left of it."""
    text = f"launch {number:,}, {kernel_title(kernel)}: {begun:,} of {blocks:,} blocks begun after {spent_s:.0f} s"
    left = launch_seconds_left(begun, blocks, spent_s, cores)
    if left is None:
        return text
    return f"{text}, about {in_words(left)} to go{'; smaller arguments end sooner' if left >= LONG_S else ''}"
