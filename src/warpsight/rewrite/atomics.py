"""`contended_atomics`: sums in a warp or a block before the atomic, so that fewer meet at one address."""

from __future__ import annotations

from collections.abc import Iterator

from warpsight.rewrite.collectives import lane_number, thread_number, warp_sum
from warpsight.rewrite.launch import read_launch
from warpsight.rewrite.record import Facts, Rewrite
from warpsight.rewrite.source import Code, Edit, Span, calls, element, kernel_at, loops, read, splice
from warpsight.rewrite.substitute import fresh

_LARGEST = 24 * 1024


def contended_atomics(text: str, facts: Facts) -> Iterator[Rewrite]:
    code = read(text)
    found = [(at, arguments) for at, arguments in calls(code, ("atomicAdd",)) if len(arguments) == 2]
    private = [_private(code, facts, copies) for copies in (True, False)]
    if private[0] is not None:
        yield Rewrite("counted in shared memory by each warp, then added once", private[0])
    whole = [edit for at, arguments in found for edit in _by_warp(code, at, arguments)]
    if whole:
        yield Rewrite("summed over the warp before the atomic", splice(text, whole))
    if private[1] is not None:
        yield Rewrite("counted in shared memory by each block, then added once", private[1])
    for at, arguments in found if len(found) > 1 else ():
        line = text.count("\n", 0, code.tokens[at].start) + 1
        yield Rewrite(
            f"summed over the warp before the atomic of line {line}", splice(text, _by_warp(code, at, arguments))
        )


def _by_warp(code: Code, at: int, arguments: tuple[Span, ...]) -> list[Edit]:
    """`atomicAdd(p, v);` by the first lane, of the sum over the warp: right where all lanes have one address."""
    end = code.pairs[at + 1] + 1
    if code[end] != ";" or code[at - 1] not in (";", "{", "}", ")"):
        return []
    total, step, pad = fresh(code.text, "warp_total"), fresh(code.text, "warp_step"), code.indent(at)
    address, value = (code.of(one) for one in arguments)
    lines = (
        "{", f"    auto {total} = {value};", f"    {warp_sum(total, step)}",
        f"    if ({lane_number(read_launch(code.text))} == 0) {{ atomicAdd({address}, {total}); }}", "}",
    )  # fmt: skip
    return [code.edit(Span(at, end + 1), f"\n{pad}".join(lines))]


def _private(code: Code, facts: Facts, by_warp: bool) -> str | None:
    """Atomics on an argument of a fixed size, on a copy in shared memory instead that is added at the end."""
    found, launch = kernel_at(code, facts.entry), read_launch(code.text)
    threads = launch.threads if launch is not None else None
    if found is None or threads is None or "return" in code.words(found[1]):
        return None
    body = found[1]
    array, size = _fixed_target(code, body, facts)
    copies = max(threads // 32, 1) if by_warp else 1
    if not array or size * copies * 4 > _LARGEST:
        return None
    kind = {"int32": "int", "uint32": "unsigned", "float32": "float"}[facts.dtypes[array]]
    name, step, pad = fresh(code.text, f"{array}_block"), fresh(code.text, "slot"), code.indent(body.first)
    thread = thread_number(launch)
    row = size + 1 if by_warp else size
    mine = f"{thread} / 32 * {row} + " if by_warp else ""
    edits = [
        code.edit(Span(one[0].first + 1, index[0].last + 1), f"{name}[{mine}({code.of(index[0])})]")
        for _, one in calls(code, ("atomicAdd",), body)
        if one
        and code[one[0].first] == "&"
        and code[one[0].first + 1] == array
        and len(index := element(code, one[0].first + 1)) == 1
    ]
    turn = f"for (int {step} = {thread}; {step} <"
    start = (
        f"__shared__ {kind} {name}[{row * copies}];", f"{turn} {row * copies}; {step} += {threads}) {{",
        f"    {name}[{step}] = 0;", "}", "__syncthreads();", "",
    )  # fmt: skip
    total = " + ".join(f"{name}[{copy * row} + {step}]" for copy in range(copies))
    flush = (
        "", "__syncthreads();", f"{turn} {size}; {step} += {threads}) {{",
        f"    atomicAdd(&{array}[{step}], {total});", "}",
    )  # fmt: skip
    end = code.tokens[body.last - 1].end
    edits += [code.edit(Span(body.first, body.first), f"\n{pad}".join(start)), Edit(end, end, f"\n{pad}".join(flush))]
    return splice(code.text, edits)


def _fixed_target(code: Code, body: Span, facts: Facts) -> tuple[str, int]:
    """An argument whose size is a number and that a loop adds to by atomics; where its size is known."""
    for at, arguments in calls(code, ("atomicAdd",), body):
        if not arguments or code[arguments[0].first] != "&":
            continue
        array = code[arguments[0].first + 1]
        shape, known = facts.shapes.get(array, ()), facts.dtypes.get(array) in ("int32", "uint32", "float32")
        looped = any(loop.body.first <= at < loop.body.last for loop in loops(code, body))
        if known and looped and len(shape) == 1 and shape[0].isdecimal() and element(code, arguments[0].first + 1):
            return array, int(shape[0])
    return "", 0
