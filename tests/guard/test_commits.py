"""Thirty commits whose effect is known without a measurement: ten slower, ten neutral, ten faster.

Slower and faster ones change how much of the GPU works, or are kernels that everybody knows an order of. Neutral ones
change the text alone.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.guard.repository import ROOT, honest, make_repository

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
NEUTRAL = {
    "a remark": ("daxpy", lambda text: text + "\n// a remark\n"),
    "an empty line": ("reduce_sum", lambda text: text.replace("{", "{\n", 1)),
    "spaces": ("xorshift", lambda text: text.replace("  ", "   ")),
    "a longer remark": ("collatz", lambda text: text + "/* nothing\n to see */\n"),
    "the launch in other words": ("gather", lambda text: text.replace("block=(256)", "block=(128 + 128)")),
    "a parameter's name": ("transpose", lambda text: text.replace("int R,", "int R ,")),
    "a macro that nobody uses": ("matmul_naive", lambda text: text + "\n#define NOBODY 1\n"),
    "another function": ("daxpy", lambda text: text + "\n__device__ int nobody(int x) { return x; }\n"),
    "parentheses": ("transpose", lambda text: text.replace("= blockIdx.x", "= (blockIdx.x)")),
    "a constant that nobody uses": ("reduce_sum", lambda text: text + "\nconstexpr int kNobody = 3;\n"),
}


def text_of(task: str, change: str) -> str:
    """The task's kernel with another launch line, or another kernel for it."""
    if "__" in change:
        return honest(change)
    text = (ROOT / "tasks" / task / "kernel.cu").read_text()
    if not change:
        return text
    first, _, rest = text.partition("\n")
    return f"// launch: {change.removeprefix('// launch: ')}\n{rest}" if first.startswith("// launch:") else text


@pytest.mark.slow
@pytest.mark.parametrize("name", ORDERED)
def test_slower_and_faster_commits(name: str, tmp_path: Path) -> None:
    task, worse, better = ORDERED[name]
    made = make_repository(tmp_path, task)
    made.commit(task, text_of(task, better) + "\n")
    made.accept()
    made.commit(task, text_of(task, worse))
    row = made.verdict(task)
    assert row.status in ("slower", "likely_slower"), row
    made.accept()
    made.commit(task, text_of(task, better) + "\n")
    assert made.verdict(task).status in ("faster", "likely_faster")


@pytest.mark.slow
@pytest.mark.parametrize("name", NEUTRAL)
def test_neutral_commits(name: str, tmp_path: Path) -> None:
    task, change = NEUTRAL[name]
    made = make_repository(tmp_path, task)
    made.accept()
    text = text_of(task, "")
    assert change(text) != text
    made.commit(task, change(text))
    assert made.verdict(task).status == "same"
