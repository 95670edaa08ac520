"""`uncoalesced`: the sides of the block take one another's part, so that x goes along the way that memory goes.

Where threads that differ in y or z touch neighbouring elements and those that differ in x do not, x and that side
change their roles everywhere: in the kernel, in the grid, in the block. The block may then be wider along x.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from warpsight.rewrite.launch import read_launch, write_launch
from warpsight.rewrite.record import Facts, Rewrite
from warpsight.rewrite.restructure.edits import TreeEdits
from warpsight.rewrite.restructure.layouts import regrid
from warpsight.source.accesses import array_uses
from warpsight.source.forms import GRID, Scope
from warpsight.source.tree import KernelTree, NotUnderstood, kernel_of, parse, within

SHAPES = ((32, 8, 1), (32, 4, 2), (64, 4, 1), (128, 2, 1), (32, 4, 1))
WHY = "neighbouring elements lie along another side of the block than x: change the sides"


def sides_in_order(text: str, facts: Facts) -> Iterator[Rewrite]:
    """x and the side along which memory goes, changed; then with blocks that are wider."""
    try:
        kernel = kernel_of(parse(text), facts.entry)
        side = _along(kernel, text)
    except NotUnderstood:
        return
    made = _changed(kernel, side)
    yield Rewrite(f"x and {side} of blocks and threads changed", made, WHY)
    yield from _wider(made, facts, side)


def _along(kernel: KernelTree, text: str) -> str:
    """The side whose threads touch neighbours."""
    line = read_launch(text)
    if line is None or line.dims is None or len(line.dims) < 2 or "threadIdx" in _others(kernel):
        raise NotUnderstood("the block has one side, or helper functions depend on the thread")
    fixed = {f"blockDim.{side}": size for side, size in zip("xyz", (*line.dims, 1, 1), strict=False)}
    scope = Scope(kernel, fixed)
    votes: Counter[str] = Counter()
    for use in array_uses(scope, kernel.body):
        near = [s for s in "xyz" if use.index.linear(f"threadIdx.{s}") and use.index.of(f"threadIdx.{s}").value == 1]
        votes.update(near if len(near) == 1 else [])
    if not votes or votes.most_common(1)[0][0] == "x":
        raise NotUnderstood("memory goes along x already, or along no side")
    side = votes.most_common(1)[0][0]
    if "xyz".index(side) >= min(len(line.grid), len(line.dims)):
        raise NotUnderstood(f"grid or block has no side {side}")
    return side


def _others(kernel: KernelTree) -> str:
    """The text of all other functions."""
    return "".join(kernel.tree.of(node) for name, node in kernel.tree.functions.items() if name != kernel.name)


def _changed(kernel: KernelTree, side: str) -> str:
    tree, edits = kernel.tree, TreeEdits(kernel.tree)
    for one in within(kernel.body, "field_expression"):
        word, _, part = tree.of(one).partition(".")
        if word in GRID and part in ("x", side):
            edits.replace(one, f"{word}.{side if part == 'x' else 'x'}")
    text = edits.text()
    line = read_launch(text)
    assert line is not None
    at = "xyz".index(side)
    return write_launch(text, line._replace(grid=_swapped(line.grid, at), block=_swapped(line.block, at)))


def _swapped(parts: tuple[str, ...], at: int) -> tuple[str, ...]:
    changed = list(parts)
    changed[0], changed[at] = changed[at], changed[0]
    return tuple(changed)


def _wider(text: str, facts: Facts, side: str) -> Iterator[Rewrite]:
    """Other shapes of the block, where its sides stand in the kernel by name alone."""
    kernel, line = kernel_of(parse(text), facts.entry), read_launch(text)
    if line is None or line.dims is None or not _by_name(kernel, line.dims):
        return
    for shape in SHAPES:
        sides = shape[: len(line.dims)]
        if any(one > 1 for one in shape[len(line.dims) :]) or sides == line.dims:
            continue
        grid = tuple(
            regrid(one, line.dims[at], sides[at]) if at < len(sides) else one for at, one in enumerate(line.grid)
        )
        block = tuple(map(str, sides))
        name = f"x and {side} of blocks and threads changed, a block of {' x '.join(block)}"
        yield Rewrite(name, write_launch(text, line._replace(grid=grid, block=block)), WHY)


def _by_name(kernel: KernelTree, dims: tuple[int, ...]) -> bool:
    """Whether each side is used as blockIdx * blockDim + threadIdx and in no other way."""
    tree = kernel.tree
    words = Counter(tree.of(one) for one in within(kernel.body, "field_expression"))
    if "__shared__" in tree.of(kernel.body):
        return False
    return all(
        words[f"blockIdx.{side}"] == words[f"blockDim.{side}"] == words[f"threadIdx.{side}"] == 1
        for side, size in zip("xyz", dims, strict=False)
        if size > 1
    )
