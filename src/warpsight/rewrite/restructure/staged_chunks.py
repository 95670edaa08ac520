"""`uncoalesced`, where each thread has a chunk of its own: the chunks of a warp go through shared memory, side by side.

A chunk is a struct, or a fixed number of elements at `i * size`. The lanes of a warp load 32 chunks as one stretch,
each thread works on its own in shared memory, and the stretch is stored the same way. Chunks there are one word longer
where their size is even, so that lanes meet in no bank.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from warpsight.rewrite.record import Facts, Rewrite
from warpsight.rewrite.restructure.edits import TreeEdits, fresh_name
from warpsight.rewrite.restructure.memory_sums import in_registers
from warpsight.rewrite.restructure.one_each import (
    BYTES,
    OneEach,
    element_bytes,
    read_one_each,
    rewritten,
    stores_guarded,
)
from warpsight.source.accesses import ArrayUse, array_uses
from warpsight.source.forms import IndexForm
from warpsight.source.loops import ForLoop, for_loops
from warpsight.source.tree import NotUnderstood, within

BLOCKS = (256, 128, 64, 32)
LARGEST = 46 * 1024
MOST = 128  # elements of a chunk
WHY = "each thread has a chunk of its own: let the lanes of a warp load their 32 chunks as one stretch"


@dataclass(frozen=True, eq=False)
class _Chunk:
    """The chunks of an array: `size` elements each, `used` of them from the first; `size` 0 is one struct."""

    array: str
    type: str
    size: int
    used: int
    pad: int
    uses: list[ArrayUse]
    loaded: bool
    stored: bool

    @property
    def bytes(self) -> int:
        return BYTES.get(self.type, 16) * (self.size + self.pad) if self.size else 64


def chunks_through_shared(text: str, facts: Facts) -> Iterator[Rewrite]:
    """Structs and chunks of fixed size through shared memory, in blocks of several sizes."""
    try:
        found = read_one_each(in_registers(text, facts.entry), facts.entry)
        chunks = _chunks(found, facts)
    except NotUnderstood:
        return
    largest = max(one for one in BLOCKS if one <= max(found.threads, 32))
    for threads in dict.fromkeys((largest, *(one for one in (64, 32) if one < largest))):
        if threads * sum(one.bytes for one in chunks) <= LARGEST:
            try:
                made = _written(found, chunks, threads)
            except NotUnderstood:
                return
            names = ", ".join(one.array for one in chunks)
            yield Rewrite(f"chunks of {names} through shared memory, blocks of {threads}", made, WHY)


def why_not_chunks(text: str, facts: Facts) -> list[str]:
    """Why no chunk goes through shared memory."""
    try:
        found = read_one_each(in_registers(text, facts.entry), facts.entry)
        _written(found, _chunks(found, facts), BLOCKS[-1])
    except NotUnderstood as reason:
        return [str(reason)]
    return []


def _chunks(found: OneEach, facts: Facts) -> list[_Chunk]:
    by: dict[str, list[ArrayUse]] = {}
    for part in found.body:
        for use in array_uses(found.scope, part):
            by.setdefault(use.array, []).append(use)
    chunks: list[_Chunk] = []
    reasons: list[str] = []
    for array, ones in by.items():
        try:
            if (one := _chunk(found, array, ones, facts)) is not None:
                chunks.append(one)
        except NotUnderstood as reason:
            reasons.append(str(reason))
    if not chunks:
        raise NotUnderstood(reasons[0] if reasons else "no thread has a chunk of an array for itself")
    return chunks


def _chunk(found: OneEach, array: str, ones: list[ArrayUse], facts: Facts) -> _Chunk | None:
    """The chunks of an array, if it is used in chunks; None where its elements lie side by side already."""
    tree, name = found.tree, found.name
    where = f"line {tree.line(ones[0].node)}"
    if any(one.node.type != "subscript_expression" or _by_address(one) for one in ones):
        raise NotUnderstood(f"{where}: the address of {array} is taken")
    kind = found.kernel.parameters[array].type
    writes, reads = any(one.writes for one in ones), any(one.reads for one in ones)
    partly = writes and not _all_given(found, ones, array)
    if all(one.index == IndexForm.symbol(name) for one in ones):
        if kind in BYTES or not found.tree.text.count(f"struct {kind}"):
            return None
        return _Chunk(array, kind, 0, 1, 0, ones, partly or (reads and not writes), writes)
    steps = {one.index.of(name).value if one.index.linear(name) else None for one in ones}
    size = next(iter(steps)) if len(steps) == 1 else None
    if size is None or not 2 <= size <= MOST:
        raise NotUnderstood(f"{where}: {array} is not used in chunks of one size")
    ranges = [_range(found, one.index.without(name), one) for one in ones]
    low, high = min(one[0] for one in ranges), max(one[1] for one in ranges)
    if low < 0 or high >= size:
        raise NotUnderstood(f"{where}: a thread reaches into the chunk of another in {array}")
    width = element_bytes(found, array)
    even = size * width % 8 == 0
    pad = (max(1, 4 // width) if even else (-size * width % 4) // width) if width <= 4 else size % 2 == 0
    whole = _has_whole_chunks(found, facts, array, size)
    return _Chunk(
        array, kind, size, size if whole else high + 1, int(pad), ones, partly or (reads and not writes), writes
    )


def _by_address(one: ArrayUse) -> bool:
    return one.node.parent is not None and one.node.parent.type == "pointer_expression"


def _range(found: OneEach, rest: IndexForm, use: ArrayUse) -> tuple[int, int]:
    """The least and the greatest place in the chunk: numbers, and turns of loops with fixed bounds around the use."""
    tree, turns = found.tree, dict[str, tuple[int, int]]()
    for loop, first, last in _fixed_loops(found, use):
        turns[loop.variable] = (first, last)
    low = high = 0
    for product, count in rest.terms:
        if not product:
            low, high = low + count, high + count
            continue
        if len(product) != 1 or product[0] not in turns:
            raise NotUnderstood(f"line {tree.line(use.node)}: how far the index goes is not known")
        ends = [end * count for end in turns[product[0]]]
        low, high = low + min(ends), high + max(ends)
    return low, high


def _fixed_loops(found: OneEach, use: ArrayUse) -> Iterator[tuple[ForLoop, int, int]]:
    """The loops around a use whose turns are numbers, with the first and the last."""
    for part in found.body:
        for loop in for_loops(found.tree, part):
            first, last = found.scope.form(loop.start).value, found.scope.form(loop.bound).value
            around = loop.body.start_byte <= use.node.start_byte < loop.body.end_byte
            if around and first is not None and last is not None and last > first and loop.declares:
                yield loop, first, last if loop.inclusive else last - 1


def _all_given(found: OneEach, ones: list[ArrayUse], array: str) -> bool:
    """Whether the thread gives every element of its chunk a value, and reads none before: nothing must be loaded."""
    given: set[int] = set()
    known: list[ArrayUse] = []
    for one in ones:
        if one.reads and not any(one.index == other.index for other in known):
            return False
        if one.writes and not one.reads and _always(found, one):
            known.append(one)
            given |= _places(found, one)
    kind = found.kernel.parameters[array].type
    if kind not in BYTES:
        return False  # members of a struct
    highest = max(_range(found, one.index.without(found.name), one)[1] for one in ones)
    return given >= set(range(highest + 1))


def _always(found: OneEach, use: ArrayUse) -> bool:
    """Whether a store is done by every thread, in every turn of loops with fixed turns."""
    loops = {loop.node.id: loop for loop, _, _ in _fixed_loops(found, use)}
    node = use.node.parent
    while node is not None and all(node != one for one in found.body):
        plain = node.type in ("assignment_expression", "expression_statement", "compound_statement")
        if not plain and node.id not in loops:
            return False
        node = node.parent
    leaves = ("continue_statement", "break_statement")
    in_body = node is not None and node.type in ("expression_statement", "for_statement", "assignment_expression")
    fixed = node is not None and (node.type != "for_statement" or node.id in loops)
    return in_body and fixed and not any(True for one in found.body for _ in within(one, *leaves))


def _places(found: OneEach, use: ArrayUse) -> set[int]:
    """The places of the chunk that a store reaches."""
    rest, places = use.index.without(found.name), {0}
    turns = {loop.variable: (first, last, loop) for loop, first, last in _fixed_loops(found, use)}
    for product, count in rest.terms:
        if not product:
            places = {one + count for one in places}
        elif len(product) == 1 and product[0] in turns:
            first, last, loop = turns[product[0]]
            step = 1 if loop.step is None else found.scope.form(loop.step).value
            if step is None or step < 1:
                return set()
            places = {one + count * turn for one in places for turn in range(first, last + 1, step)}
        else:
            return set()
    return places


def _has_whole_chunks(found: OneEach, facts: Facts, array: str, size: int) -> bool:
    """Whether the array is said to have a whole chunk for each thread."""
    has = sorted(part.strip() for one in facts.shapes.get(array, ()) for part in one.split("*"))
    return has == sorted((facts.scalars.get(found.bound, found.bound), str(size)))


def _written(found: OneEach, chunks: list[_Chunk], threads: int) -> str:
    tree, edits = found.tree, TreeEdits(found.tree)
    inside, lane, warp, first, at, last, row = (
        fresh_name(tree.text, name)
        for name in ("inside", "lane", "warp", f"first_{found.name}", "at", "last_chunk", "chunk")
    )
    top = [
        f"const int {lane} = threadIdx.x % 32, {warp} = threadIdx.x / 32;",
        f"const {found.type} {first} = blockIdx.x * {threads} + {warp} * 32;",
        f"if ({first} >= {found.bound}) {{ return; }}",
        f"const int {last} = {first} + 32 <= {found.bound} ? 31 : {found.bound} - 1 - {first};",
    ]
    end: list[str] = []
    for one in chunks:
        name, kind = fresh_name(tree.text, f"{one.array}_chunks"), one.type
        by_words = one.used == one.size and _by_words(one)
        align = "__align__(4) " if by_words else ""
        size = f"[{one.size + one.pad}]" if one.size else ""
        top.append(f"__shared__ {align}{kind} {name}[{threads // 32}][32]{size};")
        far, place, on_array = _copied(one, f"{name}[{warp}]", first, at, row, by_words)
        if one.loaded:
            top += ["#pragma unroll 8", f"for (int {at} = {lane}; {at} < 32 * {far}; {at} += 32) {{"]
            top += [f"const int {row} = {at} / {far} < {last} ? {at} / {far} : {last};", f"{place} = {on_array};", "}"]
        if one.stored:
            end.append(f"for (int {at} = {lane}; {at} < ({last} + 1) * {far}; {at} += 32) {{")
            end += [f"const int {row} = {at} / {far};", f"{on_array} = {place};", "}"]
        for use in one.uses:
            own = f"{name}[{warp}][{lane}]"
            edits.replace(use.node, own if not one.size else f"{own}[{use.index.without(found.name)}]")
    top.append("__syncwarp();")
    stores_guarded(found, edits, inside, [use.node for one in chunks for use in one.uses])
    body = [edits.part(one) for one in found.body]
    return rewritten(found, threads, inside, top, body, ["__syncwarp();", *end] if end else [])


def _by_words(one: _Chunk) -> bool:
    """Whether several small elements go in one word."""
    width = BYTES.get(one.type, 4)
    return not one.size or (width < 4 and one.size * width % 4 == 0)


def _copied(one: _Chunk, tile: str, first: str, at: str, row: str, by_words: bool) -> tuple[str, str, str]:
    """How many steps a chunk takes, and one step on both sides."""
    const = "" if one.stored else "const "
    if not one.size:
        words = f"int(sizeof({one.type}) / 4)"
        array = f"reinterpret_cast<{const}unsigned*>({one.array} + {first})[{row} * {words} + {at} % {words}]"
        return words, f"reinterpret_cast<unsigned*>({tile})[{at}]", array
    if by_words:
        words = str(one.size * BYTES[one.type] // 4)
        place = f"reinterpret_cast<unsigned*>({tile}[{at} / {words}])[{at} % {words}]"
        start = f"reinterpret_cast<{const}unsigned*>({one.array})"
        return words, place, f"{start}[({first} + {row}) * {words} + {at} % {words}]"
    far = str(one.used)
    place = f"{tile}[{at} / {far}][{at} % {far}]"
    return far, place, f"{one.array}[({first} + {row}) * {one.size} + {at} % {far}]"
