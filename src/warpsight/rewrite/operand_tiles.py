"""`missing_tile`, for operands: in a loop over `k`, what threads of one row or one column of the block read alike.

Threads with the same y read the same `a[... k]`, those with the same x the same `b[k ...]`: both are staged, a few
turns of `k` at a time. A guard around the loop is moved to what follows it, since every thread must help to load; each
load keeps the parts of the guard that speak of its own side. The gate tells whether that was right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from warpsight.rewrite.launch import read_launch
from warpsight.rewrite.record import Facts, Rewrite
from warpsight.rewrite.registers import elements
from warpsight.rewrite.source import (
    ASSIGN,
    Code,
    Edit,
    Loop,
    Span,
    declaration,
    kernel_at,
    loops,
    number,
    read,
    splice,
    split,
    start_of,
    statements,
    step_of,
    variable_of,
)  # fmt: skip
from warpsight.rewrite.substitute import fresh, put_for

_SHAPES = ((32, False), (16, False), (32, True), (16, True))  # depth of the tiles, and whether every turn is guarded
_LARGEST = 48 * 1024
_MOST_LOOPS = 16


class _TileOperand(NamedTuple):
    """`pointer[index]` in the loop: which side of the block it depends on, and the inner loop it is repeated in."""

    at: int
    whole: Span
    side: str
    kind: str
    inner: Loop | None
    turns: int
    guard: str


def operand_tiles(text: str, facts: Facts) -> Iterator[Rewrite]:
    """One rewrite for each depth of the tiles, for each loop that reads two operands or one of them alike."""
    code = read(text)
    found, launch = kernel_at(code, facts.entry), read_launch(text)
    dims = launch.dims if launch is not None else None
    if found is None or dims is None or len(dims) < 2 or dims[1] == 1:
        return
    for loop in loops(code, found[1])[:_MOST_LOOPS]:
        if step_of(code, loop) != "1" or code[loop.condition.first + 1] != "<" or start_of(code, loop) is None:
            continue
        operands = _operands(code, found[0], found[1], loop)
        for depth, guarded in _SHAPES if operands else ():
            made = _staged(code, found[1], loop, operands, depth, (dims[0], dims[1]), guarded)
            if made is not None:
                name = f"operands of the loop over {variable_of(code, loop)} in tiles of {depth}"
                yield Rewrite(name if guarded else f"{name}, the last filled up with zeros", made)


def _operands(code: Code, params: Span, body: Span, loop: Loop) -> list[_TileOperand]:
    k = variable_of(code, loop)
    found: list[_TileOperand] = []
    for at, whole in elements(code, loop.body):
        index = Span(at + 2, whole.last - 1)
        if (
            k not in code.words(index)
            or code[whole.last] in ASSIGN
            or any(o.whole.first < at < o.whole.last for o in found)
        ):
            continue
        names = _reached(code, index, body)
        sides = {side for side in "xy" if f"threadIdx.{side}" in names}
        inner = next((one for one in loops(code, loop.body) if variable_of(code, one) in names), None)
        turns = _turns(code, inner) if inner is not None else 1
        match = re.search(rf"(\w+)\s*\*\s*(?:__restrict__\s+)?{code[at]}\b", code.of(Span(params.first, body.last)))
        if len(sides) == 1 and turns and match:
            guard = _guard(code, at, loop, body, sides)
            found.append(_TileOperand(at, whole, sides.pop(), match[1], inner, turns, guard))
    return found


def _reached(code: Code, span: Span, body: Span, depth: int = 4) -> set[str]:
    """Names in a span, and in what they were set to; `threadIdx.x` is one name."""
    found: set[str] = set()
    for at in range(*span):
        if code.kind(at) == "word" and code[at - 1] != ".":
            found.add(f"{code[at]}.{code[at + 2]}" if code[at + 1] == "." else code[at])
    for name in list(found) if depth else ():
        value = declaration(code, name, body)
        if value is not None and not value.first <= span.first < value.last:
            found |= _reached(code, value, body, depth - 1)
    return found


def _turns(code: Code, loop: Loop) -> int:
    """How often an inner loop turns, where that is a number and it counts from 0; else 0."""
    start = start_of(code, loop)
    bound = number(code.of(Span(loop.condition.first + 2, loop.condition.last)))
    plain = start is not None and code.of(start) == "0" and step_of(code, loop) == "1"
    return bound if plain and bound is not None and bound <= 16 else 0


def _guard(code: Code, at: int, loop: Loop, body: Span, sides: set[str]) -> str:
    """The conditions around a load that speak of its own side alone: `c ? load : 0`, and an `if` around the loop."""
    first = at
    while first > loop.body.first and code[first - 1] not in (";", "{", "}", *ASSIGN):
        first -= 1
    mark = next((i for i in range(first, at) if code[i] == "?"), None)
    conditions = [Span(first, mark)] if mark is not None else []
    conditions += [Span(i + 2, code.pairs[i + 1]) for i, _ in _around(code, loop, body)]
    kept: list[str] = []
    for part in (one for condition in conditions for one in split(code, condition, "&&")):
        names = _reached(code, part, body)
        if {side for side in "xy" if f"threadIdx.{side}" in names} <= sides:
            kept.append(code.of(part))
    return " && ".join(kept)


def _around(code: Code, loop: Loop, body: Span) -> list[tuple[int, Span]]:
    """The `if (c) { ... }` without an `else` right around a loop: where it stands, and the inside of its braces."""
    return [
        (at, Span(brace + 1, code.pairs[brace]))
        for at in range(body.first, loop.at)
        if code[at] == "if" and at + 1 in code.pairs
        and code[brace := code.pairs[at + 1] + 1] == "{" and brace < loop.at < code.pairs.get(brace, 0)
        and code[code.pairs[brace] + 1] != "else"
    ]  # fmt: skip


def _staged(
    code: Code, body: Span, loop: Loop, operands: list[_TileOperand], depth: int, dims: tuple[int, int], guarded: bool
) -> str | None:
    k, start = variable_of(code, loop), start_of(code, loop)
    around = _around(code, loop, body)
    if start is None or len(around) > 1:
        return None
    base, s = fresh(code.text, f"{k}_tile"), fresh(code.text, "turn")
    bound = code.of(Span(loop.condition.first + 2, loop.condition.last))
    declared, loads, inner, bytes_ = list[str](), list[str](), list[Edit](), 0
    for number_, one in enumerate(operands):
        tile = fresh(code.text, f"{code[one.at]}_tile_{number_}")
        width = dims[0] if one.side == "x" else dims[1]
        bytes_ += one.turns * width * (depth + 1) * 4
        j = variable_of(code, one.inner) if one.inner is not None else ""
        part = f"[{j}]" if j else ""
        declared.append(f"__shared__ {one.kind} {tile}{f'[{one.turns}]' if j else ''}[{width}][{depth + 1}];")
        element = put_for(code, one.whole, k, f"({base} + {s})")
        guard = f"{base} + {s} < {bound}" + (f" && {one.guard}" if one.guard else "")
        other, step = ("y", dims[1]) if one.side == "x" else ("x", dims[0])
        within = re.sub(rf"\b{k}\b", f"({base} + {s})", guard)
        load = f"{tile}{part}[threadIdx.{one.side}][{s}] = {within} ? {element} : 0;"
        line = f"for (int {s} = threadIdx.{other}; {s} < {depth}; {s} += {step}) {{ {load} }}"
        loads.append(f"    for (int {j} = 0; {j} < {one.turns}; ++{j}) {{ {line} }}" if j else f"    {line}")
        inner.append(code.edit(one.whole, f"{tile}{part}[threadIdx.{one.side}][{k} - {base}]"))
    if bytes_ > _LARGEST:
        return None
    first, pad = code.tokens[loop.body.first].start, code.indent(loop.at)
    turn = splice(code.of(loop.body), [Edit(e.start - first, e.end - first, e.new) for e in inner])
    lines = [
        f"for (int {base} = {code.of(start)}; {base} < {bound}; {base} += {depth}) {{", *loads, "    __syncthreads();",
        "    #pragma unroll", f"    for (int {s} = 0; {s} < {depth}; ++{s}) {{", f"        int {k} = {base} + {s};",
        f"        {f'if ({k} < {bound}) ' if guarded else ''}{turn}", "    }", "    __syncthreads();", "}",
    ]  # fmt: skip
    where = loop.at if loop.pragma is None else loop.pragma
    edits = [code.edit(Span(where, loop.body.last), f"\n{pad}".join(lines))]
    top = f"\n{code.indent(body.first)}".join((*declared, ""))
    edits.append(code.edit(Span(body.first, body.first), top))
    return splice(code.text, [*edits, *_moved_guard(code, loop, around)])


def _moved_guard(code: Code, loop: Loop, around: list[tuple[int, Span]]) -> list[Edit]:
    """`if (c) { a; loop; b; }` as `{ a; loop; if (c) { b; } }`."""
    if not around:
        return []
    at, block = around[0]
    condition = code.of(Span(at + 2, code.pairs[at + 1]))
    after = [one for one in statements(code, block) if one.first >= loop.body.last]
    edits = [code.edit(Span(at, code.pairs[at + 1] + 1), "")]
    if after:
        rest = Span(after[0].first, after[-1].last)
        edits.append(code.edit(rest, f"if ({condition}) {{ {code.of(rest)} }}"))
    return edits
