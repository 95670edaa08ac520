"""`reloads`: values kept in registers, not in memory that is read and written in each turn of a loop."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from warpsight.rewrite.record import Facts, Rewrite
from warpsight.rewrite.source import (
    ASSIGN,
    Code,
    Edit,
    Loop,
    Span,
    assigns,
    blocks,
    element,
    inside,
    kernel_at,
    loops,
    number,
    read,
    splice,
    statements,
    variable_of,
)
from warpsight.rewrite.substitute import fresh


def reloads(text: str, facts: Facts) -> Iterator[Rewrite]:
    """Sums kept in registers and pointers that do not overlap, together first."""
    kept, hoisted, sunk = _kept(text, facts), _hoisted(text, facts), _sunk(text, facts)
    for name, made in (("the value in a register over the loop", kept), ("partial sums stored after the loop", sunk)):
        if made is not None:
            yield Rewrite(f"{name}, pointers restricted", restricted(made, facts))
            yield Rewrite(name, made)
    if hoisted is not None:
        yield Rewrite("loads before the loop, pointers restricted", restricted(hoisted, facts))
    yield Rewrite("pointers restricted", restricted(text, facts))


def restricted(text: str, facts: Facts) -> str:
    """Every pointer of the kernel with `__restrict__`."""
    code = read(text)
    found = kernel_at(code, facts.entry)
    if found is None:
        return text
    edits = [
        code.edit(Span(at, at), " __restrict__ " if code.text[code.tokens[at].start - 1] == "*" else "__restrict__ ")
        for at in range(*found[0])
        if code[at - 1] == "*" and code.kind(at) == "word" and code[at + 1] in (",", ")") and code[at] in facts.shapes
    ]
    return splice(text, edits)


def elements(code: Code, span: Span) -> Iterator[tuple[int, Span]]:
    """`name[index]` in a span: where the name stands, and all of it."""
    for at in range(*span):
        index = element(code, at) if code.kind(at) == "word" and code[at - 1] not in (".", "->") else ()
        if index:
            yield at, Span(at, index[-1].last + 1)


def _fixed(code: Code, whole: Span, loop: Loop) -> bool:
    """Whether an element is the same one in every turn."""
    inner = Span(whole.first + 1, whole.last)
    changed = {w for w in code.words(inner) if w == variable_of(code, loop) or assigns(code, w, loop.body)}
    declared = {code[at] for at in range(*loop.body) if code[at + 1] == "=" and code.kind(at - 1) == "word"}
    return not changed and not declared & code.words(inner)


def _kept(text: str, facts: Facts) -> str | None:
    """`a[i] = f(a[i])` in a loop that does not change `i`: loaded before, stored after."""
    before = text
    for _ in range(8):
        code = read(text)
        found = kernel_at(code, facts.entry)
        made = next(filter(None, (_one_kept(code, loop) for loop in loops(code, found[1]))), None) if found else None
        if made is None:
            break
        text = made
    return None if text == before else text


def _one_kept(code: Code, loop: Loop) -> str | None:
    for at, whole in elements(code, loop.body):
        if code[whole.last] not in ASSIGN or not _fixed(code, whole, loop) or "__syncthreads" in code.words(loop.body):
            continue
        same = [one for here, one in elements(code, loop.body) if code[here] == code[at]]
        if any(code.of(one) != code.of(whole) for one in same) or any(code[one.first - 1] == "&" for one in same):
            continue
        if len(same) < 2 and code[whole.last] == "=":
            continue
        name, pad = fresh(code.text, f"{code[at]}_kept"), code.indent(loop.at)
        start = loop.at if loop.pragma is None else loop.pragma
        edits = [code.edit(one, name) for one in same]
        edits.append(code.edit(Span(start, start), f"auto {name} = {code.of(whole)};\n{pad}"))
        end = code.tokens[loop.body.last - 1].end
        edits.append(Edit(end, end, f"\n{pad}{code.of(whole)} = {name};"))
        return splice(code.text, edits)
    return None


def _hoisted(text: str, facts: Facts) -> str | None:
    """Loads of arguments that are only read, from a place that an inner loop does not change, before that loop."""
    code = read(text)
    found = kernel_at(code, facts.entry)
    if found is None:
        return None
    stored = {code[at] for at, whole in elements(code, found[1]) if code[whole.last] in ASSIGN or code[at - 1] == "&"}
    edits: list[Edit] = []
    for loop in loops(code, found[1]):
        names: dict[str, str] = {}
        for at, whole in elements(code, loop.body) if loop.innermost else ():
            if code[at] not in facts.shapes or code[at] in stored or not _fixed(code, whole, loop):
                continue
            expression = code.of(whole)
            if expression not in names:
                names[expression] = fresh(code.text, f"{code[at]}_here_{len(edits)}")
                start = loop.at if loop.pragma is None else loop.pragma
                load = f"auto {names[expression]} = {expression};\n{code.indent(loop.at)}"
                edits.append(code.edit(Span(start, start), load))
            edits.append(code.edit(whole, names[expression]))
    return splice(text, edits) if edits else None


def _sunk(text: str, facts: Facts) -> str | None:
    """Partial sums that are added to memory in each turn and set back to 0: added once, after the loop."""
    code = read(text)
    found = kernel_at(code, facts.entry)
    for loop in loops(code, found[1]) if found else ():
        for one in statements(code, inside(code, loop.body)):
            flush = _flush(code, one)
            if flush is None or variable_of(code, loop) in _index_words(code, flush[0]):
                continue
            stored, reset = flush
            value = _flushed(code, stored)
            if value is None:
                continue
            pad, end = code.indent(loop.at), code.tokens[loop.body.last - 1].end
            start = code.tokens[one.first].start
            local = [code.edit(stored, value), code.edit(reset, "")]
            moved = splice(code.of(one), [Edit(e.start - start, e.end - start, e.new) for e in local])
            gone = code.line(one) or code.edit(one, "")
            return splice(text, [gone, Edit(end, end, f"\n{pad}{moved}")])
    return None


def _flush(code: Code, one: Span) -> tuple[Span, Span] | None:
    """Inside a statement: the store of a sum to memory, and right after it the same sum set to 0."""
    for block in blocks(code, one):
        for stored, reset in itertools.pairwise(statements(code, block)):
            equal = next((at for at in range(*reset) if code[at] == "="), None)
            if equal is None or number(code[equal + 1].rstrip("fF.").split(".")[0] or "1") != 0:
                continue
            name = code.of(Span(reset.first, equal))
            if name in code.of(stored) and element(code, stored.first):
                return stored, reset
    return None


def _index_words(code: Code, stored: Span) -> set[str]:
    found = element(code, stored.first)
    return code.words(found[0]) if found else set()


def _flushed(code: Code, stored: Span) -> str | None:
    """What is stored once: `x += v` as it is, `x = first ? v : x + v` as `x = v`."""
    target = element(code, stored.first)
    end = target[-1].last + 1
    if code[end] == "+=":
        return code.of(stored)
    mark = next((at for at in range(end, stored.last) if code[at] == "?"), None)
    colon = next((at for at in range(end, stored.last) if code[at] == ":"), None)
    if code[end] != "=" or mark is None or colon is None:
        return None
    return f"{code.of(Span(stored.first, end))} = {code.of(Span(mark + 1, colon))};"
