"""`overlapping_reads`: what the threads of a block read around themselves is staged once in shared memory, with a halo.

For blocks of one, two or three sides whose threads read `a[f(x + dx, y + dy)]`: by loops with fixed turns, or at fixed
distances. The index is evaluated for each place of the tile by the kernel's own expression, so clamped edges stay what
they are; what would lie outside of the array is not loaded. A thread may make several neighbours along the last side,
whose windows overlap: the loops are unrolled, and what two of them read stays in a register (a sliding window).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from warpsight.rewrite.launch import LaunchLine, read_launch, write_launch
from warpsight.rewrite.record import Facts, Rewrite
from warpsight.rewrite.restructure.consecutive import MOST_TURNS, SIGNED
from warpsight.rewrite.restructure.edits import TreeEdits, fresh_name, tidied
from warpsight.rewrite.restructure.layouts import regrid
from warpsight.rewrite.restructure.memory_sums import in_registers
from warpsight.rewrite.restructure.one_each import BYTES
from warpsight.rewrite.restructure.outputs import WORKS_TOGETHER
from warpsight.source.accesses import ArrayUse, array_uses
from warpsight.source.forms import IndexForm, Scope
from warpsight.source.loops import for_loops
from warpsight.source.tree import (
    KernelTree,
    NotUnderstood,
    SourceTree,
    assigned,
    declared_name,
    kernel_of,
    parse,
    within,
)

LARGEST = 46 * 1024
LEAST_READS = 3  # of the tile by a thread, for one that it loads
EACH = (1, 4, 8, 2)  # neighbours along y or z for each thread
EACH_ALONG = (1, 5, 3)  # along x: odd, so that lanes meet in no bank
WHY = "neighbours read the same values: stage them once in shared memory, with the halo around the block"
_WORD = re.compile(r"[A-Za-z_]\w*(?:\.[xyz]\b)?")


@dataclass(frozen=True, eq=False)
class _Side:
    """One side of the block: the variable that counts along it, and its declaration."""

    letter: str
    name: str
    type: str
    size: int
    declaration: Node


@dataclass(frozen=True, eq=False)
class _Reach:
    """One use of an array: how far it is from the thread's own place, by side, with the loop variables in it."""

    use: ArrayUse
    centre: IndexForm
    steps: dict[str, tuple[str, int]]  # side to loop variable and its sign
    offsets: dict[str, int]
    low: dict[str, int]
    high: dict[str, int]
    turns: int


@dataclass(frozen=True, eq=False)
class _Neighbours:
    """The kernel, its sides, and the array that is staged."""

    scope: Scope
    line: LaunchLine
    dims: tuple[int, ...]
    sides: list[_Side]
    array: str
    type: str
    size: str
    reaches: list[_Reach]

    @property
    def tree(self) -> SourceTree:
        return self.scope.kernel.tree


def staged_with_halo(text: str, facts: Facts) -> Iterator[Rewrite]:
    """The tile, with one and with several outputs for each thread."""
    try:
        found = _read(in_registers(text, facts.entry), facts)
    except NotUnderstood:
        return
    last = found.sides[-1].letter
    for each in EACH_ALONG if last == "x" else EACH:
        try:
            made = _written(found, each)
        except NotUnderstood:
            continue
        more = f", {each} outputs along {last} for each thread" if each > 1 else ""
        yield Rewrite(f"{found.array} with its halo in shared memory{more}", made, WHY)


def why_no_halo(text: str, facts: Facts) -> list[str]:
    """Why no neighbours are staged."""
    try:
        _written(_read(in_registers(text, facts.entry), facts), 1)
    except NotUnderstood as reason:
        return [str(reason)]
    return []


def _read(text: str, facts: Facts) -> _Neighbours:
    line = read_launch(text)
    dims = line.dims if line is not None else None
    if line is None or dims is None:
        raise NotUnderstood("the launch line has no block of plain numbers")
    kernel = kernel_of(parse(text), facts.entry)
    if any(word in kernel.tree.of(kernel.body) for word in (*WORKS_TOGETHER, "atomic")):
        raise NotUnderstood("the threads of a block work together")
    whole = (*dims, 1, 1)[:3]
    fixed = {f"blockDim.{letter}": size for letter, size in zip("xyz", whole, strict=True)}
    sides = _sides(Scope(kernel, fixed), whole)
    scope = Scope(kernel, fixed, frozenset(side.name for side in sides))
    by: dict[tuple[str, str], list[_Reach]] = {}
    reasons: list[str] = []
    written = {use.array for use in array_uses(scope, kernel.body) if use.writes}
    for use in array_uses(scope, kernel.body):
        if use.array in written or use.node.type != "subscript_expression":
            continue
        try:
            reach = _reach(scope, sides, use)
            by.setdefault((use.array, str(reach.centre)), []).append(reach)
        except NotUnderstood as reason:
            reasons.append(str(reason))
    ranked = sorted(by.items(), key=lambda one: -sum(reach.turns for reach in one[1]))
    if not ranked or sum(reach.turns for reach in ranked[0][1]) < LEAST_READS:
        raise NotUnderstood(reasons[0] if reasons else "no array is read around the thread's own place")
    (array, _), reaches = ranked[0]
    size = _size(kernel, facts, array)
    return _Neighbours(scope, line, whole, sides, array, kernel.parameters[array].type, size, reaches)


def _sides(scope: Scope, whole: tuple[int, ...]) -> list[_Side]:
    tree, found = scope.kernel.tree, list[_Side]()
    changed = assigned(tree, scope.kernel.body)
    for letter, size in zip("xyz", whole, strict=True):
        wanted = IndexForm.symbol(f"blockIdx.{letter}") * IndexForm.number(size) + IndexForm.symbol(
            f"threadIdx.{letter}"
        )
        for one in scope.kernel.statements if size > 1 else ():
            declarators = one.children_by_field_name("declarator") if one.type == "declaration" else []
            value = declarators[0].child_by_field_name("value") if len(declarators) == 1 else None
            name = declared_name(declarators[0]) if declarators else None
            if value is None or name is None or scope.form(value) != wanted:
                continue
            kind = tree.of(one.child_by_field_name("type") or one)
            if kind not in SIGNED or tree.of(name) in changed:
                raise NotUnderstood(f"line {tree.line(one)}: {tree.of(name)} is not signed, or is changed")
            found.append(_Side(letter, tree.of(name), kind, size, one))
            break
        else:
            if size > 1:
                raise NotUnderstood(f"no variable numbers the outputs along {letter}")
    words = [tree.of(one) for one in within(scope.kernel.body, "field_expression")]
    for side in found:
        if words.count(f"threadIdx.{side.letter}") != 1:
            raise NotUnderstood(f"threadIdx.{side.letter} is used for more than {side.name}")
    if not found:
        raise NotUnderstood("the block has one thread")
    return found


def _reach(scope: Scope, sides: list[_Side], use: ArrayUse) -> _Reach:
    """How far a use is from the thread's own place."""
    tree, form = scope.kernel.tree, use.index
    where = f"line {tree.line(use.node)}"
    steps: dict[str, tuple[str, int]] = {}
    low = {side.letter: 0 for side in sides}
    high, turns = dict(low), 1
    for loop in for_loops(tree, scope.kernel.body):
        around = loop.body.start_byte <= use.node.start_byte < loop.body.end_byte
        if not around or not form.depends(loop.variable):
            continue
        first, last = scope.form(loop.start).value, scope.form(loop.bound).value
        if first is None or last is None or loop.step is not None or not loop.declares:
            raise NotUnderstood(f"{where}: the turns of the loop over {loop.variable} are not fixed")
        last -= not loop.inclusive
        paired = [
            (side, sign) for side in sides for sign in (1, -1) if _goes_with(form, side.name, loop.variable, sign)
        ]
        if len(paired) != 1 or paired[0][0].letter in steps or last < first or last - first + 1 > MOST_TURNS:
            raise NotUnderstood(f"{where}: {loop.variable} does not go along one side of the block")
        side, sign = paired[0]
        steps[side.letter] = (loop.variable, sign)
        ends = (first * sign, last * sign)
        low[side.letter], high[side.letter] = min(ends), max(ends)
        turns *= last - first + 1
    centre, offsets = form, dict.fromkeys(low, 0)
    plain = [side for side in sides if side.letter not in steps and form.linear(side.name)]
    for side in plain:
        step = form.of(side.name)
        far = _multiple(centre, step)
        centre, offsets[side.letter] = centre - step * IndexForm.number(far), far
        low[side.letter], high[side.letter] = far, far
    known = {*scope.kernel.parameters, *tree.constants, *(side.name for side in sides), *(k for k, _ in steps.values())}
    odd = {one for one in centre.symbols - known if "." not in one and not re.search(rf"\b{one}\(", str(centre))}
    if odd or not any(form.depends(side.name) for side in sides):
        raise NotUnderstood(f"{where}: the index of {use.array} is of no side of the block, or needs {sorted(odd)[:1]}")
    return _Reach(use, centre, steps, offsets, low, high, turns)


def _multiple(form: IndexForm, step: IndexForm) -> int:
    """How many times a step is in the terms of a form that have nothing of the thread."""
    if len(step.terms) != 1 or step.terms[0][1] == 0:
        return 0
    product, count = step.terms[0]
    own = dict(form.terms).get(product, 0)
    return own // count if own % count == 0 else 0


def _goes_with(form: IndexForm, name: str, turn: str, sign: int) -> bool:
    """Whether an index depends on a side and a turn by `name + sign * turn` alone."""
    if not form.depends(name) or form.of(turn) != form.of(name) * IndexForm.number(sign):
        return False
    together = str(IndexForm.symbol(name) + IndexForm.symbol(turn) * IndexForm.number(sign))
    close = together.replace(" ", "")
    for product, _ in form.terms:
        for symbol in product:
            words = _WORD.findall(symbol)
            if symbol in (name, turn) or not {name, turn} & set(words):
                continue
            rest = _WORD.findall(re.sub(rf"(?<![^(,+]){re.escape(close)}(?![^),+-])", "", symbol.replace(" ", "")))
            if {name, turn} & set(rest):
                return False
    return True


def _size(kernel: KernelTree, facts: Facts, array: str) -> str:
    """How many elements an array has, in words of the kernel."""
    words = {value: name for name, value in facts.scalars.items() if name in kernel.parameters}
    parts = [part.strip() for one in facts.shapes.get(array, ()) for part in one.split("*")]
    if not parts or any(not part.isdecimal() and part not in words for part in parts):
        raise NotUnderstood(f"how many elements {array} has is not known")
    return " * ".join(words.get(part, part) for part in parts)


def _written(found: _Neighbours, each: int) -> str:
    kernel, tree = found.scope.kernel, found.tree
    low = {s.letter: min(one.low[s.letter] for one in found.reaches) for s in found.sides}
    high = {s.letter: max(one.high[s.letter] for one in found.reaches) for s in found.sides}
    last = found.sides[-1]
    span = {s.letter: s.size * (each if s is last else 1) + high[s.letter] - low[s.letter] for s in found.sides}
    total = 1
    for one in span.values():
        total *= one
    if found.type not in BYTES or total * BYTES[found.type] > LARGEST:
        raise NotUnderstood("the tile does not fit into shared memory")
    n = {word: fresh_name(tree.text, word) for word in ("at", "place", "step", f"{found.array}_tile")}
    first = {s.letter: fresh_name(tree.text, f"first_{s.name}") for s in found.sides}
    edits = TreeEdits(tree)
    for one in found.reaches:
        edits.replace(one.use.node, n[f"{found.array}_tile"] + _on_tile(found, one, first, low))
    counters = [side.declaration for side in found.sides]
    body = [one for one in kernel.statements if one not in counters]
    if each > 1:
        _in_a_loop(found, body, edits)
    lines = ["{", *_load(found, n, first, low, span, each)]
    if each > 1:
        lines += ["#pragma unroll", f"for (int {n['step']} = 0; {n['step']} < {each}; ++{n['step']}) {{"]
    for side in found.sides:
        own = f"threadIdx.{side.letter}"
        own = f"{own} * {each} + {n['step']}" if side is last and each > 1 else own
        lines.append(f"const {side.type} {side.name} = {first[side.letter]} + {own};")
    lines += [edits.part(one) for one in body]
    lines += ["}", "}"] if each > 1 else ["}"]
    whole = TreeEdits(tree)
    whole.replace(kernel.body, tidied("\n".join(lines), "").lstrip())
    text = whole.text()
    line = read_launch(text)
    assert line is not None
    at = "xyz".index(last.letter)
    grid = tuple(regrid(one, last.size, last.size * each) if at == i else one for i, one in enumerate(line.grid))
    return write_launch(text, line._replace(grid=grid))


def _on_tile(found: _Neighbours, one: _Reach, first: dict[str, str], low: dict[str, int]) -> str:
    """The place of a use in the tile."""
    text = ""
    for side in reversed(found.sides):
        place = f"{side.name} - {first[side.letter]}"
        if side.letter in one.steps:
            turn, sign = one.steps[side.letter]
            place += f" {'+' if sign > 0 else '-'} {turn}"
        far = one.offsets[side.letter] - low[side.letter]
        text += f"[{place}{f' + {far}' if far else ''}]"
    return text


def _load(
    found: _Neighbours, n: dict[str, str], first: dict[str, str], low: dict[str, int], span: dict[str, int], each: int
) -> list[str]:
    """All threads of the block fill the tile."""
    last, tile, at = found.sides[-1], n[f"{found.array}_tile"], n["at"]
    threads = found.dims[0] * found.dims[1] * found.dims[2]
    number = "threadIdx.x"
    for letter, before in (("y", found.dims[0]), ("z", found.dims[0] * found.dims[1])):
        if found.dims["xyz".index(letter)] > 1:
            number += f" + threadIdx.{letter} * {before}"
    lines = [
        f"const {s.type} {first[s.letter]} = blockIdx.{s.letter} * {s.size * (each if s is last else 1)};"
        for s in found.sides
    ]
    shape = "".join(f"[{span[side.letter]}]" for side in reversed(found.sides))
    lines.append(f"__shared__ {found.type} {tile}{shape};")
    total = 1
    places: dict[str, str] = {}
    for side in found.sides:
        before = f"{at} / {total}" if total > 1 else at
        total *= span[side.letter]
        places[side.letter] = before if side is last else f"{before} % {span[side.letter]}"
    lines.append(f"for (int {at} = {number}; {at} < {total}; {at} += {threads}) {{")
    for side in found.sides:
        shift = (
            f" - {-low[side.letter]}" if low[side.letter] < 0 else f" + {low[side.letter]}" if low[side.letter] else ""
        )
        lines.append(f"const {side.type} {side.name} = {first[side.letter]} + {places[side.letter]}{shift};")
    turns = {turn for turn, _ in found.reaches[0].steps.values()}
    lines += [f"const int {turn} = 0;" for turn in sorted(turns)]
    lines.append(f"const auto {n['place']} = {found.reaches[0].centre};")
    index = "".join(f"[{places[side.letter]}]" for side in reversed(found.sides))
    inside = f"{n['place']} >= 0 && {n['place']} < {found.size}"
    lines.append(f"{tile}{index} = {inside} ? {found.array}[{n['place']}] : static_cast<{found.type}>(0);")
    return [*lines, "}", "__syncthreads();"]


def _in_a_loop(found: _Neighbours, body: list[Node], edits: TreeEdits) -> None:
    """What leaves early goes on with the next output, and loops around the window are unrolled."""
    tree, around = found.tree, {k for one in found.reaches for k, _ in one.steps.values()}
    for one in body:
        for leave in within(one, "return_statement"):
            if any(_inside(leave, loop.node) for loop in for_loops(tree, one)):
                raise NotUnderstood("a loop is left by return")
            edits.replace(leave, "continue;")
        for loop in for_loops(tree, one):
            before = loop.node.prev_named_sibling
            if loop.variable in around and (before is None or before.type != "preproc_call"):
                edits.before(loop.node, "#pragma unroll\n")


def _inside(node: Node, outer: Node) -> bool:
    return outer.start_byte <= node.start_byte and node.end_byte <= outer.end_byte
