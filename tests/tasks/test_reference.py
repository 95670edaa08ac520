"""The reference runs in float64 on the numbers the kernel sees, and what it returns is checked."""

import sys

import numpy as np
import pytest

from warpsight.errors import TaskError
from warpsight.nouns import Task
from warpsight.tasks import generate_inputs, run_reference

HEAD = "import numpy as np\n\n\ndef reference(x, alpha, N):\n    "


def run(task: Task, body: str) -> dict[str, np.ndarray]:
    changed = task.model_copy(update={"reference": HEAD + body})
    workload = task.workloads[0]
    return run_reference(changed, generate_inputs(task, workload, 3), workload.axes)


def test_the_oracle_is_float64_of_the_rounded_inputs(task: Task) -> None:
    workload = task.workloads[0]
    inputs = generate_inputs(task, workload, 3)
    expected = run_reference(task, inputs, workload.axes)
    assert expected["y"].dtype == np.float64
    assert np.array_equal(expected["y"], inputs["x"].astype(np.float64) * 2.5)


def test_inputs_are_copies_and_nothing_is_left_behind(task: Task) -> None:
    workload = task.workloads[0]
    inputs = generate_inputs(task, workload, 3)
    before, modules = inputs["x"].copy(), set(sys.modules)
    changed = task.model_copy(update={"reference": HEAD + "x[:] = 0\n    return x"})
    assert not run_reference(changed, inputs, workload.axes)["y"].any()
    assert np.array_equal(inputs["x"], before)
    assert not {name for name in set(sys.modules) - modules if "reference" in name}


def test_axes_and_scalars_are_plain_numbers(task: Task) -> None:
    found = run(task, "assert type(N) is int and type(alpha) is float\n    return {'y': np.full(N, alpha)}")
    assert (found["y"] == 2.5).all()


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("return x[1:]", "shape [999]"),
        ("return None", "NoneType"),
        ("return {'z': x}", "z"),
        ("return {}", "nothing"),
        ("return x + 1j", "complex128"),
    ],
)
def test_what_it_returns_is_checked(task: Task, body: str, found: str) -> None:
    with pytest.raises(TaskError) as caught:
        run(task, body)
    assert caught.value.found == found


def test_what_it_raises_is_an_error_of_the_task_with_its_line(task: Task) -> None:
    with pytest.raises(TaskError) as caught:
        run(task, "y = x + N\n    return y / int(alpha - 2.5)[0]")
    assert caught.value.line == 6
    assert caught.value.found.startswith("TypeError: ")


def test_integer_outputs_must_fit(task: Task) -> None:
    y = task.arguments[1].model_copy(update={"dtype": "uint8"})
    narrow = task.model_copy(update={"arguments": (task.arguments[0], y, *task.arguments[2:])})
    assert run(narrow, "return np.arange(N) % 256")["y"].dtype == np.uint8
    for body in ("return np.arange(N)", "return np.zeros(N)", "return np.arange(N) - 1"):
        with pytest.raises(TaskError, match="uint8"):
            run(narrow, body)
