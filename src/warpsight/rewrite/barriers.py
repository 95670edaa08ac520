"""`needless_barriers`: barriers taken away, those first that guard no shared access in their loop.

The gate's race check decides which of them guard something.
"""

from __future__ import annotations

from collections.abc import Iterator

from warpsight.rewrite.lanes import scans
from warpsight.rewrite.record import Facts, Rewrite
from warpsight.rewrite.shared import shared_arrays
from warpsight.rewrite.source import ASSIGN, Code, Edit, Loop, Span, loops, read, splice

BARRIER = "__syncthreads"


def needless_barriers(text: str, facts: Facts) -> Iterator[Rewrite]:
    code = read(text)
    found = [at for at, token in enumerate(code.tokens) if token.text == BARRIER and code[at + 1] == "("]
    if not found:
        return
    names = {array.name for array in shared_arrays(code)}
    deepest = max(_depth(code, at) for at in found)
    inner = [at for at in found if deepest and _depth(code, at) == deepest]
    idle = [at for at in found if (loop := _around(code, at)) and not _stores_shared(code, loop.body, names)]
    yield from scans(text)
    groups = [("that guard no shared store in their loop", idle), ("in inner loops", inner), ("of the kernel", found)]
    for name, group in groups:
        if group:
            yield Rewrite(f"without the barriers {name}", splice(text, [_drop(code, at) for at in group]))
    if inner:
        warp = [Edit(code.tokens[at].start, code.tokens[at].end, "__syncwarp") for at in inner]
        yield Rewrite("barriers of the warp in inner loops", splice(text, warp))
    for at in sorted(found, key=lambda at: at not in inner):
        line = text.count("\n", 0, code.tokens[at].start) + 1
        yield Rewrite(f"without the barrier in line {line}", splice(text, [_drop(code, at)]))


def _drop(code: Code, at: int) -> Edit:
    end = code.pairs.get(at + 1, at + 1) + 1
    span = Span(at, end + 1 if code[end] == ";" else end)
    return code.line(span) or code.edit(span, ";")


def _depth(code: Code, at: int) -> int:
    return sum(loop.body.first <= at < loop.body.last for loop in loops(code))


def _around(code: Code, at: int) -> Loop | None:
    """The smallest loop around a place."""
    found = [loop for loop in loops(code) if loop.body.first <= at < loop.body.last]
    return min(found, key=lambda loop: loop.body.last - loop.body.first, default=None)


def _stores_shared(code: Code, body: Span, names: set[str]) -> bool:
    for here in range(body.first, body.last):
        if code[here] in names and code[here + 1] == "[":
            end = here + 1
            while code[end] == "[" and end in code.pairs:
                end = code.pairs[end] + 1
            if code[end] in ASSIGN or code[here - 1] == "&":
                return True
    return False
