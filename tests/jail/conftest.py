"""Hostile workers: a few lines of Python that run jailed as a worker, and what came of them."""

from __future__ import annotations

import itertools
import json
import os
import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from warpsight.jail import Level, Limits, WorkerAnswer, run_jailed
from warpsight.jail.worker import STAGE

SMALL = Limits(wall_s=20, cpu_s=10, memory_bytes=1 << 30, threads=32, scratch_bytes=8 << 20, file_bytes=4 << 20)
HEAD = f"""
import sys
sys.path.append({str(STAGE.parent)!r})
import ctypes, errno, json, os, signal, socket, stat, threading, time
import worker_io
libc = ctypes.CDLL(None, use_errno=True)

def syscall(*words):
    result = libc.syscall(*(ctypes.c_long(w) if isinstance(w, int) else w for w in words))
    return result if result >= 0 else -ctypes.get_errno()

def error_of(call, *words, **more):
    "The name of the error a call fails with, or what it returned."
    try:
        return repr(call(*words, **more))
    except OSError as problem:
        return errno.errorcode.get(problem.errno, str(problem.errno))

worker_io.lock_down(LEVEL)
asked = worker_io.read_frame()

def answer(value):
    worker_io.write_frame(json.dumps(value).encode())
"""

Hostile = Callable[..., WorkerAnswer]


@pytest.fixture
def hostile(tmp_path: Path) -> Hostile:
    """Run a body of Python in the jail, after lock-down and the request; it calls `answer(value)` if it gets there."""

    numbers = itertools.count()

    def run(
        body: str,
        *,
        level: Level = "work",
        limits: Limits = SMALL,
        request: bytes = b"",
        readable: Sequence[Path] = (),
        without: Sequence[str] = (),
    ) -> WorkerAnswer:
        path = tmp_path / f"hostile-{next(numbers)}.py"
        path.write_text(f"LEVEL = {level!r}\n" + HEAD + textwrap.dedent(body))
        argv = [sys.executable, "-I", str(path)]
        return run_jailed(
            argv, request, limits=limits, readable=readable, level=level, without=without, unsafe=bool(without)
        )

    return run


def said(answer: WorkerAnswer) -> object:
    """The JSON a worker answered with."""
    assert answer.event is None and answer.body is not None, answer
    return json.loads(answer.body)


def processes_with(marker: str) -> list[int]:
    """Live processes of this machine that carry the marker in their command line or name."""
    found: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            text = (folder / "cmdline").read_bytes() + (folder / "comm").read_bytes()
            state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if marker.encode() in text and state != "Z" and int(folder.name) != os.getpid():
            found.append(int(folder.name))
    return found
