"""Runs one program in the jail: copies its folder into the scratch folder, starts it there, waits, hands back files.

Runs as a file of its own, once, then is gone. The request is JSON: arguments, environment, folders to copy, what to
hand back. The answer is a JSON line (status, how many files are left out) and a tar of files. Descriptors that the jail
passed in: 6 the channel to the virtual GPU, 7 device memory, 8 and 9 the program's output and errors; a build has the
last two alone.
"""

# Without pathlib, which costs a starting process ten milliseconds.
# ruff: noqa: PTH100, PTH103, PTH109, PTH112, PTH113, PTH114, PTH116, PTH118, PTH120, PTH123, PTH208

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
from typing import TYPE_CHECKING, Any

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "jail"))
if TYPE_CHECKING:
    from warpsight.jail import worker_io
else:
    import worker_io

CHANNEL, MEMORY, OUTPUT, ERRORS = 6, 7, 8, 9
Stamp = tuple[int, int]


def copy_in(folder: str) -> None:
    """Files and folders as they are; what is no plain file, or does not fit, is left out."""
    names: list[str] = []
    with contextlib.suppress(OSError):
        names = os.listdir(folder)
    for name in names:
        source = os.path.join(folder, name)
        with contextlib.suppress(OSError, shutil.Error):
            if os.path.isdir(source):
                shutil.copytree(source, name, ignore_dangling_symlinks=True, dirs_exist_ok=True)
            elif os.path.isfile(source):
                shutil.copy2(source, name)


def stamps() -> dict[str, Stamp]:
    """Every file under here, with what changes when it is written."""
    found: dict[str, Stamp] = {}
    for folder, _, names in os.walk("."):
        for name in names:
            path = os.path.join(folder, name)
            with contextlib.suppress(OSError):
                status = os.lstat(path)
                found[path] = (status.st_mtime_ns, status.st_size)
    return found


def packed(before: dict[str, Stamp], cap_bytes: int) -> tuple[bytes, int]:
    """A tar of the files that are new or changed, and how many did not fit."""
    held, left_out, total = io.BytesIO(), 0, 0
    with tarfile.open(fileobj=held, mode="w") as tar:
        for path, stamp in sorted(stamps().items()):
            if before.get(path) == stamp or os.path.islink(path) or "/.tmp/" in path:
                continue
            if total + stamp[1] > cap_bytes:
                left_out += 1
                continue
            total += stamp[1]
            with contextlib.suppress(OSError), open(path, "rb") as file:
                tar.addfile(entry(path, stamp[1]), file)
    return held.getvalue(), left_out


def entry(path: str, size: int) -> tarfile.TarInfo:
    """By hand: tarfile would ask for the names of users, which asks a socket, which ends the worker."""
    found = tarfile.TarInfo(path)
    found.size, found.mode = size, os.stat(path).st_mode & 0o777
    return found


def run(asked: dict[str, Any]) -> bytes:
    """One program, from its start to its end."""
    for folder in asked["copy"]:
        copy_in(folder)
    os.makedirs(".tmp", exist_ok=True)
    here = os.getcwd()
    # with SHELL, bash does not ask who the user is: that asks a socket, which ends it
    ours = {"TMPDIR": os.path.join(here, ".tmp"), "HOME": here, "PWD": here, "SHELL": "/bin/sh"}
    environment = {**ours, **asked["environment"]}
    before = stamps() if asked["hand_back"] == "new" else {}
    null = os.open("/dev/null", os.O_RDONLY)
    try:
        child = subprocess.Popen(
            asked["argv"], stdin=null, stdout=OUTPUT, stderr=ERRORS, env=environment, pass_fds=asked["pass"]
        )
    except OSError as problem:
        return json.dumps({"problem": f"{asked['argv'][0]}: {problem.strerror}"}).encode() + b"\n"
    for fd in (*asked["pass"], OUTPUT, ERRORS):
        os.close(fd)
    status = child.wait()
    files, left_out = packed(before, asked["cap_bytes"]) if asked["hand_back"] else (b"", 0)
    return json.dumps({"status": status, "left_out": left_out}).encode() + b"\n" + files


if __name__ == "__main__":
    worker_io.lock_down("tools")
    frame = worker_io.read_frame()
    if frame is not None:
        worker_io.write_frame(run(json.loads(frame)))
