"""Every cause that can be named, and the rewrites for it: the one door of this package.

What must stay true: the same text, cause and facts give the same rewrites; none of them is the text itself, none
stands twice, and no text at all makes this raise.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from warpsight.causes import require_named, with_behind
from warpsight.rewrite.atomics import contended_atomics
from warpsight.rewrite.barriers import needless_barriers
from warpsight.rewrite.blocks import block_too_large, block_too_small, too_few_blocks
from warpsight.rewrite.coalescing import uncoalesced
from warpsight.rewrite.division import division_in_loop
from warpsight.rewrite.fast_math import slow_math
from warpsight.rewrite.lanes import divergence
from warpsight.rewrite.local_arrays import spills
from warpsight.rewrite.merging import one_output_a_thread
from warpsight.rewrite.precision import accidental_double
from warpsight.rewrite.record import Facts, Rewrite
from warpsight.rewrite.registers import reloads
from warpsight.rewrite.shared import bank_conflicts, shared_hog
from warpsight.rewrite.tiles import missing_tile
from warpsight.rewrite.unrolling import missing_unroll
from warpsight.rewrite.vectors import scalar_access

MOST = 8
_LONGEST = 16 * 1024  # a longer text is no kernel that a person would rewrite by rule
CAUSES: Mapping[str, Callable[[str, Facts], Iterable[Rewrite]]] = {
    "uncoalesced": uncoalesced,
    "missing_tile": missing_tile,
    "bank_conflicts": bank_conflicts,
    "scalar_access": scalar_access,
    "block_too_small": block_too_small,
    "block_too_large": block_too_large,
    "shared_hog": shared_hog,
    "spills": spills,
    "divergence": divergence,
    "contended_atomics": contended_atomics,
    "accidental_double": accidental_double,
    "division_in_loop": division_in_loop,
    "slow_math": slow_math,
    "missing_unroll": missing_unroll,
    "reloads": reloads,
    "needless_barriers": needless_barriers,
    "too_few_blocks": too_few_blocks,
    "one_output_a_thread": one_output_a_thread,
}


def rewrites(text: str, cause: str, facts: Facts, most: int = MOST) -> tuple[Rewrite, ...]:
    """The rewrites for a cause, a finding or an alias, in order of promise; none where no rule fits."""
    rules = [CAUSES[name] for name in rewritten_for(cause)]
    if len(text) > _LONGEST:
        return ()
    found: dict[str, Rewrite] = {}
    for one in _in_turn([rule(text, facts) for rule in rules]):
        if one.text != text:
            found.setdefault(one.text, one)
        if len(found) == most:
            break
    return tuple(found.values())


def rewritten_for(word: str) -> tuple[str, ...]:
    """The causes whose rewrites are tried for a word: those it names, else those that are often behind them."""
    own = [name for name in require_named(word) if name in CAUSES]
    return tuple(own or (name for name in with_behind(word) if name in CAUSES))


def _in_turn(some: Sequence[Iterable[Rewrite]]) -> Iterator[Rewrite]:
    """The most promising of each, then the next of each."""
    for row in itertools.zip_longest(*some):
        yield from (one for one in row if one is not None)
