"""`one_output_a_thread`: threads of a block merged, so that each makes several outputs and loads once what they share.

The block becomes a half or a quarter as large along one side, and thread t does the work of t, t + h, t + 2h ... What
depends on that side stands once for each of them; what does not stands once. Loops and guards that depend on it go in
step as far as all of them go, and then each by itself. Left alone: barriers where only some of them come by, jumps out
of what is done several times. What no rule of this kind can see (an atomic that every thread adds to) the gate does.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from warpsight.rewrite.launch import LaunchLine, read_launch, write_launch
from warpsight.rewrite.record import Facts, Rewrite
from warpsight.rewrite.source import (
    ASSIGN,
    Code,
    Edit,
    Span,
    element,
    inside,
    kernel_at,
    read,
    splice,
    split,
    statement_end,
    statements,
    within,
)

WARP = 32
LONGEST = 32 * 1024
_MARK = "_of"
_SIDES = ((1, 2), (0, 2), (1, 4), (0, 4))  # which side of the block, and how many threads become one
_BARRIERS = frozenset(("__syncthreads", "__syncthreads_or", "__syncthreads_and", "__syncthreads_count"))
_JUMPS = frozenset(("return", "break", "continue", "goto"))
_LOOPS = frozenset(("for", "while", "do"))


class _CannotMerge(Exception):
    """The text has a shape that this rule leaves alone."""


def one_output_a_thread(text: str, facts: Facts) -> Iterator[Rewrite]:
    """The threads merged by twos and fours, along each side of the block."""
    code, launch = read(text), read_launch(text)
    found = kernel_at(code, facts.entry)
    dims = launch.dims if launch is not None else None
    if found is None or launch is None or dims is None:
        return
    for side, count in _SIDES:
        if side >= len(dims) or dims[side] % count or (side == 0 and dims[0] // count < WARP):
            continue
        made = _merged(code, found[:2], launch, side, count)
        if made is not None:
            yield Rewrite(f"{count} threads as one along {'xyz'[side]}", made)


def _merged(code: Code, found: tuple[Span, Span], launch: LaunchLine, side: int, count: int) -> str | None:
    parameters, body = found
    size, mark = (launch.dims or (1,))[side], _MARK
    while f"{mark}1" in code.text:
        mark += _MARK
    merge = _Merge(code, "xyz"[side], size, size // count, mark, _dependent(code, parameters, body, "xyz"[side]))
    try:
        new = merge.block(body, tuple(range(count)))
    except (_CannotMerge, RecursionError):
        return None
    text = splice(code.text, [code.edit(body, _indented(new, code.indent(body.first)))])
    line = read_launch(text)
    if line is None:
        return None
    block = tuple(str(size // count) if at == side else one for at, one in enumerate(line.block))
    return write_launch(text, line._replace(block=block))


def _indented(text: str, first: str) -> str:
    """Lines as deep as their braces are; the first stands where the body began."""
    told: list[str] = []
    depth = 0
    for line in filter(None, (line.strip() for line in text.split("\n"))):
        depth -= line.startswith("}")
        told.append(f"{first}{'    ' * max(depth, 0)}{line}")
        depth += line.count("{") - line.count("}") + line.startswith("}")
    return "\n".join(told).lstrip()


@dataclass(frozen=True)
class _Merge:
    """Statements for several threads at once; `ways` are the numbers of those that a piece of text is for."""

    code: Code
    side: str
    size: int
    apart: int
    mark: str  # that names of the others end in, with their number
    dependent: frozenset[str]

    def block(self, span: Span, ways: Sequence[int]) -> str:
        """The statements of a block, without its braces."""
        told: list[str] = []
        pragma, span = "", inside(self.code, span)
        ones = list(statements(self.code, span))
        for at, one in enumerate(ones):
            if self.code.kind(one.first) == "directive":
                pragma = f"\n{self.code[one.first]}\n"
                if "unroll" not in pragma:
                    told, pragma = [*told, pragma], ""
                continue
            leaves = self._leaves(one)
            if leaves is not None and len(ways) > 1:
                rest = Span(ones[at + 1].first, span.last) if at + 1 < len(ones) else Span(span.last, span.last)
                return "\n".join((*told, self._guarded(leaves, rest, ways, negated=True)))
            told.append(self.statement(one, ways, pragma))
            pragma = ""
        if sum(map(len, told)) > LONGEST:  # what stands in guards in guards is written again and again
            raise _CannotMerge
        return "\n".join(told)

    def statement(self, one: Span, ways: Sequence[int], pragma: str = "") -> str:
        """One statement, for all these ways."""
        code, word = self.code, self.code[one.first]
        if word == "{":
            return f"{{\n{self.block(one, ways)}\n}}"
        if word in ("for", "if") and code[one.first + 1] == "(" and one.first + 1 in code.pairs:
            return self._loop(one, ways, pragma) if word == "for" else self._branch(one, ways)
        if word in ("while", "do", "switch"):
            return self._each(one, ways) if self._depends(one) else self._text(one, 0)
        if not self._depends(one):
            return self._text(one, 0)
        return "\n".join(self._text(one, way) for way in ways)

    def _loop(self, one: Span, ways: Sequence[int], pragma: str) -> str:
        code = self.code
        head = within(code, one.first + 1)
        parts, body = split(code, head, ";"), Span(head.last + 1, one.last)
        if len(parts) != 3:
            raise _CannotMerge
        if len(ways) == 1 or not self._depends(head):
            return f"{pragma}for ({self._text(head, ways[0])}) {{\n{self.block(body, ways)}\n}}"
        self._require_plain(body)
        starts, tests, steps = ([self._text(part, way) for way in ways] for part in parts)
        step_all = f"for (; {' && '.join(f'({test})' for test in tests)}; {', '.join(steps)})"
        lines = [
            "{",
            *(f"{start};" for start in starts if start),
            f"{pragma}{step_all} {{",
            self.block(body, ways),
            "}",
        ]
        for way, test, step in zip(ways, tests, steps, strict=True):
            lines += [f"for (; {test}; {step}) {{", self.block(body, (way,)), "}"]
        return "\n".join((*lines, "}"))

    def _branch(self, one: Span, ways: Sequence[int]) -> str:
        code = self.code
        test = within(code, one.first + 1)
        end = statement_end(code, test.last + 1, one.last)
        then, other = Span(test.last + 1, end), Span(end + 1, one.last)
        if len(ways) == 1 or not self._depends(test):
            told = f"if ({self._text(test, ways[0])}) {{\n{self.block(then, ways)}\n}}"
            return told + (f" else {{\n{self.block(other, ways)}\n}}" if other.first < other.last else "")
        if other.first < other.last or not code.words(then) & _LOOPS:
            return self._each(one, ways)
        return self._guarded(test, then, ways, negated=False)

    def _guarded(self, test: Span, body: Span, ways: Sequence[int], *, negated: bool) -> str:
        """All together where the guard lets all of them in, else each by itself."""
        self._require_plain(body)
        tests = [f"{'!' if negated else ''}({self._text(test, way)})" for way in ways]
        lines = [f"if ({' && '.join(tests)}) {{", self.block(body, ways), "} else {"]
        for way, one in zip(ways, tests, strict=True):
            lines += [f"if ({one}) {{", self.block(body, (way,)), "}"]
        return "\n".join((*lines, "}"))

    def _each(self, one: Span, ways: Sequence[int]) -> str:
        if len(ways) > 1:
            self._require_plain(one)
        return "\n".join(self._text(one, way) for way in ways)

    def _require_plain(self, span: Span) -> None:
        """What is done by some of them only may hold no barrier and no jump out of it."""
        if self.code.words(span) & (_BARRIERS | _JUMPS):
            raise _CannotMerge

    def _leaves(self, one: Span) -> Span | None:
        """The guard of `if (...) return;`, where it depends on the thread."""
        code = self.code
        if code[one.first] != "if" or code[one.first + 1] != "(" or one.first + 1 not in code.pairs:
            return None
        test = within(code, one.first + 1)
        rest = [code[at] for at in range(test.last + 1, one.last)]
        return test if rest in (["return", ";"], ["{", "return", ";", "}"]) and self._depends(test) else None

    def _depends(self, span: Span) -> bool:
        return _depends(self.code, span, self.side, self.dependent)

    def _text(self, span: Span, way: int) -> str:
        """A piece of text for one way: its own variables, its own thread, the block as large as it was."""
        code, edits = self.code, list[Edit]()
        start = code.tokens[span.first].start if span.first < span.last else 0
        for at in range(*span):
            token = code.tokens[at]
            if token.kind != "word" or code[at - 1] in (".", "->"):
                continue
            if code[at + 1] == "." and code[at + 2] == self.side and token.text in ("threadIdx", "blockDim"):
                end = code.tokens[at + 2].end
                moved = f"(threadIdx.{self.side} + {way * self.apart})" if way else f"threadIdx.{self.side}"
                edits.append(Edit(token.start - start, end - start, moved if token.text[0] == "t" else str(self.size)))
            elif token.text in self.dependent and way:
                edits.append(Edit(token.start - start, token.end - start, f"{token.text}{self.mark}{way}"))
        return splice(code.of(span), edits)


def _depends(code: Code, span: Span, side: str, dependent: frozenset[str]) -> bool:
    return any(
        code.kind(at) == "word"
        and code[at - 1] not in (".", "->")
        and (code[at] in dependent or (code[at] == "threadIdx" and code[at + 1] == "." and code[at + 2] == side))
        for at in range(*span)
    )


def _dependent(code: Code, parameters: Span, body: Span, side: str) -> frozenset[str]:
    """The kernel's own variables whose values differ along a side of the block."""
    given = list(_assignments(code, body, ()))
    own = _declared(code, body) - _shared(code, body) - code.words(parameters)
    found: frozenset[str] = frozenset()
    while True:
        more: set[str] = set()
        for span, names, guards in given:
            if _depends(code, span, side, found) or (names & found and code[span.first] not in names):
                more |= names & own  # those that are declared together are kept together
            for head, guarded in guards:
                if _depends(code, head, side, found):
                    more |= names & own - _declared(code, guarded)
        if more <= found:
            return found
        found |= more


Guard = tuple[Span, Span]  # what decides, and what it decides about


def _assignments(
    code: Code, span: Span, guards: tuple[Guard, ...]
) -> Iterator[tuple[Span, set[str], tuple[Guard, ...]]]:
    """Every statement that gives values: itself, the names, and what decides whether it is done."""
    for one in statements(code, span):
        word = code[one.first]
        if word == "{":
            yield from _assignments(code, inside(code, one), guards)
        elif word in ("for", "if", "while", "switch") and code[one.first + 1] == "(" and one.first + 1 in code.pairs:
            head = within(code, one.first + 1)
            if word == "for":
                yield head, _given(code, head), guards
            yield from _assignments(code, Span(head.last + 1, one.last), (*guards, (head, one)))
        elif word in ("else", "do"):
            yield from _assignments(code, Span(one.first + 1, one.last), guards)
        else:
            yield one, _given(code, one), guards


def _given(code: Code, span: Span) -> set[str]:
    """The names that get values in a statement: `a =`, `a[i] +=`, `a.x =`, `++a`, `&a`."""
    found: set[str] = set()
    for at in range(*span):
        if code.kind(at) != "word" or code[at - 1] in (".", "->"):
            continue
        index = element(code, at)
        end = index[-1].last + 1 if index else at + 1
        end += 2 if code[end] == "." else 0
        by_address = code[at - 1] == "&" and code[at - 2] in ("(", ",", "=")
        if by_address or code[end] in ASSIGN or {code[end], code[at - 1]} & {"++", "--"}:
            found.add(code[at])
    return found


@functools.lru_cache(maxsize=256)
def _declared(code: Code, span: Span) -> frozenset[str]:
    """Names that are declared in a span."""
    return frozenset(
        code[at]
        for at in range(*span)
        if code.kind(at) == "word"
        and (
            code.kind(at - 1) == "word" or code[at - 1] == "," or (code[at - 1] == "*" and code.kind(at - 2) == "word")
        )
        and code[at - 1] not in ("return", "else")
        and code[at + 1] in ("=", ";", ",", "[", "{")
    )


def _shared(code: Code, body: Span) -> set[str]:
    """Names in declarations of what the block shares."""
    ones = (one for one in statements(code, body) if "__shared__" in code.words(one))
    return {word for one in ones for word in code.words(one)}
