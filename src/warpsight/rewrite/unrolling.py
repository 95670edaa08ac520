"""`missing_unroll`: pragmas on inner loops, and sums split over several accumulators.

A pragma changes no result. Splitting a sum changes the order of additions, which the tolerance must allow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from warpsight.rewrite.record import Facts, Rewrite
from warpsight.rewrite.source import Code, Edit, Loop, Span, assigns, inside, loops, read, splice, statements, step_of
from warpsight.rewrite.substitute import fresh, put_all

_FACTOR = re.compile(r"#\s*pragma\s+unroll\s*\(?\s*([0-9]*)\s*\)?\s*$")
_WAYS = 4


def missing_unroll(text: str, facts: Facts) -> Iterator[Rewrite]:
    """Loops that are kept rolled by a pragma first, then inner loops that have none."""
    code = read(text)
    found = loops(code)
    rolled = [loop for loop in found if _factor(code, loop) == "1"]
    bare = [loop for loop in found if loop.innermost and loop.pragma is None]
    small = [loop for loop in found if loop.innermost and _factor(code, loop) not in (None, "1", "")]
    if rolled:
        for factor in ("", "4", "8"):
            yield Rewrite(f"{_named(factor)} the rolled loops", splice(text, _pragmas(code, rolled, factor)))
    for name, loop in [("the rolled sum", one) for one in rolled] + [("a sum", one) for one in bare]:
        made = split_sum(code, loop, _WAYS)
        if made is not None:
            yield Rewrite(f"split {name} of line {_line(code, loop)} over {_WAYS} accumulators", made)
    for factor in ("4", "", "8"):
        if bare:
            yield Rewrite(f"{_named(factor)} inner loops", splice(text, _pragmas(code, bare, factor)))
    for factor in ("", "8"):
        if small:
            yield Rewrite(f"{_named(factor)} loops more", splice(text, _pragmas(code, small, factor)))


def _named(factor: str) -> str:
    return f"unroll {factor} turns of" if factor else "unroll fully"


def _line(code: Code, loop: Loop) -> int:
    return code.text.count("\n", 0, code.tokens[loop.at].start) + 1


def _factor(code: Code, loop: Loop) -> str | None:
    """The number of the loop's pragma; "" for all turns, None where it has no pragma."""
    found = None if loop.pragma is None else _FACTOR.match(code[loop.pragma])
    return None if found is None else found[1]


def _pragmas(code: Code, wanted: list[Loop], factor: str) -> Iterator[Edit]:
    pragma = f"#pragma unroll {factor}".rstrip()
    for loop in wanted:
        if loop.pragma is not None:
            yield code.edit(Span(loop.pragma, loop.pragma + 1), pragma)
        else:
            start = code.tokens[loop.at].start
            line = code.text.rfind("\n", 0, start) + 1
            new_line = "" if not code.text[line:start].strip() else f"\n{code.indent(loop.at)}"
            yield Edit(start, start, f"{new_line}{pragma}\n{code.indent(loop.at)}")


def split_sum(code: Code, loop: Loop, ways: int) -> str | None:
    """`for (int k = A; k < B; k += S) acc += f(k);` as `ways` independent sums and a rest."""
    head = re.fullmatch(r"((?:unsigned|int|size_t|long|\s)+\s)?(\w+)\s*=\s*(.*)", code.of(loop.init), re.DOTALL)
    step, acc = step_of(code, loop), _summed(code, loop)
    bound = Span(loop.condition.first + 2, loop.condition.last)
    if head is None or step is None or acc is None or code.words(bound) & {acc, head[2]}:
        return None
    name, body = head[2], inside(code, loop.body)
    if [code[loop.condition.first], code[loop.condition.first + 1]] != [name, "<"] or assigns(code, name, body):
        return None
    parts = [fresh(code.text, f"{acc}_{way}") for way in range(1, ways)]
    pad = code.indent(loop.at)
    inner = "\t" if "\t" in pad else "    "
    last = code.of(bound)
    lines = [f"decltype({acc}) {', '.join(f'{one} = 0' for one in parts)};"]
    lines += ["{", f"{code.of(loop.init)};"] if head[1] else []
    lines.append(f"for ({'' if head[1] else code.of(loop.init)}; {name} + {ways - 1} * ({step}) < {last};")
    lines[-1] += f" {name} += {ways} * ({step})) {{"
    for way, one in enumerate((acc, *parts)):
        moved = {acc: one} if way == 0 else {acc: one, name: f"({name} + {way} * ({step}))"}
        lines.append(f"{inner}{{ {put_all(code, body, moved)} }}")
    lines += ["}", f"for (; {name} < {last}; {name} += {step}) {{", f"{inner}{code.of(body)}", "}"]
    lines += ["}"] if head[1] else []
    lines.append(f"{acc} += {' + '.join(parts)};")
    start = loop.at if loop.pragma is None else loop.pragma
    return splice(code.text, [code.edit(Span(start, loop.body.last), f"\n{pad}".join(lines))])


def _summed(code: Code, loop: Loop) -> str | None:
    """The variable that a loop adds to, where its body is declarations and that one addition."""
    body = list(statements(code, inside(code, loop.body)))
    if not body or len(body) > 6 or any(code[one.last - 1] != ";" for one in body):
        return None
    *before, last = body
    if code.kind(last.first) != "word" or code[last.first + 1] != "+=":
        return None
    acc = code[last.first]
    plain = all(_declares_value(code, one) and acc not in code.words(one) for one in before)
    return acc if plain and acc not in code.words(Span(last.first + 1, last.last)) else None


def _declares_value(code: Code, one: Span) -> bool:
    """Whether a statement is `type name = value;` and nothing more."""
    words = [code[at] for at in range(*one)]
    return "=" in words[2:5] and code.kind(one.first) == "word" and not set(words) & {"++", "--", "+=", "__syncthreads"}
