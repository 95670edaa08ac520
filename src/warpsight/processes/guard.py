"""Ends this process when its parent ends: killed, crashed, stopped or done. Imports nothing of the project.

Two promises of the kernel, since each has a gap. PDEATHSIG comes when the thread that started us ends; a program that
gains rights loses it, and so does every child. A pipe whose other end only the parent holds sends SIGKILL to our whole
group when that end closes, also in the middle of a long C call; a program that closes strange files loses it.
Run as `python -I -S guard.py PIPE REFUSED PROGRAM ARGUMENT...` it arms both and becomes
the program.
What must stay true: a process that could not be armed, or whose parent is gone already, does not go on.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import select
import signal
import sys

_PR_SET_PDEATHSIG = 1
_CANNOT_START = 127


def die_with_parent(pipe: int, *, group: bool) -> None:
    """From here on the end of the parent is ours too; `pipe` must stay open. With `group` our group ends with us."""
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PDEATHSIG)")
    fcntl.fcntl(pipe, fcntl.F_SETOWN, -os.getpgrp() if group else os.getpid())
    fcntl.fcntl(pipe, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)
    ended = select.poll()
    ended.register(pipe, 0)
    if ended.poll(0):  # the parent ended before all this was in force
        os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    """Become the program, guarded; where that fails, the error's number goes to the second pipe."""
    pipe, refused, argv = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    die_with_parent(pipe, group=True)
    os.set_inheritable(pipe, True)
    os.set_inheritable(refused, False)
    try:
        os.execvp(argv[0], argv)
    except OSError as problem:
        os.write(refused, str(problem.errno).encode())
    os._exit(_CANNOT_START)


if __name__ == "__main__":
    main()
