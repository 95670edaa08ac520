"""`division_in_loop`: powers of two by shift and mask, wrap-around by subtraction, the rest by a hoisted reciprocal.

The reciprocal way is exact for every non-negative 32-bit number: the estimate is one too small at most, and is
corrected. Shifts are only offered where the divisor is a number, or a scalar of one value in all workloads.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from warpsight.rewrite.nested import nested_rows
from warpsight.rewrite.operands import product_left, right_operand
from warpsight.rewrite.record import Facts, Rewrite
from warpsight.rewrite.source import (
    Code,
    Edit,
    Span,
    assigns,
    kernel_at,
    loops,
    number,
    read,
    splice,
    split,
    start_of,
    step_of,
    variable_of,
)
from warpsight.rewrite.substitute import fresh, put_for
from warpsight.rewrite.unrolling import split_sum

_QUOTIENT = """static __device__ __forceinline__ unsigned {name}(unsigned n, unsigned d, unsigned inverse) {{
    unsigned q = __umulhi(n, inverse);
    return q + (n - q * d >= d ? 1u : 0u);
}}
"""
_FLOATS = frozenset(("float", "double", "half", "float4", "float2", "double2"))


class Division(NamedTuple):
    """`left / right` or `left % right` of integers."""

    at: int
    left: Span
    right: Span

    @property
    def span(self) -> Span:
        return Span(self.left.first, self.right.last)


def division_in_loop(text: str, facts: Facts) -> Iterator[Rewrite]:
    code = read(text)
    found = kernel_at(code, facts.entry)
    if found is None:
        return
    params, body, head = found
    divisions = [one for one in _divisions(code, body, params) if _looped(code, one.at)]
    twos = [edit for one in divisions if (edit := _by_power_of_two(code, one, facts)) is not None]
    if twos:
        yield Rewrite("powers of two by shift and mask", splice(text, twos))
    for loop in loops(code, body):
        if (nested := nested_rows(code, loop)) is not None:
            yield Rewrite("a warp a row, without division", nested)
    yield from _stepped(code, divisions)
    unturned = [edit for one in divisions if (edit := _unturned(code, one)) is not None]
    if unturned:
        made = splice(text, unturned)
        yield from _summed(made, {edit.new for edit in unturned})
        yield Rewrite("the sweep from its start, without wrap-around", made)
    for clamp in (False, True):
        wrapped = [edit for one in divisions if (edit := _subtracted(code, one, clamp)) is not None]
        if wrapped:
            how = "a compare, kept in range" if clamp else "a compare"
            yield Rewrite(f"wrap-around by {how}", splice(text, wrapped))
    inverted = _inverted(code, divisions, body, head)
    if inverted is not None:
        yield Rewrite("division by a reciprocal from outside the loop", inverted)
    unsigned = [_unsigned(code, one) for one in divisions]
    if unsigned:
        yield Rewrite("unsigned division", splice(text, unsigned))


def _divisions(code: Code, body: Span, params: Span) -> Iterator[Division]:
    """Outermost divisions that are not of float numbers, as far as the text tells."""
    floats = _float_names(code, Span(params.first, body.last))
    done = body.first
    for at in range(body.first, body.last):
        if code[at] not in ("/", "%") or code.kind(at) != "op" or at < done:
            continue
        left, right = product_left(code, at, body.first), right_operand(code, at, body.last)
        if left is None or right is None or left.first < done:
            continue
        whole = Span(left.first, right.last)
        if floats & code.words(whole) or any("." in code[i] for i in range(*whole) if code.kind(i) == "number"):
            continue
        done = right.last
        yield Division(at, left, right)


def _float_names(code: Code, span: Span) -> set[str]:
    """Variables, pointers and parameters declared with a float type."""
    names: set[str] = set()
    for at in range(span.first, span.last):
        if code[at] not in _FLOATS or code.kind(at) != "word" or code[at - 1] == "<":
            continue
        here = at + 1
        while here < span.last and (code[here] in ("*", "&", "const", "__restrict__") or code.kind(here) == "word"):
            if code.kind(here) == "word" and code[here] not in ("const", "__restrict__"):
                names.add(code[here])
            while here < span.last and code[here] not in (",", ";", ")", "{", "}"):
                if (
                    code.kind(here) == "word"
                    and code[here - 1] in ("*", "__restrict__", "const")
                    and code[here + 1] != "("
                ):
                    names.add(code[here])
                if code[here] == "=":
                    here = next((i for i in range(here, span.last) if code[i] in (",", ";")), span.last)
                    break
                here = code.pairs.get(here, here) + 1
            if code[here] != "," or code.kind(here + 2) == "word":  # a list goes on, a next parameter does not
                break
            here += 1
    return names - {"const", "__restrict__"}


def _looped(code: Code, at: int) -> bool:
    """Whether it is done in every turn of some loop."""
    return any(loop.condition.first <= at < loop.body.last for loop in loops(code))


def _by_power_of_two(code: Code, one: Division, facts: Facts) -> Edit | None:
    word = code.of(one.right)
    value = facts.values.get(word, number(word))
    if value is None or value < 2 or value & (value - 1):
        return None
    if code[one.at] == "%":
        return code.edit(one.span, f"(({code.of(one.left)}) & ({word} - 1))")
    shift = str(value.bit_length() - 1) if word not in facts.values else f"(31 - __clz({word}))"
    return code.edit(one.span, f"(({code.of(one.left)}) >> {shift})")


def _sum_of(code: Code, one: Division) -> Span | None:
    """The inside of `(a + b + c) % d`."""
    if code[one.at] != "%" or code[one.left.first] != "(":
        return None
    if code.pairs.get(one.left.first) != one.left.last - 1:
        return None
    return Span(one.left.first + 1, one.left.last - 1)


def _unturned(code: Code, one: Division) -> Edit | None:
    """`(i + offset) % n` as `i`, for a sweep whose order does not matter."""
    inner = _sum_of(code, one)
    if inner is None:
        return None
    names = {variable_of(code, loop) for loop in loops(code) if loop.at <= one.at < loop.body.last}
    parts = [code.of(part) for part in split(code, inner, "+")]
    kept = [part for part in parts if part.strip() in names]
    return code.edit(one.span, kept[-1]) if kept and len(parts) > 1 else None


def _summed(text: str, names: set[str]) -> Iterator[Rewrite]:
    """A plain sweep that is a sum can be split: nothing holds its loads back any more."""
    code = read(text)
    for loop in loops(code):
        made = split_sum(code, loop, 4) if variable_of(code, loop) in names else None
        if made is not None:
            yield Rewrite("the sweep from its start, as four sums", made)


def _subtracted(code: Code, one: Division, clamp: bool) -> Edit | None:
    """`(e) % n` as `e < n ? e : e - n`, for an `e` below 2n; where it may be more, in range but of no use."""
    inner = _sum_of(code, one)
    if inner is None:
        return None
    e, n = code.of(inner), code.of(one.right)
    less = f"min(({e}) - {n}, {n} - 1)" if clamp else f"({e}) - {n}"
    return code.edit(one.span, f"(({e}) < {n} ? ({e}) : {less})")


def _stepped(code: Code, divisions: list[Division]) -> Iterator[Rewrite]:
    """`(i + c) % n` in a loop over `i` as an index of its own that is stepped and wrapped."""
    for one in divisions:
        around = [loop for loop in loops(code) if loop.body.first <= one.at < loop.body.last]
        if not around or code[one.at] != "%":
            continue
        loop = around[-1]
        name, step = variable_of(code, loop), step_of(code, loop)
        words = code.words(one.span) - {name}
        if not name or step is None or name not in code.words(one.left) or name in code.words(one.right):
            continue
        if any(assigns(code, word, loop.body) for word in words) or not _linear(code, one.left, name):
            continue
        begins = start_of(code, loop)
        if begins is None:
            continue
        start = code.of(begins)
        index = fresh(code.text, f"{name}_wrapped")
        turns = code.of(one.right)
        first = put_for(code, one.left, name, f"({start})")
        pad = code.indent(loop.at)
        at = loop.at if loop.pragma is None else loop.pragma
        edits = [
            code.edit(Span(at, at), f"int {index} = ({first}) % {turns};\n{pad}"),
            code.edit(one.span, index),
            code.edit(Span(loop.step.last, loop.step.last), f", {index} = _next({index} + ({step}), {turns})"),
        ]
        made = splice(code.text, edits)
        helper = fresh(code.text, "wrap_index")
        inline = "static __device__ __forceinline__ int " + helper
        inline += "(int i, int n) {\n    while (i >= n) {\n        i -= n;\n    }\n    return i;\n}\n"
        yield Rewrite(
            f"{index} stepped instead of a modulo", above_kernel(made.replace("_next(", f"{helper}("), inline)
        )


def above_kernel(text: str, function: str) -> str:
    """The text with a function above its first code, below the lines of the launch."""
    code = read(text)
    at = next((t.start for t in code.tokens if t.kind != "directive"), len(text))
    line = text.rfind("\n", 0, at) + 1
    return f"{text[:line]}{function}{text[line:]}"


def _linear(code: Code, span: Span, name: str) -> bool:
    """Whether a name stands once in a sum, multiplied by nothing."""
    at = [i for i in range(*span) if code[i] == name]
    return len(at) == 1 and not {code[at[0] - 1], code[at[0] + 1]} & {"*", "/", "%", "-", "<<", ">>", "&"}


def _inverted(code: Code, divisions: list[Division], body: Span, head: int) -> str | None:
    """Each divisor that the kernel never changes gets a reciprocal at the top."""
    names = {
        code.of(one.right)
        for one in divisions
        if one.right.last == one.right.first + 1 and code.kind(one.right.first) == "word"
    }
    fixed = sorted(name for name in names if not assigns(code, name, body))
    params = code.words(Span(head, body.first))
    fixed = [name for name in fixed if name in params]
    if not fixed:
        return None
    function = fresh(code.text, "quotient")
    inverse = {name: fresh(code.text, f"inverse_of_{name}") for name in fixed}
    pad = code.indent(body.first)
    lines = "".join(f"unsigned {inverse[name]} = 0xffffffffu / (unsigned){name};\n{pad}" for name in fixed)
    edits = [code.edit(Span(body.first, body.first), lines)]
    for one in divisions:
        name = code.of(one.right)
        if name not in inverse:
            continue
        left = code.of(one.left)
        whole = f"(int){function}({left}, {name}, {inverse[name]})"
        edits.append(code.edit(one.span, f"({whole})" if code[one.at] == "/" else f"(({left}) - {whole} * {name})"))
    return above_kernel(splice(code.text, edits), _QUOTIENT.format(name=function))


def _unsigned(code: Code, one: Division) -> Edit:
    left, right = code.of(one.left), code.of(one.right)
    return code.edit(one.span, f"((unsigned)({left}) {code[one.at]} (unsigned)({right}))")
