"""`missing_tile`: what all threads of a block read in the same turn, staged in shared memory first.

One shape is known: a loop over `k` in which every thread reads `a[k]`. The threads load a tile of it together, then
each reads all of the tile. Right only where the whole block comes to the loop: the gate's check of barriers tells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from warpsight.rewrite.collectives import thread_number
from warpsight.rewrite.launch import read_launch
from warpsight.rewrite.operand_tiles import operand_tiles
from warpsight.rewrite.record import Facts, Rewrite
from warpsight.rewrite.registers import elements
from warpsight.rewrite.source import (
    ASSIGN,
    Code,
    Edit,
    Loop,
    Span,
    kernel_at,
    loops,
    read,
    splice,
    start_of,
    step_of,
    variable_of,
)
from warpsight.rewrite.substitute import fresh
from warpsight.rewrite.turned_tiles import turned_tiles


def missing_tile(text: str, facts: Facts) -> Iterator[Rewrite]:
    code = read(text)
    found = kernel_at(code, facts.entry)
    if found is None:
        return
    for loop in loops(code, found[1]):
        made = _staged(code, found[0], found[1], loop)
        if made is not None:
            yield Rewrite("what all threads read, staged in shared memory", made)
    yield from turned_tiles(text, facts)
    yield from operand_tiles(text, facts)


def _staged(code: Code, params: Span, body: Span, loop: Loop) -> str | None:
    launch = read_launch(code.text)
    size = launch.threads if launch is not None else None
    k, start = variable_of(code, loop), start_of(code, loop)
    if size is None or not k or start is None or step_of(code, loop) != "1" or code[loop.condition.first + 1] != "<":
        return None
    reads = [(at, whole) for at, whole in elements(code, loop.body) if code.of(Span(at + 2, whole.last - 1)) == k]
    names = sorted({code[at] for at, whole in reads if code[whole.last] not in ASSIGN})
    kinds = {name: kind for name in names if (kind := _pointed(code, Span(params.first, body.last), name))}
    if not kinds or {"__syncthreads", "return", "break"} & code.words(loop.body):
        return None
    bound = code.of(Span(loop.condition.first + 2, loop.condition.last))
    base, t, pad = fresh(code.text, f"{k}_tile"), thread_number(launch), code.indent(loop.at)
    tiles = {name: fresh(code.text, f"{name}_tile") for name in kinds}
    inner = [code.edit(whole, f"{tiles[code[at]]}[{k} - {base}]") for at, whole in reads if code[at] in tiles]
    first = code.tokens[loop.body.first].start
    turn = splice(code.of(loop.body), [Edit(e.start - first, e.end - first, e.new) for e in inner])
    pragma = [f"    {code[loop.pragma]}"] if loop.pragma is not None else []
    lines = [
        f"for (int {base} = {code.of(start)}; {base} < {bound}; {base} += {size}) {{",
        f"    if ({base} + {t} < {bound}) {{",
        *(f"        {tile}[{t}] = {name}[{base} + {t}];" for name, tile in tiles.items()),
        "    }", "    __syncthreads();", *pragma,
        f"    for (int {k} = {base}; {k} < min({bound}, {base} + {size}); ++{k}) {turn}", "    __syncthreads();", "}",
    ]  # fmt: skip
    where = loop.at if loop.pragma is None else loop.pragma
    declared = "".join(f"__shared__ {kinds[n]} {tile}[{size}];\n{code.indent(body.first)}" for n, tile in tiles.items())
    edits = [code.edit(Span(where, loop.body.last), f"\n{pad}".join(lines))]
    return splice(code.text, [*edits, code.edit(Span(body.first, body.first), declared)])


def _pointed(code: Code, span: Span, name: str) -> str:
    """The type that a pointer is declared to point to."""
    found = re.search(rf"(?:const\s+)?(\w+)\s*\*\s*(?:__restrict__\s+)?(?:const\s+)?{name}\b", code.of(span))
    return found[1] if found else ""
