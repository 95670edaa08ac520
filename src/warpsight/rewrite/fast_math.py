"""`slow_math`: cheaper functions for powers, roots, exponentials and divisions of floats.

Exact identities first (a power of 2 is a product), then the intrinsics, which are less exact: the tolerance decides.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from warpsight.rewrite.division import above_kernel
from warpsight.rewrite.launch import with_option
from warpsight.rewrite.operands import product_left, right_operand
from warpsight.rewrite.record import Facts, Rewrite
from warpsight.rewrite.source import Code, Edit, Span, calls, loops, number, read, splice

_FAST = {"expf": "__expf", "exp": "__expf", "logf": "__logf", "log2f": "__log2f", "log10f": "__log10f",
         "sinf": "__sinf", "cosf": "__cosf", "tanf": "__tanf", "powf": "__powf", "exp10f": "__exp10f"}  # fmt: skip
# What a power is, for an exponent that is a number; `v` is the base, evaluated once.
_POWERS = {2.0: "v * v", 3.0: "v * v * v", 4.0: "(v * v) * (v * v)", 1.0: "v", 1.5: "v * sqrt{f}(v)",
           -1.0: "{one} / v", -2.0: "{one} / (v * v)", -1.5: "r * r * r"}  # fmt: skip
_ROOTS = {0.5: "sqrt", -0.5: "rsqrt"}
_WHOLE = """static __device__ __forceinline__ {type} {name}({type} v, int n) {{
    {type} power = 1;
    for (unsigned left = n < 0 ? -n : n; left != 0; left >>= 1) {{
        power *= left & 1 ? v : 1;
        v *= v;
    }}
    return n < 0 ? 1 / power : power;
}}
"""
_FLOAT = re.compile(r"[0-9]*\.[0-9]*(?:[eE][+-]?[0-9]+)?[fF]")


def slow_math(text: str, facts: Facts) -> Iterator[Rewrite]:
    exact = _exact(text)
    fast = _intrinsics(exact)
    yield Rewrite("intrinsics for functions and divisions", _divided(fast))
    yield Rewrite("products and roots for powers", exact)
    yield Rewrite("intrinsics for functions", fast)
    yield Rewrite("products for powers, reciprocals for divisions", _divided(exact))
    horner = _horner(text)
    if horner is not None:
        yield Rewrite("the polynomial by Horner's rule", horner)
    for name, start in (("fast math for the whole file", text), ("fast math, and products for powers", exact)):
        if (made := with_option(start, "--use_fast_math")) is not None and not facts.has_double:
            yield Rewrite(name, made)


def _exact(text: str) -> str:
    """Powers of a known exponent or base, and `1 / sqrt`, one at a time until none is left."""
    for _ in range(32):
        made = _one_exact(read(text))
        if made is None:
            return text
        text = made
    return text


def _one_exact(code: Code) -> str | None:
    for at, arguments in calls(code, ("powf", "pow")):
        if len(arguments) == 2:
            end = code.pairs[at + 1] + 1
            made = _power(code, at, end, *arguments)
            if made is not None:
                return made
    for at, arguments in calls(code, ("sqrtf", "sqrt")):
        left = code[at - 2] if code[at - 1] == "/" else ""
        if len(arguments) == 1 and left in ("1.0f", "1.f", "1.0", "1") and code[at - 3] not in ("*", "/", "%"):
            f = "f" if code[at] == "sqrtf" else ""
            return splice(code.text, [code.edit(Span(at - 2, at + 1), f"rsqrt{f}")])
    return None


def _power(code: Code, at: int, end: int, base: Span, exponent: Span) -> str | None:
    f, kind = ("f", "float") if code[at] == "powf" else ("", "double")
    value, of = _value(code, exponent), _value(code, base)
    if of is not None and abs(of - math.e) < 1e-5:
        return splice(code.text, [code.edit(Span(at, end), f"exp{f}({code.of(exponent)})")])
    if of in (2.0, 10.0):
        return splice(code.text, [code.edit(Span(at, end), f"exp{of:.0f}{f}({code.of(exponent)})")])
    if value is None:
        cast = re.fullmatch(r"\(\s*(?:float|double)\s*\)\s*(\w+|\(.*\))", code.of(exponent), re.DOTALL)
        if cast is None:
            return None
        name = f"power_of_{kind}"
        made = splice(code.text, [code.edit(Span(at, end), f"{name}({code.of(base)}, {cast[1]})")])
        return made if f"{name}({kind} v" in made else above_kernel(made, _WHOLE.format(type=kind, name=name))
    divides = code[at - 1] == "/"
    if value in (0.5, 1.5) and divides:
        value = -value
    multiplied = divides and value < 0
    whole, sign = Span(at - 1, end) if multiplied else Span(at, end), "* " if multiplied else ""
    if value in _ROOTS:
        return splice(code.text, [code.edit(whole, f"{sign}{_ROOTS[value]}{f}({code.of(base)})")])
    form = _POWERS.get(value)
    if form is None:
        return None
    name = f"power_{kind}_{'minus_' if value < 0 else ''}{str(abs(value)).replace('.', '_')}"
    text = splice(code.text, [code.edit(whole, f"{sign}{name}({code.of(base)})")])
    inner = form.format(f=f, one="1.0f" if f else "1.0")
    root = f"    {kind} r = rsqrt{f}(v);\n" if "r *" in form else ""
    function = f"static __device__ __forceinline__ {kind} {name}({kind} v) {{\n{root}    return {inner};\n}}\n"
    return text if function in text else above_kernel(text, function)


def _value(code: Code, span: Span) -> float | None:
    """The value of a number with an optional sign."""
    words = [code[at] for at in range(*span)]
    sign = -1.0 if words[:1] == ["-"] else 1.0
    words = words[1:] if words[:1] in (["-"], ["+"]) else words
    if len(words) != 1:
        return None
    whole = number(words[0])
    try:
        return sign * (float(words[0].rstrip("fF")) if whole is None else whole)
    except ValueError:
        return None


def _intrinsics(text: str) -> str:
    code = read(text)
    edits = [
        Edit(code.tokens[at].start, code.tokens[at].end, _FAST[code[at]])
        for at, _ in calls(code, [name for name in _FAST if name != "exp"])
    ]
    return splice(text, edits)


def _divided(text: str) -> str:
    """Float divisions: by a reciprocal where the divisor is one name, else by the fast division."""
    code = read(text)
    names = _float_scalars(code)
    edits: list[Edit] = []
    for at, token in enumerate(code.tokens):
        if token.text != "/" or token.kind != "op":
            continue
        left, right = product_left(code, at, 0), right_operand(code, at, len(code.tokens))
        if left is None or right is None or not _is_float(code, left, right, names):
            continue
        if code.of(right) in names and any(loop.body.first <= at < loop.body.last for loop in loops(code)):
            edits.append(code.edit(Span(at, right.last), f"* (1.0f / {code.of(right)})"))
        elif not (_FLOAT.fullmatch(code.of(left)) and code.of(right) in names):
            edits.append(code.edit(Span(left.first, right.last), f"__fdividef({code.of(left)}, {code.of(right)})"))
    return splice(text, edits)


def _is_float(code: Code, left: Span, right: Span, names: set[str]) -> bool:
    one, other = (
        (code.words(span) & names) | set(filter(_FLOAT.fullmatch, _numbers(code, span))) for span in (left, right)
    )
    called = {f for span in (left, right) for f in code.words(span) if re.fullmatch(r"\w+f|__expf|__logf", f)}
    return bool(one or other or called)


def _numbers(code: Code, span: Span) -> list[str]:
    return [code[at] for at in range(*span) if code.kind(at) == "number"]


def _float_scalars(code: Code) -> set[str]:
    """Variables declared `float`, no pointers and no arrays."""
    found: set[str] = set()
    for at, token in enumerate(code.tokens):
        if token.text != "float" or code.kind(at + 1) != "word":
            continue
        here = at + 1
        while here < len(code.tokens) and code[here] not in (";", ")", "{", "}"):
            if code.kind(here) == "word" and code[here + 1] in ("=", ",", ";", ")"):
                found.add(code[here])
            while here < len(code.tokens) and code[here] not in (",", ";", ")", "{", "}"):
                here = code.pairs.get(here, here) + 1
            if code[here] != "," or code.kind(here + 2) == "word":
                break
            here += 1
    return found


def _horner(text: str) -> str | None:
    """`s = c[n] * pow(v, n); for (k = n - 1; k >= 0; --k) s += c[k] * pow(v, k);` without a power."""
    cast = r"(?:\(\s*(?:float|double)\s*\)\s*)?"
    start = re.search(rf"(\w+)\s*=\s*(\w+)\[(\w+)\]\s*\*\s*powf?\(\s*(\w+)\s*,\s*{cast}\3\s*\)\s*;", text)
    if start is None:
        return None
    total, of, degree, at = start.groups()
    turn = re.compile(
        rf"(for\s*\(\s*int\s+(\w+)\s*=\s*{degree}\s*-\s*1\s*;\s*\2\s*>=\s*0\s*;[^)]*\)\s*\{{?\s*){total}\s*\+=\s*"
        rf"{of}\[\2\]\s*\*\s*powf?\(\s*{at}\s*,\s*{cast}\2\s*\)\s*;"
    )
    made, count = turn.subn(rf"\1{total} = {total} * {at} + {of}[\2];", text)
    return None if count != 1 else made.replace(start[0], f"{total} = {of}[{degree}];")
