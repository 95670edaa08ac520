"""A body of its own for the value that the task gives a scalar: its loops have known turns, its arrays known indices.

`if (n == 11) { const int n = 11; body } else { body }`: right for every value, since the general body stays. Not for
bodies with shared arrays, which would be there twice.
"""

from __future__ import annotations

from collections.abc import Iterator

from warpsight.rewrite.record import Facts, Rewrite
from warpsight.rewrite.source import Code, Edit, Span, assigns, kernel_at, loops, read, splice


def specialised(text: str, facts: Facts) -> Iterator[Rewrite]:
    """One rewrite for each scalar of a fixed value that bounds a loop."""
    code = read(text)
    found = kernel_at(code, facts.entry)
    if found is None or found[1].first >= found[1].last or "__shared__" in code.words(found[1]):
        return
    body, pad = found[1], code.indent(found[1].first)
    for name, value in facts.values.items():
        edits = list(_unrolled(code, body, name)) if not assigns(code, name, body) else []
        if not edits:
            continue
        start = code.tokens[body.first].start
        own = splice(code.of(body), [Edit(e.start - start, e.end - start, e.new) for e in edits])
        lines = (f"if ({name} == {value}) {{", f"const int {name} = {value};", own, "} else {", code.of(body), "}")
        whole = splice(text, [code.edit(body, f"\n{pad}".join(lines))])
        yield Rewrite(f"a body of its own for {name} = {value}, its loops unrolled", whole)


def _unrolled(code: Code, body: Span, name: str) -> Iterator[Edit]:
    """Full unrolling for the loops that this scalar bounds."""
    for loop in loops(code, body):
        if name not in code.words(Span(loop.init.first, loop.condition.last)):
            continue
        if loop.pragma is not None:
            yield code.edit(Span(loop.pragma, loop.pragma + 1), "#pragma unroll")
        else:
            line = code.text.rfind("\n", 0, code.tokens[loop.at].start) + 1
            alone = not code.text[line : code.tokens[loop.at].start].strip()
            yield code.edit(Span(loop.at, loop.at), f"{'' if alone else chr(10)}#pragma unroll\n{code.indent(loop.at)}")
