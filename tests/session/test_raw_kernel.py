"""A kernel without a task: arrays change in place, faults change nothing, and the numbers are those of the task."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import warpsight as ws
from warpsight.devices.device import CannotProfile
from warpsight.errors import ParameterMismatch, UsageError
from warpsight.gate.fresh import FreshContents
from warpsight.session.raw_kernel import DoesNotCompile, KernelFault, RawKernel

ROOT = Path(__file__).parents[2]
AXPY = """
__global__ void axpy(float a, const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
"""
TWO = AXPY + "__global__ void fill(float* y, double value) { y[threadIdx.x] = value; }"


@pytest.fixture(scope="module")
def axpy() -> RawKernel:
    return ws.kernel(AXPY)


def arrays(n: int = 1000) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(n, dtype=np.float32), np.ones(n, np.float32)


def test_a_launch_changes_the_arrays_in_place(axpy: RawKernel) -> None:
    x, y = arrays()
    axpy(4, 256, 2.0, x, y, 1000)
    assert np.array_equal(y, 1 + 2 * x) and np.array_equal(x, np.arange(1000))


def test_a_profile_and_a_time_change_nothing(axpy: RawKernel) -> None:
    x, y = arrays()
    found = axpy.profile((4,), (256, 1, 1), 2.0, x, y, 1000)
    assert found.time_us == axpy.time(4, 256, 2.0, x, y, 1000) and found.profile.source == "simulated"
    assert found.findings and found.occupancy is not None and np.array_equal(y, np.ones(1000))


def test_a_fault_is_raised_with_its_line_and_changes_nothing(axpy: RawKernel) -> None:
    x, y = arrays()
    with pytest.raises(KernelFault, match="out_of_bounds at line 4") as caught:
        axpy(5, 256, 2.0, x, y, 1100)
    assert caught.value.faults[0].line == 4 and np.array_equal(y, np.ones(1000))
    with pytest.raises(CannotProfile, match="out_of_bounds"):
        axpy.profile(5, 256, 2.0, x, y, 1100)


def test_a_race_is_a_fault_unless_nobody_looks() -> None:
    body = "__shared__ float s[64]; s[threadIdx.x] = 1; y[threadIdx.x] = s[63 - threadIdx.x];"
    racy = ws.kernel(f"__global__ void f(float* y) {{ {body} }}")
    with pytest.raises(KernelFault, match="race"):
        racy(1, 64, np.zeros(64, np.float32))
    racy(1, 64, np.zeros(64, np.float32), check=False)


def test_a_launch_that_no_gpu_takes_is_refused(axpy: RawKernel) -> None:
    with pytest.raises(KernelFault, match="not possible"):
        axpy(1, 2048, 2.0, *arrays(), 1000)
    with pytest.raises(UsageError, match="at least 1"):
        axpy(0, 32, 2.0, *arrays(), 1000)


def test_a_kernel_is_found_by_its_plain_name() -> None:
    fill = ws.kernel(TWO, "fill")
    y = np.zeros(32, np.float32)
    fill(1, 32, y, 3)  # a whole number is a double where the kernel wants one
    assert np.all(y == 3)
    with pytest.raises(UsageError, match="several kernels"):
        _ = ws.kernel(TWO).entry
    with pytest.raises(UsageError, match="no kernel named 'fil'"):
        _ = ws.kernel(TWO, "fil").entry


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ((np.float64(2), 0, 1, 1000), "expected float32, got float64"),
        ((np.int32(2), 0, 1, 1000), "expected float32, got int32"),
        ((2.0, 0, 1, 3.5), "expected an integer"),
        ((2.0, 0, 1, 1 << 40), "does not fit 32 bits"),
        ((2.0, 0, 1, np.float32(3)), "no float, got float32"),
        ((2.0, 0, 0, 1000), "share memory"),
        ((2.0, [1.0], 1, 1000), "expected a NumPy array or a number"),
    ],
)
def test_arguments_that_do_not_fit(axpy: RawKernel, given: tuple[object, ...], problem: str) -> None:
    own = arrays()
    a, x, y, n = given
    pick = [own[one] if isinstance(one, int) else one for one in (x, y)]
    with pytest.raises(UsageError, match=problem):
        axpy(4, 256, a, *pick, n)


def test_too_few_arguments(axpy: RawKernel) -> None:
    with pytest.raises(ParameterMismatch, match="takes 4 arguments, got 1"):
        axpy(1, 32, 1.0)


def test_a_read_only_array_may_be_read_and_not_written(axpy: RawKernel) -> None:
    x, y = arrays()
    x.flags.writeable = False
    axpy(4, 256, 2.0, x, y, 1000)
    y.flags.writeable = False
    with pytest.raises(KernelFault, match=r"read.only|const"):
        axpy(4, 256, 2.0, x, y, 1000)


def test_no_pointer_is_a_null_pointer() -> None:
    null = ws.kernel("__global__ void f(float* a, int* out) { *out = a == nullptr; }")
    out = np.zeros(1, np.int32)
    null(1, 1, None, out)
    assert out[0] == 1


def test_what_it_prints_goes_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    ws.kernel('#include <stdio.h>\n__global__ void f() { printf("thread %d\\n", threadIdx.x); }')(1, 2)
    assert capsys.readouterr().out == "thread 0\nthread 1\n"


def test_a_text_that_does_not_compile_names_the_line() -> None:
    with pytest.raises(DoesNotCompile, match="line 1"):
        ws.kernel("__global__ void f() { undeclared = 1; }").build()


@pytest.mark.parametrize("name", ["saxpy", "transpose"])
def test_the_same_numbers_as_the_kernel_in_its_task(name: str) -> None:
    session = ws.Session(ROOT / "tasks" / name)
    size, given = session.launch(), FreshContents(session.task, session.workload, 0, pool=1).draw()
    raw = ws.kernel(session.given.source, session.task.entry, options=session.given.options, gpu=session.task.gpu)
    arguments = [value.array if not value.is_scalar else value.array[()] for value in given.values]
    arguments = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    alone = raw.profile(size.grid, size.block, *arguments, shared=size.shared_bytes)
    of_task = session.profile()
    assert alone.profile.counters == of_task.profile.counters and alone.findings == of_task.findings
    assert raw.time(size.grid, size.block, *arguments, shared=size.shared_bytes) == session.time().samples_us[0]
    raw(size.grid, size.block, *arguments, shared=size.shared_bytes)
    done = session.device.execute(session.build(), session.task.entry, given.values, size, check=False)
    for value, array in zip(given.values, arguments, strict=True):
        if not value.is_scalar:
            assert np.array_equal(array, done.arrays[value.name])


def test_a_notebook_shows_it(axpy: RawKernel) -> None:
    shown = axpy.profile(4, 256, 2.0, *arrays(), 1000)._repr_html_()
    assert "<svg" in shown and "launch_overhead" in shown and "simulated" in shown
    risky = ws.kernel("// <script>alert(1)</script>\n" + AXPY.replace("y[i] +=", "/*<b>*/ y[i] +="))
    assert "<script>" not in (html := risky.profile(4, 256, 2.0, *arrays(), 1000)._repr_html_()) and "<b>*/" not in html
