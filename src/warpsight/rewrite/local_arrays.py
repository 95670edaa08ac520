"""`spills`: no limits on registers, and no small arrays of a thread that lie in local memory.

An array that is indexed by what only a run knows cannot be in registers: it is read at its source, given turns that are
all known, or moved to shared memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from warpsight.rewrite.launch import read_launch
from warpsight.rewrite.record import Facts, Rewrite
from warpsight.rewrite.registers import elements
from warpsight.rewrite.source import (
    ASSIGN,
    Code,
    Edit,
    Loop,
    Span,
    element,
    inside,
    loops,
    number,
    read,
    splice,
    statements,
    variable_of,
)
from warpsight.rewrite.specialised import specialised


def spills(text: str, facts: Facts) -> Iterator[Rewrite]:
    """Limits taken away, copies read at their source, small local arrays in registers or shared memory."""
    code = read(text)
    limits = [
        code.edit(Span(at, code.pairs[at + 1] + 1), "")
        for at, token in enumerate(code.tokens)
        if token.text == "__launch_bounds__" and at + 1 in code.pairs
    ]
    if limits:
        yield Rewrite("without __launch_bounds__", splice(text, limits))
    free = re.sub(r"(//[ \t]*options[ \t]*:[^\n]*?)[ \t]*-?-maxrregcount=[0-9]+", r"\1", text, count=1)
    yield Rewrite("without a limit of registers", free)
    yield from specialised(text, facts)
    for at, name, size in _local_arrays(code):
        for made in (_source_of(code, at, name), _guarded_turns(code, name, size), _in_shared(code, at, name, size)):
            if made is not None:
                yield Rewrite(*made)
    yield Rewrite("every loop unrolled", re.sub(r"(?m)^([ \t]*)(for\s*\()", r"\1#pragma unroll\n\1\2", text))


def _local_arrays(code: Code) -> Iterator[tuple[int, str, int]]:
    """`type name[number];` that is not shared: where the name stands, the name, its size."""
    for at in range(2, len(code.tokens)):
        index = element(code, at) if code.kind(at) == "word" and code.kind(at - 1) == "word" else ()
        if len(index) != 1:
            continue
        size = number(code.of(index[0]))
        shared = "__shared__" in {code[i] for i in range(max(at - 4, 0), at)}
        if size and not shared and code[index[0].last + 1] in (";", "=") and code[at - 1] != "return":
            yield at, code[at], size


def _source_of(code: Code, at: int, name: str) -> tuple[str, str] | None:
    """An array that a loop fills with a copy, `name[k] = source[k]`, and nothing else changes."""
    copies: list[tuple[Loop, str]] = []
    for loop in loops(code):
        ones = list(statements(code, inside(code, loop.body)))
        copied = re.fullmatch(
            rf"{name}\s*\[\s*(\w+)\s*\]\s*=\s*(\w+)\s*\[\s*\1\s*\]\s*;", code.of(loop.body).strip("{} \n\t")
        )
        if len(ones) == 1 and copied and copied[1] == variable_of(code, loop):
            copies.append((loop, copied[2]))
    stores = sum(code[w.last] in ASSIGN for here, w in elements(code, Span(0, len(code.tokens))) if code[here] == name)
    if len(copies) != 1 or stores != 1 or code[element(code, at)[0].last + 1] != ";":
        return None
    loop, source = copies[0]
    end = element(code, at)[0].last + 2
    start = loop.at if loop.pragma is None else loop.pragma
    gone = Span(start, loop.body.last)
    declared = Span(at - 1, end)
    edits = [code.line(gone) or code.edit(gone, ""), code.line(declared) or code.edit(declared, "")]
    edits += [
        code.edit(Span(here, here + 1), source)
        for here in range(len(code.tokens))
        if code[here] == name and not start <= here < loop.body.last and here != at
    ]
    return f"{source} read at its place instead of the copy {name}", splice(code.text, edits)


def _guarded_turns(code: Code, name: str, size: int) -> tuple[str, str] | None:
    """Loops over the array with a fixed number of turns, so that every index is known: unrolled, each turn guarded."""
    edits: list[Edit] = []
    for loop in loops(code):
        variable = variable_of(code, loop)
        words = [code[at] for at in range(*loop.condition)]
        indices = [code.of(Span(at + 2, w.last - 1)) for at, w in elements(code, loop.body) if code[at] == name]
        plain = re.compile(rf"{re.escape(variable)}(\s*[-+]\s*[0-9]+)?")
        used = bool(indices) and all(plain.fullmatch(index) for index in indices)
        up = "++" in {code[at] for at in range(*loop.step)} and words[1:2] in (["<"], ["<="]) and words[0] == variable
        down = "--" in {code[at] for at in range(*loop.step)} and words[:3] == [variable, ">=", "0"]
        start = code.of(Span(loop.init.first, loop.init.last)).partition("=")[2].strip()
        if not used or not (up or down) or not start:
            continue
        first = loop.at if loop.pragma is None else loop.pragma
        pad, body = code.indent(loop.at), code.of(inside(code, loop.body))
        head = code.of(loop.init).partition("=")[0].strip()
        if up:
            turns = f"for ({head} = {start}; {variable} < {size}; ++{variable})"
            guard = code.of(loop.condition)
        else:
            turns, guard = f"for ({head} = {size - 1}; {variable} >= 0; --{variable})", f"{variable} <= ({start})"
        text = f"#pragma unroll\n{pad}{turns} {{\n{pad}    if ({guard}) {{ {body} }}\n{pad}}}"
        edits.append(code.edit(Span(first, loop.body.last), text))
    return (f"{name} in registers by guarded turns", splice(code.text, edits)) if edits else None


def _in_shared(code: Code, at: int, name: str, size: int) -> tuple[str, str] | None:
    """A column of shared memory for each thread."""
    launch = read_launch(code.text)
    threads = launch.threads if launch is not None else None
    kind, end = code[at - 1], element(code, at)[0].last + 1
    if threads is None or code[end] != ";" or size * threads * (8 if kind == "double" else 4) > 48 * 1024:
        return None
    sides = [d for d in ("z", "y", "x") if launch and launch.dims and len(launch.dims) > "xyz".index(d)]
    thread = "threadIdx.x" if sides == ["x"] else "(threadIdx.y * blockDim.x + threadIdx.x)"
    edits = [code.edit(Span(at - 1, end + 1), f"__shared__ {kind} {name}[{size}][{threads}];")]
    for here, whole in elements(code, Span(0, len(code.tokens))):
        if code[here] == name and here != at:
            edits.append(Edit(code.tokens[whole.last - 1].end, code.tokens[whole.last - 1].end, f"[{thread}]"))
    return f"{name} in shared memory, a column for each thread", splice(code.text, edits)
