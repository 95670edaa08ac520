"""`bank_conflicts` and `shared_hog`: other dimensions for arrays in shared memory.

Padding changes no result. How small an array may be is not read from its indices but tried: sizes that stand elsewhere
in the text, then halves; the gate's bounds check refuses what is too small.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import NamedTuple

from warpsight.rewrite.launch import read_launch, write_launch
from warpsight.rewrite.record import Facts, Rewrite
from warpsight.rewrite.source import Code, Edit, Span, loops, number, read, splice, within

_BYTES = {"char": 1, "short": 2, "half": 2, "__half": 2, "double": 8, "float2": 8, "int2": 8, "float4": 16, "int4": 16}
_PAD_TO = 1


class SharedArray(NamedTuple):
    """A static array in shared memory; `dims` are the insides of its brackets."""

    name: str
    type: str
    dims: tuple[Span, ...]


def shared_arrays(code: Code) -> tuple[SharedArray, ...]:
    """The arrays declared `__shared__` with their sizes."""
    found: list[SharedArray] = []
    for at, token in enumerate(code.tokens):
        if token.text != "__shared__":
            continue
        kind, here = "", at + 1
        while here < len(code.tokens) and code[here] != ";":
            if code.kind(here) == "word" and code[here + 1] == "[":
                dims: list[Span] = []
                end = here + 1
                while code[end] == "[" and end in code.pairs:
                    dims.append(within(code, end))
                    end = code.pairs[end] + 1
                if dims and all(one.first < one.last for one in dims):
                    found.append(SharedArray(code[here], kind, tuple(dims)))
                here = end
                continue
            kind = code[here] if code.kind(here) == "word" else kind
            here = code.pairs.get(here, here) + 1
    return tuple(found)


def size_of(code: Code, dim: Span) -> int | None:
    """The value of a dimension made of numbers, `+` and `*`; None where it is more than that."""
    words = [code[at] for at in range(dim.first, dim.last)]
    total = 0
    for product in " ".join(words).split("+"):
        value = 1
        for factor in product.split("*"):
            one = number(factor.strip())
            if one is None:
                return None
            value *= one
        total += value
    return total


def bank_conflicts(text: str, facts: Facts) -> Iterator[Rewrite]:
    """Rows one element longer: all arrays, each alone; flat arrays with their index; then rows and columns changed."""
    code = read(text)
    deep = [array for array in shared_arrays(code) if len(array.dims) > 1]
    even = [array for array in deep if (size_of(code, array.dims[-1]) or 0) % 2 == 0]  # odd rows are padded already
    if even:
        yield Rewrite("rows of shared arrays one longer", splice(text, [_longer(code, array) for array in even]))
    for array in even if len(even) > 1 else ():
        yield Rewrite(f"rows of {array.name} one longer", splice(text, [_longer(code, array)]))
    flat = [array for array in shared_arrays(code) if len(array.dims) == 1]
    for array in flat:
        for width in _widths(code, array):
            made = _flat_longer(code, array, width)
            if made is not None:
                yield Rewrite(f"rows of {width} in {array.name} one longer", made)
    for array in deep:
        if len(array.dims) == 2:
            yield Rewrite(f"rows and columns of {array.name} changed", splice(text, _turned(code, array)))


def _longer(code: Code, array: SharedArray, by: int = _PAD_TO) -> Edit:
    last = array.dims[-1]
    size = size_of(code, last)
    return code.edit(last, f"{code.of(last)} + {by}" if size is None else str(size + by))


def _uses(code: Code, array: SharedArray) -> Iterator[tuple[Span, ...]]:
    """The index brackets of every use."""
    declared = array.dims[0].first - 2
    for at, token in enumerate(code.tokens):
        if token.text != array.name or token.kind != "word" or at == declared or code[at + 1] != "[":
            continue
        found: list[Span] = []
        end = at + 1
        while code[end] == "[" and end in code.pairs:
            found.append(within(code, end))
            end = code.pairs[end] + 1
        yield tuple(found)


def _turned(code: Code, array: SharedArray) -> list[Edit]:
    """Both dimensions changed with one another, in the declaration (padded) and in every use."""
    rows, columns = (code.of(dim) for dim in array.dims)
    edits = [code.edit(array.dims[0], columns), code.edit(array.dims[1], f"{rows} + {_PAD_TO}")]
    for use in _uses(code, array):
        if len(use) == 2:
            edits += [code.edit(use[0], code.of(use[1])), code.edit(use[1], code.of(use[0]))]
    return edits


def _widths(code: Code, array: SharedArray) -> list[int]:
    """The numbers that an index of a flat array is multiplied by."""
    found: dict[int, None] = {}
    for use in _uses(code, array):
        for at in range(use[0].first, use[0].last):
            value = number(code[at]) if code.kind(at) == "number" else None
            if value and value % 8 == 0 and "*" in (code[at - 1], code[at + 1]):
                found[value] = None
    return list(found)


def _flat_longer(code: Code, array: SharedArray, width: int) -> str | None:
    size = size_of(code, array.dims[0])
    if size is None or size % width:
        return None
    edits = [code.edit(array.dims[0], str(size + size // width))]
    for use in _uses(code, array):
        edits += [
            Edit(code.tokens[at].start, code.tokens[at].end, str(width + 1))
            for at in range(use[0].first, use[0].last)
            if number(code[at]) == width and "*" in (code[at - 1], code[at + 1])
        ]
    return splice(code.text, edits)


def shared_hog(text: str, facts: Facts) -> Iterator[Rewrite]:
    """The largest array first: each dimension as small as some other size in the text, then halved."""
    code = read(text)
    arrays = [a for a in shared_arrays(code) if all(size_of(code, dim) is not None for dim in a.dims)]
    for array in sorted(arrays, key=lambda a: -_bytes(code, a))[:2]:
        for dims in _smaller(code, array):
            edits = [code.edit(span, new) for span, new in zip(array.dims, dims, strict=True)]
            yield Rewrite(f"{array.name}[{']['.join(dims)}]", splice(text, edits))
    launch = read_launch(text)
    if launch is not None and launch.shared.isdecimal() and int(launch.shared) > 0:
        for bytes_ in (0, *(int(launch.shared) >> by for by in (2, 1, 3, 4))):
            yield Rewrite(
                f"dynamic shared memory of {bytes_} bytes", write_launch(text, launch._replace(shared=str(bytes_)))
            )


def _bytes(code: Code, array: SharedArray) -> int:
    total = _BYTES.get(array.type, 4)
    for dim in array.dims:
        total *= size_of(code, dim) or 1
    return total


def _smaller(code: Code, array: SharedArray) -> Iterator[tuple[str, ...]]:
    """Dimensions to try, the most promising first."""
    written = tuple(code.of(dim) for dim in array.dims)
    sizes = tuple(size_of(code, dim) or 1 for dim in array.dims)
    known = _known_sizes(code, array)
    first, rest = sizes[0], written[1:]
    pads = {size % 32 for size in sizes[1:]} & {1, 2, 4}
    near = [value for value in known if value <= first // 2]
    if len(sizes) == 1:
        largest = max((int(n) for n in re.findall(r"[0-9]+", written[0])), default=first)
        for value in near:
            yield (re.sub(rf"\b{largest}\b", str(value), written[0], count=1),)
    else:
        for value in near[:3]:
            yield (str(value), *rest)
        for row, column in itertools.islice(itertools.product(near[:3], known), 9):
            for pad in pads or {0}:
                if column + pad < sizes[1] // 2 + 1:
                    yield (str(row), str(column + pad), *rest[1:])
    for half in (2, 4, 8, 16):
        if first // half >= 1:
            yield (str(first // half), *rest)


def _known_sizes(code: Code, array: SharedArray) -> list[int]:
    """Sizes that the text gives elsewhere: the block, other arrays, the bounds of loops."""
    launch = read_launch(code.text)
    found: dict[int, None] = {}
    if launch is not None and launch.dims is not None:
        dims = [one for one in launch.dims if one > 1]
        flat = [launch.threads or 1, *dims, (launch.threads or 1) // 32, 32]
        found |= dict.fromkeys(flat if len(array.dims) == 1 else [*dims, 32, launch.threads or 1])
    for other in shared_arrays(code):
        if other.name != array.name:
            found |= dict.fromkeys(size for dim in other.dims if (size := size_of(code, dim)))
    for loop in loops(code):
        found |= dict.fromkeys(v for at in range(*loop.condition) if (v := number(code[at])))
    return [value for value in found if value > 1]
