"""Work ahead: while a model writes its next reply, idle cores find out what it is likely to ask of the kernel at hand.

That is its profile, then the rewrites for what the profile shows first. Results are kept by the session, by content, so
a call that was foreseen finds them there and any other call is as it would have been. What must stay true: a session
works for one thread at a time, work ahead is given up as soon as somebody wants the session, nothing starts on cores
that have work, and nothing is done at all on devices that measure or where WARPSIGHT_AHEAD is off.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from warpsight.errors import UsageError, WarpsightError
from warpsight.rewrite import rewritten_for
from warpsight.session.feedback import shows_time
from warpsight.session.search import search
from warpsight.session.session import Session
from warpsight.session.until import unless

PATIENCE_S = 0.2  # a model that answers sooner is not worth a thought
MOST_CAUSES = 2
LOOKS, BETWEEN_LOOKS_S = 3, 0.02
OFF = "WARPSIGHT_AHEAD"
RUNNING = Path("/proc/loadavg")


@dataclass(frozen=True)
class Foreseen:
    """One thing that was found out ahead: of which kernel, and how many seconds it took, by the clock."""

    kernel: str
    what: str
    seconds: float


@dataclass
class WorkAhead:
    """For one session. `done` is what was finished, in its order."""

    session: Session
    done: list[Foreseen] = field(default_factory=list[Foreseen])
    _thread: threading.Thread | None = None
    _given_up: threading.Event = field(default_factory=threading.Event)

    def begin(self, kernel: str) -> None:
        """Think about this kernel from now on, and no longer about another."""
        self.end()
        if self.session.simulator is None or not may_work_ahead():
            return
        self._given_up = threading.Event()
        self._thread = threading.Thread(target=self._work, args=(kernel, self._given_up), daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Give up what is under way: it ends at its next step. The session is free afterwards."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._given_up.set()
            thread.join()

    def _work(self, kernel: str, given_up: threading.Event) -> None:
        if given_up.wait(PATIENCE_S):
            return
        try:
            with unless(given_up):
                steps = self._steps(kernel)
                while is_idle() and not given_up.is_set():
                    began = time.monotonic()
                    what = next(steps, None)
                    if what is None:
                        return
                    self.done.append(Foreseen(kernel, what, time.monotonic() - began))
        except WarpsightError:
            return  # given up, or nothing that can be had: whoever asks for it is told

    def _steps(self, kernel: str) -> Iterator[str]:
        """Each is done when its name comes."""
        if self.session.feedback == "wrong" or not shows_time(self.session.feedback):
            return
        findings = self.session.diagnose(self.session.candidate(kernel))
        yield "profile"
        causes = dict.fromkeys(cause for finding in findings for cause in _causes(finding.name))
        for cause in list(causes)[:MOST_CAUSES]:
            search(self.session, kernel, cause)
            yield f"rewrite {cause}"


def _causes(finding: str) -> tuple[str, ...]:
    try:
        return rewritten_for(finding)
    except UsageError:
        return ()  # a finding of another package, with a name of its own


def may_work_ahead() -> bool:
    return os.environ.get(OFF, "") not in ("off", "0")


def is_idle() -> bool:
    """Whether a core has nothing to do, at several looks; never where this system does not say."""
    cores = os.cpu_count() or 1
    for look in range(LOOKS):
        if look:
            time.sleep(BETWEEN_LOOKS_S)
        try:
            running = int(RUNNING.read_text().split()[3].partition("/")[0]) - 1  # without us, who look
        except (OSError, ValueError, IndexError):
            return False
        if running >= cores:
            return False
    return True
