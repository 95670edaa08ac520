"""Every cause that can be named, and the rewrites for it: the one door of this package.

What must stay true: the same text, cause and facts give the same rewrites; none of them is the text itself, none
stands twice, and no text at all makes this raise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from warpsight.errors import UsageError
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
    """The rewrites for a cause, in order of promise; none where no rule fits."""
    if cause not in CAUSES:
        raise UsageError(f"expected a cause: {', '.join(CAUSES)}; {cause[:60]!r} came")
    if len(text) > _LONGEST:
        return ()
    found: dict[str, Rewrite] = {}
    for one in CAUSES[cause](text, facts):
        if one.text != text:
            found.setdefault(one.text, one)
        if len(found) == most:
            break
    return tuple(found.values())
