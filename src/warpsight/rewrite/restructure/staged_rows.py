"""`thread_per_row`, where a row must be walked in its order: a warp brings pieces of 32 rows to shared memory.

Each thread still walks its own row, so any dependence from turn to turn stays as it is. The lanes of a warp load (and
store) one row after the other, side by side. Rows in shared memory are one word longer than their piece, so that 32
rows are read without bank conflicts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from warpsight.rewrite.record import Facts, Rewrite
from warpsight.rewrite.restructure.carried_stores import carried_in_registers
from warpsight.rewrite.restructure.edits import TreeEdits, fresh_name
from warpsight.rewrite.restructure.memory_sums import in_registers
from warpsight.rewrite.restructure.one_each import (
    OneEach,
    element_bytes,
    read_one_each,
    rewritten,
    stores_guarded,
    uniform_loops,
)
from warpsight.source.accesses import ArrayUse, array_uses
from warpsight.source.loops import ForLoop
from warpsight.source.tree import NotUnderstood, assigned, declarations, uses, within

BLOCKS = (128, 64, 32)
LARGEST = 46 * 1024  # of static shared memory
PIECE = 32  # elements of a row that are there at once
WHY = "each row must be walked in its order: let a warp load pieces of 32 rows side by side, and walk them from there"


@dataclass(frozen=True, eq=False)
class _Staged:
    """One array that a loop walks: its uses, and whether it must be loaded before and stored after a piece."""

    array: str
    type: str
    pad: int
    ones: list[ArrayUse]
    loaded: bool
    stored: bool


def rows_through_shared(text: str, facts: Facts) -> Iterator[Rewrite]:
    """Loops along a row, in pieces that a warp loads together; in blocks of several sizes."""
    for normal in dict.fromkeys((carried_in_registers(text, facts.entry), in_registers(text, facts.entry))):
        try:
            found = read_one_each(normal, facts.entry)
            loops = _loops(found)
        except NotUnderstood:
            continue
        for threads in dict.fromkeys(one for one in BLOCKS if one <= max(found.threads, 32)):
            try:
                made = _written(found, loops, threads)
            except NotUnderstood:
                continue
            yield Rewrite(f"pieces of 32 rows through shared memory, blocks of {threads}", made, WHY)
        return


def why_not_staged(text: str, facts: Facts) -> list[str]:
    """Why no row goes through shared memory."""
    try:
        found = read_one_each(carried_in_registers(text, facts.entry), facts.entry)
        _written(found, _loops(found), BLOCKS[-1])
    except NotUnderstood as reason:
        return [str(reason)]
    return []


def _loops(found: OneEach) -> list[tuple[ForLoop, list[_Staged]]]:
    """The loops that walk rows, none inside another, each with its arrays."""
    ready: list[tuple[ForLoop, list[_Staged]]] = []
    reasons: list[str] = []
    for loop in uniform_loops(found):
        if any(_inside(loop.node, other.node) for other, _ in ready) or loop.inclusive or loop.step is not None:
            continue
        try:
            staged = _arrays(found, loop)
        except NotUnderstood as reason:
            reasons.append(str(reason))
            continue
        turns = (found.scope.form(loop.bound) - found.scope.form(loop.start)).value
        if staged and (turns is None or turns >= PIECE // 2):
            ready.append((loop, staged))
    if not ready:
        raise NotUnderstood(reasons[0] if reasons else "no loop walks along a row in plain turns")
    return ready


def _arrays(found: OneEach, loop: ForLoop) -> list[_Staged]:
    tree, by = found.tree, dict[str, list[ArrayUse]]()
    own = {*assigned(tree, loop.body), *declarations(tree, loop.body)} - set(found.kernel.parameters)
    for use in array_uses(found.scope, loop.body):
        by.setdefault(use.array, []).append(use)
    staged: list[_Staged] = []
    for array, ones in by.items():
        along = [one for one in ones if _walks(found, loop, one, own)]
        if not along:
            continue
        writes = any(one.writes for one in ones)
        same = [one for one in along if one.index == along[0].index]
        if writes and (len(same) != len(ones) or not all(_is_plain(one) for one in ones)):
            raise NotUnderstood(f"line {tree.line(ones[0].node)}: {array} is stored to and used in several ways")
        same = [one for one in same if _is_plain(one)]
        if not same:
            continue
        kind = found.kernel.parameters[array].type
        size = element_bytes(found, array)
        partial = writes and not any(one.writes and not one.reads and _always(one.node, loop) for one in same)
        staged.append(_Staged(array, kind, max(1, 4 // size), same, _read(same) or partial, writes))
    return staged


def _read(ones: list[ArrayUse]) -> bool:
    """Whether an element is read before this loop gave it a value, or may be."""
    return any(one.reads for one in ones)


def _walks(found: OneEach, loop: ForLoop, one: ArrayUse, own: set[str]) -> bool:
    """Whether neighbours in the array are neighbours in turns, and rows are of threads."""
    base = one.index.without(loop.variable)
    return (
        one.index.linear(loop.variable)
        and one.index.of(loop.variable).value == 1
        and base.depends(found.name)
        and not base.symbols & own
        and base.of(found.name).value != 1
    )


def _is_plain(one: ArrayUse) -> bool:
    """`array[...]`, and neither its address nor a member."""
    parent = one.node.parent
    by_address = parent is not None and parent.type in ("pointer_expression", "field_expression")
    return one.node.type == "subscript_expression" and not by_address


def _always(node: Node, loop: ForLoop) -> bool:
    """Whether it is done in every turn."""
    around = node.parent
    while around is not None and around != loop.body:
        if around.type not in ("assignment_expression", "expression_statement", "compound_statement"):
            return False
        around = around.parent
    return not any(True for _ in within(loop.body, "continue_statement"))


def _written(found: OneEach, loops: list[tuple[ForLoop, list[_Staged]]], threads: int) -> str:
    tree = found.tree
    warps, edits = threads // 32, TreeEdits(found.tree)
    inside, lane, warp = (fresh_name(tree.text, name) for name in ("inside", "lane", "warp"))
    sizes = 0
    top = [f"const int {lane} = threadIdx.x % 32, {warp} = threadIdx.x / 32;"]
    for loop, staged in loops:
        names: dict[str, str] = {}
        for one in staged:
            names[one.array] = fresh_name(tree.text, f"{one.array}_rows")
            line = f"__shared__ {one.type} {names[one.array]}[{warps}][32][{PIECE + one.pad}];"
            if line not in top:
                top.append(line)
                sizes += threads * (PIECE + one.pad) * element_bytes(found, one.array)
        _strip(found, loop, staged, names, edits, inside, lane, warp)
    if sizes > LARGEST:
        raise NotUnderstood("the pieces do not fit into shared memory")
    done = [use.node for _, staged in loops for one in staged for use in one.ones if use.writes]
    stores_guarded(found, edits, inside, done)
    return rewritten(found, threads, inside, top, [edits.part(one) for one in found.body], [])


def _strip(
    found: OneEach,
    loop: ForLoop,
    staged: list[_Staged],
    names: dict[str, str],
    edits: TreeEdits,
    inside: str,
    lane: str,
    warp: str,
) -> None:
    """The loop in pieces: rows come, each thread walks its own, rows go."""
    tree, turn = found.tree, loop.variable
    start, bound = f"({tree.of(loop.start)})", f"({tree.of(loop.bound)})"
    first, last, row = (fresh_name(tree.text, name) for name in (f"first_{turn}", f"last_{turn}", "row"))
    kind = "int"
    if loop.declares and (declared := loop.node.child_by_field_name("initializer")) is not None:
        kind = tree.of(declared.child_by_field_name("type") or declared)
    elif not loop.declares:
        raise NotUnderstood(f"line {tree.line(loop.node)}: {turn} lives longer than its loop")
    head: list[str] = []
    ahead: list[str] = []
    bring: list[str] = []
    take: list[str] = []
    all_rows = ["#pragma unroll", f"for (int {row} = 0; {row} < 32; ++{row}) {{"]
    place = fresh_name(tree.text, "place")
    for one in staged:
        base, next_ones = (fresh_name(tree.text, f"{one.array}_{word}") for word in ("start", "next"))
        tile = names[one.array]
        head.append(f"const auto {base} = {_offset(found, one.ones[0].node, turn, one.array)};")
        find = f"const auto {place} = __shfl_sync(0xffffffffu, {base}, {row}) + {lane} + "
        if one.loaded:
            load = f"{next_ones}[{row}] = {one.array}[{place}]; }}"
            head += [f"{one.type} {next_ones}[32];", *all_rows, f"{find}{start};"]
            head += [f"if ({start} + {lane} < {bound}) {{ {load}", "}"]
            bring += [*all_rows, f"{tile}[{warp}][{row}][{lane}] = {next_ones}[{row}];", "}"]
            ahead += [
                *all_rows,
                f"{find}{first} + {PIECE};",
                f"if ({first} + {PIECE} + {lane} < {bound}) {{ {load}",
                "}",
            ]
        if one.stored:
            take += [*all_rows, f"{find}{first};", f"const bool kept = __shfl_sync(0xffffffffu, int({inside}), {row});"]
            take += [
                f"if (kept && {first} + {lane} < {last}) {{ {one.array}[{place}] = {tile}[{warp}][{row}][{lane}]; }}"
            ]
            take.append("}")
        for each_use in one.ones:
            edits.replace(each_use.node, f"{tile}[{warp}][{lane}][{turn} - {first}]")
    lines = ["{", *head, f"for ({kind} {first} = {start}; {first} < {bound}; {first} += {PIECE}) {{"]
    lines.append(f"const {kind} {last} = {first} + {PIECE} < {bound} ? {first} + {PIECE} : {bound};")
    lines += [*bring, "__syncwarp();", *ahead, "#pragma unroll 4"]
    edits.before(loop.node, "\n".join(lines) + "\n")
    edits.replace(loop.start, first)
    edits.replace(loop.bound, last)
    edits.after(loop.node, "\n".join(["", "__syncwarp();", *take, *(["__syncwarp();"] if take else []), "}", "}"]))


def _offset(found: OneEach, use: Node, turn: str, array: str) -> str:
    """Where the row of a thread begins in an array: the index with zero for the turn."""
    tree = found.tree
    base, indices = use.child_by_field_name("argument"), use.child_by_field_name("indices")
    if base is None or indices is None:
        raise NotUnderstood(f"line {tree.line(use)}: the index of {array} is not understood")
    edits = TreeEdits(tree)
    for one in uses(tree, indices, turn):
        edits.replace(one, "0")
    index = edits.part(indices.named_children[0])
    if tree.of(base) == array:
        return index
    return f"({tree.of(base)} - {array}) + ({index})"


def _inside(node: Node, outer: Node) -> bool:
    return outer.start_byte <= node.start_byte and node.end_byte <= outer.end_byte
