"""Every cause that can be named, and the rewrites for it: the one door of this package.

Other packages add rules by entry points `warpsight.rewrites`: the name is the cause, one of ours or a new one, and the
value a function of a text and `Facts` that gives `Rewrite`s. Theirs come after ours.

What must stay true: the same text, cause and facts give the same rewrites; none of them is the text itself, none
stands twice, and no text at all makes this raise.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from warpsight.causes import require_named, with_behind
from warpsight.plugins import Seam
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
from warpsight.rewrite.restructure.axes import sides_in_order
from warpsight.rewrite.restructure.consecutive import outputs_in_a_row
from warpsight.rewrite.restructure.halo import staged_with_halo
from warpsight.rewrite.restructure.memory_sums import sums_in_registers
from warpsight.rewrite.restructure.packed_dots import packed_dots
from warpsight.rewrite.restructure.privatise import gathered_by_block
from warpsight.rewrite.restructure.products import blocked_product
from warpsight.rewrite.restructure.rows import slices_of_a_column, thread_per_row
from warpsight.rewrite.restructure.staged_chunks import chunks_through_shared
from warpsight.rewrite.restructure.staged_rows import rows_through_shared
from warpsight.rewrite.restructure.warp_atomics import added_by_warp
from warpsight.rewrite.shared import bank_conflicts, shared_hog
from warpsight.rewrite.tiles import missing_tile
from warpsight.rewrite.unrolling import missing_unroll
from warpsight.rewrite.vectors import scalar_access

Rule = Callable[[str, Facts], Iterable[Rewrite]]
RULES = Seam("rewrite", "warpsight.rewrites")
MOST = 8
_LONGEST = 16 * 1024  # a longer text is no kernel that a person would rewrite by rule


def _both(*rules: Rule) -> Rule:
    """The most promising of each rule, then the next of each."""
    return lambda text, facts: _in_turn([rule(text, facts) for rule in rules])


CAUSES: Mapping[str, Rule] = {
    "uncoalesced": _both(uncoalesced, sides_in_order, chunks_through_shared),
    "missing_tile": _both(missing_tile, blocked_product),
    "bank_conflicts": bank_conflicts,
    "scalar_access": _both(scalar_access, packed_dots),
    "block_too_small": block_too_small,
    "block_too_large": block_too_large,
    "shared_hog": shared_hog,
    "spills": spills,
    "divergence": divergence,
    "contended_atomics": _both(contended_atomics, gathered_by_block, added_by_warp),
    "accidental_double": accidental_double,
    "division_in_loop": division_in_loop,
    "slow_math": slow_math,
    "missing_unroll": missing_unroll,
    "reloads": _both(reloads, sums_in_registers),
    "needless_barriers": needless_barriers,
    "too_few_blocks": too_few_blocks,
    "one_output_a_thread": one_output_a_thread,
    "thread_per_row": _both(thread_per_row, rows_through_shared),
    "serial_loop": slices_of_a_column,
    "overlapping_reads": _both(outputs_in_a_row, staged_with_halo),
}


def rewritable() -> tuple[str, ...]:
    """Every cause that can be named here: ours, then those that other packages add."""
    return tuple(dict.fromkeys((*CAUSES, *(plugin.name for plugin in RULES.installed()))))


def rewrites(text: str, cause: str, facts: Facts, most: int = MOST) -> tuple[Rewrite, ...]:
    """The rewrites for a cause, a finding or an alias, in order of promise; none where no rule fits."""
    rules = [_made(text, name, facts) for name in rewritten_for(cause)]
    if len(text) > _LONGEST:
        return ()
    found: dict[str, Rewrite] = {}
    for one in _in_turn(rules):
        if one.text != text:
            found.setdefault(one.text, one)
        if len(found) == most:
            break
    return tuple(found.values())


def rewritten_for(word: str) -> tuple[str, ...]:
    """The causes whose rewrites are tried for a word: those it names, else those that are often behind them."""
    known = rewritable()
    if word in known:
        return (word,)
    own = [name for name in require_named(word) if name in known]
    return tuple(own or (name for name in with_behind(word) if name in known))


def _in_turn(some: Sequence[Iterable[Rewrite]]) -> Iterator[Rewrite]:
    """The most promising of each, then the next of each."""
    for row in itertools.zip_longest(*some):
        yield from (one for one in row if one is not None)


def _made(text: str, cause: str, facts: Facts) -> Iterator[Rewrite]:
    if cause in CAUSES:
        yield from CAUSES[cause](text, facts)
    none: list[Rewrite] = []
    for plugin in RULES.installed():
        if plugin.name == cause:
            yield from plugin.tried(lambda rule=plugin.value: _by_other(rule, text, facts), none)


def _by_other(rule: Rule, text: str, facts: Facts) -> list[Rewrite]:
    """What the rule of another package makes, held to the form of a rewrite, and to no more than can be used."""
    made = list(itertools.islice(rule(text, facts), MOST))
    if wrong := next((one for one in made if not isinstance(one, Rewrite)), None):  # pyright: ignore
        raise TypeError(f"expected Rewrites, got {type(wrong).__name__}")
    return made
