"""Which blocks of a launch are simulated in place of all.

A draft runs a few blocks by themselves and takes them for the rest. A verdict does not: the launch runs whole, and
every block is weighed by what it did (instructions, clocks of pipes, sectors, lines, shared passes, atomics, barriers,
lines far away). Blocks of like weight are a kind; they are handed to multiprocessors as the GPU does, and each kind is
traced inside a complete run, as it follows on multiprocessors that a secret seed chooses. What must stay true: a block
that is traced cannot tell, and no block stands for others that did another amount of work.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpsight.vgpu.counters import INDEX
from warpsight.vgpu.gpu import Gpu
from warpsight.vgpu.machine import Dim3, Launched
from warpsight.vgpu.reach import Patch, middle, patch_at
from warpsight.vgpu.schedule import KIND, StepKind

if TYPE_CHECKING:
    from warpsight.vgpu._core import Traces

Tracer = Callable[[Sequence[int], int], Launched]
"""Runs with the chosen blocks traced; the second argument is the most steps to keep of a warp."""

LEAST_WAVES, LEAST_BLOCKS = 3, 12  # fewer blocks say too little of the pace of a multiprocessor
STRETCHES, EXACT_STRETCHES = 2, 4  # multiprocessors that a kind of blocks, or the launch, is followed on
DRAWS = 8
LIKE = 2.0  # blocks of a kind differ by less than this factor in what they take of a multiprocessor
MOST_KINDS = 6
LEAST_SHARE = 0.02
LEAST_CUT = 1.05  # blocks that did so many times what was kept of them are long
MOST_BEYOND = 1.15
UNCUT_SHARE = 0.75  # of the steps, for blocks that must be followed to their end: the others need some too
INSTRUCTIONS, PIPE_CLOCKS, HELD_CLOCKS, SECTORS, LINES, PASSES, ATOMICS, BARRIERS, FAR_LINES, SPAN = range(
    10
)  # work.hpp
NAMES = (
    "instructions", "pipe clocks", "clocks held back", "sectors", "lines", "shared passes", "atomic passes", "barriers",
    "far lines", "instructions from barrier to barrier",
)  # fmt: skip
UNLIKE = "the blocks that were traced are not like the others"
Work = NDArray[np.float64]
Ids = NDArray[np.int64]


class Moved(NamedTuple):
    """Sectors by what moves them, as the instructions counted them: also those of steps that were not kept."""

    loads: float
    stores: float
    atomics: float
    local_loads: float  # of the loads, those of local memory
    local_stores: float
    partial: float  # of the stores, sectors that a warp wrote in part
    atomic_partial: float  # of the atomics, the same


@dataclass(frozen=True)
class SamplePart:
    """Blocks of one kind, traced as they follow one another on some multiprocessors.

    `on_sm` is how many of them the busiest multiprocessor has, `sectors` what all of them move in the launch, `stretch`
    how much more there is to a block of this kind than what was kept of the traced ones. `exact`: each stretch is all
    that a multiprocessor has of this kind, and the longest counts.
    """

    stretches: tuple[Traces, ...]
    on_sm: int
    sectors: float
    stretch: float
    exact: bool = False

    @property
    def steps(self) -> int:
        return sum(traces.steps for traces in self.stretches)


@dataclass(frozen=True)
class Near:
    """Neighbouring blocks that say what blocks share, and how much more there is to them than what was kept."""

    traces: Traces
    patch: Patch
    stretch: float


@dataclass(frozen=True)
class LaunchSample:
    """What stands for a launch. `whole` is the complete run, of which a draft has none; `missed` is what to charge.

    `drift` is how far the part of long blocks that was kept is from the whole in what it does (a log): its pace may be
    as far from the pace of the rest.

    `near` are the neighbours of a draft; `moved` are the sectors that the launch loads, stores and does atomics on.
    """

    parts: tuple[SamplePart, ...]
    moved: Moved
    near: Near | None = None
    whole: Launched | None = None
    missed: float = 1.0
    drift: float = 0.0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Grid:
    """The launch as the block scheduler sees it."""

    gpu: Gpu
    shape: Dim3
    resident: int
    warps: int
    budget: int
    table: NDArray[np.uint16]

    @property
    def total(self) -> int:
        return math.prod(self.shape)

    @property
    def per_sm(self) -> int:
        return -(-self.total // self.gpu.sms)

    @property
    def waves(self) -> int:
        return max(LEAST_WAVES, -(-LEAST_BLOCKS // self.resident))

    def cap(self, blocks: int) -> int:
        """Steps of a warp that are kept when so many blocks are traced."""
        return max(256, self.budget // (self.warps * max(1, blocks)))

    def cap_of(self, instructions: Work) -> int:
        """The same for blocks of known length: what short blocks leave of the budget is for the long ones."""
        left, longest = float(self.budget), np.sort(instructions)
        for at, one in enumerate(longest):
            share = left / (len(longest) - at)
            if one > share:
                return max(256, int(share / self.warps))
            left -= one
        return max(256, int(longest[-1]))

    @property
    def most_simulated(self) -> int:
        return self.waves * self.resident

    def clocks(self, work: Work) -> NDArray[np.float64]:
        """How long the busiest unit of a multiprocessor needs for such work: a measure to compare blocks by."""
        parts = self.gpu.schedulers
        units = (
            work[..., INSTRUCTIONS] / parts,
            work[..., PIPE_CLOCKS] / parts,
            work[..., SECTORS] * 32 / self.gpu.l2_port_bytes,
            work[..., LINES],
            work[..., PASSES],
            work[..., ATOMICS],
            work[..., SPAN] / self.resident,
        )
        return np.maximum.reduce(units)


def draft(run: Tracer, grid: Grid, *, in_order: bool) -> LaunchSample:
    """From launches of a few blocks: neighbours in the middle of the grid, and those of one multiprocessor there."""
    wanted = min(grid.per_sm, grid.most_simulated)
    patch = patch_at(grid.shape, 0 if in_order else middle(grid.shape))
    near = run(patch.blocks, grid.cap(len(patch.blocks)))
    near_blocks, steps = near.traces.blocks, int(near.counts[:, 0].sum())
    # Blocks that are on the SM together are all traced, shorter if need be: what they share decides what L1 holds.
    distinct = min(wanted, max(grid.resident, grid.budget // max(1, steps // near_blocks)))
    chosen = list(range(distinct)) if in_order else _of_one_sm(grid, distinct)
    own = near if chosen == list(patch.blocks) else run(chosen, grid.cap(len(chosen)))
    stretch = _steps_beyond(own)
    sectors = own.traces.work(grid.table)[SECTORS] * stretch * grid.total / own.traces.blocks
    part = SamplePart((own.traces,), grid.per_sm, sectors, stretch)
    notes = ("a draft: a few blocks were run by themselves", *_cut_notes(own.traces.blocks, wanted, stretch))
    moved = moved_by(own, grid.table, grid.total / own.traces.blocks)
    return LaunchSample((part,), moved, Near(near.traces, patch, _steps_beyond(near)), notes=notes)


def _of_one_sm(grid: Grid, count: int) -> list[int]:
    """Blocks that follow one another on a multiprocessor, from the middle of the launch where it has more of them."""
    sms = grid.gpu.sms
    skipped = (grid.per_sm - count) // 2 * sms
    return [skipped + k * sms for k in range(count) if skipped + k * sms < grid.total]


def moved_by(done: Launched, table: NDArray[np.uint16], times: float = 1.0) -> Moved:
    """What the instructions of a run moved. Parts of an access that are hidden belong to the visible one before.

    Which memory a generic access met is told by the blocks that were traced.
    """
    sectors = done.counts[:, INDEX["sectors"]].astype(np.float64)
    kinds = table[:, KIND]
    visible = np.maximum.accumulate(np.where(table[:, 0] | kinds, np.arange(len(kinds)), 0))
    by_kind = np.bincount(kinds[visible], sectors, minlength=len(StepKind))
    local = sectors * np.array(done.traces.local_shares(len(kinds)))[visible]
    local_by_kind = np.bincount(kinds[visible], local, minlength=len(StepKind))
    partial = np.maximum(0.0, sectors - done.counts[:, INDEX["bytes"]] / 32)

    def of(*some: StepKind) -> float:
        return times * float(sum(by_kind[kind] for kind in some))

    return Moved(
        of(StepKind.GLOBAL_LOAD, StepKind.LOCAL_LOAD, StepKind.ASYNC_COPY),
        of(StepKind.GLOBAL_STORE, StepKind.LOCAL_STORE),
        of(StepKind.GLOBAL_ATOMIC),
        of(StepKind.LOCAL_LOAD) + times * float(local_by_kind[StepKind.GLOBAL_LOAD]),
        of(StepKind.LOCAL_STORE) + times * float(local_by_kind[StepKind.GLOBAL_STORE]),
        times * float(partial[kinds == StepKind.GLOBAL_STORE].sum()),
        times * float(partial[kinds == StepKind.GLOBAL_ATOMIC].sum()),
    )


def _steps_beyond(done: Launched) -> float:
    return max(1.0, int(done.counts[:, 0].sum()) / max(1, done.traces.steps))


def whole(run: Tracer, grid: Grid, seed: int) -> LaunchSample:
    """From complete runs: one where all blocks are of a kind, else a second with blocks of each kind traced."""
    random = np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, 0x626C6F63])))
    guess = _equal_blocks(grid, random)
    done = run(guess.ids, grid.cap(len(guess.ids)))
    work = done.work.astype(np.float64)
    kinds = kinds_of(grid.clocks(work))
    if kinds.max(initial=0) > 0 or not _alike(work):
        guess = _by_kind(grid, kinds, work, random)
        done = run(guess.ids, grid.cap_of(work[guess.ids, INSTRUCTIONS]))
    return _sampled(guess, done, grid)


def kinds_of(clocks: NDArray[np.float64]) -> NDArray[np.uint8]:
    """The kind of each block by its weight: from the heaviest down, a new kind where a block has less than half."""
    values, labels = np.unique(clocks, return_inverse=True)
    kind_of = np.zeros(len(values), np.uint8)
    top, kind = (float(values[-1]) if len(values) else 0.0), 0
    for at in range(len(values) - 1, -1, -1):
        if values[at] * LIKE < top and kind < MOST_KINDS - 1:
            top, kind = float(values[at]), kind + 1
        kind_of[at] = kind
    return kind_of[labels]


def _alike(work: Work) -> bool:
    """Whether any block may stand for all. What meets in a small cache is partly chance."""
    told = np.delete(work, FAR_LINES, axis=1)
    far = work[:, FAR_LINES]
    return bool((told == told[:1]).all()) and float(far.max()) <= MOST_BEYOND * max(1.0, float(far.min()))


@dataclass(frozen=True)
class _Kind:
    """Stretches of blocks to trace, how many such blocks the busiest multiprocessor has, and all members of the kind.

    `exact`: each stretch is all that a multiprocessor has of this kind.
    """

    stretches: tuple[Ids, ...]
    on_sm: int
    members: Ids
    exact: bool


@dataclass(frozen=True)
class _Chosen:
    """Stretches of each kind to trace."""

    kinds: tuple[_Kind, ...]

    @property
    def ids(self) -> list[int]:
        return sorted({int(block) for kind in self.kinds for stretch in kind.stretches for block in stretch})


def _equal_blocks(grid: Grid, random: np.random.Generator) -> _Chosen:
    """Blocks that follow one another on multiprocessors that have most of them."""
    sms, everyone = grid.gpu.sms, np.arange(grid.total)
    full = grid.total - (grid.per_sm - 1) * sms
    exact = grid.per_sm <= grid.most_simulated
    chosen = random.choice(full, min(full, EXACT_STRETCHES if exact else STRETCHES), replace=False)
    some = tuple(_run_of(random, everyone[int(sm) :: sms], grid.most_simulated) for sm in chosen)
    return _Chosen((_Kind(some, grid.per_sm, everyone, exact),))


def _by_kind(grid: Grid, kinds: NDArray[np.uint8], work: Work, random: np.random.Generator) -> _Chosen:
    """The heavy kinds together as long as no multiprocessor has many of their blocks, every other kind on its own."""
    from warpsight.vgpu import _core

    clocks = grid.clocks(work)
    where = _core.dispatch(clocks, grid.gpu.sms, grid.resident)
    weights = np.column_stack((clocks, work))
    busiest = _busiest(where, weights, grid.budget)
    there = np.flatnonzero(where == busiest[0])
    few = _joined(grid, kinds, where)
    found: list[_Kind] = []
    if few:  # all that the multiprocessors with most of them have; the slowest decides, whatever idle blocks follow
        members = np.flatnonzero(kinds < few)
        here = where[members]
        some = tuple(members[here == sm] for sm in _busiest(here, weights[members], grid.budget))
        found.append(_Kind(some, len(some[0]), members, exact=True))
    for kind in range(few, int(kinds.max()) + 1):
        found.append(_kind_of_many(grid, np.flatnonzero(kinds == kind), there, where, work, random))
    return _Chosen(tuple(found))


def _joined(grid: Grid, kinds: NDArray[np.uint8], where: NDArray[np.uint32]) -> int:
    """How many kinds, from the heaviest, no multiprocessor has more blocks of than can be simulated together."""
    few = 0
    while few <= int(kinds.max()) and int(np.bincount(where[kinds <= few]).max()) <= grid.most_simulated:
        few += 1
    return few


def _kind_of_many(
    grid: Grid, members: Ids, there: Ids, where: NDArray[np.uint32], work: Work, random: np.random.Generator
) -> _Kind:
    on_sm = int(np.count_nonzero(np.isin(there, members, assume_unique=True)))
    needed = min(max(on_sm, 1), grid.most_simulated, len(members))
    some = tuple(_like_all(needed, members, where, work, random) for _ in range(STRETCHES))
    return _Kind(some, on_sm, members, exact=False)


def _busiest(where: NDArray[np.uint32], work: Work, budget: int) -> list[int]:
    """The multiprocessors with most to do: by weight, by each measure, then as many more as can be afforded."""
    loads = [np.bincount(where, column) for column in work.T]
    chosen = list(dict.fromkeys([*(int(np.argmax(load)) for load in loads), *np.argsort(-loads[0]).tolist()]))
    has = np.bincount(where, minlength=len(loads[0])) > 0
    chosen = [sm for sm in chosen if has[sm]]
    steps = np.cumsum(loads[1 + INSTRUCTIONS][chosen])
    return chosen[: max(len(loads), int(np.searchsorted(steps, UNCUT_SHARE * budget)))]


def _run_of(random: np.random.Generator, ids: Ids, count: int) -> Ids:
    """`count` of them that follow one another, from a place that nobody foresees."""
    start = int(random.integers(max(1, len(ids) - count + 1)))
    return ids[start : start + count]


def _like_all(needed: int, members: Ids, where: NDArray[np.uint32], work: Work, random: np.random.Generator) -> Ids:
    """Members that follow one another on a multiprocessor; of several draws the one that is most like all members.

    Where it has too few, others are added: a block that is simulated twice would find its own data in L1.
    """
    mean = work[members].mean(axis=0) + 1.0

    def unlike(ids: Ids) -> float:
        return float(np.abs(np.log((work[ids].mean(axis=0) + 1.0) / mean)).max())

    def draw() -> Ids:
        ids = _run_of(random, members[where[members] == where[int(random.choice(members))]], needed)
        others = np.setdiff1d(members, ids, assume_unique=True)
        return np.concatenate((ids, random.permutation(others)[: needed - len(ids)])) if len(ids) < needed else ids

    return min((draw() for _ in range(DRAWS)), key=unlike)


def _sampled(chosen: _Chosen, done: Launched, grid: Grid) -> LaunchSample:
    place = {block: at for at, block in enumerate(chosen.ids)}
    work = done.work.astype(np.float64)

    def traces(ids: Ids) -> Traces:
        return done.traces.chosen([place[int(b)] for b in ids])

    parts: list[SamplePart] = []
    foretold, cut, drift = np.zeros(work.shape[1]), 1.0, 0.0
    for kind in chosen.kinds:
        members = kind.members
        stretches, ids = tuple(traces(ids) for ids in kind.stretches), np.concatenate(kind.stretches)
        own = work[ids].sum(axis=0)
        kept = _kept(stretches, grid, own)
        longer = float(grid.clocks(own)) / max(1.0, float(grid.clocks(kept)))
        cut = max(cut, longer)
        drift = max(drift, drift_of(kept, own))
        if not kind.exact:  # what all members did, not only those that were traced
            longer *= float(grid.clocks(work[members].mean(axis=0))) / max(1.0, float(grid.clocks(own / len(ids))))
        parts.append(SamplePart(stretches, kind.on_sm, float(work[members, SECTORS].sum()), longer, kind.exact))
        foretold += work[members].sum(axis=0) if kind.exact else own * (len(members) / len(ids))
    missed, told = _missed(work.sum(axis=0), foretold, grid)
    notes = (*_kind_notes([len(kind.members) for kind in chosen.kinds]), *_cut_notes(0, 0, cut), *told)
    return LaunchSample(tuple(parts), moved_by(done, grid.table), None, done, missed, drift, notes)


def _kept(stretches: Sequence[Traces], grid: Grid, real: Work) -> Work:
    """What the traced steps did. Spans are not known of steps: their share is that of the instructions."""
    kept = np.array([traces.work(grid.table) for traces in stretches], np.float64).sum(axis=0)
    kept[SPAN] = real[SPAN] * kept[INSTRUCTIONS] / max(1.0, float(real[INSTRUCTIONS]))
    return kept


def drift_of(kept: Work, real: Work) -> float:
    """How far what was kept of long blocks is, by the instruction, from what they did in all: the largest log ratio.

    Lines far away count where there are more of them later: every block begins with caches that know nothing of it.
    """
    if real[INSTRUCTIONS] < LEAST_CUT * kept[INSTRUCTIONS]:
        return 0.0
    share, here = real / max(1.0, real[INSTRUCTIONS]), kept / max(1.0, kept[INSTRUCTIONS])
    logs = np.log((share + LEAST_SHARE) / (here + LEAST_SHARE))
    told = [PIPE_CLOCKS, HELD_CLOCKS, SECTORS, LINES, PASSES, ATOMICS, BARRIERS]
    return max(float(np.abs(logs[told]).max()), float(logs[FAR_LINES]))


def _missed(real: Work, foretold: Work, grid: Grid) -> tuple[float, tuple[str, ...]]:
    """What to charge for work that the traced blocks did not foretell, though they were weighed."""
    weight = max(float(grid.clocks(real)) / max(1.0, float(grid.clocks(foretold))), 1.0)
    significant = real > LEAST_SHARE * max(float(real[INSTRUCTIONS]), 1.0)
    ratios = np.where(significant, real / np.maximum(foretold, 1.0), 1.0)
    at = int(np.argmax(ratios))
    if ratios[at] <= MOST_BEYOND * weight:
        return 1.0, ()
    told = f"{UNLIKE}: {real[at]:.0f} {NAMES[at]} in the launch, {foretold[at]:.0f} foretold; charged in full"
    return float(ratios[at]) / weight, (told,)


def _kind_notes(counts: Sequence[int]) -> tuple[str, ...]:
    if len(counts) == 1:
        return ()
    return (f"blocks of {len(counts)} kinds ({', '.join(map(str, counts))}) were simulated apart",)


def _cut_notes(traced: int, wanted: int, stretch: float) -> tuple[str, ...]:
    notes: list[str] = []
    if traced < wanted:
        notes.append(f"{traced} blocks were traced; the SM runs them again in place of {wanted - traced} others")
    if stretch > 1.001:
        notes.append(f"only the first 1/{stretch:.1f} of each block was simulated; its pace is taken for the rest")
    return tuple(notes)
