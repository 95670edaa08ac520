"""Comparison: nothing wrong passes, nothing right fails, and the worst element is the worst."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from warpsight.nouns import Argument, Task, Tolerance
from warpsight.tasks import Comparison, compare
from warpsight.tasks.compare import STRETCH

NAN, INF = math.nan, math.inf


def compared(task: Task, got: list[float], expected: list[float], **tolerance: float) -> Comparison:
    changed = task.model_copy(update={"tolerance": Tolerance.model_validate({"rtol": 0, "atol": 0} | tolerance)})
    return compare(changed, {"y": np.array(got, np.float32)}, {"y": np.array(expected, np.float64)})


def test_within_and_outside_of_tolerance(task: Task) -> None:
    assert compared(task, [1.0, 100.0], [1.0, 101.0], rtol=0.01).ok
    result = compared(task, [1.0, 99.0, 2.5], [1.0, 101.0, 2.0], rtol=0.01)
    assert (result.reason, result.wrong_elements, result.total_elements) == ("wrong_values", 2, 3)
    assert result.worst is not None
    # 0.5 of 0.02 allowed is worse than 2 of 1.01 allowed
    assert (result.worst.output, result.worst.index, result.worst.error) == ("y", (2,), 0.5)
    assert "y[2]: got 2.5, expected 2.0" in result.detail


@pytest.mark.parametrize(
    ("got", "expected", "reason"),
    [
        (NAN, NAN, ""),
        (INF, INF, ""),
        (-INF, -INF, ""),
        (NAN, 1.0, "non_finite"),
        (INF, 1.0, "non_finite"),
        (-INF, INF, "wrong_values"),
        (NAN, INF, "wrong_values"),
        (1.0, NAN, "wrong_values"),
        (1.0, INF, "wrong_values"),
        (-1.0, -INF, "wrong_values"),
        (0.0, -0.0, ""),
    ],
)
def test_what_is_not_finite(task: Task, got: float, expected: float, reason: str) -> None:
    result = compared(task, [0.0, got], [0.0, expected], rtol=0.5, atol=1e30)
    assert result.reason == reason
    assert result.wrong_elements == (reason != "")
    if reason:
        assert result.worst is not None and result.worst.index == (1,) and result.worst.error == INF


def test_a_nan_is_worse_than_a_large_error(task: Task) -> None:
    result = compared(task, [1e30, NAN, 0.0], [0.0, 0.0, 0.0], atol=1.0)
    assert result.worst is not None and result.worst.index == (1,)


def test_the_worst_and_the_wrong_are_those_of_all_stretches(task: Task) -> None:
    got = np.zeros(2 * STRETCH + 5)
    got[[3, STRETCH - 1, STRETCH, 2 * STRETCH + 1, 2 * STRETCH + 4]] = 2.0, 3.0, 7.0, 7.0, 0.5
    result = compared(task, got.tolist(), [0.0] * got.size, atol=1.0)
    assert (result.wrong_elements, result.total_elements) == (4, got.size)
    assert result.worst is not None and result.worst.index == (STRETCH,), "of two that are as bad, the first"
    assert compared(task, got.tolist(), [0.0] * got.size, atol=7.0).ok


def test_exactness_with_no_tolerance(task: Task) -> None:
    assert compared(task, [1.5, 0.0], [1.5, 0.0]).ok
    close = compared(task, [1.5, 2.0], [1.5, 2.000001])
    assert close.wrong_elements == 1 and close.worst is not None and close.worst.index == (1,)


def test_dtype_shape_and_absence(task: Task) -> None:
    want = {"y": np.zeros(4)}
    assert compare(task, {}, want).reason == "missing_output"
    assert compare(task, {"y": np.zeros(4)}, want).reason == "wrong_dtype"
    assert compare(task, {"y": np.zeros((2, 2), np.float32)}, want).reason == "wrong_shape"
    assert compare(task, {"y": np.zeros(4, np.float32)}, want).ok
    assert compare(task, {"y": np.zeros(0, np.float32)}, {"y": np.zeros(0)}).ok


def test_integers_are_compared_exactly(task: Task) -> None:
    y = Argument(name="y", dtype="uint64", role="out", shape=("N",))
    integers = task.model_copy(update={"arguments": (y,), "tolerance": Tolerance(rtol=1, atol=1e9)})
    expected = np.array([[0, 2**63], [2**53, 5]], np.uint64)
    assert compare(integers, {"y": expected.copy()}, {"y": expected}).ok
    got = expected.copy()
    got[1, 0] += np.uint64(1)
    result = compare(integers, {"y": got}, {"y": expected})
    assert result.wrong_elements == 1 and result.worst is not None
    assert (result.worst.index, result.worst.got, result.worst.expected) == ((1, 0), 2**53 + 1, 2**53)


numbers = st.floats(width=32, allow_nan=True, allow_infinity=True)


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=8), st.sampled_from([0.0, 1e-3, 1.0]))
def test_against_the_rule_written_out(pairs: list[tuple[float, float]], rtol: float) -> None:
    y = Argument(name="y", dtype="float32", role="out", shape=("N",))
    task = Task.model_construct(arguments=(y,), tolerance=Tolerance(rtol=rtol, atol=1e-3))
    wrong = 0
    for got, expected in pairs:
        if math.isnan(expected) or math.isinf(expected):
            wrong += not (got == expected or (math.isnan(got) and math.isnan(expected)))
        else:
            allowed = 1e-3 + rtol * abs(expected)
            assume(abs(abs(got - expected) - allowed) > 1e-6 * allowed)  # at the very edge rounding decides
            wrong += not abs(got - expected) <= allowed
    got_array = np.array([got for got, _ in pairs], np.float32)
    result = compare(task, {"y": got_array}, {"y": np.array([want for _, want in pairs])})
    assert result.wrong_elements == wrong
    assert result.ok == (wrong == 0)
