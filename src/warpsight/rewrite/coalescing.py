"""`uncoalesced`: neighbouring threads to neighbouring addresses, in three known shapes.

A thread that owns a stretch of the data takes every n-th element instead; a permuted thread number becomes the plain
one; the roles of threadIdx.x and threadIdx.y are changed with one another, in a statement or in the whole kernel.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from warpsight.rewrite.launch import read_launch, write_launch
from warpsight.rewrite.record import Facts, Rewrite
from warpsight.rewrite.roles import swapped_roles
from warpsight.rewrite.source import (
    Code,
    Edit,
    Loop,
    Span,
    calls,
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
)
from warpsight.rewrite.turned_tiles import turned_tiles
from warpsight.rewrite.vectors import vector_loop

_THREAD = "blockIdx.x * blockDim.x + threadIdx.x"
_GRID = ("threadIdx", "blockIdx", "blockDim", "gridDim")


class Stretch(NamedTuple):
    """A loop of one thread over its own part: `worker * share` up to `min(end, ... + share)`."""

    start: Span
    worker: str
    share: str
    end: str
    bound: Span
    workers: str


def uncoalesced(text: str, facts: Facts) -> Iterator[Rewrite]:
    code = read(text)
    found = kernel_at(code, facts.entry)
    if found is None:
        return
    body = found[1]
    strided = _strided(code, body)
    if strided is not None:
        yield Rewrite("neighbouring threads take neighbouring elements", strided)
        yield from _wider(strided, facts)
    plain = _plain_threads(code, body)
    if plain:
        yield Rewrite("the plain thread number", splice(text, plain))
    yield from swapped_roles(code, body)
    yield from turned_tiles(text, facts)
    yield from _swapped_kernel(code, facts)


def _wider(text: str, facts: Facts) -> Iterator[Rewrite]:
    """Once neighbours read neighbours, vectors are possible too."""
    code = read(text)
    found = kernel_at(code, facts.entry)
    for loop in loops(code, found[1]) if found else ():
        made = vector_loop(code, found[1], loop, facts) if found else None
        if made is not None:
            yield Rewrite("neighbouring threads take neighbouring vectors", made)


def _strided(code: Code, body: Span) -> str | None:
    """Every loop over a stretch, as one that steps by the number of workers."""
    edits: list[Edit] = []
    names: set[str] = set()
    for loop in loops(code, body):
        one = _stretch(code, loop, body)
        if one is None:
            continue
        name = variable_of(code, loop)
        edits += [code.edit(one.start, one.worker), code.edit(one.bound, one.end)]
        edits += _spread(code, loop, name, one.workers)
        names |= {one.share, *code.words(one.start), *code.words(one.bound)}
    return without_unused(splice(code.text, edits), names) if edits else None


def _stretch(code: Code, loop: Loop, body: Span) -> Stretch | None:
    name, step = variable_of(code, loop), step_of(code, loop)
    less = next((at for at in range(*loop.condition) if code[at] == "<"), None)
    if not name or step is None or number(step) is None or less is None or code[loop.condition.first] != name:
        return None
    bound = Span(less + 1, loop.condition.last)
    part = _resolved(code, bound, body)
    least = next((args for _, args in calls(code, ("min",), part)), ()) if part else ()
    begins = start_of(code, loop) or declaration(code, name, body)
    if len(least) != 2 or begins is None:
        return None
    for own, end in (least, least[::-1]):
        words = code.words(own)
        for share in sorted(words - {name}):
            made = _shared_out(code, begins, share, body)
            if made is not None and any(code.of(p) == share for p in split(code, own, "+")):
                start, worker, workers = made
                return Stretch(start, worker, share, code.of(end), bound, workers)
    return None


def _shared_out(code: Code, begins: Span, share: str, body: Span) -> tuple[Span, str, str] | None:
    """`worker * share` with `share = (n + workers - 1) / workers`: where it stands, the worker, their number."""
    parts = declaration(code, share, body)
    divided = next((at for at in range(*parts) if code[at] == "/"), None) if parts else None
    if parts is None or divided is None:
        return None
    workers = code.of(Span(divided + 1, parts.last))
    value = _resolved(code, begins, body)
    factors = split(code, value, "*") if value else ()
    if not any(code.of(f) == share for f in factors) or len(factors) < 2:
        return None
    worker = " * ".join(code.of(f) for f in factors if code.of(f) != share)
    bare = worker[1:-1] if worker.startswith("(") and worker.endswith(")") else worker
    if re.search(r"threadIdx\s*\.\s*x\s*\*|\*\s*threadIdx", bare):  # neighbours would still be far apart
        worker = _THREAD
    return begins, worker, workers


def _resolved(code: Code, span: Span, body: Span) -> Span | None:
    """A span, or what its one name was set to, without a bracket around all of it."""
    if span.last == span.first + 1 and code.kind(span.first) == "word":
        found = declaration(code, code[span.first], body)
        return None if found is None or found == span else found
    return span


def _spread(code: Code, loop: Loop, name: str, workers: str) -> list[Edit]:
    """Steps of the loop and distances from its variable, each times the number of workers."""
    step = step_of(code, loop) or "1"
    by = workers if step == "1" else f"{step} * ({workers})"
    edits = [code.edit(loop.step, f"{name} += {by}")]
    for at in (*range(*loop.condition), *range(*loop.body)):
        if code[at] == name and code[at + 1] == "+" and number(code[at + 2]) is not None:
            far = Span(at + 2, at + 3)
            edits.append(code.edit(far, f"{code.of(far)} * ({workers})"))
    return edits


def without_unused(text: str, names: set[str]) -> str:
    """The text without the declarations of names that are not used any more."""
    for _ in names:
        code = read(text)
        counts = {name: sum(t.text == name for t in code.tokens) for name in names}
        gone = [
            edit
            for block in (Span(at + 1, end) for at, end in code.pairs.items() if code[at] == "{")
            for one in statements(code, block)
            if _only_declares(code, one, {name for name, count in counts.items() if count == 1})
            and (edit := code.line(one)) is not None
        ]
        if not gone:
            break
        text = splice(text, gone)
    return text


def _only_declares(code: Code, one: Span, names: set[str]) -> bool:
    plain = one.last - one.first > 3 and code.kind(one.first) == "word" and len(split(code, one, ",")) == 1
    return plain and code[one.first + 1] in names and code[one.first + 2] == "="


def _plain_threads(code: Code, body: Span) -> list[Edit]:
    """`int mine = threadIdx.x % 32 * 8 + threadIdx.x / 32;` as the thread's own number."""
    edits: list[Edit] = []
    for at in range(*body):
        if code.kind(at) != "word" or code[at + 1] != "=":
            continue
        value = declaration(code, code[at], Span(at, body.last))
        if value is None or value.first != at + 2:
            continue
        words, signs = code.words(value), {code[i] for i in range(*value)}
        sides = [side for side in "xyz" if side in words]
        if words == {"threadIdx", *sides} and len(sides) == 1 and signs & {"%", "/", "&", ">>"} and "*" in signs:
            edits.append(code.edit(value, f"threadIdx.{sides[0]}"))
    return edits


def _swapped_kernel(code: Code, facts: Facts) -> Iterator[Rewrite]:
    """x and y of the whole kernel changed with one another, with the launch; then those of the threads alone."""
    launch = read_launch(code.text)
    if launch is None:
        return
    grid, block = ((*part, "1")[:2] + part[2:] for part in (launch.grid, launch.block))
    members = [at for at in range(len(code.tokens)) if code[at] in _GRID and code[at + 2] in ("x", "y")]
    if not any(code[at + 2] == "y" for at in members):
        return
    everything = [_other_side(code, at) for at in members]
    threads = [_other_side(code, at) for at in members if code[at] in ("threadIdx", "blockDim")]
    only = [_other_side(code, at) for at in members if code[at] == "threadIdx"]
    for name, edits, sides in (("blocks and threads", everything, (True, True)), ("threads", threads, (False, True)),
                               ("thread numbers", only, (False, False))):  # fmt: skip
        line = read_launch(made := splice(code.text, edits))
        if line is not None:
            turned = line._replace(
                grid=(grid[1], grid[0], *grid[2:]) if sides[0] else launch.grid,
                block=(block[1], block[0], *block[2:]) if sides[1] else launch.block,
            )
            yield Rewrite(f"x and y of {name} changed", write_launch(made, turned))


def _other_side(code: Code, at: int) -> Edit:
    return code.edit(Span(at + 2, at + 3), "y" if code[at + 2] == "x" else "x")
