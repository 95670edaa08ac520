"""The roles of threadIdx.x and threadIdx.y changed in part of a kernel, where y goes on by a loop: `y + j`.

In a tile that is loaded by (x, y + j), what `x` counted is then counted by `y + j`, and the other way round. Variables
that are set from one of the two follow. Statements that name y without j are left alone: there it is not known.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from warpsight.rewrite.record import Rewrite
from warpsight.rewrite.source import Code, Edit, Loop, Span, blocks, declaration, loops, splice, statements, variable_of

_MOST_LOOPS = 16  # no kernel has more that matter, and a text may be long on purpose


class CountedName(NamedTuple):
    """A name that counts x or y, what stands for it when the roles are changed, and the edit where it is declared."""

    side: str
    partner: str
    declared: Edit | None = None


def swapped_roles(code: Code, body: Span) -> Iterator[Rewrite]:
    """One rewrite for each loop, and for each statement of it that reads or stores by both."""
    for loop in loops(code, body)[:_MOST_LOOPS]:
        step = variable_of(code, loop)
        if not step or not loop.innermost:
            continue
        line = code.text.count("\n", 0, code.tokens[loop.at].start) + 1
        whole = _swapped(code, body, loop, step, [loop.body])
        if whole is not None:
            yield Rewrite(f"x and y changed in the loop of line {line}", whole)
        for chosen in _groups(code, loop):
            made = _swapped(code, body, loop, step, chosen)
            if made is not None and made != whole:
                number = code.text.count("\n", 0, code.tokens[chosen[-1].first].start) + 1
                yield Rewrite(f"x and y changed in line {number}", made)


def _groups(code: Code, loop: Loop) -> Iterator[list[Span]]:
    """Each statement that stores, with the declarations in the loop that it uses."""
    for block in blocks(code, loop.body):
        found = list(statements(code, block))
        for one in found:
            if code[one.last - 1] != ";" or "=" not in {code[at] for at in range(*one)}:
                continue
            used = code.words(one)
            before = [
                s for s in found if s.last <= one.first and code[s.first + 1] in used and code[s.first + 2] == "="
            ]
            yield [*before, one]


def _swapped(code: Code, body: Span, loop: Loop, step: str, spans: list[Span]) -> str | None:
    """These spans with the roles changed; None where one of them does not take part."""
    names = counted_names(code, body, loop.at)
    inner = {code[s.first + 1] for s in spans if code[s.first + 2] == "="}
    edits: list[Edit] = []
    sides: set[str] = set()
    for span in spans:
        at = span.first
        while at < span.last:
            word, length = name_at(code, at)
            after, found = at + length, names.get(word)
            if found is not None and word not in inner:
                moved = code[after] == "+" and code[after + 1] == step
                if found.side == "y" and not moved:
                    return None
                after += 2 if found.side == "y" else 0
                new = found.partner if found.side == "y" else f"({found.partner} + {step})"
                edits.append(code.edit(Span(at, after), new))
                edits += [found.declared] if found.declared else []
                sides.add(found.side)
            at = max(after, at + 1)
    return splice(code.text, edits) if sides == {"x", "y"} else None


@functools.lru_cache(maxsize=256)
def counted_names(code: Code, body: Span, before: int) -> Mapping[str, CountedName]:
    """Names that stand for x or y before a place.

    A name set to nothing but the thread's number is another word for it, and changes with the word for the other; one
    with more in it keeps its name and gets the other number where it is declared.
    """
    values = {code[at]: Span(at + 2, at + 2) for at in range(body.first, before) if code[at + 1] == "="}
    values = {n: v for n in values if (v := declaration(code, n, Span(body.first, before))) is not None}
    words = {side: f"threadIdx.{side}" for side in "xy"}
    plain = {name: code.of(v)[-1] for name, v in values.items() if code.of(v) in words.values()}
    words |= {side: name for name, side in plain.items()}
    other = {"x": "y", "y": "x"}
    found = {f"threadIdx.{side}": CountedName(side, f"threadIdx.{other[side]}") for side in "xy"}
    found |= {name: CountedName(side, words[other[side]]) for name, side in plain.items()}
    for name, value in values.items():
        inside = [(at, name_at(code, at)) for at in range(*value) if name_at(code, at)[0] in found]
        if name not in plain and len(inside) == 1:
            at, (word, length) = inside[0]
            swap = code.edit(Span(at, at + length), found[word].partner)
            found[name] = CountedName(found[word].side, name, swap)
    return found


def name_at(code: Code, at: int) -> tuple[str, int]:
    if code[at] == "threadIdx" and code[at + 1] == ".":
        return f"threadIdx.{code[at + 2]}", 3
    return (code[at], 1) if code.kind(at) == "word" and code[at - 1] not in (".", "->") else ("", 1)
