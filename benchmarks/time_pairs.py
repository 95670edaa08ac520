"""Pairs of kernels with a known better one: does the time model order them rightly?"""

from __future__ import annotations

from benchmarks.pairs import SIDES, Pair, load_pairs
from benchmarks.timed import timed
from warpsight.vgpu.gpu import Gpu
from warpsight.vgpu.gpus import find_gpu

GPUS = ("rtx-a6000", "a100")
TIE = 1.01


def times_us(pair: Pair, gpu: Gpu) -> tuple[float, float]:
    """Simulated times of the slow and the fast side at the large size; the slow side's launches are added up."""
    found: list[float] = []
    for side in SIDES:
        p = timed(pair.kernel(side), pair.entry, gpu, pair.values(side, pair.large), pair.launch(side, pair.large))
        found.append(p.time_us * pair.launches(side, pair.large))
    return found[0], found[1]


def verdict(slow: float, fast: float) -> str:
    """Times within one percent of one another are a tie: both kernels wait for the same thing."""
    return "right" if slow > fast * TIE else "WRONG" if fast > slow * TIE else "tie"


def main() -> None:
    for name in GPUS:
        gpu, found = find_gpu(name), list[str]()
        print(f"on the virtual {gpu.name} (simulated):")
        for pair in load_pairs():
            slow, fast = times_us(pair, gpu)
            found.append(verdict(slow, fast))
            ratio = f"{slow / fast:6.2f}x"
            print(f"  {pair.name:24} slow {slow:10.1f} us, fast {fast:10.1f} us: {ratio} {found[-1]}", flush=True)
        counts = ", ".join(f"{found.count(kind)} {kind}" for kind in ("right", "tie", "WRONG"))
        print(f"  of {len(found)} pairs: {counts}")
