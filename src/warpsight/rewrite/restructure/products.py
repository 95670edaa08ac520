"""Products of matrices, distances and their like: `out(i, j)` from a loop over `k` of what `(i, k)` and `(j, k)` hold.

The plain kernel loads two values for each step. Here a block stages a strip of both sides in shared memory, and each
thread makes a patch of outputs from registers. The loop's own statements are kept, word by word, with the loads in them
replaced; so is what comes after the loop. Refused: loads that are of neither side, and what else the loop carries.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from warpsight.rewrite.launch import read_launch, write_launch
from warpsight.rewrite.record import Facts, Rewrite
from warpsight.rewrite.restructure.edits import TreeEdits, fresh_name, tidied
from warpsight.rewrite.restructure.outputs import Plane, id_of, read_plane, size_in_axes
from warpsight.source.accesses import ArrayUse, array_uses
from warpsight.source.carried import Accumulator, accumulators
from warpsight.source.loops import ForLoop, read_loop
from warpsight.source.tree import NotUnderstood, statements, uses, within

WHY = "each loaded value serves one output: stage strips of both sides, and keep a patch of outputs in registers"


@dataclass(frozen=True)
class Tiling:
    """A block makes `rows` x `columns` outputs in steps of `depth`; a thread `high` x `wide` of them."""

    rows: int
    columns: int
    depth: int
    high: int
    wide: int

    @property
    def threads(self) -> int:
        return self.rows // self.high * self.columns // self.wide


TILINGS = (
    Tiling(64, 64, 16, 4, 4), Tiling(128, 128, 8, 8, 8), Tiling(128, 64, 16, 8, 4), Tiling(32, 32, 16, 2, 2),
    Tiling(32, 32, 32, 4, 4), Tiling(64, 32, 16, 4, 4),
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Product:
    plane: Plane
    loop: ForLoop
    gathers: tuple[Accumulator, ...]
    sides: tuple[list[ArrayUse], list[ArrayUse]]  # loads by rows, loads by columns
    between: list[Node]  # what stands between the guard and the loop
    after: list[Node]
    padded: bool  # zeros may stand for what is past the end


def blocked_product(text: str, facts: Facts) -> Iterator[Rewrite]:
    """The kernel with tiles of several shapes."""
    try:
        found = _read(text, facts)
    except NotUnderstood:
        return
    for tiling in TILINGS:
        try:
            made = _written(found, tiling, facts)
        except NotUnderstood:
            return
        each = f"{tiling.high} x {tiling.wide} outputs a thread"
        yield Rewrite(f"tiles of {tiling.rows} x {tiling.columns} in shared memory, {each}", made, WHY)


def why_not_product(text: str, facts: Facts) -> list[str]:
    """Why a kernel is no product of two sides."""
    try:
        _written(_read(text, facts), TILINGS[0], facts)
    except NotUnderstood as reason:
        return [str(reason)]
    return []


def _read(text: str, facts: Facts) -> _Product:
    plane = read_plane(text, facts)
    places = [at for at, one in enumerate(plane.after) if one.type == "for_statement"]
    if len(places) != 1:
        raise NotUnderstood("there is not one loop for each output")
    at, tree = places[0], plane.tree
    loop = read_loop(tree, plane.after[at])
    if loop.step is not None:
        raise NotUnderstood(f"the loop in line {tree.line(loop.node)} does not go by one")
    if any(True for _ in within(loop.body, "return_statement", "break_statement", "continue_statement")):
        raise NotUnderstood(f"the loop in line {tree.line(loop.node)} may jump")
    gathers = accumulators(plane.scope, loop)
    if not gathers or any(one.size or one.combine == "best" for one in gathers):
        raise NotUnderstood(f"the loop in line {tree.line(loop.node)} gathers no plain value")
    sides = _sides(plane, loop)
    between = [one for one in plane.after[:at] if one.type != "preproc_call"]
    if any(one.type != "declaration" for one in between):
        raise NotUnderstood("something is done before the loop")
    _require_known_before(plane, between, gathers)
    after = plane.after[at + 1 :]
    if any(True for one in after for _ in within(one, "return_statement")):
        raise NotUnderstood("something is returned after the loop")
    return _Product(plane, loop, gathers, sides, between, after, _is_product(plane, loop, sides))


def _sides(plane: Plane, loop: ForLoop) -> tuple[list[ArrayUse], list[ArrayUse]]:
    tree, (row, column) = plane.tree, plane.names
    sides: tuple[list[ArrayUse], list[ArrayUse]] = ([], [])
    for use in array_uses(plane.scope, loop.body):
        by = (use.index.depends(row), use.index.depends(column))
        if use.writes or by[0] == by[1] or not use.index.linear(loop.variable) or not use.index.of(loop.variable).terms:
            raise NotUnderstood(f"line {tree.line(use.node)}: {tree.of(use.node)} is no value of a row or of a column")
        sides[0 if by[0] else 1].append(use)
    if not sides[0] or not sides[1]:
        raise NotUnderstood("the loop does not load from rows and from columns")
    other = {tree.of(one) for one in within(loop.body, "identifier")} & {row, column}
    loads = [use.node for side in sides for use in side]
    for name in {*other, loop.variable}:
        if any(not any(_inside(use, load) for load in loads) for use in uses(tree, loop.body, name)):
            raise NotUnderstood(f"the loop needs {name} for more than its loads")
    return sides


def _require_known_before(plane: Plane, between: list[Node], gathers: tuple[Accumulator, ...]) -> None:
    """What is declared before the loop is what it gathers, or the same for all threads."""
    tree, own = plane.tree, {id_of(one.declarator) for one in gathers}
    for one in (*between, *plane.before):
        for declarator in one.children_by_field_name("declarator"):
            if id_of(declarator) in own:
                if declarator.child_by_field_name("value") is None:
                    raise NotUnderstood(f"line {tree.line(declarator)}: a sum begins without a value")
                continue
            words = {tree.of(w) for w in within(one, "identifier")}
            if one in between and words & set(plane.names):
                raise NotUnderstood(f"line {tree.line(one)}: something is made for each output before the loop")


def _is_product(plane: Plane, loop: ForLoop, sides: tuple[list[ArrayUse], list[ArrayUse]]) -> bool:
    """`s += a * b` of two floats: zeros past the end change nothing."""
    tree, ones = plane.tree, statements(loop.body)
    if len(ones) != 1 or ones[0].type != "expression_statement" or any(len(side) != 1 for side in sides):
        return False
    change = ones[0].named_children[0]
    value, sign = change.child_by_field_name("right"), change.child_by_field_name("operator")
    by = None if value is None else value.child_by_field_name("operator")
    return (
        sign is not None
        and sign.type == "+="
        and by is not None
        and by.type == "*"
        and "(" not in tree.of(value or change)
    )


def _inside(node: Node, outer: Node) -> bool:
    return outer.start_byte <= node.start_byte and node.end_byte <= outer.end_byte


def _written(found: _Product, tiling: Tiling, facts: Facts) -> str:
    plane, tree = found.plane, found.plane.tree
    sizes = [size_in_axes(size, facts, tree) for size in plane.sizes]
    edits = TreeEdits(tree)
    edits.replace(plane.kernel.body, tidied("\n".join(_body(found, tiling)), "").lstrip())
    text = edits.text()
    line = read_launch(text)
    assert line is not None
    grid = (f"ceil({sizes[1]}/{tiling.columns})", f"ceil({sizes[0]}/{tiling.rows})", *line.grid[2:])
    return write_launch(text, line._replace(grid=grid, block=(str(tiling.threads),)))


_NAMES = (
    "thread", "first_row", "first_column", "first", "part", "i", "j", "kept", "row_tile", "column_tile", "row_value",
    "column_value",
)  # fmt: skip


def _body(found: _Product, t: Tiling) -> list[str]:
    n = {word: fresh_name(found.plane.tree.text, word) for word in _NAMES}
    return ["{", *_start(found, t, n), *_strips(found, t, n), *_end(found, t, n), "}"]


def _each(name: str, count: int) -> list[str]:
    """The head of an unrolled loop."""
    return ["#pragma unroll", f"for (int {name} = 0; {name} < {count}; ++{name}) {{"]


def _kinds(found: _Product, side: int) -> list[str]:
    """The types of what is loaded on a side."""
    return [found.plane.kernel.parameters[use.array].type for use in found.sides[side]]


def _start(found: _Product, t: Tiling, n: dict[str, str]) -> list[str]:
    """Tiles, the place of the block, and a patch of sums in each thread."""
    plane, tree = found.plane, found.plane.tree
    lines = [tree.of(one) for one in plane.before]
    for side, size, tile in ((0, t.rows, n["row_tile"]), (1, t.columns, n["column_tile"])):
        for at, kind in enumerate(_kinds(found, side)):
            lines.append(f"__shared__ __align__(16) {kind} {tile}{at}[{t.depth}][{size + 4}];")
    lines += [
        f"const int {n['thread']} = threadIdx.x;",
        f"const int {n['first_row']} = blockIdx.y * {t.rows}, {n['first_column']} = blockIdx.x * {t.columns};",
    ]
    lines += [tree.of(one) for one in found.between if not _declares(one, found.gathers)]
    patch = f"[{n['i']}][{n['j']}]"
    lines += [f"{one.type} {one.name}_{n['kept']}[{t.high}][{t.wide}];" for one in found.gathers]
    lines += [*_each(n["i"], t.high), *_each(n["j"], t.wide)]
    lines += [f"{one.name}_{n['kept']}{patch} = {_value(tree.of(one.declarator))};" for one in found.gathers]
    return [*lines, "}", "}"]


def _strips(found: _Product, t: Tiling, n: dict[str, str]) -> list[str]:
    """The loop over strips: both are staged, then each thread works on its patch."""
    tree, loop, first, part = found.plane.tree, found.loop, n["first"], n["part"]
    bound, last = tree.of(loop.bound), loop.inclusive
    lines = [
        f"for (int {first} = {tree.of(loop.start)}; {first} {'<=' if last else '<'} {bound}; {first} += {t.depth}) {{",
        *_stage(found, t, n, 0), *_stage(found, t, n, 1),
        "__syncthreads();",
        *_each(part, t.depth),
    ]  # fmt: skip
    if not found.padded:
        lines.append(f"if ({first} + {part} {'>' if last else '>='} {bound}) {{ break; }}")
    for side, word, count in ((0, "row", t.high), (1, "column", t.wide)):
        for at, kind in enumerate(_kinds(found, side)):
            value, tile = f"{n[f'{word}_value']}{at}", f"{n[f'{word}_tile']}{at}"
            lines += [f"{kind} {value}[{count}];", *_each(n["i"], count)]
            lines += [f"{value}[{n['i']}] = {tile}[{part}][{_own(t, n, side)} + {n['i']}];", "}"]
    lines += [*_each(n["i"], t.high), *_each(n["j"], t.wide), *_turn(found, n)]
    return [*lines, "}", "}", "}", "__syncthreads();", "}"]


def _own(t: Tiling, n: dict[str, str], side: int) -> str:
    """Where the patch of a thread begins in the tile."""
    across = t.columns // t.wide
    return f"{n['thread']} % {across} * {t.wide}" if side else f"{n['thread']} / {across} * {t.high}"


def _end(found: _Product, t: Tiling, n: dict[str, str]) -> list[str]:
    """What came after the loop, for each output of the patch."""
    plane, (row, column) = found.plane, found.plane.names
    lines = [
        *_each(n["i"], t.high), *_each(n["j"], t.wide),
        f"const {plane.types[0]} {row} = {n['first_row']} + {_own(t, n, 0)} + {n['i']};",
        f"const {plane.types[1]} {column} = {n['first_column']} + {_own(t, n, 1)} + {n['j']};",
        f"if ({row} < {plane.sizes[0]} && {column} < {plane.sizes[1]}) {{",
    ]  # fmt: skip
    lines += [f"{one.type} {one.name} = {one.name}_{n['kept']}[{n['i']}][{n['j']}];" for one in found.gathers]
    return [*lines, *(plane.tree.of(one) for one in found.after), "}", "}", "}"]


def _declares(one: Node, gathers: tuple[Accumulator, ...]) -> bool:
    return any(_inside(gathered.declarator, one) for gathered in gathers)


def _value(declarator: str) -> str:
    return declarator.partition("=")[2].strip()


def _stage(found: _Product, t: Tiling, n: dict[str, str], side: int) -> list[str]:
    """A strip of one side, brought to shared memory by all threads, along the way that its memory goes."""
    plane, tree, loop = found.plane, found.plane.tree, found.loop
    size, count = (t.rows, t.columns)[side], plane.names[side]
    first = n["first_row"] if side == 0 else n["first_column"]
    lines: list[str] = []
    for at, use in enumerate(found.sides[side]):
        along = use.index.of(loop.variable).value == 1
        one = n["i"]
        place, depth = f"{one} % {size}", f"{one} / {size}"
        if along:
            place, depth = f"{one} / {t.depth}", f"{one} % {t.depth}"
        tile, kind = n["row_tile" if side == 0 else "column_tile"], plane.kernel.parameters[use.array].type
        bound = f"{loop.variable} {'<=' if loop.inclusive else '<'} {tree.of(loop.bound)}"
        lines += [
            "#pragma unroll",
            f"for (int {one} = {n['thread']}; {one} < {size * t.depth}; {one} += {t.threads}) {{",
            f"const int {loop.variable} = {n['first']} + {depth};",
            f"const {plane.types[side]} {count} = {first} + {place};",
            f"const bool inside = {count} < {plane.sizes[side]} && {bound};",
            f"{tile}{at}[{depth}][{place}] = inside ? {tree.of(use.node)} : static_cast<{kind}>(0);",
            "}",
        ]
    return lines


def _turn(found: _Product, n: dict[str, str]) -> list[str]:
    """The loop's own statements for one output of the patch."""
    tree = found.plane.tree
    edits = TreeEdits(tree)
    for side, word, by in ((0, "row_value", n["i"]), (1, "column_value", n["j"])):
        for at, use in enumerate(found.sides[side]):
            edits.replace(use.node, f"{n[word]}{at}[{by}]")
    for one in found.gathers:
        for use in uses(tree, found.loop.body, one.name):
            edits.replace(use, f"{one.name}_{n['kept']}[{n['i']}][{n['j']}]")
    lines: list[str] = []
    for one in statements(found.loop.body):
        if one.type == "preproc_call":
            continue
        lines += edits.part(one).split("\n")
    return [line.strip() for line in lines]
