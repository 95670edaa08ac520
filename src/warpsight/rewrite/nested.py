"""A flat loop over `rows * columns` with `/` and `%` in it, as two loops with neither: a warp a row.

`for (int i = w; i < R * C; i += s)` with `i / C` and `i % C` inside becomes rows by groups of 32 workers and columns by
the worker in its group. Right where the workers are 0 to s - 1 and s is a multiple of 32, which the gate finds out.
"""

from __future__ import annotations

from warpsight.rewrite.source import (
    Code,
    Edit,
    Loop,
    Span,
    assigns,
    inside,
    splice,
    split,
    start_of,
    step_of,
    variable_of,
)  # fmt: skip
from warpsight.rewrite.substitute import fresh


def nested_rows(code: Code, loop: Loop) -> str | None:
    """The text with this loop as two, or None where it is no such loop."""
    i, step, start = variable_of(code, loop), step_of(code, loop), start_of(code, loop)
    bound = Span(loop.condition.first + 2, loop.condition.last)
    factors = split(code, bound, "*")
    if step is None or start is None or len(factors) != 2 or code[loop.condition.first + 1] != "<":
        return None
    if assigns(code, i, loop.body) or code[loop.condition.first] != i:
        return None
    for rows, columns in (factors, factors[::-1]):
        width = code.of(columns)
        row, column = fresh(code.text, "row_of_warp"), fresh(code.text, "column")
        edits = _parts(code, loop, i, width, row, column)
        if edits is None:
            continue
        first, pad = code.tokens[loop.body.first].start, code.indent(loop.at)
        body = splice(code.of(loop.body), [Edit(e.start - first, e.end - first, e.new) for e in edits])
        worker, count = code.of(start), code.of(rows)
        text = (
            f"for (int {row} = ({worker}) / 32; {row} < {count}; {row} += ({step}) / 32)\n{pad}"
            f"for (int {column} = ({worker}) % 32; {column} < {width}; {column} += 32) {body}"
        )
        where = loop.at if loop.pragma is None else loop.pragma
        return splice(code.text, [code.edit(Span(where, loop.body.last), text)])
    return None


def _parts(code: Code, loop: Loop, i: str, width: str, row: str, column: str) -> list[Edit] | None:
    """`i / width` as the row, `i % width` as the column, and `i` as both; None where it is not divided at all."""
    edits: list[Edit] = []
    divided = False
    at, last = inside(code, loop.body)
    while at < last:
        if code[at] != i or code.kind(at) != "word" or code[at - 1] in (".", "->"):
            at += 1
            continue
        by = code.of(Span(at + 2, at + 3)) if code[at + 1] in ("/", "%") else ""
        if by == width and code[at - 1] not in ("*", "/", "%"):
            edits.append(code.edit(Span(at, at + 3), row if code[at + 1] == "/" else column))
            divided, at = True, at + 3
        else:
            edits.append(code.edit(Span(at, at + 1), f"({row} * {width} + {column})"))
            at += 1
    return edits if divided else None
