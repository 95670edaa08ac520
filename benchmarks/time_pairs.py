"""Pairs of kernels with a known better one: does the time model order them rightly, on the virtual RTX A6000?"""

from __future__ import annotations

from benchmarks.pairs import SIDES, Pair, load_pairs
from benchmarks.timed import timed
from warpsight.vgpu.gpu import Gpu
from warpsight.vgpu.gpus import find_gpu

GPU = "rtx-a6000"


def times_us(pair: Pair, gpu: Gpu) -> tuple[float, float]:
    """Simulated times of the slow and the fast side at the large size; the slow side's launches are added up."""
    found: list[float] = []
    for side in SIDES:
        p = timed(pair.kernel(side), pair.entry, gpu, pair.values(side, pair.large), pair.launch(side, pair.large))
        found.append(p.time_us * pair.launches(side, pair.large))
    return found[0], found[1]


def main() -> None:
    gpu, right, total = find_gpu(GPU), 0, 0
    for pair in load_pairs():
        slow, fast = times_us(pair, gpu)
        ok = fast < slow
        right, total = right + ok, total + 1
        mark = "" if ok else "   <-- WRONG ORDER"
        print(f"{pair.name:24} slow {slow:10.1f} us, fast {fast:10.1f} us: {slow / fast:6.2f}x{mark}", flush=True)
    print(f"{right} of {total} pairs in the right order")
