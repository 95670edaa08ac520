"""How the threads of a block share the work of one: a warp or a block for each row, or slices beside one another.

A layout says how many share, which of them a thread is, what stands for the thread's old number, the launch, and the
helper functions that bring together what each of them gathered. The new block is in x alone, or in x and y for slices.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from warpsight.rewrite.launch import LaunchLine

ALL = "0xffffffffu"
_CEIL = re.compile(r"^(?:ceil|cdiv)\((.*?)\s*[/,]\s*(\d+)\)$")
_ROUNDED = re.compile(r"^\(?\((.*?)\s*\+\s*(\d+)\)\s*/+\s*(\d+)\)?$")


@dataclass(frozen=True)
class SharingLayout:
    """`old` threads made a block before. Now `lanes` share the work of one, and a block does that of `each`."""

    old: int
    each: int
    lanes: int
    slices: bool = False

    @property
    def words(self) -> str:
        if self.slices:
            return f"{self.lanes} slices in a block of {self.each} columns"
        if self.each == 1:
            return f"a block of {self.lanes} threads for each row"
        return f"{'a warp' if self.lanes == 32 else f'{self.lanes} lanes'} for each row, {self.each} rows a block"

    @property
    def number(self) -> str:
        """What stands for `blockIdx.x * blockDim.x + threadIdx.x`."""
        if self.slices:
            return f"(blockIdx.x * {self.each} + threadIdx.x)"
        return "blockIdx.x" if self.each == 1 else f"(blockIdx.x * {self.each} + threadIdx.x / {self.lanes})"

    @property
    def lane(self) -> str:
        if self.slices:
            return "threadIdx.y"
        return "threadIdx.x" if self.each == 1 else f"threadIdx.x % {self.lanes}"

    @property
    def meets_in_block(self) -> bool:
        """Whether those that share a row must meet at a barrier of the block."""
        return self.slices or self.lanes > 32

    @property
    def mask(self) -> str:
        """The lanes of a warp that share a row with this one."""
        if self.lanes >= 32:
            return ALL
        return f"({hex((1 << self.lanes) - 1)}u << (threadIdx.x % 32 & {32 - self.lanes}))"

    @property
    def barrier(self) -> str:
        return "__syncthreads();" if self.meets_in_block else f"__syncwarp({self.mask});"

    def launch(self, line: LaunchLine) -> LaunchLine:
        """The launch that has as many rows as before, of these blocks."""
        block = (str(self.each), str(self.lanes)) if self.slices else (str(self.each * self.lanes),)
        return line._replace(grid=(regrid(line.grid[0], self.old, self.each), *line.grid[1:]), block=block)


def regrid(grid: str, old: int, new: int) -> str:
    """The number of blocks when a block has `new` elements and not `old`."""
    if new == old:
        return grid
    found, rounded = _CEIL.match(grid), _ROUNDED.match(grid)
    if found and int(found[2]) == old:
        return found[1] if new == 1 else f"ceil({found[1]}/{new})"
    if rounded and int(rounded[3]) == old == int(rounded[2]) + 1:
        return rounded[1] if new == 1 else f"ceil({rounded[1]}/{new})"
    if old % new == 0:
        return f"({grid})*{old // new}"
    return f"ceil(({grid})*{old}/{new})"


def helper(layout: SharingLayout, name: str, count: int, combine: str) -> str:
    """A device function that leaves in all that share a row what they gathered together. `count` variables go along;
    `combine` takes `other0`, `other1`, ... into `value0`, `value1`, ..."""
    types = ", ".join(f"typename T{at}" for at in range(count))
    given = ", ".join(f"T{at}& value{at}" for at in range(count))
    ones = range(count)
    lines: list[str] = [f"template <{types}>", f"__device__ __forceinline__ void {name}({given}) {{"]
    if layout.slices:
        return "\n".join([*lines, *_by_stage(layout, ones, combine), "}", ""])
    lines += [f"    for (int step = {min(layout.lanes, 32) // 2}; step > 0; step /= 2) {{"]
    lines += [f"        const T{at} other{at} = __shfl_xor_sync({layout.mask}, value{at}, step);" for at in ones]
    lines += [f"        {combine}", "    }"]
    if layout.lanes > 32:
        lines += _by_stage(layout, ones, combine)
    return "\n".join([*lines, "}", ""])


def _by_stage(layout: SharingLayout, ones: range, combine: str) -> list[str]:
    """The last step over shared memory: of the warps of a block, or of its slices."""
    if layout.slices:
        count, shape, own, first = (
            layout.lanes,
            f"[{layout.lanes}][{layout.each}]",
            "[threadIdx.y][threadIdx.x]",
            "[threadIdx.x]",
        )
    else:
        count, shape, own, first = layout.lanes // 32, f"[{layout.lanes // 32}]", "[threadIdx.x / 32]", ""
    stored = [f"stage{at}{own} = value{at};" for at in ones]
    return [
        *(f"    __shared__ T{at} stage{at}{shape};" for at in ones),
        *(f"    {one}" if layout.slices else f"    if (threadIdx.x % 32 == 0) {{ {one} }}" for one in stored),
        "    __syncthreads();",
        *(f"    value{at} = stage{at}[0]{first};" for at in ones),
        f"    for (int part = 1; part < {count}; ++part) {{",
        *(f"        const T{at} other{at} = stage{at}[part]{first};" for at in ones),
        f"        {combine}",
        "    }",
        "    __syncthreads();",
    ]
