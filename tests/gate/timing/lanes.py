"""A device whose lanes are Python processes of a chosen duration: real processes, real clocks, no compiler."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from warpsight.devices.device import Execution, TimedCall, Value
from warpsight.nouns import Build, Fault, Profile, Source
from warpsight.tasks import LaunchSize

WORKER = Path(__file__).with_name("lane_worker.py")


class Gone(Exception):
    """The worker ended."""


class ProcessLane:
    """One worker process; `close` ends it and takes its flag away, as if it had never been."""

    def __init__(self, manner: str, sleep_us: float, flag: Path) -> None:
        self.flag = flag if manner == "disturbing" else None
        self.process = subprocess.Popen(
            [sys.executable, "-I", str(WORKER), manner, str(sleep_us), str(flag)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.take()

    def call(self, values: Sequence[Value], size: LaunchSize) -> TimedCall:
        by_name = {v.name: v.array for v in values}
        start = time.perf_counter()
        try:
            for name in ("x", "y", "alpha"):
                self.give(by_name[name].tobytes())
            self.take()
            before = time.perf_counter()
            self.give(b"go")
            told = json.loads(self.take())
            after = time.perf_counter()
            self.give(b"fetch")
            arrays = {name: np.frombuffer(self.take(), np.float32) for name in ("x", "y")}
        except (Gone, BrokenPipeError):
            return TimedCall(float("nan"), float("nan"), {}, (Fault(kind="crash", message="the worker ended"),))
        end = time.perf_counter()
        return TimedCall(told, (after - before) * 1e6, arrays, total_us=(end - start) * 1e6)

    def give(self, raw: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(struct.pack(">I", len(raw)) + raw)
        self.process.stdin.flush()

    def take(self) -> bytes:
        return self._read(struct.unpack(">I", self._read(4))[0])

    def _read(self, size: int) -> bytes:
        assert self.process.stdout is not None
        raw = self.process.stdout.read(size)
        if len(raw) < size:
            raise Gone
        return raw

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None and not stream.closed:
                try:
                    stream.close()
                except BrokenPipeError:
                    continue
        self.process.wait()
        if self.flag is not None:
            self.flag.unlink(missing_ok=True)


@dataclass(frozen=True)
class ProcessDevice:
    """`kernels` says for each build's text what its lane does: manner and microseconds."""

    kernels: Mapping[str, tuple[str, float]]
    flag: Path

    name = "processes"
    source: Source = "measured"

    def open_lane(self, build: Build, entry: str) -> ProcessLane:
        return ProcessLane(*self.kernels[build.source_sha256], self.flag)

    def execute(
        self, build: Build, entry: str, values: Sequence[Value], size: LaunchSize, *, check: bool, source_text: str = ""
    ) -> Execution:
        raise NotImplementedError

    def profile(
        self, build: Build, entry: str, values: Sequence[Value], size: LaunchSize, *, source_text: str
    ) -> Profile:
        raise NotImplementedError
