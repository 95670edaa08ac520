"""`divergence`: trees and running sums over shared memory whose lanes idle, as ones whose warps work together.

Three shapes are known: a tree of sums with growing steps, a running sum made by one thread, and one made by steps of
all threads with two barriers each. Other branches are the algorithm's own and are left.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from warpsight.rewrite.collectives import ALL, lane_number, thread_number, warp_scan, warp_sum
from warpsight.rewrite.launch import read_launch
from warpsight.rewrite.record import Facts, Rewrite
from warpsight.rewrite.shared import shared_arrays
from warpsight.rewrite.source import Code, Loop, Span, loops, read, splice, start_of, variable_of
from warpsight.rewrite.substitute import fresh


class Tree(NamedTuple):
    """A loop whose step doubles, over the elements of one shared array."""

    loop: Loop
    step: str
    bound: str
    array: str
    kind: str


def divergence(text: str, facts: Facts) -> Iterator[Rewrite]:
    code = read(text)
    for name, made in (*_trees(code), *_serial(code)):
        yield Rewrite(name, made)
    yield from scans(text)


def scans(text: str) -> Iterator[Rewrite]:
    """Running sums by doubling steps, by shuffles instead: two barriers in all."""
    code = read(text)
    for tree in _doubling(code):
        body = re.sub(r"\s+", " ", code.of(tree.loop.body))
        taken = re.search(rf">= {tree.step} \? {tree.array}\[(.+?) - {tree.step}\]", body)
        if taken and re.search(rf"{tree.array}\[{re.escape(taken[1])}\] (?:\+= |= {tree.array}\[)", body):
            yield Rewrite(f"the running sum of {tree.array} by shuffles", _scanned(code, tree, taken[1]))


def _doubling(code: Code) -> Iterator[Tree]:
    """Loops `for (int s = 1; s < n; s *= 2)` with barriers, and the shared array that they work on."""
    arrays = {array.name: array.type for array in shared_arrays(code)}
    for loop in loops(code):
        step, start = variable_of(code, loop), start_of(code, loop)
        doubles = "".join(code[at] for at in range(*loop.step)) in (f"{step}*=2", f"{step}<<=1")
        used = [name for name in arrays if name in code.words(loop.body)]
        if not doubles or start is None or code.of(start) != "1" or "__syncthreads" not in code.words(loop.body):
            continue
        if len(used) == 1 and code[loop.condition.first + 1] == "<":
            bound = code.of(Span(loop.condition.first + 2, loop.condition.last))
            yield Tree(loop, step, bound, used[0], arrays[used[0]])


def _trees(code: Code) -> Iterator[tuple[str, str]]:
    """`if (t % (2 * s) == 0) a[t] += a[t + s];` with halving steps, and by shuffles."""
    for tree in _doubling(code):
        body, step = code.of(tree.loop.body), tree.step
        guard = re.search(rf"([\w.]+)\s*%\s*\(\s*(?:2\s*\*\s*{step}|{step}\s*\*\s*2)\s*\)\s*==\s*0", body)
        guard = guard or re.search(rf"\(\s*([\w.]+)\s*&\s*\(\s*2\s*\*\s*{step}\s*-\s*1\s*\)\s*\)\s*==\s*0", body)
        if guard is None:
            continue
        thread, array = guard[1], tree.array
        adds = re.search(rf"{array}\s*\[\s*{re.escape(thread)}\s*\]\s*\+=\s*{array}\s*\[", body)
        if adds:
            yield f"the sum of {array} by shuffles", _summed(code, tree, thread)
        halved = body.replace(guard[0], f"{thread} < {step}")
        head = f"for (int {step} = ({tree.bound}) / 2; {step} > 0; {step} /= 2) {halved}"
        yield f"the tree over {array} with halving steps", splice(code.text, [_replace(code, tree.loop, [head])])


def _replace(code: Code, loop: Loop, lines: list[str]):
    first = loop.at if loop.pragma is None else loop.pragma
    return code.edit(Span(first, loop.body.last), f"\n{code.indent(loop.at)}".join(lines))


def _summed(code: Code, tree: Tree, thread: str) -> str:
    v, s, array = fresh(code.text, "value"), fresh(code.text, "hop"), tree.array
    lines = [
        "{", f"    {tree.kind} {v} = {array}[{thread}];", f"    {warp_sum(v, s)}", "    __syncthreads();",
        f"    if ({thread} % 32 == 0) {{ {array}[{thread} / 32] = {v}; }}", "    __syncthreads();",
        f"    if ({thread} < 32) {{",
        f"        {v} = {thread} < ({tree.bound} + 31) / 32 ? {array}[{thread}] : 0;", f"        {warp_sum(v, s)}",
        f"        if ({thread} == 0) {{ {array}[0] = {v}; }}", "    }", "    __syncthreads();", "}",
    ]  # fmt: skip
    return splice(code.text, [_replace(code, tree.loop, lines)])


def _scanned(code: Code, tree: Tree, thread: str) -> str:
    names = [fresh(code.text, one) for one in ("value", "hop", "left", "ends", "w")]
    v, s, left, ends, w = names
    lane = f"({thread} % 32)"
    lines = [
        "{", f"    __shared__ {tree.kind} {ends}[32];", f"    {tree.kind} {v} = {tree.array}[{thread}];",
        f"    {warp_scan(v, s, lane, left)}", f"    if ({lane} == 31) {{ {ends}[{thread} / 32] = {v}; }}",
        "    __syncthreads();", f"    for (int {w} = 0; {w} < ({tree.bound}) / 32; ++{w}) {{",
        f"        if ({w} < {thread} / 32) {{ {v} += {ends}[{w}]; }}", "    }",
        f"    {tree.array}[{thread}] = {v};", "    __syncthreads();", "}",
    ]  # fmt: skip
    return splice(code.text, [_replace(code, tree.loop, lines)])


def _serial(code: Code) -> Iterator[tuple[str, str]]:
    """`if (thread == 0) for (t = 1; t < n; ++t) a[t] += a[t - 1];` by the first warp."""
    launch = read_launch(code.text)
    number, lane = thread_number(launch), lane_number(launch)
    arrays = {array.name: array.type for array in shared_arrays(code)}
    for loop in loops(code):
        t, start = variable_of(code, loop), start_of(code, loop)
        body = re.sub(r"\s+", "", code.of(loop.body)).strip("{}")
        adds = re.fullmatch(rf"(\w+)\[{t}\]\+=\1\[{t}-1\];", body) if t else None
        guard = next((at for at in range(loop.at, max(loop.at - 16, 0), -1) if code[at] == "if"), None)
        if adds is None or adds[1] not in arrays or guard is None or start is None or code.of(start) != "1":
            continue
        close = code.pairs.get(guard + 1, guard)
        condition = "".join(code[at] for at in range(guard + 2, close))
        whole = code.pairs.get(close + 1, close) if code[close + 1] == "{" else loop.body.last - 1
        if not re.fullmatch(r"[\w.]+==0", condition) or whole < loop.body.last - 1:
            continue
        bound = code.of(Span(loop.condition.first + 2, loop.condition.last))
        array, names = adds[1], [fresh(code.text, one) for one in ("value", "hop", "left", "before", "base", "at")]
        v, s, left, before, base, at = names
        kind = arrays[array]
        lines = [
            f"if ({number} < 32) {{", f"    {kind} {before} = 0;",
            f"    for (int {base} = 0; {base} < {bound}; {base} += 32) {{", f"        int {at} = {base} + {lane};",
            f"        {kind} {v} = 0;", f"        if ({at} < {bound}) {{ {v} = {array}[{at}]; }}",
            f"        {warp_scan(v, s, lane, left)}", f"        {v} += {before};",
            f"        if ({at} < {bound}) {{ {array}[{at}] = {v}; }}",
            f"        {before} = __shfl_sync({ALL}, {v}, 31);", "    }", "}",
        ]  # fmt: skip
        made = f"\n{code.indent(guard)}".join(lines)
        yield (
            f"the running sum of {array} by a whole warp",
            splice(code.text, [code.edit(Span(guard, whole + 1), made)]),
        )
