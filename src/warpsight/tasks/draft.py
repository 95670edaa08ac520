"""Drafts a task from a kernel alone: which parameters are arrays, how large they are, which numbers are sizes.

A guess from the text: the greatest index that each array is read or written at, by the bounds that the kernel itself
tests. What was guessed without such a reason is in `guesses`, in words. What must stay true: the draft is a task that
can be read, and an array is rather too large than too small.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from warpsight.errors import UsageError
from warpsight.source.accesses import ArrayUse, array_uses
from warpsight.source.forms import Scope
from warpsight.source.tree import KernelTree, NotUnderstood, ParameterTree, SourceTree, kernel_of, parse
from warpsight.tasks.draft_reach import BLOCKS, IndexReach, declared, reach_of

# What CUDA calls a type, and how many of which of ours stand in it.
TYPES: Mapping[str, tuple[str, int]] = {
    "float": ("float32", 1), "double": ("float64", 1), "half": ("float16", 1), "__half": ("float16", 1),
    "__nv_bfloat16": ("bfloat16", 1), "char": ("int8", 1), "signed char": ("int8", 1), "unsigned char": ("uint8", 1),
    "short": ("int16", 1), "unsigned short": ("uint16", 1), "int": ("int32", 1), "unsigned": ("uint32", 1),
    "unsigned int": ("uint32", 1), "long": ("int64", 1), "unsigned long": ("uint64", 1), "long long": ("int64", 1),
    "unsigned long long": ("uint64", 1), "size_t": ("uint64", 1), "bool": ("uint8", 1),
    "float2": ("float32", 2), "float4": ("float32", 4), "double2": ("float64", 2), "half2": ("float16", 2),
    "__half2": ("float16", 2), "int2": ("int32", 2), "int4": ("int32", 4), "uchar4": ("uint8", 4),
    **{f"{sign}int{bits}_t": (f"{sign}int{bits}", 1) for sign in ("", "u") for bits in (8, 16, 32, 64)},
}  # fmt: skip
LAUNCH = re.compile(r"^\s*//\s*launch:.*", re.MULTILINE)
BLOCK = re.compile(r"block=\(([\d,\s]+)\)")


@dataclass(frozen=True)
class DraftedArgument:
    """One parameter. An array has a shape; a number is an axis, or has a value."""

    name: str
    dtype: str
    role: str
    shape: tuple[str, ...] = ()
    axis: bool = False


@dataclass(frozen=True)
class TaskDraft:
    """What a kernel tells of its task. `kernel` is its text with a launch line and a name that C can call."""

    entry: str
    kernel: str
    arguments: tuple[DraftedArgument, ...]
    axes: tuple[str, ...]
    guesses: tuple[str, ...]


def draft_task(text: str, entry: str | None = None) -> TaskDraft:
    """The draft of a kernel's task. UsageError where the text has no kernel, or several and none is named."""
    tree = parse(text)
    name = _entry(tree, entry)
    try:
        kernel = kernel_of(tree, name)
    except NotUnderstood as problem:
        raise UsageError(f"no task can be drafted: {problem}", "write the task by hand: warpsight new NAME") from None
    guesses: list[str] = []
    block = _block(kernel, guesses)
    reach = reach_of(kernel, block)
    arguments = tuple(_argument(kernel, one, reach, guesses) for one in kernel.parameters.values())
    if not any(one.role in ("out", "inout") for one in arguments):
        raise UsageError(f"{name} writes to none of its arrays, as far as its text tells", "write the task by hand")
    axes = tuple(name for name in (*kernel.parameters, *BLOCKS.values()) if name in reach.sizes) or ("N",)
    launch = "" if LAUNCH.search(text) else _launch(kernel, reach, block)
    return TaskDraft(name, _callable(kernel, launch), arguments, axes, tuple(guesses))


def _entry(tree: SourceTree, entry: str | None) -> str:
    known = [
        name for name, node in tree.functions.items() if "__global__" in {tree.of(child) for child in node.children}
    ]
    if entry is None and len(known) != 1:
        said = f"{len(known)} kernels: {', '.join(known)}" if known else "no __global__ function"
        raise UsageError(f"expected one kernel, the text has {said}", "--entry NAME" if known else "")
    name = entry or known[0]
    if name not in known:
        raise UsageError(f"no kernel is called {name!r}", f"one of {', '.join(known) or 'none'}")
    parent = tree.functions[name].parent
    if parent is not None and parent.type == "template_declaration":
        raise UsageError(f"{name} is a template", "put a plain __global__ function that calls it below it")
    return name


def _argument(
    kernel: KernelTree,
    one: ParameterTree,
    reach: IndexReach,
    guesses: list[str],
) -> DraftedArgument:
    dtype, lanes = _type(one)
    if not one.pointer:
        return DraftedArgument(one.name, dtype, "scalar", axis=one.name in reach.sizes)
    scope = Scope(kernel, kept=frozenset(reach.bounds))
    uses = [use for use in array_uses(scope, kernel.body) if use.array == one.name]
    role = _role(kernel, one, uses)
    shape = reach.shape(uses)
    if shape is None:
        shape = tuple(sorted(reach.sizes)) or ("N",)
        guesses.append(f"{one.name}: its size is not known from the text; taken as {' * '.join(shape)}")
    if not uses:
        guesses.append(f"{one.name}: no index of it is understood; taken as {role}")
    return DraftedArgument(one.name, dtype, role, (*shape, str(lanes)) if lanes > 1 else shape)


def _type(one: ParameterTree) -> tuple[str, int]:
    plain = " ".join(re.sub(r"\b(const|volatile|__restrict__|struct)\b", " ", one.type).split())
    plain = {"unsigned long long int": "unsigned long long", "long int": "long"}.get(plain, plain)
    if plain not in TYPES:
        raise UsageError(
            f"parameter {one.name} is of type {plain}, which no task has",
            "pass plain numbers and arrays of them, or write the task by hand",
        )
    return TYPES[plain]


def _role(kernel: KernelTree, one: ParameterTree, uses: Sequence[ArrayUse]) -> str:
    if "const" in kernel.tree.of(one.node).split("*")[0].split():
        return "in"
    if not uses:
        return "inout"
    if not any(use.writes for use in uses):
        return "in"
    if not any(use.reads for use in uses):
        return "out"
    first = min(uses, key=lambda use: use.node.start_byte)
    own = first.node.parent
    if own is None or first.reads or own.parent is None or own.parent.parent != kernel.body:
        return "inout"
    read = [use for use in uses if use.reads]
    fresh = all(use.index == first.index and use.node.start_byte > own.end_byte for use in read)
    return "out" if fresh else "inout"


def _block(kernel: KernelTree, guesses: list[str]) -> tuple[int, ...]:
    """Threads of a block: what the launch line says, else a guess by the indices that the text names."""
    line = LAUNCH.search(kernel.tree.text)
    told = BLOCK.search(line[0]) if line else None
    if told is not None:
        return tuple(int(word) for word in told[1].split(",") if word.strip())
    if line is None:
        guesses.append("the launch line: the text has none; grid and block are guessed from the thread indices")
    return (32, 8) if "threadIdx.y" in kernel.tree.of(kernel.body) else (256,)


def _launch(kernel: KernelTree, reach: IndexReach, block: Sequence[int]) -> str:
    """A launch line in which each thread, or each block, has one element of what it counts."""
    text = kernel.tree.of(kernel.body)
    axes = "xyz"[: 3 if "blockIdx.z" in text else 2 if "blockIdx.y" in text else 1]
    threads = [*block, 1, 1]
    grid = [_blocks(kernel, reach, axis, threads[number]) for number, axis in enumerate(axes)]
    return f"// launch: grid=({', '.join(grid)}) block=({', '.join(map(str, block))})"


def _blocks(kernel: KernelTree, reach: IndexReach, axis: str, threads: int) -> str:
    """How many blocks cover what a variable of this axis counts."""
    symbol = f"blockIdx.{axis}"
    if symbol in reach.bounds:
        return str(reach.bounds[symbol])
    scope = Scope(kernel)
    counters = [(name, scope.form(value)) for name, value in declared(kernel)]
    for name, form in counters:
        if name in reach.bounds and form.depends(symbol):
            end = str(reach.bounds[name])
            per_thread = form.depends(f"threadIdx.{axis}") and threads > 1
            return f"ceil({end if end.isidentifier() else f'({end})'}/{threads})" if per_thread else end
    first = next(iter(sorted(reach.sizes)), "N")
    return f"ceil({first}/{threads})" if axis == "x" else "1"


def _callable(kernel: KernelTree, launch: str) -> str:
    """The text with the launch line first, and the kernel's name kept as it is for C."""
    tree, node = kernel.tree, kernel.definition
    text = tree.text
    inside = node.parent
    while inside is not None and inside.type != "linkage_specification":
        inside = inside.parent
    if inside is None:
        text = f'{text[: _at(tree, node)]}extern "C" {text[_at(tree, node) :]}'
    return f"{launch}\n{text}" if launch else text


def _at(tree: SourceTree, node: Node) -> int:
    return len(tree.data[: node.start_byte].decode())
