"""`thread_per_row`: a thread walks a row by itself, so a warp reads 32 rows at once. A warp or a block for each."""

from __future__ import annotations

from collections.abc import Iterator

from warpsight.rewrite.record import Facts, Rewrite
from warpsight.rewrite.restructure.carried_stores import carried_in_registers
from warpsight.rewrite.restructure.layouts import SharingLayout
from warpsight.rewrite.restructure.memory_sums import in_registers
from warpsight.rewrite.restructure.sharing import SharedLoop, Walk, read_walk, share
from warpsight.source.tree import NotUnderstood

GROUPS = ((32, 128), (256, 256), (32, 256), (128, 128), (8, 128), (1024, 1024))  # lanes, threads of a block
SLICES = ((32, 8), (32, 16), (64, 4), (32, 32))  # columns, slices
WHY = "a thread walks a whole row: let lanes that stand side by side read neighbouring elements of it"
WHY_SLICES = "few threads walk far: let several of a block walk a slice each"


def thread_per_row(text: str, facts: Facts) -> Iterator[Rewrite]:
    """Loops over a row shared by a warp, by a block, by eight lanes."""
    try:
        walk = read_walk(_normal(text, facts), facts.entry)
    except NotUnderstood:
        return
    layouts = [SharingLayout(walk.threads, block // lanes, lanes) for lanes, block in GROUPS]
    yield from _shared(walk, layouts, WHY)


def slices_of_a_column(text: str, facts: Facts) -> Iterator[Rewrite]:
    """The same for threads that go side by side along columns."""
    try:
        walk = read_walk(_normal(text, facts), facts.entry)
    except NotUnderstood:
        return
    yield from _shared(
        walk, [SharingLayout(walk.threads, columns, count, True) for columns, count in SLICES], WHY_SLICES
    )


def why_not_rows(text: str, facts: Facts) -> list[str]:
    """Why no loop of a kernel is shared."""
    try:
        walk = read_walk(_normal(text, facts), facts.entry)
        if walk.shared(outermost=True):
            return []
    except NotUnderstood as reason:
        return [str(reason)]
    return walk.reasons or ["there is no loop to share"]


def _normal(text: str, facts: Facts) -> str:
    """What loops keep in memory from turn to turn in registers."""
    return in_registers(carried_in_registers(text, facts.entry), facts.entry)


def _shared(walk: Walk, layouts: list[SharingLayout], why: str) -> Iterator[Rewrite]:
    outer, inner = walk.shared(outermost=True), walk.shared(outermost=False)
    ways: list[tuple[str, list[SharedLoop]]] = [("", outer)]
    if [one.loop.node for one in inner] != [one.loop.node for one in outer]:
        ways.append((", inner loops", inner))
    for layout in layouts:
        for words, loops in ways:
            if not loops:
                continue
            try:
                yield Rewrite(f"{layout.words}{words}", share(walk, layout, loops), why)
            except NotUnderstood as reason:
                walk.reasons.append(str(reason))
