"""`missing_tile` and `uncoalesced`, for what is stored turned: `out[c * R + r] = in[r * C + c]` by way of a tile.

The block fills a tile of shared memory as it reads, then x and y change their roles and it stores from the tile by
columns, so that neighbours are neighbours on both sides. Where y does not go on by a loop, the block is made square.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from warpsight.rewrite.launch import read_launch, renumbered, write_launch
from warpsight.rewrite.record import Facts, Rewrite
from warpsight.rewrite.registers import elements
from warpsight.rewrite.roles import CountedName, counted_names, name_at
from warpsight.rewrite.source import (
    Code,
    Edit,
    Loop,
    Span,
    declaration,
    element,
    kernel_at,
    loops,
    read,
    splice,
    statement_end,
    variable_of,
)
from warpsight.rewrite.substitute import fresh

SIDES = (32, 16)
_KINDS = {"float32": "float", "int32": "int", "uint32": "unsigned", "float64": "double"}


def turned_tiles(text: str, facts: Facts) -> Iterator[Rewrite]:
    code, launch = read(text), read_launch(text)
    found, dims = kernel_at(code, facts.entry), launch.dims if launch is not None else None
    if found is None or launch is None or dims is None or len(dims) < 2:
        return
    for at in range(*found[1]):
        whole = _copy(code, at, facts)
        if whole is None:
            continue
        around = [one for one in loops(code, found[1]) if one.body.first <= at < one.body.last]
        loop = around[-1] if around else None
        for side in (dims[0],) if loop is not None else SIDES:
            made = _through_tile(code, found[1], whole, loop, side, facts)
            line = read_launch(made) if made is not None else None
            if made is None or line is None:
                continue
            if loop is None:
                grid = (renumbered(line.grid[0], dims[0], side), *(renumbered(g, dims[1], side) for g in line.grid[1:]))
                made = write_launch(made, line._replace(grid=grid, block=(str(side), str(side))))
            yield Rewrite(f"{code[at]} stored by way of a tile of {side} by {side}", made)


def _copy(code: Code, at: int, facts: Facts) -> Span | None:
    """A statement `out[i] = ... in[j] ...;` of two arguments that starts here."""
    if code[at] not in facts.shapes or code[at - 1] not in (";", "{", "}", ")"):
        return None
    index = element(code, at)
    end = statement_end(code, at, len(code.tokens))
    if len(index) != 1 or code[index[0].last + 1] != "=":
        return None
    value = Span(index[0].last + 2, end - 1)
    read_from = {code[i] for i, _ in elements(code, value)} & set(facts.shapes)
    return Span(at, end) if len(read_from) == 1 and code[at] not in read_from else None


def _through_tile(code: Code, body: Span, whole: Span, loop: Loop | None, side: int, facts: Facts) -> str | None:
    unit = _unit(code, body, whole, loop)
    names = counted_names(code, body, unit.first)
    step = variable_of(code, loop) if loop is not None else ""
    turned = {n: fresh(code.text, f"{n}_turned") for n, one in names.items() if one.declared and n in code.words(unit)}
    moved = _moved(code, unit, names, turned, step)
    if moved is None:
        return None
    kind = _KINDS.get(facts.dtypes.get(code[whole.first], ""))
    if kind is None:
        return None
    tile, index = fresh(code.text, "tile"), element(code, whole.first)[0]
    y = f"threadIdx.y + {step}" if step else "threadIdx.y"
    start, value = code.tokens[unit.first].start, Span(index.last + 2, whole.last - 1)
    load = code.edit(whole, f"{tile}[{y}][threadIdx.x] = {code.of(value)};")
    first = splice(code.of(unit), [Edit(load.start - start, load.end - start, load.new)])
    inside = range(code.tokens[value.first].start, code.tokens[value.last - 1].end)
    store = [e for e in moved if e.start not in inside] + [code.edit(value, f"{tile}[threadIdx.x][{y}]")]
    second = splice(code.of(unit), [Edit(e.start - start, e.end - start, e.new) for e in store])
    pad = code.indent(unit.first)
    lines = [first, "__syncthreads();", *(_declared(code, body, n, names[n], new) for n, new in turned.items()), second]
    top = f"__shared__ {kind} {tile}[{side}][{side + 1}];\n{code.indent(body.first)}"
    edits = [code.edit(Span(body.first, body.first), top), code.edit(unit, f"\n{pad}".join(lines))]
    return splice(code.text, edits)


def _unit(code: Code, body: Span, whole: Span, loop: Loop | None) -> Span:
    """What is done twice, once to load and once to store: the loop around the statement, or the `if`, or it alone."""
    if loop is not None:
        return Span(loop.at if loop.pragma is None else loop.pragma, loop.body.last)
    for at in range(body.first, whole.first):
        if code[at] == "if" and (end := statement_end(code, at, body.last)) >= whole.last:
            return Span(at, end)
    return whole


def _moved(
    code: Code, unit: Span, names: Mapping[str, CountedName], turned: dict[str, str], step: str
) -> list[Edit] | None:
    """The names of a unit with their roles changed; None where one side has no part in it."""
    edits: list[Edit] = []
    sides: set[str] = set()
    at = unit.first
    while at < unit.last:
        word, length = name_at(code, at)
        after, one = at + length, names.get(word)
        if one is not None and word in turned | {"threadIdx.x": "", "threadIdx.y": ""}:
            follows = bool(step) and [code[after], code[after + 1]] == ["+", step]
            if step and one.side == "y" and not follows:
                return None
            after += 2 if follows else 0
            new = turned.get(word, one.partner)
            edits.append(code.edit(Span(at, after), f"({new} + {step})" if step and one.side == "x" else new))
            sides.add(one.side)
        at = max(after, at + 1)
    return edits if sides == {"x", "y"} else None


def _declared(code: Code, body: Span, name: str, one: CountedName, new: str) -> str:
    """The declaration of a name that counts the other side now."""
    value = declaration(code, name, body)
    assert value is not None and one.declared is not None, "it was found as declared"
    start = code.tokens[value.first].start
    text = splice(code.of(value), [Edit(one.declared.start - start, one.declared.end - start, one.declared.new)])
    return f"int {new} = {' '.join(text.split())};"
