"""Kernels with one planted fault each: what their remarks promise, and what the virtual GPU says of them.

`// KIND:` is the kind of the fault, `// RUN:` the launch (grid, block, shared bytes, budget, then the arguments in
order), and `// HERE` stands on the line that should be named; on several where each of them is right.
`python -m tests.vgpu.planted.planted` prints the table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tests.vgpu.run import constant, output, run

FOLDER = Path(__file__).parent / "kernels"
DTYPES = {"f32": np.float32, "f64": np.float64, "i32": np.int32}
BUDGET = 2_000_000


@dataclass(frozen=True)
class Planted:
    name: str
    source: str
    kind: str
    lines: frozenset[int]
    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared: int
    budget: int
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Named:
    """The first thing that was said of a kernel."""

    kind: str
    line: int | None
    message: str


def _filled(count: int, dtype: str, fill: str) -> np.ndarray:
    n = np.arange(count)
    if fill.startswith("mod"):
        n = n % int(fill[3:])
    made = {"zeros": n * 0, "square": n * n, "ring": (n + 7) % count}.get(fill, n)
    return made.astype(DTYPES[dtype])


def _argument(words: list[str]) -> Any:
    match words:
        case ["ptr", value]:
            return np.uint64(int(value))
        case ["out", dtype, count]:
            return output(int(count), DTYPES[dtype])
        case ["in", dtype, count, *fill]:
            return constant(_filled(int(count), dtype, *(fill or [""])))
        case ["rw", dtype, count, *fill]:
            return _filled(int(count), dtype, *(fill or [""]))
        case [dtype, value]:
            return DTYPES[dtype](float(value))
        case _:
            raise ValueError(f"expected an argument, found {words}")


def read(path: Path) -> Planted:
    source = path.read_text()
    kind, launch = (re.findall(rf"^// {word}: (.*)$", source, re.MULTILINE)[0] for word in ("KIND", "RUN"))
    how, arguments = {"shared": "0", "budget": str(BUDGET)}, dict[str, Any]()
    for part in launch.split(", "):
        name, *words = part.split()
        if name in ("grid", "block", "shared", "budget"):
            how[name] = words[0]
        else:
            arguments[name] = _argument(words)
    lines = frozenset(n for n, text in enumerate(source.splitlines(), 1) if "// HERE" in text)
    grid, block = (tuple(int(n) for n in how[name].split("x")) for name in ("grid", "block"))
    return Planted(path.stem, source, kind, lines, grid, block, int(how["shared"]), int(how["budget"]), arguments)


def all_planted() -> Iterator[Planted]:
    yield from (read(path) for path in sorted(FOLDER.glob("*.cu")))


def named(p: Planted) -> Named:
    done = run(p.source, p.arguments, grid=p.grid, block=p.block, shared=p.shared, max_instructions=p.budget).launched
    if done.faults:
        return Named(done.faults[0].kind, done.faults[0].line, done.faults[0].message)
    if done.unwritten:
        left = done.unwritten[0]
        return Named(
            "output_not_written", left.line, f"{left.missing} bytes of {left.array}: {left.why(left.size // 4)}"
        )
    return Named("right", None, "")


def main() -> None:
    total = kinds = lines = 0
    for p in all_planted():
        got = named(p)
        kind, line = got.kind == p.kind, got.line in p.lines or (got.line is None and not p.lines)
        total, kinds, lines = total + 1, kinds + kind, lines + line
        marks = ("ok " if kind else "NO ") + ("ok" if line else "NO")
        print(f"{marks}  {p.name:32} {p.kind:22} {got.kind:22} line {got.line}  {got.message}")
    print(f"{total} planted faults: {kinds} of the right kind, {lines} at the right line")


if __name__ == "__main__":
    main()
