"""The space of a kernel, read from its text: block sizes, the grid that follows them, and its named constants.

Numbers of the launch are tied to what they were made from, by value: `ceil(N/1024)` with a block of 256 is 4 blocks'
worth of elements, a block of 32 beside `#define TILE 32` is TILE. A tie can be wrong, and a guess costs a try and no
more: every configuration goes through the gate. Where two constants have the value of one number, nothing is guessed
and a note says so; a `tune.toml` settles it.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable, Sequence

from warpsight.nouns import Candidate, Launch, Task
from warpsight.tasks.expressions import parse_expression
from warpsight.tuning.constants import NamedConstant, named_constants
from warpsight.tuning.records import Parameter, SearchSpace
from warpsight.tuning.triton import triton_space

WARP = 32
GREATEST_CONSTANT = 4096  # what is greater is a size or a mask rather than a choice
FEW_CONSTANTS = 3
"""With more constants than this, only half and double of each are tried: the combinations are what counts."""
ALONG_X = (32, 64, 128, 256, 512, 1024)
ALONG: tuple[tuple[int, ...], ...] = ((4, 8, 16, 32, 64, 128, 256), (1, 2, 4, 8, 16, 32), (1, 2, 4, 8))
PER_THREAD = (1, 2, 4, 8, 16)
INFERRED = "read from the kernel's text"
_STRIDES_THE_GRID = re.compile(r"\bgridDim\b|\bget_num_groups\b|\bget_global_size\b")


def inferred_space(task: Task, candidate: Candidate) -> SearchSpace:
    """What may vary in this kernel, and the launch that follows from it."""
    if candidate.language == "triton":
        return triton_space(candidate)
    return _Reader(task, candidate).space()


def defines_task(task: Task, constant: NamedConstant) -> bool:
    """Whether the reference has this constant too: then it is part of the question, and no choice of the kernel.

    It has it where it names it, or gives the same value to the same word in other letters. A reference that is a kernel
    itself (of a captured launch) names the choices as well, and settles nothing.
    """
    if not task.reference_file.endswith(".py"):
        return False
    same = rf"\b{constant.name}\s*(?::\s*\w+\s*)?=\s*{constant.value}\b"
    return bool(re.search(rf"\b{constant.name}\b", task.reference) or re.search(same, task.reference, re.IGNORECASE))


class _Reader:
    """Goes through one kernel's launch and collects the parameters that it is made of."""

    def __init__(self, task: Task, candidate: Candidate) -> None:
        self.axes = frozenset(axis.name for axis in task.axes)
        self.launch = candidate.launch
        found = named_constants(candidate.source)
        fixed = {name for name, one in found.items() if defines_task(task, one)}
        self.constants = {
            name: one
            for name, one in found.items()
            if name not in self.axes | fixed and 1 <= one.value <= GREATEST_CONSTANT
        }
        self.reach = 3 if len(self.constants) <= FEW_CONSTANTS else 1
        self.strides = _STRIDES_THE_GRID.search(candidate.source) is not None
        self.found: dict[str, Parameter] = {}
        self.notes = [f"{name} says what is computed: it stays as it is" for name in sorted(fixed)]
        self.block: list[str] = []
        self.sizes: list[int | None] = [int(text) if text.isdecimal() else None for text in self.launch.block]

    def space(self) -> SearchSpace:
        self.block = [self._block(dimension) for dimension in range(3)]
        grid = [self._grid(text, dimension) for dimension, text in enumerate(self.launch.grid)]
        shared = self._shared(self.launch.shared)
        for constant in self.constants.values():
            self._add_constant(constant)
        launch = Launch(grid=_three(grid), block=_three(self.block), shared=shared)
        threads = _product(self.block)
        rules = () if threads.isdecimal() or not self._is_over_parameters(threads) else (f"{threads} >= {WARP}",)
        return SearchSpace(
            parameters=tuple(self.found.values()), launch=launch, rules=rules, origin=INFERRED, notes=tuple(self.notes)
        )

    def _is_over_parameters(self, text: str) -> bool:
        names = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
        return names <= set(self.found) | set(self.constants)

    def _block(self, dimension: int) -> str:
        size = self.sizes[dimension]
        if size is None or (size == 1 and dimension > 0):
            return self.launch.block[dimension]
        tied = self._constant_of(size, f"block {'xyz'[dimension]}")
        if tied is not None:
            alone = all(other in (None, 1) for at, other in enumerate(self.sizes) if at != dimension)
            self._add_constant(self.constants[tied], ALONG_X if alone and dimension == 0 else None)
            return tied
        if self._has_rivals(size):
            return self.launch.block[dimension]
        name, flat = f"block_{'xyz'[dimension]}", self.launch.block[1:] == ("1", "1")
        values = ALONG_X if flat else ALONG[dimension]
        self._add(name, values, size, constant=False, about=f"threads of a block along {'xyz'[dimension]}")
        return name

    def _grid(self, text: str, dimension: int) -> str:
        tree = parse_expression(text, self.axes)
        return ast.unparse(_Tied(self, dimension).visit(tree))

    def _shared(self, text: str) -> str:
        """Bytes that grow with the block: a number that is a multiple of its threads, or a constant's value."""
        tree = parse_expression(text, self.axes)
        for node in [n for n in ast.walk(tree) if isinstance(n, ast.Constant)]:
            value = node.value
            if isinstance(value, int) and value >= WARP and (tied := self._tie(value, 0)) is not None:
                text = re.sub(rf"\b{value}\b", f"({tied})", text)
        return text

    def divisor(self, value: int, dimension: int) -> str | None:
        """What a number that divides an axis in the grid was made from; None where that cannot be told."""
        block, size = self.block[dimension], self.sizes[dimension]
        varies = size is not None and not block.isdecimal()
        if varies and size is not None and value % size == 0 and self.strides and not self._equal(value):
            name = f"per_thread_{'xyz'[dimension]}"
            about = f"elements that one thread of the grid is there for, along {'xyz'[dimension]}"
            self._add(name, PER_THREAD, value // size, constant=False, about=about)
            return f"{name} * {block}"
        return self._tie(value, dimension)

    def most(self, value: int, dimension: int) -> str:
        """A cap of the grid: a choice of its own."""
        name = f"most_blocks_{'xyz'[dimension]}"
        if name in self.found:
            return str(value)
        self._add(name, _around(value, 3), value, constant=False, about="the most blocks that the grid has")
        return name

    def _tie(self, value: int, dimension: int) -> str | None:
        equal = self._constant_of(value, f"{value} in the launch", prefer=self.block[dimension])
        if equal is not None:
            return equal
        if self._has_rivals(value):
            return None
        block, size = self.block[dimension], self.sizes[dimension]
        if size is not None and not block.isdecimal():
            if value % size == 0:
                return block if value == size else f"{value // size} * {block}"
            if size == value * WARP:  # a warp for each
                return f"{block} // {WARP}"
        known = [one for one in self.sizes if one is not None]
        if len(known) == 3 and value == math.prod(known) and not _product(self.block).isdecimal():
            return _product(self.block)
        parts = [one for one in self.constants.values() if one.value > 1 and value % one.value == 0]
        return f"{value // parts[0].value} * {parts[0].name}" if len(parts) == 1 else None

    def _equal(self, value: int) -> list[str]:
        return [one.name for one in self.constants.values() if one.value == value]

    def _has_rivals(self, value: int) -> bool:
        return len(self._equal(value)) > 1

    def _constant_of(self, value: int, what: str, prefer: str = "") -> str | None:
        """The one constant of this value; a note where there are several and none is preferred."""
        equal = self._equal(value)
        if prefer in equal:
            return prefer
        if len(equal) > 1:
            told = f"{what} is {' or '.join(equal)}, which have the same value: it stays as it is"
            self.notes += [told] if told not in self.notes else []
        return equal[0] if len(equal) == 1 else None

    def _add_constant(self, constant: NamedConstant, values: Sequence[int] | None = None) -> None:
        if constant.name not in self.found:
            chosen = _around(constant.value, self.reach) if values is None else values
            self._add(constant.name, chosen, constant.value, constant=True, about=f"a constant, line {constant.line}")

    def _add(self, name: str, values: Iterable[int], given: int, *, constant: bool, about: str) -> None:
        whole = tuple(sorted({*values, given}))
        self.found[name] = Parameter(name=name, values=whole, given=given, constant=constant, about=about)


class _Tied(ast.NodeTransformer):
    """Replaces the numbers of one grid expression by what they were made from."""

    def __init__(self, reader: _Reader, dimension: int) -> None:
        self._reader, self._dimension = reader, dimension

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        if isinstance(node.op, (ast.Div, ast.FloorDiv)) and isinstance(node.right, ast.Constant):
            tied = self._reader.divisor(_int(node.right), self._dimension)
            return ast.BinOp(self.visit(node.left), node.op, node.right if tied is None else _tree(tied))
        return ast.BinOp(self.visit(node.left), node.op, self.visit(node.right))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        arguments = [self.visit(argument) for argument in node.args]
        for at, argument in enumerate(node.args):
            if not isinstance(argument, ast.Constant):
                continue
            if name == "cdiv" and at == 1:
                tied = self._reader.divisor(_int(argument), self._dimension)
                arguments[at] = argument if tied is None else _tree(tied)
            elif name == "min":
                arguments[at] = _tree(self._reader.most(_int(argument), self._dimension))
        return ast.Call(node.func, arguments, [])


def _int(node: ast.Constant) -> int:
    assert isinstance(node.value, int)  # the expression parser lets nothing else through
    return node.value


def _tree(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _around(value: int, reach: int) -> tuple[int, ...]:
    """Halves and doubles, `reach` times each way."""
    halves = [value // 2**k for k in range(1, reach + 1) if value % 2**k == 0]
    return (*reversed(halves), *(value * 2**k for k in range(reach + 1)))


def _product(three: Sequence[str]) -> str:
    parts = [part for part in three if part != "1"]
    return " * ".join(parts) if parts else "1"


def _three(parts: Sequence[str]) -> tuple[str, str, str]:
    return parts[0], parts[1], parts[2]
