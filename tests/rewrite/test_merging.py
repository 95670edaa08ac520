"""Threads merged: what depends on the thread stands once for each, the rest once; and the gate finds them right."""

from __future__ import annotations

import json

import pytest
from tests.rewrite.kernels import FACTS, kernel

from warpsight.corpus.families import families
from warpsight.corpus.specs import Spec, task_of
from warpsight.rewrite import facts_of, rewrites
from warpsight.rewrite.merging import LONGEST
from warpsight.tools.open import open_box

CAUSE = "one_output_a_thread"
TILED = "grid=(ceil(N/16)) block=(16, 16) shared=0"


def merged(
    body: str, launch: str = "grid=(ceil(N/256)) block=(256) shared=0", name: str = "2 threads as one along x"
) -> str:
    found = {one.name: one.text for one in rewrites(kernel(body, launch), CAUSE, FACTS)}
    return found.get(name, "")


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines()]


def test_what_depends_on_the_thread_stands_twice_and_the_rest_once() -> None:
    body = "    float w = x[0];\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    body += "    float v = x[i] * w;\n    y[i] = v;"
    found = lines(merged(body))
    assert "// launch: grid=(ceil(N/256)) block=(128) shared=0" in found
    assert found.count("float w = x[0];") == 1
    assert "int i = blockIdx.x * 256 + threadIdx.x;" in found, "the block as large as it was"
    assert "int i_of1 = blockIdx.x * 256 + (threadIdx.x + 128);" in found
    assert "float v_of1 = x[i_of1] * w;" in found and "y[i_of1] = v_of1;" in found


def test_along_y_a_row_of_the_block_keeps_its_threads_and_sums_are_kept_apart() -> None:
    body = "    int tx = threadIdx.x, ty = threadIdx.y;\n    float acc = 0.0f;\n    #pragma unroll 4\n"
    body += "    for (int k = 0; k < N; ++k) {\n        float b = x[k * 16 + tx];\n        acc += x[ty] * b;\n    }\n"
    body += "    y[ty] = acc;"
    found = lines(merged(body, TILED, "4 threads as one along y"))
    assert "// launch: grid=(ceil(N/16)) block=(16, 4) shared=0" in found
    assert "float acc_of3 = 0.0f;" in found and "acc_of3 += x[ty_of3] * b_of3;" in found
    assert found.count("for (int k = 0; k < N; ++k) {") == 1 and found.count("#pragma unroll 4") == 1
    assert not merged(body, TILED), "a row of 16 is no warp: not along x"


def test_loops_go_in_step_as_far_as_all_go_then_each_by_itself() -> None:
    found = lines(merged("    for (int i = threadIdx.x; i < N; i += blockDim.x) {\n        y[i] = x[i];\n    }"))
    together = found.index("for (; (i < N) && (i_of1 < N); i += 256, i_of1 += 256) {")
    assert found[together + 1 : together + 3] == ["y[i] = x[i];", "y[i_of1] = x[i_of1];"]
    assert found[together + 4 : together + 6] == ["for (; i < N; i += 256) {", "y[i] = x[i];"]
    assert "for (; i_of1 < N; i_of1 += 256) {" in found


def test_who_leaves_early_leaves_alone() -> None:
    found = lines(merged("    int i = threadIdx.x;\n    if (i >= N) return;\n    y[i] = x[i];"))
    both = found.index("if (!(i >= N) && !(i_of1 >= N)) {")
    assert found[both + 1 : both + 3] == ["y[i] = x[i];", "y[i_of1] = x[i_of1];"]
    assert "if (!(i_of1 >= N)) {" in found[both:] and "return;" not in found


@pytest.mark.parametrize(
    "body",
    [
        "    if (threadIdx.x < N) {\n        y[0] = 1;\n        __syncthreads();\n    }",
        "    for (int i = threadIdx.x; i < N; i += 9) {\n        if (x[i] > 0) break;\n        y[i] = 1;\n    }",
        "    int i = threadIdx.x;\n    while (i < N) { __syncthreads(); ++i; }",
    ],
    ids=["barrier in a guard", "jump out of a loop", "barrier in a loop"],
)
def test_barriers_and_jumps_that_only_some_would_come_by_are_left_alone(body: str) -> None:
    assert merged(body) == ""


def test_a_second_time_takes_names_that_are_free() -> None:
    once = merged("    int i = threadIdx.x;\n    y[i] = x[i];")
    again = {one.name: one.text for one in rewrites(once, CAUSE, FACTS)}["2 threads as one along x"]
    assert "block=(64)" in again and "y[i_of1_of_of1] = x[i_of1_of_of1];" in again


def test_guards_in_guards_do_not_grow_without_end() -> None:
    deep = "if (threadIdx.x < N) { for (;;) {" * 60 + "y[threadIdx.x] = 1;" + "} }" * 60
    assert all(len(one.text) < 4 * LONGEST for one in rewrites(kernel(deep), CAUSE, FACTS))


@pytest.mark.parametrize("family", ["matmul", "row_sum", "saxpy", "stencil1d"])
def test_the_gate_finds_merged_kernels_right(family: str) -> None:
    size = min(families()[family].sizes, key=lambda one: sum(one.values()))
    task = task_of(Spec(family=family, defects=(), constants=(), size=size, gpu="a100", style_seed=0))
    box = open_box(task, seed=5, cores=1)
    texts = [one.text for one in rewrites(task.kernel, CAUSE, facts_of(task))]
    assert texts
    for text in texts:
        found = box.call("check", {"kernel": text})
        assert not found.is_error and json.dumps(found.data) and found.data["verdict"] == "right", found.text
