"""Forks a process for every run it is asked for, so that killing one costs no start-up; it has no threads, so it may.

Reads lines `SECONDS SIGNAL FOLDER`; for each, a child runs the loop on the store in that folder, and gets the signal
after so many seconds (never, if negative). Answers `EXIT_CODE SECONDS`. Only the parent of a process can kill it for
sure and no other: until it has been waited for, its number is not given to another one.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import filelock  # noqa: F401  # the store loads it when it is needed: here once, and not in every child
from tests.reason.small_box import SmallBox, job, stride, turn

from warpsight.models.scripted import ScriptedModel, ScriptedTurn
from warpsight.reason.loop import run_loop
from warpsight.runs.sqlite import SqliteStore

SCRIPT: tuple[ScriptedTurn | str, ...] = (
    turn("profile", "Look first.", base="original"),
    turn("wait", milliseconds=5),
    "I only think aloud here.",
    turn("check", edits=stride(32, 4)),
    turn("time"),
    turn("wait", milliseconds=7),
    turn("profile"),
    turn("nothing", x=1),
    turn("check", edits=stride(4, 2)),
    turn("wait", milliseconds=3),
    turn("time"),
    turn("profile"),
    turn("check", edits=stride(2, 1)),
    turn("wait", milliseconds=6),
    turn("submit", cause="uncoalesced reads at line 3", predicts={"sectors_per_request": "down"}),
)


def run_in(folder: Path) -> None:
    with SqliteStore(folder / "data") as store:
        run_loop(job(), ScriptedModel(SCRIPT), SmallBox(folder / "executed.txt"), store)


def main() -> None:
    for line in sys.stdin:
        after, number, folder = line.strip().split(" ", 2)
        began = time.perf_counter()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                run_in(Path(folder))
                code = 0
            finally:
                os._exit(code)
        if float(after) >= 0:
            time.sleep(max(0.0, float(after) - (time.perf_counter() - began)))
            os.kill(child, int(number))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), time.perf_counter() - began, flush=True)


if __name__ == "__main__":
    main()
