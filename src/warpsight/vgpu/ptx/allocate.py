"""Virtual registers to rows and predicates: liveness over the control-flow graph, then a linear scan.

An interval covers every instruction from the first to the last where the value may be live, so a loop that a value
crosses is covered whole. Each lane has its own control flow and its own column of a row, so per-lane liveness is
enough. A guarded write keeps the old value in the other lanes: it counts as a use. Two values share a row only if
one ends strictly before the other starts.
"""

from __future__ import annotations

import heapq
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpsight.vgpu.bytecode import NONE, OPS, Flag
from warpsight.vgpu.ptx.body import PtxBody

Ints = NDArray[np.int64]
OP, FLAGS, GUARD, D0, D1, A, B, C, E, LIST, TARGET, IMM = 0, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18
"""Columns of the code matrix, in the order of bytecode.INSTRUCTION."""


def _kinds() -> tuple[NDArray[Any], NDArray[Any]]:
    """For every operation which of d0, d1, a, b, c, e hold rows, and which predicates."""
    rows, preds = np.zeros((len(OPS), 6), bool), np.zeros((len(OPS), 6), bool)
    for info in OPS.values():
        left, right = info.signature.split("=")
        letters = (left.replace("L", "") + "..")[:2] + (right.replace("L", "") + "....")[:4]
        for i, letter in enumerate(letters):
            rows[info.number, i] = letter in "RSUD"
            preds[info.number, i] = letter == "P"
    vote, call = OPS["VOTE"].number, (OPS["CALL"].number, OPS["CALLX"].number)
    rows[vote, 0], preds[vote, 1] = True, True
    rows[call, 0] = False  # the link belongs to the callee: link.py fills it in
    return rows, preds


_ROW_FIELDS, _PRED_FIELDS = _kinds()
_BRA, _BRX, _EXIT, _RET, _ATOM = (OPS[name].number for name in ("BRA", "BRX", "EXIT", "RET", "ATOM"))


def row_fields(code: Ints) -> NDArray[Any]:
    return _ROW_FIELDS[code[:, OP]]


def pred_fields(code: Ints) -> NDArray[Any]:
    return _PRED_FIELDS[code[:, OP]]


@dataclass(frozen=True)
class Blocks:
    starts: list[int]
    ends: list[int]
    successors: list[list[int]]


@dataclass(frozen=True)
class Allocated:
    """A function with rows and predicates from 0 (predicate 0: true) up; lists and targets are still its own."""

    code: Ints
    lists: Ints
    n_rows: int
    n_preds: int
    starts: Ints
    ends: Ints
    rows: Ints
    sizes: Ints
    link: int

    def live_across(self, index: int) -> list[int]:
        """Rows whose value is needed after instruction `index` and was there before it."""
        crossing = np.flatnonzero((self.starts < index) & (self.ends > index) & (self.sizes > 0))
        return [int(self.rows[i]) + k for i in crossing for k in range(int(self.sizes[i]))]


def find_blocks(code: Ints, jumps: dict[int, list[int]]) -> Blocks:
    n = len(code)
    ops, guards = code[:, OP], code[:, GUARD]
    enders = np.flatnonzero((ops == _BRA) | (ops == _BRX) | (ops == _EXIT) | (ops == _RET)).tolist()
    leaders = {0, *(i + 1 for i in enders)} | {t for targets in jumps.values() for t in targets}
    starts = sorted(i for i in leaders if i < n)
    ends = [i - 1 for i in starts[1:]] + [n - 1]
    number = {start: i for i, start in enumerate(starts)}
    successors = list[list[int]]()
    for i, end in enumerate(ends):
        following = [number[t] for t in jumps.get(end, ())]
        ends_here = int(ops[end]) in (_BRA, _BRX, _EXIT, _RET)
        if (not ends_here or guards[end]) and i + 1 < len(starts):
            following.append(i + 1)
        successors.append(following)
    return Blocks(starts, ends, successors)


def intervals(n_ids: int, ids: Ints, keys: Ints, blocks: Blocks) -> tuple[Ints, Ints]:
    """First and last instruction of each value; unused ones get (0, -1).

    `keys` are 2 * position, plus 1 for a write of all lanes.
    """
    first, last = np.full(n_ids, np.iinfo(np.int64).max), np.full(n_ids, -1)
    np.minimum.at(first, ids, keys)
    np.maximum.at(last, ids, keys)
    start, end = first >> 1, last >> 1
    edges = np.asarray(blocks.starts)
    inside = np.searchsorted(edges, start, "right") == np.searchsorted(edges, end, "right")
    crossing = np.flatnonzero((last >= 0) & ~(inside & (first % 2 == 1)))
    if len(crossing):
        _extend(crossing, ids, keys, blocks, start, end)
    start[last < 0] = 0
    return start, end


def _extend(crossing: Ints, ids: Ints, keys: Ints, blocks: Blocks, start: Ints, end: Ints) -> None:
    """Solve liveness for the values that cross blocks (bit sets as integers) and widen their intervals."""
    slot = np.full(len(start), -1)
    slot[crossing] = np.arange(len(crossing))
    chosen = slot[ids] >= 0
    order = np.argsort(keys[chosen], kind="stable")
    n = len(blocks.starts)
    gen, kill = [0] * n, [0] * n
    for bit, key in zip(slot[ids[chosen]][order].tolist(), keys[chosen][order].tolist(), strict=True):
        b, mask = bisect_right(blocks.starts, key >> 1) - 1, 1 << bit
        if key & 1:
            kill[b] |= mask
        elif not kill[b] & mask:
            gen[b] |= mask
    live_in, live_out = _solve(gen, kill, blocks)
    seen = 0
    for b in range(n):
        for bit in _set_bits(live_in[b] & ~seen):
            start[crossing[bit]] = min(start[crossing[bit]], blocks.starts[b])
        seen |= live_in[b]
    seen = 0
    for b in reversed(range(n)):
        for bit in _set_bits(live_out[b] & ~seen):
            end[crossing[bit]] = max(end[crossing[bit]], blocks.ends[b])
        seen |= live_out[b]


def _solve(gen: list[int], kill: list[int], blocks: Blocks) -> tuple[list[int], list[int]]:
    n = len(gen)
    live_in, live_out, changed = list(gen), [0] * n, True
    while changed:
        changed = False
        for b in reversed(range(n)):
            out = 0
            for s in blocks.successors[b]:
                out |= live_in[s]
            if out != live_out[b]:
                live_out[b] = out
                live_in[b] = gen[b] | (out & ~kill[b])
                changed = True
    return live_in, live_out


def _set_bits(mask: int) -> list[int]:
    bits = list[int]()
    while mask:
        low = mask & -mask
        bits.append(low.bit_length() - 1)
        mask ^= low
    return bits


def linear_scan(start: Ints, end: Ints, sizes: Ints) -> tuple[Ints, int]:
    """A place for each value (unused ones get 0) and the number of places; values of several rows take neighbours."""
    places, top = np.zeros(len(start), np.int64), 0
    free: dict[int, list[int]] = {1: [], 2: [], 4: []}
    active: list[tuple[int, int, int]] = []
    alive = np.flatnonzero((sizes > 0) & (end >= 0))
    order = alive[np.argsort(start[alive], kind="stable")]
    for i, first, last, size in zip(
        order.tolist(), start[order].tolist(), end[order].tolist(), sizes[order].tolist(), strict=True
    ):
        while active and active[0][0] < first:
            _, place, width = heapq.heappop(active)
            heapq.heappush(free[width], place)
        if free[size]:
            place = heapq.heappop(free[size])
        elif size == 1 and free[2]:
            place = heapq.heappop(free[2])
            heapq.heappush(free[1], place + 1)
        else:
            place, top = top, top + size
        places[i] = place
        heapq.heappush(active, (last, place, size))
    return places, top


def allocate(body: PtxBody, jumps: dict[int, list[int]]) -> Allocated:
    code = np.array(body.code, np.int64)
    lists = np.array(body.lists, np.int64)
    blocks = find_blocks(code, jumps)
    sizes = np.array(body.names.reg_rows, np.int64)
    base = np.maximum.accumulate(np.where(sizes > 0, np.arange(len(sizes)), 0)) if len(sizes) else sizes
    is_row, is_pred = row_fields(code), pred_fields(code)
    fields = code[:, D0 : E + 1]
    ids, keys, used = _row_occurrences(body, code, lists, fields, is_row, base)
    _drop_unread_atomics(code, base, used)
    start, end = intervals(len(sizes), ids, keys, blocks)
    if body.link >= 0:
        start[body.link], end[body.link] = -1, len(code)
    places, n_rows = linear_scan(start, end, sizes)
    rows = places[base] + (np.arange(len(sizes)) - base) if len(sizes) else places
    n_preds = _map_predicates(body, code, fields, is_pred, blocks)
    mapped = is_row & (fields >= 0)
    fields[mapped] = rows[fields[mapped]]
    if len(lists):
        lists = np.where(lists >= 0, rows[np.maximum(lists, 0)] if len(rows) else lists, lists)
    return Allocated(
        code, lists, n_rows, n_preds, start, end, rows, sizes, int(rows[body.link]) if body.link >= 0 else -1
    )


def _row_occurrences(
    body: PtxBody, code: Ints, lists: Ints, fields: Ints, is_row: NDArray[Any], base: Ints
) -> tuple[Ints, Ints, NDArray[Any]]:
    whole = code[:, GUARD] == 0
    at, column = np.nonzero(is_row & (fields >= 0))
    ids = [base[fields[at, column]]]
    writes = [column < 2]
    positions = [at.astype(np.int64)]
    if body.spans:
        spans = np.array([(i, *span) for i, span in body.spans.items()], np.int64)
        count = spans[:, 2] + spans[:, 3]
        within: Ints = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
        values = lists[np.repeat(spans[:, 1], count) + within]
        kept = values >= 0
        ids.append(base[values[kept]])
        writes.append((within < np.repeat(spans[:, 2], count))[kept])
        positions.append(np.repeat(spans[:, 0], count)[kept])
    all_ids, write, position = np.concatenate(ids), np.concatenate(writes), np.concatenate(positions)
    used = np.zeros(len(base), bool)
    used[all_ids[~write]] = True
    return all_ids, 2 * position + (write & whole[position]), used


def _drop_unread_atomics(code: Ints, base: Ints, used: NDArray[Any]) -> None:
    for i in np.flatnonzero((code[:, OP] == _ATOM) & (code[:, D0] >= 0)).tolist():
        if not used[base[code[i, D0]]]:
            code[i, D0] = NONE
    unread = (code[:, OP] == _ATOM) & (code[:, D0] == NONE)
    code[unread, FLAGS] |= int(Flag.UNUSED_RESULT)


def _map_predicates(body: PtxBody, code: Ints, fields: Ints, is_pred: NDArray[Any], blocks: Blocks) -> int:
    """Predicates share places as rows do; index 0 stays true."""
    is_source = np.zeros(6, bool)
    is_source[2:] = True
    index = np.where(is_source, fields >> 1, fields)
    at, column = np.nonzero(is_pred & (index > 0))
    guarded = np.flatnonzero(code[:, GUARD] > 1)
    ids = np.concatenate([index[at, column], code[guarded, GUARD] >> 1])
    writes = np.concatenate([column < 2, np.zeros(len(guarded), bool)])
    position = np.concatenate([at, guarded])
    keys = 2 * position + (writes & (code[position, GUARD] == 0))
    start, end = intervals(body.names.n_preds, ids, keys, blocks)
    sizes = np.ones(body.names.n_preds, np.int64)
    sizes[0] = 0
    places, top = linear_scan(start, end, sizes)
    places[1:] += 1
    fields[at, column] = np.where(
        column < 2, places[index[at, column]], 2 * places[index[at, column]] + (fields[at, column] & 1)
    )
    code[guarded, GUARD] = 2 * places[code[guarded, GUARD] >> 1] + (code[guarded, GUARD] & 1)
    return top + 1
