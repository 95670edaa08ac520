"""`block_too_small`, `block_too_large`, `too_few_blocks`: other numbers in the launch line, and in the body with them.

A block's size is often written three times: in the launch, in the grid's divisor, in the body. Which of the equal
numbers in the body mean the block is not known, so several readings are tried; the gate tells which one holds.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator

from warpsight.rewrite.launch import LaunchLine, read_launch, renumbered, write_launch
from warpsight.rewrite.record import Facts, Rewrite
from warpsight.rewrite.source import Code, Edit, Span, definition, kernel_at, loops, number, read, splice

WARP = 32
_LARGER, _SMALLER = (256, 128, 512, 1024, 64), (256, 128, 512, 64, 192)
_MORE = (4, 16, 64, 2, 8)
_DEFINE = re.compile(r"#\s*define\s+\w+\s+\(?\s*([0-9]+)\s*\)?\s*$")
_Reading = Callable[[Code, int, int], list[Edit]]


def block_too_small(text: str, facts: Facts) -> Iterator[Rewrite]:
    yield from _resized(text, lambda threads: tuple(size for size in _LARGER if size > threads))


def block_too_large(text: str, facts: Facts) -> Iterator[Rewrite]:
    yield from _resized(text, lambda threads: tuple(size for size in _SMALLER if size < threads))


def _resized(text: str, sizes: Callable[[int], tuple[int, ...]]) -> Iterator[Rewrite]:
    launch = read_launch(text)
    if launch is None or launch.dims is None or not launch.threads:
        return
    wanted = sizes(launch.threads)
    code = read(text)
    # 32 in a body mostly means the warp: there the named constants come first.
    last = [one for one in launch.dims if one > 1][-1:] or [1]
    readings: list[_Reading] = [_everywhere, _named] if last[0] != WARP else [_named, _everywhere]
    found = [
        (matched, Rewrite(f"block of {size} threads{', grid to match' if matched else ''}", made))
        for reading in (*readings, _nowhere)
        for size in wanted[: 4 if reading is readings[0] else 2]
        for matched, made in _with_size(text, code, launch, size, reading)
    ]
    plain = list(dict.fromkeys(one for matched, one in found if not matched))
    matching = list(dict.fromkeys(one for matched, one in found if matched))
    yield from (*plain[:4], *matching[:4], *plain[4:], *matching[4:])


def _with_size(text: str, code: Code, launch: LaunchLine, size: int, reading: _Reading) -> Iterator[tuple[bool, str]]:
    """The block grown or shrunk along one side: the last that is not 1, or else the first free one."""
    dims, threads = launch.dims or (1,), launch.threads or 1
    side = max((at for at, one in enumerate(dims) if one > 1), default=0)
    if dims[side] * size % threads or (side == 0 and len(dims) > 1 and dims[0] == WARP):
        side = min(side + 1, len(dims) - 1)
    new = dims[side] * size // threads
    if dims[side] * size % threads or new < 1:
        return
    old = dims[side]
    body = splice(text, reading(code, old, new)) if old > 1 else text
    block = tuple(str(new) if at == side else one for at, one in enumerate(launch.block))
    grid = tuple(_divisor(one, old, new) if old > 1 else one for one in launch.grid)
    line = read_launch(body)
    if line is None:
        return
    yield False, write_launch(body, line._replace(grid=grid, block=block))
    if grid == launch.grid:  # the divisor is not written: blocks that each do more, so fewer of them
        at = min(side, len(grid) - 1)
        for where in dict.fromkeys((at, 0)):
            fewer = f"ceil(({grid[where]})*{old}/{new})" if old > 1 else f"ceil(({grid[where]})/{new})"
            other = tuple(fewer if i == where else one for i, one in enumerate(grid))
            yield True, write_launch(body, line._replace(grid=other, block=block))


def _divisor(grid: str, old: int, new: int) -> str:
    """The grid for another block: the block's number, else a multiple of it that stands alone as a divisor."""
    changed = renumbered(grid, old, new)
    if changed != grid:
        return changed
    found = re.search(r"/\s*([0-9]+)", grid)
    if found and int(found[1]) % old == 0 and int(found[1]) * new % old == 0:
        return renumbered(grid, int(found[1]), int(found[1]) // old * new)
    return grid


def _everywhere(code: Code, old: int, new: int) -> list[Edit]:
    """Every number equal to the block, but 32 beside `%` and `/`, where it is the warp."""
    found = [
        Edit(token.start, token.end, str(new))
        for at, token in enumerate(code.tokens)
        if token.kind == "number"
        and number(token.text) == old
        and not (old == WARP and (code[at - 1] in ("%", "/") or code[at + 1] in ("%", "/")))
    ]
    return found + _defines(code, old, new)


def _named(code: Code, old: int, new: int) -> list[Edit]:
    """Only constants with a name."""
    found = [
        Edit(token.start, token.end, str(new))
        for at, token in enumerate(code.tokens)
        if token.kind == "number" and number(token.text) == old and code[at - 1] == "="
        and {"const", "constexpr", "enum"} & {code[i] for i in range(at - 6, at)}
    ]  # fmt: skip
    return found + _defines(code, old, new)


def _nowhere(code: Code, old: int, new: int) -> list[Edit]:
    return []


def _defines(code: Code, old: int, new: int) -> list[Edit]:
    return [
        Edit(token.start, token.end, re.sub(r"[0-9]+(?=\s*\)?\s*$)", str(new), token.text))
        for token in code.tokens
        if token.kind == "directive" and (found := _DEFINE.match(token.text)) and int(found[1]) == old
    ]


def too_few_blocks(text: str, facts: Facts) -> Iterator[Rewrite]:
    """A number in the grid made greater: without its cap, what the loop's own bound asks for, then by factors."""
    launch = read_launch(text)
    if launch is None:
        return
    for at, part in enumerate(launch.grid):
        for name, grid in _more(part, text, launch, facts):
            whole = tuple(grid if i == at else one for i, one in enumerate(launch.grid))
            yield Rewrite(f"grid {name}", write_launch(text, launch._replace(grid=whole)))


def _more(part: str, text: str, launch: LaunchLine, facts: Facts) -> Iterator[tuple[str, str]]:
    capped = re.fullmatch(r"min\((.*),\s*([0-9]+)\s*\)", part)
    if capped:
        yield f"({capped[1].strip()}), without its cap", capped[1].strip()
    if (part.isdecimal() and int(part) > 1) or part == "1":
        threads = launch.threads or 1
        for bound, per_block in _bounds(text, launch, facts):
            whole = f"ceil(({bound})/{per_block})" if per_block > 1 else bound
            yield f"({whole})", whole
            if per_block == threads:
                yield f"(ceil(({bound})/{4 * per_block}))", f"ceil(({bound})/{4 * per_block})"
    cap = capped[2] if capped else part if part.isdecimal() else ""
    for factor in _MORE if cap else ():
        yield f"{factor} times as large", renumbered(part, int(cap), int(cap) * factor)
    divided = re.search(r"/\s*\(?\s*([0-9]+)", part)
    for factor in (4, 2, 8) if divided and int(divided[1]) >= 8 else ():
        number_of = int(divided[1]) if divided else 1
        yield f"with {factor} times as many blocks", renumbered(part, number_of, max(number_of // factor, 1))


def _bounds(text: str, launch: LaunchLine, facts: Facts) -> Iterator[tuple[str, int]]:
    """What loops over the grid run up to, as axes, and how many a block takes in one turn."""
    code = read(text)
    found = kernel_at(code, facts.entry)
    if found is None:
        return
    body = found[1]
    seen: set[tuple[str, int]] = set()
    for loop in loops(code, body):
        if not any(word.startswith("gridDim") for word in _reaching(code, loop.step, body)):
            continue
        axis = _axis(code, loop.condition, body, facts)
        dims = launch.dims or (1,)
        words = _reaching(code, loop.init, body)
        size = math.prod(one for one, side in zip(dims, "xyz", strict=False) if f"threadIdx.{side}" in words)
        if axis and (axis, size) not in seen:
            seen.add((axis, size))
            yield axis, size


def _axis(code: Code, condition: Span, body: Span, facts: Facts) -> str:
    """The axis (or product of axes) that bounds a loop."""
    words = [code[at] for at in range(condition.first, condition.last) if code.kind(at) == "word"]
    names = [facts.scalars.get(word, word) for word in (*words, *_reaching(code, condition, body))]
    held = list(dict.fromkeys(name for name in names if name in facts.axes))
    return "*".join(held)


def _reaching(code: Code, span: Span, body: Span, depth: int = 3) -> dict[str, None]:
    """The words of a span (`threadIdx.x` as one) and of what its variables are set to, in order."""
    found: dict[str, None] = {}
    for at in range(span.first, span.last):
        if code.kind(at) == "word" and code[at - 1] != ".":
            found[f"{code[at]}.{code[at + 2]}" if code[at + 1] == "." else code[at]] = None
    if depth:
        for word in list(found):
            where = definition(code, word, body)
            if where is not None and where.first not in range(span.first, span.last):
                found |= _reaching(code, where, body, depth - 1)
    return found
