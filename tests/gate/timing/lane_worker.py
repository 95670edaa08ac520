"""A kernel in a process of its own, for tests of the timing: y = alpha * x + y, and a duration that is slept.

Manners: honest; forged (says a third of its time); boasting (says more than there was); wrong (one element is off, in
every call after the warm-up); late (says done before it has worked); crash (ends in the middle of its life); disturbing
and disturbed (the latter is slower while the former's process lives). Frames are a length and bytes.
"""

from __future__ import annotations

import json
import struct
import sys
import time
from pathlib import Path


def read(size: int) -> bytes:
    raw = sys.stdin.buffer.read(size)
    if len(raw) < size:
        sys.exit(0)
    return raw


def write(raw: bytes) -> None:
    sys.stdout.buffer.write(struct.pack(">I", len(raw)) + raw)
    sys.stdout.buffer.flush()


def frame() -> bytes:
    return read(struct.unpack(">I", read(4))[0])


def work(seconds: float) -> None:
    time.sleep(seconds)


def main(manner: str, sleep_us: float, flag: Path) -> None:
    import numpy as np

    if manner == "disturbing":
        flag.touch()
    write(b"ready")
    calls = 0
    while True:
        x, y = np.frombuffer(frame(), np.float32), np.frombuffer(frame(), np.float32)
        alpha = np.frombuffer(frame(), np.float32)[0]
        write(b"loaded")
        frame()
        calls += 1
        slow = 3.0 if manner == "disturbed" and flag.exists() else 1.0
        started = time.perf_counter()
        if manner == "crash" and calls == 8:
            sys.exit(7)
        if manner != "late":
            work(slow * sleep_us / 1e6)
        took_us = (time.perf_counter() - started) * 1e6 + 1
        told = {"forged": took_us / 3, "boasting": took_us * 50}.get(manner, took_us)
        write(json.dumps(told).encode())
        frame()
        if manner == "late":
            work(sleep_us / 1e6)
        out = (alpha * x + y).astype(np.float32)
        if manner == "wrong" and calls > 3:
            out[len(out) // 2] += 1
        write(x.tobytes())
        write(out.tobytes())


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), Path(sys.argv[3]))
