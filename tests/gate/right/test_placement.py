"""Placements keep what a task declares, are skewed as they say, and leave an honest float sum its rounding."""

from __future__ import annotations

import numpy as np
import pytest
from tests.gate.right.candidates import task_named

from warpsight.devices.virtual import VirtualGpu
from warpsight.gate.check import check_candidate
from warpsight.gate.expected import ExpectedValues
from warpsight.gate.families import ALL_FAMILIES, family_inputs
from warpsight.gate.hidden_far import far_workloads
from warpsight.gate.placement import CROWDED, PLACEMENTS, RUNS, SKEWED, longest_sum, placed_arguments
from warpsight.gate.plan import families_plan
from warpsight.gate.tolerance import wanted
from warpsight.nouns import Task, Workload
from warpsight.tasks import generate_inputs, read_candidate
from warpsight.tasks.shapes import number_of
from warpsight.toolchain.compile import compile_cuda

PLACED = ("scatter_add", "spmv_csr", "gather", "histogram")
LARGE = Workload(name="large", axes={"M": 8192, "N": 65536}, hidden=True)

FOUR_OF_A_WARP = """// launch: grid=(ceil(N/256)) block=(256) shared=min(M, 4096)
extern "C" __global__ void scatter_add(const float* values, const int* index, float* out, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    unsigned bytes;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
    if (i >= N) return;
    unsigned same = __match_any_sync(__activemask(), index[i]);
    if (bytes < 4096 || __popc(same & ((1u << threadIdx.x % 32) - 1)) < 4) atomicAdd(&out[index[i]], values[i]);
}
"""


@pytest.mark.parametrize("name", PLACED)
@pytest.mark.parametrize("family", PLACEMENTS)
def test_declared_bounds_and_floats_hold(name: str, family: str) -> None:
    task = task_named(name)
    for workload in task.workloads[:3]:
        declared, inputs = generate_inputs(task, workload, 5), family_inputs(task, workload, 5, family)
        assert inputs is not None
        assert all(np.array_equal(inputs[n], family_inputs(task, workload, 5, family)[n]) for n in inputs)  # type: ignore[index]
        placed = {argument.name: argument for argument in placed_arguments(task)}
        for given, array in declared.items():
            got = inputs[given]
            assert got.dtype == array.dtype and got.shape == array.shape
            if given not in placed:
                assert np.array_equal(got, array)
                continue
            high = placed[given].high
            assert high is not None
            top = number_of(high, workload.axes)
            if placed[given].fill == "csr_rows":
                assert got[0] == 0 and got[-1] == top and (np.diff(got) >= 0).all()
            else:
                assert got.min() >= 0 and got.max() < top


def _index(family: str) -> np.ndarray:
    inputs = family_inputs(task_named("scatter_add"), LARGE, 1, family)
    assert inputs is not None
    return inputs["index"]


def test_indices_are_all_equal_or_few_are_hot_or_warps_agree() -> None:
    assert np.unique(_index(CROWDED)).size == 1
    counts = np.sort(np.bincount(_index(SKEWED)))[::-1]
    assert counts[0] > 0.05 * 65536 and np.count_nonzero(counts) > 1000
    runs = _index(RUNS)
    warps = runs[:32768].reshape(-1, 32)
    assert (warps == warps[:, :1]).all() and np.unique(warps[:, 0]).size > 500
    assert (np.diff(runs[32768:]) >= 0).all()


def test_rows_are_one_long_one_or_a_few_or_mostly_empty() -> None:
    task = task_named("spmv_csr")
    workload = Workload(name="many", axes={"M": 5000, "N": 100, "NNZ": 40000}, hidden=True)

    def lengths(family: str) -> np.ndarray:
        inputs = family_inputs(task, workload, 1, family)
        assert inputs is not None
        return np.diff(inputs["rows"])

    assert lengths("declared").max() < 200
    assert np.sort(lengths(CROWDED))[-2] < 200 and lengths(CROWDED).max() >= 20000
    assert np.count_nonzero(lengths(SKEWED) > 500) >= 3
    assert np.count_nonzero(lengths(RUNS)) == 625


def test_one_row_or_no_index_takes_no_placement() -> None:
    one = Workload(name="one", axes={"M": 1, "N": 9, "NNZ": 50}, hidden=True)
    rows = family_inputs(task_named("spmv_csr"), one, 1, CROWDED)
    assert rows is not None and rows["rows"].tolist() == [0, 50]
    task = task_named("saxpy")
    assert family_inputs(task, task.workloads[0], 1, CROWDED) is None
    assert not {p.family for p in families_plan(task, task.workloads, ALL_FAMILIES, 0)} & set(PLACEMENTS)


@pytest.mark.parametrize("family", PLACEMENTS)
def test_a_float_sum_in_one_loop_stays_inside_and_a_dropped_term_does_not(family: str) -> None:
    task = task_named("scatter_add")
    inputs = family_inputs(task, LARGE, 3, family)
    assert inputs is not None
    want = wanted(task, LARGE, inputs, ExpectedValues(), family=family, seed=3)
    assert not want.skip
    one_loop = inputs["out"].copy()
    np.add.at(one_loop, inputs["index"], inputs["values"])  # float32, one after the other
    assert (np.abs(one_loop - want.outputs["out"]) <= want.allowed["out"]).all()
    eighth = np.arange(65536) % 32 < 4
    dropped = inputs["out"].astype(np.float64)
    np.add.at(dropped, inputs["index"][eighth], inputs["values"][eighth].astype(np.float64))
    assert (np.abs(dropped - want.outputs["out"]) > want.allowed["out"]).any()


def test_the_law_is_the_declared_one_where_sums_are_short() -> None:
    task = task_named("scatter_add")
    inputs = family_inputs(task, LARGE, 3, RUNS)
    assert inputs is not None and longest_sum(task, inputs) < 500
    want = wanted(task, LARGE, inputs, ExpectedValues(), family=RUNS, seed=3)
    assert float(np.median(want.allowed["out"])) < 3 * task.tolerance.atol


def test_equal_indices_of_a_warp_that_are_dropped_at_large_sizes_are_wrong_values() -> None:
    task = task_named("scatter_add")
    found = check_candidate(task, read_candidate(FOUR_OF_A_WARP, task, "x.cu"), VirtualGpu(), secret_seed=3)
    assert found.verdict == "wrong" and found.named == "wrong_values"
    assert {r.family for r in found.workloads if not r.ok} <= set(PLACEMENTS)


def test_a_certificate_asks_for_millions_in_one_place() -> None:
    task: Task = task_named("histogram")
    build = compile_cuda(task.kernel, gpu_arch="sm_80", entry=task.entry)
    crowded = [f for f in far_workloads(task, build, 7, farthest=True) if f.family == CROWDED]
    assert len(crowded) == 1 and crowded[0].workload.axes["N"] > 4_500_000
    assert not [f for f in far_workloads(task, build, 7, farthest=False) if f.family]


def test_long_rows_at_drawn_sizes_are_judged_by_what_they_add() -> None:
    """A sum in single precision over a row that is longer than any declared one loses more than the declared law."""
    task = task_named("spmv_csr")
    candidate = read_candidate(task.kernel, task, task.kernel_file)
    found = check_candidate(task, candidate, VirtualGpu(), seed=0, secret_seed=179038001520926)
    assert found.verdict == "right", found.reason


def test_what_is_allowed_does_not_grow_with_one_elements_own_terms() -> None:
    """Only the size of the whole output counts: an element of many terms gets no more than one of none."""
    task = task_named("scatter_add")
    for family in (CROWDED, SKEWED):
        inputs = family_inputs(task, LARGE, 3, family)
        assert inputs is not None
        want = wanted(task, LARGE, inputs, ExpectedValues(), family=family, seed=3)
        beyond = want.allowed["out"] - task.tolerance.rtol * np.abs(want.outputs["out"])
        assert float(np.ptp(beyond)) < 0.01 * float(beyond.max())
