"""Families keep what a task declares, are the same for the same seed, and say when they have nothing to say."""

from __future__ import annotations

import numpy as np
import pytest
from tests.gate.right.candidates import TASKS, task_named

from warpsight.errors import UsageError
from warpsight.gate.expected import ExpectedValues
from warpsight.gate.families import FAMILY_NAMES, _integer_contents, family_inputs  # pyright: ignore[reportPrivateUsage]
from warpsight.gate.tolerance import wanted
from warpsight.gate.values import fresh_values, verify_outputs
from warpsight.nouns import Task
from warpsight.tasks import generate_inputs
from warpsight.tasks.shapes import number_of

NAMES = sorted(file.parent.name for file in TASKS.glob("*/kernel.cu"))


def test_there_are_at_least_eight() -> None:
    assert len(FAMILY_NAMES) >= 8 and FAMILY_NAMES[0] == "declared"


@pytest.mark.parametrize("name", NAMES)
def test_bounds_and_meaning_hold_in_every_family(name: str) -> None:
    task = task_named(name)
    workload = task.workloads[0]
    declared = generate_inputs(task, workload, 3)
    for family in FAMILY_NAMES:
        inputs = family_inputs(task, workload, 3, family)
        if inputs is None:
            continue
        for argument in task.arguments:
            if argument.role == "out":
                continue
            got = inputs[argument.name]
            assert got.dtype == declared[argument.name].dtype and got.shape == declared[argument.name].shape
            if argument.fill in ("permutation", "csr_rows", "zeros", "ones") or argument.role == "scalar":
                assert np.array_equal(got, declared[argument.name])
            elif argument.high is not None:
                low = 0 if argument.low is None else number_of(argument.low, workload.axes)
                assert low <= got.min() + 1e-6 and got.max() <= number_of(argument.high, workload.axes)
            if got.dtype.kind == "f":
                assert np.isfinite(got).all()


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others() -> None:
    task = task_named("saxpy")
    workload = task.workloads[0]
    for family in FAMILY_NAMES:
        one, same, other = (family_inputs(task, workload, seed, family) for seed in (1, 1, 2))
        assert one is not None and same is not None and other is not None
        assert all(np.array_equal(one[name], same[name]) for name in one)
        if family != "structured":  # a ramp is a ramp
            assert not np.array_equal(one["x"], other["x"])


def test_what_each_family_is() -> None:
    task = task_named("vector_add")
    workload = task.workloads[1]
    a = {family: family_inputs(task, workload, 1, family)["a"] for family in FAMILY_NAMES}  # type: ignore[index]
    tiny = float(np.finfo(np.float32).smallest_normal)
    assert np.abs(a["wide"]).max() / np.abs(a["wide"]).min() > 2**30
    assert np.abs(a["tiny"]).max() < 1e-10
    assert (np.abs(a["denormal"]) < tiny).mean() > 0.6
    assert (a["sparse"] == 0).mean() > 0.8
    assert np.abs(a["cancellation"][0::2] + a["cancellation"][1::2]).max() < 1e-2
    assert (a["integers"] == np.rint(a["integers"])).all() and set(np.unique(a["bits"])) == {-1.0, 0.0, 1.0}


def test_a_family_that_does_not_fit_is_refused_by_name() -> None:
    task = task_named("collatz")
    with pytest.raises(UsageError, match="tiny"):
        fresh_values(task, task.workloads[0], 0, "tiny")
    with pytest.raises(UsageError, match="declared, wide"):
        fresh_values(task, task.workloads[0], 0, "strange")


def _overflowing(task: Task) -> Task:
    text = "import numpy as np\ndef reference(a, b):\n    return np.exp(np.abs(a)) + b\n"
    return task.model_copy(update={"reference": text})


def test_a_family_that_makes_the_reference_infinite_is_skipped() -> None:
    task = _overflowing(task_named("vector_add"))
    inputs = family_inputs(task, task.workloads[0], 0, "wide")
    assert inputs is not None
    found = wanted(task, task.workloads[0], inputs, ExpectedValues(), family="wide")
    assert "not finite" in found.skip


def test_tolerance_follows_the_size_of_the_numbers() -> None:
    task = task_named("vector_add")
    workload = task.workloads[0]
    inputs, _ = fresh_values(task, workload, 0, "tiny")
    right = inputs["a"] + inputs["b"]
    arrays = {**inputs, "c": right}
    assert verify_outputs(task, workload, inputs, arrays, family="tiny").ok
    zeros = verify_outputs(task, workload, inputs, {**inputs, "c": np.zeros_like(right)}, family="tiny")
    assert not zeros.ok and zeros.reason == "wrong_values"


def test_whole_numbers_must_come_out_exact() -> None:
    task = task_named("matmul_tiled")
    workload = task.workloads[0]
    inputs, _ = fresh_values(task, workload, 0, "integers")
    right = (inputs["A"].astype(np.float64) @ inputs["B"]).astype(np.float32)
    assert verify_outputs(task, workload, inputs, {**inputs, "C": right}, family="integers").ok
    right[3, 4] += 1
    found = verify_outputs(task, workload, inputs, {**inputs, "C": right}, family="integers")
    assert not found.ok and found.wrong_elements == 1


def test_an_input_that_comes_back_changed_is_named() -> None:
    task = task_named("vector_add")
    workload = task.workloads[0]
    inputs, _ = fresh_values(task, workload, 0)
    arrays = {**inputs, "c": inputs["a"] + inputs["b"], "b": inputs["b"] + 1}
    assert verify_outputs(task, workload, inputs, arrays).reason == "input_changed"


def test_whole_numbers_over_the_whole_range_of_64_bits() -> None:
    low, high = -(2**63), 2**63 - 1
    declared = np.array([5, low, high, 0], np.int64)
    made = [_integer_contents("structured", np.random.default_rng(seed), declared, low, high) for seed in range(12)]
    assert {tuple(one) for one in made if one is not None} == {
        (5, 5, 5, 5), (low, low + 1, low + 2, low + 3), (high, high - 1, high - 2, high - 3),
    }  # fmt: skip
