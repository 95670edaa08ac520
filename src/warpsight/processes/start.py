"""Starts one program, in a session of its own, which ends with us. Knows nothing of what it prints or how long it runs.

The program gets exactly the environment given. Its number is that of the `RunningProgram`, so it can be signalled
and watched.
"""

from __future__ import annotations

import os
import subprocess
import sys
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

GUARD = Path(__file__).with_name("guard.py")


class RunningProgram(subprocess.Popen[bytes]):
    """A running program. Who lets go of the record ends the program: nothing is left that nobody waits for."""

    def hold(self, lifeline: int) -> None:
        """Our end of the pipe, which is open as long as this record lives."""
        self.let_go = weakref.finalize(self, os.close, lifeline)


def start_program(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    stdin: int | IO[bytes] = subprocess.DEVNULL,
    stdout: int | IO[bytes] = subprocess.DEVNULL,
    stderr: int | IO[bytes] = subprocess.DEVNULL,
    cwd: Path | None = None,
) -> RunningProgram:
    """Start it; FileNotFoundError or PermissionError when there is no such program."""
    held, lifeline = os.pipe()
    refusal, refused = os.pipe()
    try:
        started = RunningProgram(
            [sys.executable, "-I", "-S", str(GUARD), str(held), str(refused), *argv],
            stdin=stdin, stdout=stdout, stderr=stderr, cwd=cwd, env=dict(env), pass_fds=(held, refused),
            start_new_session=True,
        )  # fmt: skip
    except BaseException:
        os.close(lifeline)
        os.close(refusal)
        raise
    finally:
        os.close(held)
        os.close(refused)
    started.hold(lifeline)
    with os.fdopen(refusal, "rb") as told:  # ends when the program runs
        number = told.read()
    if number:
        started.wait()
        raise OSError(int(number), os.strerror(int(number)), argv[0])
    return started
