"""What a run is doing, on stderr while it goes on: the present call, the best kernel so far, what is left.

A terminal gets a few moving lines that go away; anything else gets plain lines, one a step. Never touches stdout.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text

    from warpsight.nouns.run import Spent
    from warpsight.reason.budget import Budget
    from warpsight.reason.progress import Progress


SEARCHING = ("trying ", "kept: ", "judging ")  # what a search by rule tells of its steps


class OptimizeView:
    """Use it as a context; `watch` is for the loop, `say` for what the tools tell while they work."""

    def __init__(self, run: str, budget: Budget, *, quiet: bool = False) -> None:
        from warpsight.nouns.run import Spent

        self._run, self._budget = run, budget
        self._quiet, self._began = quiet, time.monotonic()
        self._doing, self._detail, self._best, self._left, self._steps = "starting", "", "none yet", "", 0
        self._spent = self._earlier = Spent()
        self._left = self._left_of(self._spent)
        self._live: Live | None = None

    def __enter__(self) -> OptimizeView:
        if not self._quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            self._live = Live(
                get_renderable=self._drawn, console=Console(stderr=True), transient=True, refresh_per_second=4
            )
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def watch(self, text: str, progress: Progress) -> None:
        """The loop begins something."""
        self._doing, self._detail = text, ""
        self._steps += 1
        timing = progress.best.timing if progress.best is not None else None
        if timing is not None and timing.ratio is not None:
            self._best = f"{timing.ratio:.3f}x ({timing.source})"
        self._left = self._left_of(progress.spent)
        if self._live is None and not self._quiet:
            left = f"; left: {self._left}" if self._left else ""
            print(f"{self._steps:>3} {text}; best so far: {self._best}{left}", file=sys.stderr, flush=True)

    def begin(self, text: str) -> None:
        """Something that may take long begins before the loop does."""
        self._doing, self._detail = text, ""
        if self._live is None and not self._quiet:
            print(f"    {text}", file=sys.stderr, flush=True)

    def say(self, text: str) -> None:
        """A tool tells what it is at; most of it is too much for plain lines."""
        self._detail = text
        if self._live is None and not self._quiet and text.startswith(SEARCHING):
            print(f"    {text}", file=sys.stderr, flush=True)

    def _drawn(self) -> Text:
        from rich.text import Text

        doing = self._doing if not self._detail or self._detail == self._doing else f"{self._doing}: {self._detail}"
        return Text.assemble(
            (f"{self._run}  ", "dim"), f"{time.monotonic() - self._began:.0f} s\n",
            ("doing  ", "bold"), f"{doing}\n",
            ("best   ", "bold"), f"{self._best}\n",
            ("left   ", "bold"), self._left or "no limit",
        )  # fmt: skip

    def _left_of(self, spent: Spent) -> str:
        """What is left of the whole budget; an attempt that begins anew has spent nothing yet, those before it have."""
        from warpsight.reason.budget import add_spent, left_line

        if spent.tool_calls < self._spent.tool_calls or spent.seconds < self._spent.seconds:
            self._earlier = add_spent(self._earlier, self._spent)
        self._spent = spent
        return left_line(self._budget, add_spent(self._earlier, spent)).strip("[]").removeprefix("budget left: ")
