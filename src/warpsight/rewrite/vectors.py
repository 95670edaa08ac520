"""`scalar_access`: one wide load or store where several narrow ones stand side by side.

Three shapes: `p[4 * i], p[4 * i + 1], ...` in neighbouring statements; a loop over `a[i]` as one over four at a time
and a rest; `if (i < n)` around `a[i]`, where each thread takes four. Only arguments, since their start is aligned.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from warpsight.rewrite.launch import read_launch, write_launch
from warpsight.rewrite.record import Facts, Rewrite
from warpsight.rewrite.source import (
    ASSIGN,
    Code,
    Edit,
    Loop,
    Span,
    assigns,
    blocks,
    definition,
    element,
    inside,
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
from warpsight.rewrite.substitute import fresh

VECTORS = {"float32": ("float4", 4), "int32": ("int4", 4), "uint32": ("uint4", 4), "float64": ("double2", 2)}
_MEMBERS = "xyzw"
_LEAVES = frozenset(("break", "continue", "return", "__syncthreads", "goto"))


class Access(NamedTuple):
    """`array[width * base + offset]`; `span` is all of it."""

    array: str
    base: str
    offset: int
    span: Span
    stored: bool


def scalar_access(text: str, facts: Facts) -> Iterator[Rewrite]:
    code = read(text)
    found = kernel_at(code, facts.entry)
    if found is None:
        return
    body = found[1]
    grouped = _grouped(code, body, facts)
    if grouped is not None:
        yield Rewrite("neighbouring elements as one vector", grouped)
    for loop in loops(code, body):
        made = vector_loop(code, body, loop, facts)
        if made is not None:
            line = text.count("\n", 0, code.tokens[loop.at].start) + 1
            yield Rewrite(f"the loop of line {line} by vectors", made)
            if (less := _quarter_grid(made)) is not None:
                yield Rewrite(f"the loop of line {line} by vectors, with a quarter of the blocks", less)
    guarded = _guarded(code, body, facts)
    if guarded is not None:
        yield Rewrite("four elements a thread by vectors", guarded)


def _quarter_grid(text: str) -> str | None:
    launch = read_launch(text)
    if launch is None:
        return None
    return write_launch(text, launch._replace(grid=(f"ceil(({launch.grid[0]})/4)", *launch.grid[1:])))


def _grouped(code: Code, body: Span, facts: Facts) -> str | None:
    """Loads of one vector, then stores of one, block by block."""
    loads = [edit for block in (body, *blocks(code, body)) for edit in _loads(code, _plain(code, block), facts)]
    loaded = read(splice(code.text, loads))
    found = kernel_at(loaded, facts.entry)
    whole = (found[1], *blocks(loaded, found[1])) if found else ()
    stores = [edit for block in whole for edit in _stores(loaded, _plain(loaded, block), facts)]
    return splice(loaded.text, stores) if loads or stores else None


def _plain(code: Code, block: Span) -> list[Span]:
    """The statements of a block that hold no others."""
    headed = ("for", "if", "while", "do", "switch", "else", "{")
    return [s for s in statements(code, block) if code[s.first] not in headed and code[s.last - 1] == ";"]


def _accesses(code: Code, span: Span, facts: Facts) -> Iterator[Access]:
    for at in range(*span):
        index = element(code, at) if facts.dtypes.get(code[at], "") in VECTORS else ()
        if len(index) != 1:
            continue
        width = VECTORS[facts.dtypes[code[at]]][1]
        parts = split(code, index[0], "+")
        scaled = [p for p in parts if _base(code, p, width)]
        offsets = [value for p in parts if p not in scaled and (value := number(code.of(p))) is not None]
        if len(scaled) == 1 and len(offsets) == len(parts) - 1 and sum(offsets) < width:
            last = index[0].last + 1
            stored = code[last] in ASSIGN or code[at - 1] == "&"
            yield Access(code[at], _base(code, scaled[0], width), sum(offsets), Span(at, last), stored)


def _base(code: Code, part: Span, width: int) -> str:
    """`i` of `4 * i`; nothing where a part is no multiple of the width."""
    factors = split(code, part, "*")
    rest = [code.of(f) for f in factors if number(code.of(f)) != width]
    return " * ".join(rest) if len(rest) == len(factors) - 1 and rest else ""


def _loads(code: Code, ones: list[Span], facts: Facts) -> Iterator[Edit]:
    groups: dict[tuple[str, str], list[tuple[Span, Access]]] = {}
    for one in ones:
        for access in _accesses(code, one, facts):
            if not access.stored:
                groups.setdefault((access.array, access.base), []).append((one, access))
    for (array, index), found in groups.items():
        if len({access.offset for _, access in found}) < 2:
            continue
        kind, _ = VECTORS[facts.dtypes[array]]
        name, first = fresh(code.text, f"{array}_vector"), found[0][0].first
        load = f"{kind} {name} = reinterpret_cast<const {kind}*>({array})[{index}];\n{code.indent(first)}"
        yield code.edit(Span(first, first), load)
        for _, access in found:
            yield code.edit(access.span, f"{name}.{_MEMBERS[access.offset]}")


def _stores(code: Code, ones: list[Span], facts: Facts) -> Iterator[Edit]:
    run: list[tuple[Span, Access]] = []
    for one in (*ones, None):
        access = _stored(code, one, facts) if one is not None else None
        follows = access is not None and run and (run[0][1].array, run[0][1].base) == (access.array, access.base)
        if run and not (follows and one is not None and one.first == run[-1][0].last):
            yield from _one_store(code, run, facts)
            run = []
        if access is not None and one is not None:
            run.append((one, access))


def _stored(code: Code, one: Span, facts: Facts) -> Access | None:
    """The element that a statement `a[4 * i + c] = value;` stores."""
    found = next((a for a in _accesses(code, one, facts) if a.stored), None)
    return found if found and found.span.first == one.first and code[found.span.last] == "=" else None


def _one_store(code: Code, run: list[tuple[Span, Access]], facts: Facts) -> Iterator[Edit]:
    array, index = run[0][1].array, run[0][1].base
    kind, width = VECTORS[facts.dtypes[array]]
    by_offset = {access.offset: (one, access) for one, access in run}
    if len(run) != width or sorted(by_offset) != list(range(width)):
        return
    values = [code.of(Span(a.span.last + 1, one.last - 1)) for one, a in (by_offset[c] for c in range(width))]
    store = f"reinterpret_cast<{kind}*>({array})[{index}] = make_{kind}({', '.join(values)});"
    yield code.edit(Span(run[0][0].first, run[-1][0].last), store)


def vector_loop(code: Code, body: Span, loop: Loop, facts: Facts) -> str | None:
    """`for (int i = s; i < n; i += t) f(a[i])` as a loop over vectors and one over what is left."""
    name, step, start = variable_of(code, loop), step_of(code, loop), start_of(code, loop)
    declared = code.of(loop.init).startswith(("int ", "unsigned ", "size_t "))
    if not name or not declared or step is None or start is None or code[loop.condition.first + 1] != "<":
        return None
    if step == "1" or code[loop.condition.first] != name or not _grid_wide(code, start, body):
        return None
    made = _by_vector(code, loop.body, name, facts)
    if made is None:
        return None
    quad, lines, width = made
    bound, pad = code.of(Span(loop.condition.first + 2, loop.condition.last)), code.indent(loop.at)
    begin = code.of(start)
    head = f"for (int {quad} = {begin}; {quad} < ({bound}) / {width}; {quad} += {step}) {{"
    rest = f"for (int {name} = ({bound}) / {width} * {width} + {begin}; {name} < {bound}; {name} += {step})"
    text = f"\n{pad}".join((head, *lines, "}", f"{rest} {code.of(loop.body)}"))
    first = loop.at if loop.pragma is None else loop.pragma
    return splice(code.text, [code.edit(Span(first, loop.body.last), text)])


def _grid_wide(code: Code, start: Span, body: Span) -> bool:
    """Whether a loop starts with a thread's number, itself or by a name."""
    words = code.words(start)
    for word in list(words):
        value = definition(code, word, body)
        words |= code.words(value) if value is not None else set()
    return "threadIdx" in words


def _by_vector(code: Code, whole: Span, name: str, facts: Facts) -> tuple[str, list[str], int] | None:
    """The lines that do a body for a whole vector of `name`: loads, the body once a member, stores."""
    inner = inside(code, whole)
    uses = [at for at in range(*inner) if _plain_use(code, at, name, facts)]
    if not uses or code.words(inner) & _LEAVES or assigns(code, name, inner):
        return None
    arrays = {code[at]: VECTORS[facts.dtypes[code[at]]] for at in uses}
    widths = {width for _, width in arrays.values()}
    if len(widths) != 1 or any(code[at] in arrays and at not in uses for at in range(*inner)):
        return None
    width, quad = widths.pop(), fresh(code.text, f"{name}_vector")
    vectors = {array: fresh(code.text, f"{array}_vector") for array in arrays}
    stored = {code[at] for at in uses if code[at + 4] in ASSIGN}
    only = {a for a in stored if all(code[at + 4] == "=" for at in uses if code[at] == a)}
    lines = [_load(kind, vectors[array], array, quad, array in only) for array, (kind, _) in arrays.items()]
    for member in _MEMBERS[:width]:
        edits: list[Edit] = []
        for at in range(*inner):
            if at in uses:
                edits.append(code.edit(Span(at, at + 4), f"{vectors[code[at]]}.{member}"))
            elif code[at] == name and code.kind(at) == "word" and not (at - 2 in uses or code[at - 1] == "."):
                edits.append(code.edit(Span(at, at + 1), f"({width} * {quad} + {_MEMBERS.index(member)})"))
        start = code.tokens[inner.first].start
        moved = splice(code.of(inner), [Edit(e.start - start, e.end - start, e.new) for e in edits])
        lines.append(f"    {{ {moved} }}")
    lines += [f"    reinterpret_cast<{arrays[a][0]}*>({a})[{quad}] = {vectors[a]};" for a in sorted(stored)]
    return quad, lines, width


def _load(kind: str, name: str, array: str, quad: str, only_stored: bool) -> str:
    if only_stored:
        return f"    {kind} {name};"
    return f"    {kind} {name} = reinterpret_cast<const {kind}*>({array})[{quad}];"


def _plain_use(code: Code, at: int, name: str, facts: Facts) -> bool:
    """Whether `array[name]` stands here, of an argument with a vector type, and no address is taken of it."""
    if facts.dtypes.get(code[at], "") not in VECTORS or code[at] not in facts.shapes or code[at - 1] == "&":
        return False
    return [code[at + 1], code[at + 2], code[at + 3]] == ["[", name, "]"]


def _guarded(code: Code, body: Span, facts: Facts) -> str | None:
    """`if (i < n) f(a[i])` with four elements a thread, and the grid to match."""
    for one in statements(code, body):
        if code[one.first] != "if" or one.first + 1 not in code.pairs:
            continue
        close = code.pairs[one.first + 1]
        condition, then = Span(one.first + 2, close), Span(close + 1, one.last)
        words = [code[at] for at in range(*condition)]
        value = definition(code, words[0], body) if len(words) == 3 and words[1] == "<" else None
        if value is None or not {"threadIdx", "blockIdx"} <= code.words(value) or "else" in code.words(then):
            continue
        made = _by_vector(code, then, words[0], facts)
        if made is None:
            continue
        quad, lines, width = made
        name, bound, pad = words[0], words[2], code.indent(one.first)
        each = fresh(code.text, f"{name}_rest")
        rest = re.sub(rf"\b{name}\b", each, code.of(then))
        moved = [re.sub(rf"\b{quad}\b", name, line) for line in lines]
        text = f"\n{pad}".join((
            f"if ({width} * {name} + {width - 1} < {bound}) {{", *moved, "} else {",
            f"    for (int {each} = {width} * {name}; {each} < {bound}; ++{each}) {rest}", "}",
        ))  # fmt: skip
        return _quarter_grid(splice(code.text, [code.edit(one, text)])) if width == 4 else None
    return None
