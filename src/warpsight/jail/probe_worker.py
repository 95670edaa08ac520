"""Tries the walls of the jail from inside, for `probes.py`. Runs jailed, imports nothing of the project but worker_io.

Answers which walls held, by name. Each try is harmless if it succeeds.
"""

# Without pathlib, which costs a starting process ten milliseconds.
# ruff: noqa: PTH100, PTH101, PTH108, PTH110, PTH120, PTH123

from __future__ import annotations

import ctypes
import errno
import json
import os
import resource
import signal
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
if TYPE_CHECKING:
    from warpsight.jail import worker_io
else:
    import worker_io

SIGNAL_NOBODY = 0
_SYS_PTRACE = 101


def refused(code: int, call: Callable[..., object], *arguments: object) -> bool:
    """Whether the call fails with this error."""
    try:
        call(*arguments)
    except OSError as problem:
        return problem.errno == code
    return False


def ends_by(number: int, call: Callable[..., object], *arguments: object) -> bool:
    """Whether a child that makes the call is ended by this signal."""
    child = os.fork()
    if child == 0:
        call(*arguments)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == number


def only_scratch_is_writable(limit: int) -> bool:
    """Nothing can be written outside the scratch folder, and no more than its size inside."""
    if not any(refused(code, open, "/outside", "w") for code in (errno.EROFS, errno.EACCES)):
        return False
    with open("filling", "wb") as file:
        full = refused(errno.ENOSPC, os.posix_fallocate, file.fileno(), 0, 2 * limit)
    os.unlink("filling")
    return full


def scratch_starts_nothing() -> bool:
    """Landlock alone refuses to start a file from the scratch folder; the bare kernel would say it is no program."""
    path = "program"
    with open(path, "w") as file:
        file.write("no program\n")
    os.chmod(path, 0o755)
    held = refused(errno.EACCES, os.execv, path, [path])
    os.unlink(path)
    return held


def tries(request: dict[str, Any]) -> dict[str, bool]:
    """Every wall that can be felt from inside, and whether it held."""
    parent, limits = int(request["parent"]), dict(request["limits"])
    ptrace = ctypes.CDLL(None).syscall
    return {
        "mount namespace": not os.path.exists(request["canary"])
        and only_scratch_is_writable(int(request["scratch_bytes"])),
        "process namespace": refused(errno.ESRCH, os.kill, parent, SIGNAL_NOBODY),
        "host name namespace": os.uname().nodename == request["host_name"],
        "landlock files": scratch_starts_nothing(),
        "landlock scope": refused(errno.EPERM, os.kill, 1, SIGNAL_NOBODY),
        "seccomp": ends_by(signal.SIGSYS, ptrace, _SYS_PTRACE, 16, 1, 0, 0),
        "limits": all(resource.getrlimit(getattr(resource, name))[1] == value for name, value in limits.items()),
        "empty environment": set(os.environ) <= {"LC_CTYPE"},
    }


if __name__ == "__main__":
    worker_io.lock_down("tools")
    asked = worker_io.read_frame()
    assert asked is not None
    worker_io.write_frame(json.dumps(tries(json.loads(asked))).encode())
