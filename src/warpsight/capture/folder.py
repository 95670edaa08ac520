"""Writes a captured task as a folder: task.toml, the kernel twice (to change, and as the oracle), what was recorded."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

from warpsight.capture.arguments import KernelArgument
from warpsight.nouns import Captured, Dim3
from warpsight.tasks.expressions import RESERVED_NAMES
from warpsight.tasks.recorded import write_recorded

ORIGINAL, KERNEL = "original.cu", "kernel.cu"
_ABOUT = """\
# Captured from a program. `recorded/` holds the arrays of that launch, compressed, by hash: data of your program. They
# stay on this machine; a model is shown the kernel and this file, never those.
"""


def size_axes(arguments: Sequence[KernelArgument], grid: Dim3, block: Dim3) -> tuple[dict[str, int], tuple[str, ...]]:
    """Scalars that the size of the grid or of an array follows from, as axes, and the grid in words of them."""
    whole = {
        a.name: int(a.value)
        for a in arguments
        if not a.is_array and isinstance(a.value, int) and a.dtype in ("int32", "int64", "uint32", "uint64")
    }
    axes, words = dict[str, int](), list[str]()
    for extent, threads in zip(grid, block, strict=True):
        covers = [n for n, v in whole.items() if v > 1 and math.ceil(v / threads) == extent and n not in RESERVED_NAMES]
        if extent == 1 or not covers:
            words.append(str(extent))
            continue
        name = next((n for n in covers if n not in axes), covers[0])
        axes[name] = whole[name]
        words.append(name if threads == 1 else f"ceil({name}/{threads})")
    for argument in arguments:
        if argument.before is not None and not any(v == argument.before.size for v in axes.values()):
            named = [n for n, v in whole.items() if v == argument.before.size > 1 and n not in RESERVED_NAMES]
            axes |= {named[0]: argument.before.size} if named else {}
    return axes, tuple(words)


def _shape(size: int, axes: dict[str, int]) -> str:
    """The number of elements in words of the axes, where there is a plain one."""
    for one, value in axes.items():
        if size == value:
            return one
    for one, value in axes.items():
        if size == value + 1 and value > 1:
            return f"{one} + 1"
        if size == value * value and value > 1:
            return f"{one} * {one}"
        for other, second in axes.items():
            if other != one and size == value * second:
                return f"{one} * {other}"
    return str(size)


def launch_line(grid: Sequence[str], block: Dim3, shared_bytes: int) -> str:
    def dims(words: Sequence[str]) -> str:
        kept = list(words)
        while len(kept) > 1 and kept[-1] == "1":
            kept.pop()
        return ",".join(kept)

    return f"// launch: grid=({dims(grid)}) block=({dims([str(n) for n in block])}) shared={shared_bytes}\n"


def write_task(
    folder: Path,
    *,
    name: str,
    entry: str,
    text: str,
    arguments: Sequence[KernelArgument],
    axes: dict[str, int],
    free: bool,
    law: tuple[float, float],
    gpu: tuple[str, str],
    captured: Captured,
) -> None:
    """Write all files anew. With `free`, sizes go from 1 to those that were recorded."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in (KERNEL, ORIGINAL):
        (folder / file).write_text(text, encoding="utf-8")
    lines = [_ABOUT, f"name = {_quoted(name)}", f"description = {_quoted(_described(captured))}"]
    lines += [f'kernel = "{KERNEL}"', f"entry = {_quoted(entry)}", f'reference = "{ORIGINAL}"', ""]
    lines += ["[target]", f"gpu = {_quoted(gpu[0])}", f"arch = {_quoted(gpu[1])}", "", "[axes]"]
    lines += [f"{axis} = {{ min = {1 if free else value}, max = {value} }}" for axis, value in axes.items()]
    for argument in arguments:
        lines += ["", "[[arguments]]", *_argument(argument, axes, folder)]
    lines += ["", "[tolerance]", f"rtol = {law[0]!r}", f"atol = {law[1]!r}"]
    sizes = ", ".join(f"{axis} = {value}" for axis, value in axes.items())
    given = f"axes = {{ {sizes} }}" if sizes else "axes = {}"
    lines += ["", "[[workloads]]", 'name = "recorded"', given, "profile = true", "recorded = true"]
    lines += ["", "[[workloads]]", 'name = "fresh"', given, "hidden = true"]
    lines += ["", "[captured]", *_origin(captured)]
    (folder / "task.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _described(captured: Captured) -> str:
    words = " ".join(captured.arguments)
    return f"launch {captured.launch} of {captured.kernel} in {captured.program} {words}".strip()


def _origin(captured: Captured) -> list[str]:
    return [
        f"program = {_quoted(captured.program)}",
        f"arguments = [{', '.join(_quoted(word) for word in captured.arguments)}]",
        f"file = {_quoted(captured.file)}",
        *([] if captured.line is None else [f"line = {captured.line}"]),
        f"kernel = {_quoted(captured.kernel)}",
        f"launch = {captured.launch}",
        f"grid = {list(captured.grid)}",
        f"block = {list(captured.block)}",
        f"shared_bytes = {captured.shared_bytes}",
        f"date = {_quoted(captured.date)}",
    ]


def _argument(argument: KernelArgument, axes: dict[str, int], folder: Path) -> list[str]:
    lines = [f"name = {_quoted(argument.name)}", f"dtype = {_quoted(argument.dtype)}"]
    if argument.before is None:
        value = argument.name if argument.name in axes else argument.value
        return [*lines, 'role = "scalar"', f"value = {_toml(value)}"]
    lines += [f"shape = [{_quoted(_shape(argument.before.size, axes))}]", f"role = {_quoted(argument.role)}"]
    if argument.role == "out":
        return lines
    fill = argument.fill if argument.ladder else {"fill": "recorded"}
    lines += [f"{key} = {_toml(value)}" for key, value in fill.items()]
    return [*lines, f"recorded = {_quoted(write_recorded(folder, argument.before))}"]


def _toml(value: object) -> str:
    return _quoted(value) if isinstance(value, str) else repr(value)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=True)
