"""The honest part of a hostile worker: it speaks the protocol of the OpenCL worker and computes tanh(x) + x in NumPy.

Runs in the jail as `python -I attack.py`, in the place of the worker that a native kernel has taken over: whatever such
a kernel could do to its process, these files do in plain sight. Each attack replaces one of the steps.
"""

from __future__ import annotations

import runpy
import sys
import time
from collections.abc import Sequence
from typing import Any

FOLDERS = [word.removeprefix("in=") for word in sys.argv if word.startswith("in=")]
sys.path[:0] = [folder for folder in FOLDERS if folder not in sys.path]  # of the files that every worker is shown

import numpy as np  # noqa: E402
import wire  # noqa: E402
import worker_io  # noqa: E402

GUARD_BYTES = next(int(word.removeprefix("guard=")) for word in sys.argv if word.startswith("guard="))
SLOW_S = 0.15  # longer than the baseline takes, on a busy machine too
Answer = tuple[dict[str, Any], Sequence[Any]]


class Worker:
    """One step for each request. `x` and `y` are the arrays of the last load."""

    def __init__(self) -> None:
        self.blocks: list[bytearray] = []
        self.calls = 0

    def open(self) -> Answer:
        return {}, []

    def files(self) -> Answer:
        return {}, []

    def load(self, blobs: Sequence[Any]) -> Answer:
        self.blocks = [bytearray(blob) for blob in blobs[:2]]
        self.calls += 1
        return {}, []

    def go(self) -> Answer:
        started = time.perf_counter()
        self.work()
        return {"device_us": (time.perf_counter() - started) * 1e6}, []

    def fetch(self) -> Answer:
        return {}, self.blocks

    @property
    def x(self) -> Any:
        return np.frombuffer(self.blocks[0], np.float32)[GUARD_BYTES // 4 : -GUARD_BYTES // 4]

    @property
    def y(self) -> Any:
        return np.frombuffer(self.blocks[1], np.float32)[GUARD_BYTES // 4 : -GUARD_BYTES // 4]

    def work(self) -> None:
        wide = self.x.astype(np.float64)
        self.y[:] = np.tanh(wide) + wide


def serve(worker: Worker) -> None:
    worker_io.lock_down("work")
    while (message := worker_io.read_frame()) is not None:
        header, blobs = wire.unpack(message)
        answer, back = worker.load(blobs) if header["op"] == "load" else getattr(worker, header["op"])()
        worker_io.write_frame(wire.pack(answer, back))


if __name__ == "__main__":
    runpy.run_path(sys.argv[1], run_name="__main__")
