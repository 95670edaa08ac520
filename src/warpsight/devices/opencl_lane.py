"""One OpenCL kernel in one jailed worker: the parent's side. Lays out memory, keeps the clock, checks what comes back.

The kernel is native code and owns its process. So every array travels as a block with random guard bytes around it,
which are compared here; arrays lie at random places of a larger pool; wall time is read here; whatever the worker
answers is bytes of a stranger, and a worker that dies is a Fault, never an exception.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpsight.devices.device import TimedCall, Value
from warpsight.devices.opencl_build import ALWAYS, compile_opencl, has_block, worker_argv, worker_files
from warpsight.devices.opencl_cpu import relative_of_this_machine
from warpsight.jail import JailedWorker, Limits, WorkerEvent, WorkerLost, scrubbed, wire
from warpsight.nouns import Build, Dim3, Fault
from warpsight.nouns.dtypes import wire_dtype
from warpsight.tasks import LaunchSize

RUN_WORKER = Path(__file__).with_name("opencl_worker.py")
GUARD_BYTES = 16 << 10
ADDRESS_STEP = 256
SLACK_BYTES = 1 << 20
START_S = 60.0
# What the jail calls the end of a worker, and what it means for a kernel.
FAULT_KINDS = {"killed_by_signal": "crash", "cpu_limit": "deadline", "seccomp_violation": "forbidden_call"}
NAN = float("nan")


@dataclass(frozen=True)
class LaneSettings:
    """What every worker of a device may use."""

    threads: int = field(default_factory=lambda: os.cpu_count() or 1)
    deadline_s: float = 60.0
    memory_bytes: int = 4 << 30
    unsafe: bool = False


@dataclass(frozen=True)
class LaneRun:
    """What one launch did, as far as the parent could see."""

    arrays: dict[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])
    faults: tuple[Fault, ...] = ()
    refused: str = ""
    printed: str = ""
    device_us: float = NAN
    wall_us: float = NAN
    total_us: float = NAN


@dataclass(frozen=True)
class Placed:
    """Where one array lies: its block in the pool and the bytes that were sent."""

    value: Value
    at: int
    sent: NDArray[np.uint8]


class OpenClLane:
    """A kernel and its worker, which is opened at the first call and is gone after a fault that ends it.

    `start` lets the worker load while the caller does something else, such as starting another one.
    """

    def __init__(self, build: Build, entry: str, settings: LaneSettings) -> None:
        self.build, self.entry, self.settings = build, entry, settings
        self._worker: JailedWorker | None = None
        self._open = False
        self._lost: Fault | None = None
        self._blocks: set[Dim3] = set()
        self._random = np.random.default_rng()  # the operating system seeds it: a worker cannot know what comes

    @property
    def ended(self) -> bool:
        """Whether a fault has ended the worker: every later call returns that fault."""
        return self._lost is not None

    def call(self, values: Sequence[Value], size: LaunchSize) -> TimedCall:
        ran = self.run(values, size)
        faults = ran.faults or ((Fault(kind="refused", message=ran.refused),) if ran.refused else ())
        return TimedCall(ran.device_us, ran.wall_us, ran.arrays, faults, ran.total_us)

    def close(self) -> None:
        if self._worker is not None:
            self._worker.close()
        self._lost = self._lost or Fault(kind="closed", message="the lane was closed")

    def run(self, values: Sequence[Value], size: LaunchSize) -> LaneRun:
        """Launch once on these contents. The arrays given are not changed."""
        if self._lost is not None:
            return LaneRun(faults=(self._lost,))
        try:
            worker = self._opened()
            if refused := self._prepare(worker, size.block):
                return LaneRun(refused=refused)
            return self._launch(worker, values, size)
        except WorkerLost as lost:
            self._lost = fault_of(lost.event)
        except (wire.BadMessage, KeyError, TypeError, ValueError) as problem:
            self._lost = Fault(kind="bad_answer", message=f"the worker's answer is not one: {problem}")
        self.close()
        return LaneRun(faults=(self._lost,))

    @property
    def worker_pid(self) -> int | None:
        return None if self._worker is None else self._worker.worker_pid()

    def start(self) -> None:
        """Start the worker and do not wait for it."""
        if self._worker is None and self._lost is None:
            self._worker = self._started()

    def _started(self) -> JailedWorker:
        settings = self.settings
        limits = Limits(
            wall_s=settings.deadline_s,
            cpu_s=24 * 3600,  # a lane lives for many launches; each has a deadline of its own
            memory_bytes=settings.memory_bytes,
            threads=settings.threads + 16,
            answer_bytes=settings.memory_bytes // 4,
            scratch_bytes=64 << 20,
        )
        return JailedWorker(
            worker_argv(RUN_WORKER, relative_of_this_machine(), str(settings.threads)),
            limits=limits,
            readable=worker_files(),
            unsafe=settings.unsafe,
            name="the OpenCL worker",
            level="work",
        )

    def _opened(self) -> JailedWorker:
        self.start()
        assert self._worker is not None
        if not self._open:
            self._ask(*self._open_request())
            self._open = True
        return self._worker

    def _open_request(self) -> tuple[dict[str, Any], list[memoryview]]:
        names, blobs = self._files(self.build)
        options = [*ALWAYS, *self.build.options]
        return {"op": "open", "text": self.build.text, "options": options, "entry": self.entry, **names}, blobs

    def _files(self, build: Build) -> tuple[dict[str, Any], list[memoryview]]:
        header, blobs = wire.unpack(build.native)
        return {"names": header["names"]}, blobs

    def _prepare(self, worker: JailedWorker, block: Dim3) -> str:
        """Native code for a block size that the build was not made for; why there is none, or nothing."""
        if block in self._blocks or has_block(self.build, self.entry, block):
            return ""
        build = self.build
        more = compile_opencl(
            build.text, entry=self.entry, options=build.options, blocks=[block], unsafe=self.settings.unsafe
        )
        if not more.ok:
            return next((d.message for d in more.diagnostics if d.severity == "error"), "it does not compile")
        names, blobs = self._files(more)
        self._ask({"op": "files", **names}, blobs)
        self._blocks.add(block)
        return ""

    def _launch(self, worker: JailedWorker, values: Sequence[Value], size: LaunchSize) -> LaneRun:
        placed, pool = self._lay_out(values)
        request, blobs = _load_request(values, placed, pool, size)
        started = time.perf_counter_ns()
        if refused := self._ask(request, blobs)[0].get("refused"):
            return LaneRun(refused=scrubbed(str(refused)[:1000]))
        go = wire.pack({"op": "go"})
        before = time.perf_counter_ns()
        body = worker.ask(go, self.settings.deadline_s)
        after = time.perf_counter_ns()
        printed = worker.log()
        done, _ = wire.unpack(body)
        if refused := done.get("refused"):
            return LaneRun(refused=scrubbed(str(refused)[:1000]))
        _, back = self._ask({"op": "fetch"})
        ended = time.perf_counter_ns()
        printed += worker.log()
        arrays, faults = _taken(placed, back)
        device_us = _time(done["device_us"])
        text = printed.decode(errors="replace")
        return LaneRun(arrays, faults, "", text, device_us, (after - before) / 1000, (ended - started) / 1000)

    def _ask(self, header: dict[str, Any], blobs: Sequence[Any] = ()) -> tuple[dict[str, Any], list[memoryview]]:
        assert self._worker is not None
        wall_s = max(START_S, self.settings.deadline_s)
        return wire.unpack(self._worker.ask(wire.pack(header, blobs), wall_s))

    def _lay_out(self, values: Sequence[Value]) -> tuple[list[Placed], int]:
        """A block for each array (guard, contents, guard), in random order with random gaps between them."""
        arrays = [value for value in values if not value.is_scalar]
        placed: dict[str, Placed] = {}
        at = 0
        order: list[int] = self._random.permutation(len(arrays)).tolist()
        for value in (arrays[index] for index in order):
            contents = np.ascontiguousarray(value.array).reshape(-1).view(np.uint8)
            before, after = np.frombuffer(self._random.bytes(2 * GUARD_BYTES), np.uint8).reshape(2, GUARD_BYTES)
            block = np.concatenate([before, contents, after])
            at += ADDRESS_STEP * int(self._random.integers(0, SLACK_BYTES // ADDRESS_STEP // max(1, len(arrays))))
            placed[value.name] = Placed(value, at, block)
            at += -(-block.nbytes // ADDRESS_STEP) * ADDRESS_STEP
        return [placed[value.name] for value in arrays], at


def _load_request(
    values: Sequence[Value], placed: Sequence[Placed], pool: int, size: LaunchSize
) -> tuple[dict[str, Any], list[Any]]:
    by_name = {place.value.name: place for place in placed}
    described: list[dict[str, Any]] = []
    blobs: list[Any] = []
    for value in values:
        if value.is_scalar:
            described.append({"dtype": wire_dtype(value.array)})
            blobs.append(value.array.tobytes())
        else:
            place = by_name[value.name]
            described.append({"at": place.at, "guard": GUARD_BYTES})
            blobs.append(place.sent)
    whole = [grid * block for grid, block in zip(size.grid, size.block, strict=True)]
    header = {"op": "load", "pool": pool, "values": described, "shared": size.shared_bytes}
    return {**header, "global": whole, "local": list(size.block)}, blobs


def _taken(placed: Sequence[Placed], back: Sequence[memoryview]) -> tuple[dict[str, np.ndarray], tuple[Fault, ...]]:
    """The arrays out of their blocks, and a fault for each guard that is not as it was."""
    if [len(blob) for blob in back] != [place.sent.nbytes for place in placed]:
        raise wire.BadMessage("the blocks that came back are not those that were sent")
    arrays: dict[str, np.ndarray] = {}
    faults: list[Fault] = []
    for place, blob in zip(placed, back, strict=True):
        name, block = place.value.name, np.frombuffer(blob, np.uint8)
        end = len(block) - GUARD_BYTES
        array = place.value.array
        arrays[name] = block[GUARD_BYTES:end].copy().view(array.dtype).reshape(array.shape)
        for side, part, first in (("before", slice(0, GUARD_BYTES), -GUARD_BYTES), ("after", slice(end, None), 0)):
            changed = np.flatnonzero(block[part] != place.sent[part])
            if len(changed):
                nearest = int(changed[-1] if side == "before" else changed[0]) + first
                distance = -nearest if side == "before" else nearest + 1
                told = f"{len(changed)} bytes {side} {name} were overwritten, the nearest {distance} from its edge"
                faults.append(Fault(kind="out_of_bounds", message=told, array=name, count=len(changed)))
    return arrays, tuple(faults)


def fault_of(event: WorkerEvent) -> Fault:
    """The end of a worker as a fault of the kernel in it."""
    return Fault(kind=FAULT_KINDS.get(event.kind, event.kind), message=event.detail)


def _time(told: Any) -> float:
    if type(told) not in (int, float) or not math.isfinite(told) or told < 0:
        raise wire.BadMessage(f"expected a time, {told!r:.50} came")
    return float(told)
