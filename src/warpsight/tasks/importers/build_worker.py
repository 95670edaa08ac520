"""Runs a compiler, or what it made, inside the jail: files in, programs run one after the other, files out.

Runs as a file of its own, once, then is gone. Knows no language: the parent names the programs and what to bring back.
A program that fails ends the steps; its output is the answer and no fault of ours.
"""

# Without pathlib, which costs a starting process ten milliseconds.
# ruff: noqa: PTH100, PTH103, PTH109, PTH113, PTH118, PTH120, PTH123

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "jail")]
if TYPE_CHECKING:
    from warpsight.jail import wire, worker_io
else:
    import wire
    import worker_io

SAID_BYTES = 256 << 10


def write_files(names: list[str], blobs: list[memoryview]) -> None:
    """The sources, below the scratch folder we stand in."""
    for name, blob in zip(names, blobs, strict=True):
        os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
        with open(name, "wb") as file:
            file.write(blob)


def run_steps(steps: list[list[str]], environment: dict[str, str], folder: str) -> list[dict[str, Any]]:
    """Each program in turn, until one fails; the parent holds the deadline."""
    done: list[dict[str, Any]] = []
    for argv in steps:
        with open("said.txt", "w+b") as said:
            started = time.perf_counter()
            ended = subprocess.run(
                argv, stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=environment, cwd=folder
            )
            wall_s = time.perf_counter() - started
            said.seek(0)
            text = said.read(SAID_BYTES).decode(errors="replace")
        done.append({"status": ended.returncode, "said": text, "wall_s": wall_s})
        if ended.returncode != 0:
            break
    return done


def build(message: bytes) -> bytes:
    """One request to one answer."""
    asked, blobs = wire.unpack(message)
    write_files(asked["files"], blobs)
    here = os.getcwd()
    os.makedirs("tmp", exist_ok=True)
    environment = {"LC_ALL": "C.UTF-8", "TMPDIR": os.path.join(here, "tmp"), **asked["environment"]}
    steps = run_steps(asked["steps"], environment, asked["folder"])
    found = [name for name in asked["wanted"] if os.path.isfile(name)]
    made: list[bytes] = []
    for name in found:
        with open(name, "rb") as file:
            made.append(file.read())
    return wire.pack({"steps": steps, "made": found}, made)


if __name__ == "__main__":
    worker_io.lock_down("tools")
    frame = worker_io.read_frame()
    if frame is not None:
        worker_io.write_frame(build(frame))
