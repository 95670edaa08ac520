"""Pairs of kernels with the same result and a known better one: do the time model and the findings see the difference?

`load_pairs()` is the way in, `load_fresh()` has those added last, `load_ties()` those with no difference; `run_side`
runs one kernel of a pair. No pair carries a measured time: which one is better is common knowledge about such hardware,
not a measurement made here.
"""

from benchmarks.pairs.pair import SIDES, Pair, Side, SideRun, run_side, with_step
from benchmarks.pairs.table import load_fresh, load_pairs, load_ties

__all__ = [
    "SIDES",
    "Pair",
    "Side",
    "SideRun",
    "load_fresh",
    "load_pairs",
    "load_ties",
    "run_side",
    "with_step",
]
