"""The published SGEMM ladder on the virtual RTX A6000: predicted and published speed, and what each term does.

Nothing in the model was fitted to these kernels. Speeds within 5 % of one another count as ties in the order.
"""

from __future__ import annotations

import functools
import itertools
import math
import statistics
import time

from benchmarks.ladder import ENTRY, PUBLISHED_SIZE, Rung, ladder_values, load_ladder
from benchmarks.pairs.first_line import launch_size
from benchmarks.timed import timed
from warpsight.devices.device import Value
from warpsight.vgpu.gpu import Gpu
from warpsight.vgpu.gpus import find_gpu
from warpsight.vgpu.timemodel import TERMS, Prediction

GPU = "rtx-a6000"
STEP_BUDGET = 4_000_000
TIE = 1.05


def predicted(rung: Rung, gpu: Gpu, without: tuple[str, ...] = (), step_budget: int = STEP_BUDGET) -> Prediction:
    n = PUBLISHED_SIZE
    size = launch_size(rung.kernel, {"M": n, "N": n, "K": n})
    return timed(rung.kernel, ENTRY, gpu, _values(), size, step_budget=step_budget, without=without)


@functools.cache
def _values() -> tuple[Value, ...]:
    """The one set of matrices that all rungs share."""
    return ladder_values(PUBLISHED_SIZE, PUBLISHED_SIZE, PUBLISHED_SIZE)


def gflops(time_us: float) -> float:
    return 2 * PUBLISHED_SIZE**3 / time_us / 1e3


def kendall_tau(ours: list[float], theirs: list[float]) -> float:
    """Agreement in order of all pairs that are not ties in the published speeds; 1 is full agreement."""
    agree = total = 0
    for (a, x), (b, y) in itertools.combinations(zip(ours, theirs, strict=True), 2):
        if max(x, y) / min(x, y) < TIE:
            continue
        total += 1
        agree += 1 if (a - b) * (x - y) > 0 else -1
    return agree / total


def summary(ours: list[float], theirs: list[float]) -> tuple[float, float, float]:
    """Kendall's tau, median and worst |log2 ratio|."""
    errors = [abs(math.log2(a / b)) for a, b in zip(ours, theirs, strict=True)]
    return kendall_tau(ours, theirs), statistics.median(errors), max(errors)


def main() -> None:
    gpu, rungs = find_gpu(GPU), load_ladder()
    theirs = [r.published_gflops for r in rungs]
    ours: list[float] = []
    cycles = seconds = 0.0
    print("simulated GFLOP/s against published measurements")
    print(f"{'kernel':>6} {'predicted':>10} {'published':>10} {'log2':>6}  bound by")
    for rung in rungs:
        start = time.perf_counter()
        p = predicted(rung, gpu)
        seconds += time.perf_counter() - start
        cycles += p.simulated_cycles
        ours.append(gflops(p.time_us))
        ratio = math.log2(ours[-1] / rung.published_gflops)
        print(f"{rung.number:6} {ours[-1]:10.0f} {rung.published_gflops:10.0f} {ratio:+6.2f}  {p.bound}", flush=True)
    tau, median, worst = summary(ours, theirs)
    print(f"Kendall's tau {tau:.3f}, median |log2 ratio| {median:.3f}, worst {worst:.3f}")
    print(f"simulated {cycles / 1e6:.1f} M SM cycles in {seconds:.1f} s, tracing included")
    print("without a term (fewer steps simulated):")
    for term in ("nothing left out", *TERMS):
        without = () if term == "nothing left out" else (term,)
        few = [gflops(predicted(r, gpu, without, step_budget=500_000).time_us) for r in rungs]
        tau, median, worst = summary(few, theirs)
        print(f"  {term:24} tau {tau:6.3f}  median {median:.3f}  worst {worst:.3f}", flush=True)
