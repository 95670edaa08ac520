"""Thirty commits whose effect is known without a measurement: ten slower, ten neutral, ten faster.

Slower and faster ones change how much of the GPU works, or are kernels that everybody knows an order of. Neutral ones
change the text alone, or the order of independent instructions: the work and the traffic stay the same.
`python -m tests.guard.commits` prints a verdict a line and the counts.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from tests.guard.repository import ROOT, Repository, honest, make_repository

from warpsight.guard.judge import GuardRow
from warpsight.guard.reports import change_words

Effect = Literal["slower", "neutral", "faster"]
DAXPY = "// launch: grid=(108) block=(256) shared=0"
# (task, worse, better): a launch line in place of the task's own, or the text of a kernel.
ORDERED = {
    "one block": ("daxpy", "grid=(1) block=(256)", DAXPY),
    "half of the SMs": ("daxpy", "grid=(54) block=(256)", DAXPY),
    "eight blocks": ("reduce_sum", "grid=(8) block=(256)", ""),
    "blocks of half a warp": ("xorshift", "grid=(ceil(N/16)) block=(16)", ""),
    "a warp with one lane": ("xorshift", "grid=(ceil(N/33)) block=(33)", ""),
    "four lanes a block": ("collatz", "grid=(ceil(N/4)) block=(4)", ""),
    "sixty-three of 64 blocks idle": ("xorshift", "grid=(ceil(N/256) * 64) block=(256)", ""),
    "occupancy": ("gather", "grid=(ceil(L*D/256)) block=(256) shared=49152", ""),
    "transpose by rows": ("transpose", "", "transpose__padded_tile"),
    "matmul without a tile": ("matmul_naive", "", "matmul_naive__tiled"),
}
# (task, edit, whether the machine code stays the same)
NEUTRAL: dict[str, tuple[str, Callable[[str], str], bool]] = {
    "a remark": ("daxpy", lambda text: text + "\n// a remark\n", True),
    "spaces": ("xorshift", lambda text: text.replace("  ", "   "), True),
    "the launch in other words": ("gather", lambda text: text.replace("block=(256)", "block=(128 + 128)"), True),
    "a parameter's name": ("transpose", lambda text: text.replace("int R,", "int R ,"), True),
    "another function": ("daxpy", lambda text: text + "\n__device__ int nobody(int x) { return x; }\n", True),
    "a macro that nobody uses": ("matmul_naive", lambda text: text + "\n#define NOBODY 1\n", True),
    "indices without a sign": (
        "transpose",
        lambda text: text.replace("int c = blockIdx", "unsigned c = blockIdx").replace("int r = b", "unsigned r = b"),
        False,
    ),
    "an index in two steps": (
        "gather",
        lambda text: text.replace("(int)(i % D)", "(int)(i - (long long)row * D)"),
        False,
    ),
    "another order of the same sum": (
        "reduce_sum",
        lambda text: text.replace("__shfl_down_sync", "__shfl_xor_sync"),
        False,
    ),
    "a sum the other way round": (
        "daxpy",
        lambda text: text.replace("alpha * x[i] + y[i]", "fma(x[i], alpha, y[i])"),
        False,
    ),
}  # fmt: skip


class JudgedCommit(NamedTuple):
    """A commit, what it is known to do, and what the guard says of it."""

    name: str
    effect: Effect
    row: GuardRow

    @property
    def right(self) -> bool:
        if self.effect == "neutral":
            return self.row.status in ("unchanged", "same")
        return self.row.status in (self.effect, f"likely_{self.effect}")


def text_of(task: str, change: str) -> str:
    """The task's kernel with another launch line, or another kernel for it."""
    if "__" in change:
        return honest(change)
    text = (ROOT / "tasks" / task / "kernel.cu").read_text()
    if not change:
        return text
    first, _, rest = text.partition("\n")
    return f"// launch: {change.removeprefix('// launch: ')}\n{rest}" if first.startswith("// launch:") else text


def judge_ordered(name: str, folder: Path) -> Iterator[JudgedCommit]:
    """The good kernel is accepted and made worse; the worse one is accepted and made good again."""
    task, worse, better = ORDERED[name]
    made = _accepted(folder, task, text_of(task, better) + "\n")
    made.commit(task, text_of(task, worse))
    yield JudgedCommit(name, "slower", made.verdict(task))
    made.accept()
    made.commit(task, text_of(task, better) + "\n")
    yield JudgedCommit(name, "faster", made.verdict(task))


def judge_neutral(name: str, folder: Path) -> JudgedCommit:
    task, change, _ = NEUTRAL[name]
    text = text_of(task, "")
    made = _accepted(folder, task, text + "\n")
    assert change(text) != text, f"{name} changes nothing"
    made.commit(task, change(text))
    return JudgedCommit(name, "neutral", made.verdict(task))


def _accepted(folder: Path, task: str, text: str) -> Repository:
    made = make_repository(folder, task)
    made.commit(task, text)
    made.accept()
    return made


def _all(folder: Path) -> Iterator[JudgedCommit]:
    for at, name in enumerate(ORDERED):
        yield from judge_ordered(name, folder / f"o{at}")
    for at, name in enumerate(NEUTRAL):
        yield judge_neutral(name, folder / f"n{at}")


def main() -> int:
    found: list[JudgedCommit] = []
    with tempfile.TemporaryDirectory() as folder:
        for one in _all(Path(folder)):
            found.append(one)
            told = change_words(one.row) or one.row.detail
            mark = "ok" if one.right else "NO"
            print(f"{mark}  {one.effect:8} {one.row.task:13} {one.name:30} {one.row.status:13} {told}", flush=True)
    for effect in ("slower", "neutral", "faster"):
        some = [one for one in found if one.effect == effect]
        fails = sum(one.row.fails(strict=False) for one in some)
        strict = sum(one.row.fails(strict=True) for one in some)
        print(f"{effect}: {sum(one.right for one in some)} of {len(some)} right; the job fails for {fails}, with "
              f"--strict for {strict}")  # fmt: skip
    return 0 if all(one.right for one in found) else 1


if __name__ == "__main__":
    sys.exit(main())
