"""What a task can say: narrow floats, names that Python keeps for itself, values that are not finite."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.honest.collection import toml_of

from warpsight.errors import TaskError
from warpsight.nouns import Task
from warpsight.nouns.dtypes import float_info, is_float, wire_dtype
from warpsight.tasks import compare, generate_inputs, read_task, run_reference

SIZES = "tol 1e-2 1e-3\nsizes N=8 | N=5 hidden\n"


def made(folder: Path, arguments: str, reference: str, parameters: str) -> Task:
    (folder / "task.toml").write_text(toml_of("k", "kernel.cu", "axes N=1:100\n" + arguments + SIZES))
    launch = "// launch: grid=(1) block=(32)\n"
    (folder / "kernel.cu").write_text(f'{launch}extern "C" __global__ void k({parameters}) {{}}\n')
    (folder / "reference.py").write_text(f"import numpy as np\n{reference}\n")
    return read_task(folder)


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "bf16", "float8_e4m3", "fp8_e5m2"])
def test_narrow_floats(dtype: str, tmp_path: Path) -> None:
    task = made(
        tmp_path, f"in x {dtype} N\nout y {dtype} N\n", "def reference(x):\n    return 2 * x", "const void* x, void* y"
    )
    inputs = generate_inputs(task, task.workloads[0], 1)
    assert is_float(inputs["x"].dtype) and inputs["x"].dtype.itemsize == (2 if dtype.startswith("b") else 1)
    expected = run_reference(task, inputs, task.workloads[0].axes)
    assert np.array_equal(expected["y"], 2 * inputs["x"].astype(np.float64)), "exactly the numbers the kernel gets"
    right = expected["y"].astype(inputs["x"].dtype)
    assert compare(task, {"y": right}, expected).ok
    worst = compare(task, {"y": (expected["y"] * 2 + 1).astype(right.dtype)}, expected).worst
    assert worst is not None and isinstance(worst.got, float)
    assert np.dtype(wire_dtype(right)).itemsize == right.dtype.itemsize
    assert float_info(right.dtype).eps >= 2.0**-7


@pytest.mark.parametrize("name", ["in", "lambda", "from", "is", "None"])
def test_a_name_that_python_keeps_for_itself(name: str, tmp_path: Path) -> None:
    reference = f"def reference({name}_):\n    return {name}_ + 1"
    task = made(tmp_path, f"in {name} float32 N\nout out float32 N\n", reference, f"const float* {name}, float* out")
    inputs = generate_inputs(task, task.workloads[0], 1)
    found = run_reference(task, inputs, task.workloads[0].axes)
    assert np.allclose(found["out"], inputs[name] + 1.0)


def test_a_name_is_not_taken_twice(tmp_path: Path) -> None:
    both = "in in float32 N\nin in_ float32 N\nout out float32 N\n"
    with pytest.raises(TaskError, match="in_"):
        made(tmp_path, both, "def reference(in_):\n    return in_", "const float* in, const float* in_, float* out")


@pytest.mark.parametrize(("text", "value"), [("-inf", -np.inf), ("inf", np.inf), ("nan", np.nan), ("0.5", 0.5)])
def test_a_constant_that_is_not_finite(text: str, value: float, tmp_path: Path) -> None:
    arguments = f"inout y float32 N fill=constant value={text}\nin x float32 N\nscalar s float32 {text}\n"
    reference = "def reference(y, x, s):\n    return np.fmax(y, x)"
    task = made(tmp_path, arguments, reference, "float* y, const float* x, float s")
    inputs = generate_inputs(task, task.workloads[0], 1)
    assert np.array_equal(inputs["y"], np.full(8, value, np.float32), equal_nan=True)
    assert np.array_equal(inputs["s"], np.float32(value), equal_nan=True)


def test_a_constant_may_be_text_too(tmp_path: Path) -> None:
    task = made(
        tmp_path, "in x float32 N\nout y float32 N\nscalar s float32 0\n",
        "def reference(x, s):\n    return x + s", "const float* x, float* y, float s",
    )  # fmt: skip
    text = (tmp_path / "task.toml").read_text().replace("value = 0", 'value = "-inf"')
    (tmp_path / "task.toml").write_text(text)
    inputs = generate_inputs(read_task(tmp_path), task.workloads[0], 1)
    assert inputs["s"] == -np.inf


def test_a_constant_needs_a_value_and_whole_numbers_hold_no_infinity(tmp_path: Path) -> None:
    signature = "const float* x, float* y"
    with pytest.raises(TaskError, match="needs a value"):
        made(tmp_path, "in x float32 N fill=constant\nout y float32 N\n", "def reference(x):\n    return x", signature)
    bad = "in x int32 N fill=constant value=inf\nout y float32 N\n"
    with pytest.raises(TaskError, match="an integer that int32 holds"):
        made(tmp_path, bad, "def reference(x):\n    return x", signature)
