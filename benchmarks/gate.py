"""What the gate's own decisions are worth: false improvements, power, and cost, idle and under a load of our own.

Kernels are `spin` on the OpenCL device, about 1 ms. Each comparison is the gate's (pairs, looks, second measurement for
winners) between worker processes taken at random from a small pool that is renewed, so two processes of one kernel
differ as they do in use. `gate:30` compares 30 times instead of 300; the cost is of whole evaluations.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Generator
from pathlib import Path

import numpy as np

from benchmarks.spin import spin_kernel, spin_task, spin_text
from warpsight.devices.opencl import OpenClDevice
from warpsight.devices.opencl_build import build_opencl
from warpsight.devices.opencl_lane import OpenClLane
from warpsight.gate.compare_pair import measured_timing
from warpsight.gate.evaluate import evaluate
from warpsight.gate.fresh import FreshContents
from warpsight.gate.kernel import timed_workload
from warpsight.gate.timing import PairTimer, TimedSide
from warpsight.nouns import Candidate, Task, Timing
from warpsight.nouns.timing import Measurement
from warpsight.tasks import evaluate_launch, read_candidate

COUNT = 300
POOL = 4
RENEW_EVERY = 12
WANTED_US = 1000.0
ELEMENTS = 2048
UNIT = 160  # steps come in multiples of it, so that 5 % fewer is a multiple of 8 as well: loops are unrolled
COST_RUNS = 12
SPIN_FOR_EVER = "while True: pass"


class Pool:
    """Worker processes of one kernel; one that was closed or has served long enough is replaced."""

    def __init__(self, device: OpenClDevice, task: Task, candidate: Candidate) -> None:
        self.device, self.task, self.candidate = device, task, candidate
        self.build = build_opencl(task, candidate)
        self.size = evaluate_launch(candidate, timed_workload(task).axes)
        self.lanes: list[tuple[OpenClLane, int]] = []

    def take(self, random: np.random.Generator, count: int) -> list[TimedSide]:
        fresh = [(lane, used) for lane, used in self.lanes if not lane.ended and used < RENEW_EVERY]
        for lane, _ in self.lanes:
            if all(lane is not kept for kept, _ in fresh):
                lane.close()
        while len(fresh) < POOL:
            fresh.append((self.device.open_lane(self.build, self.task.entry), 0))
        self.lanes = [(lane, used + 1) for lane, used in fresh]
        return [TimedSide(self.lanes[int(k)][0], self.size) for k in random.permutation(POOL)[:count]]

    def close(self) -> None:
        for lane, _ in self.lanes:
            lane.close()


def compared(task: Task, baseline: Pool, candidate: Pool, seed: int) -> Timing:
    """The gate's comparison between processes of the pools. For A/A both pools are one."""
    random = np.random.default_rng(seed)
    workload = timed_workload(task)
    contents = FreshContents(task, workload, seed)

    def once(at: int) -> Timing:
        sides = baseline.take(random, 2)
        mine = sides[1] if candidate is baseline else candidate.take(random, 1)[0]
        timer = PairTimer(task, workload, seed=seed + at, budget_s=2.5, contents=contents)
        taken.append(timer.measure(sides[0], mine))
        return measured_timing("opencl", workload.name, tuple(taken), None)

    taken: list[Measurement] = []
    found = once(0)
    return once(1) if found.decision == "FASTER" else found


def calibrated_steps(device: OpenClDevice, task: Task) -> int:
    """Steps for about 1 ms on this machine now."""
    steps = 400
    for _ in range(3):
        pool = Pool(device, task, spin_kernel(task, steps))
        side = pool.take(np.random.default_rng(0), 1)[0]
        contents = FreshContents(task, timed_workload(task), 1)
        took = statistics.median(side.lane.call(contents.draw().values, side.size).device_us for _ in range(15))
        pool.close()
        steps = UNIT * max(1, round(steps * WANTED_US / took / UNIT))
    return steps


@contextlib.contextmanager
def load(processes: int) -> Generator[None, None, None]:
    busy = [subprocess.Popen([sys.executable, "-c", SPIN_FOR_EVER]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def repeat(name: str, count: int, one: Callable[[int], Timing]) -> list[Timing]:
    """Run it `count` times and print what came of it."""
    found: list[Timing] = []
    start = time.monotonic()
    for n in range(count):
        found.append(one(1000 + 7 * n))
        if (n + 1) % 25 == 0 or n + 1 == count:
            seconds = (time.monotonic() - start) / (n + 1)
            tally = ", ".join(f"{k} {v}" for k, v in sorted(Counter(str(t.decision) for t in found).items()))
            print(f"  {name}: {n + 1} of {count}, {seconds:.2f} s each: {tally}", flush=True)
    reasons = Counter(t.reason for t in found if t.reason)
    if reasons:
        print(f"    reasons: {', '.join(f'{k} {v}' for k, v in reasons.most_common())}")
    once = sum(t.measurements[0].decision == "FASTER" for t in found)
    print(f"    faster in the first measurement: {once}, in both: {sum(t.decision == 'FASTER' for t in found)}")
    return found


def decisions(device: OpenClDevice, task: Task, steps: int, count: int) -> None:
    one, other = Pool(device, task, spin_kernel(task, steps)), Pool(device, task, spin_kernel(task, steps * 95 // 100))
    try:
        same = repeat("A/A", count, lambda seed: compared(task, one, one, seed))
        false = sum(t.decision == "FASTER" for t in same)
        print(f"  false improvements: {false} of {count} ({100 * false / count:.1f} %; aim 1 % or less)")
        gains = repeat("5 % less work", max(10, count // 3), lambda seed: compared(task, one, other, seed))
        right = sum(t.decision in ("FASTER", "AMBIGUOUS") for t in gains)
        wrong = sum(t.decision == "SLOWER" for t in gains)
        print(f"  faster or ambiguous: {100 * right / len(gains):.0f} % (aim 95 %), wrong sign: {wrong}")
    finally:
        one.close()
        other.close()


def cost(device: OpenClDevice, task: Task, steps: int) -> None:
    """Seconds of whole evaluations, from text to verdict, the compile included."""
    baseline = spin_kernel(task, steps)
    wrong = read_candidate(spin_text(steps).replace("+ kept +", "+ 2 * kept +"), task, "kernel.cl")
    broken = read_candidate(spin_text(steps).replace("float kept", "flot kept"), task, "kernel.cl")
    crash = read_candidate(spin_text(steps).replace("y[i] =", "*(__global float*)8 ="), task, "kernel.cl")
    halves = [spin_kernel(task, steps // 2 + n) for n in range(COST_RUNS)]
    for name, candidates in (
        ("half the work", halves),
        ("the same kernel", [baseline] * COST_RUNS),
        ("rejections", [wrong, broken, crash] * (COST_RUNS // 3)),
    ):
        seconds = [_seconds(task, candidate, baseline, device) for candidate in candidates]
        p95 = sorted(seconds)[min(len(seconds) - 1, round(0.95 * len(seconds)))]
        quick = sum(s <= 3 for s in seconds)
        told = f"median {statistics.median(seconds):.2f} s, p95 {p95:.2f} s, {quick} of {len(seconds)} within 3 s"
        print(f"  full gate, {name}: {told}", flush=True)


def _seconds(task: Task, candidate: Candidate, baseline: Candidate, device: OpenClDevice) -> float:
    start = time.monotonic()
    evaluate(task, candidate, baseline, device)
    return time.monotonic() - start


def main(argument: str = "") -> None:
    count = int(argument) if argument else COUNT
    cores = os.cpu_count() or 1
    with tempfile.TemporaryDirectory() as folder, OpenClDevice() as device:
        task = spin_task(Path(folder) / "spin", elements=ELEMENTS)
        steps = calibrated_steps(device, task)
        print(f"spin with {steps} steps; one-minute load before: {os.getloadavg()[0]:.1f}", flush=True)
        for name, processes in (("no load of ours", 0), (f"{cores} processes that spin", cores)):
            print(f" {name}:", flush=True)
            with load(processes):
                decisions(device, task, steps, count)
                cost(device, task, steps)
