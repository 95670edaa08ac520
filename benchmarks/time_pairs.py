"""Pairs of kernels with a known better one: does the time model order them rightly? And does it see where none is?"""

from __future__ import annotations

from benchmarks.pairs import SIDES, Pair, load_pairs, load_ties
from benchmarks.timed import timed
from warpsight.vgpu.gpu import Gpu
from warpsight.vgpu.gpus import find_gpu

GPUS = ("rtx-a6000", "a100")
TIE = 1.01
SAME = 1.03
_FIRST = ("copy_order", "stencil_taps", "sums_in_memory", "accumulators", "reduce_strided")
_SECOND = ("copy_float4", "half_pairs", "misaligned_pieces", "reloaded_scale", "transpose_padding")
_MARKED = ("row_maxima",)
REWRITTEN = frozenset((*_FIRST, *_SECOND, *_MARKED))
"""Pairs that were changed after their first prediction was seen; pairs/README.md says why."""


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


def no_difference(slow: float, fast: float) -> bool:
    """Where a tie is what is known: within three percent."""
    return 1 / SAME <= slow / fast <= SAME


def _row(pair: Pair, slow: float, fast: float, word: str) -> None:
    print(f"  {pair.name:24} slow {slow:10.1f} us, fast {fast:10.1f} us: {slow / fast:6.2f}x {word}", flush=True)


def _ordered(gpu: Gpu) -> None:
    found: dict[str, str] = {}
    for pair in load_pairs():
        slow, fast = times_us(pair, gpu)
        found[pair.name] = verdict(slow, fast)
        _row(pair, slow, fast, found[pair.name])
    counts = ", ".join(f"{list(found.values()).count(kind)} {kind}" for kind in ("right", "tie", "WRONG"))
    print(f"  of {len(found)} pairs with a known better kernel: {counts}")
    blind = [word for name, word in found.items() if name not in REWRITTEN]
    print(f"  of the {len(blind)} that were never changed: {blind.count('right')} right")


def _equal(gpu: Gpu) -> None:
    right = total = 0
    for pair in (tie for tie in load_ties() if gpu.key in tie.ties_on):
        slow, fast = times_us(pair, gpu)
        same = no_difference(slow, fast)
        right, total = right + same, total + 1
        _row(pair, slow, fast, "right" if same else "WRONG")
    print(f"  of {total} pairs with a known tie: {right} right (within {100 * (SAME - 1):.0f} %)")


def main() -> None:
    for name in GPUS:
        gpu = find_gpu(name)
        print(f"on the virtual {gpu.name} (simulated):")
        _ordered(gpu)
        _equal(gpu)
