"""The OpenCL device: builds, launches, guards, faults, lanes and profiles, with real kernels on PoCL in the jail."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from warpsight.devices.device import CannotProfile, TimedDevice, Value
from warpsight.devices.opencl import OpenClDevice
from warpsight.devices.opencl_build import build_opencl, compile_opencl, has_block
from warpsight.errors import UsageError
from warpsight.gate.values import fresh_values, verify_outputs
from warpsight.nouns import Build
from warpsight.tasks import LaunchSize, evaluate_launch, read_candidate, read_task
from warpsight.toolchain.cache import Cache

pytest.importorskip("pyopencl", reason="the extra `opencl` is not installed")

TASKS = Path(__file__).parents[2] / "tasks"
GIVEN = sorted(file.parent.name for file in TASKS.glob("*/kernel.cl"))
FAST = {"vector_add", "histogram", "matmul_tiled"}

# One text with many kernels, and one entry that chooses: a compile takes a second, so there are few of them.
SOURCE = """// launch: grid=(1) block=(4)
__kernel void many(__global float* x, __global long* out, int what, int at) {
    int i = get_global_id(0);
    if (what == 0) {
        x[i] = x[i] * 2.0f;
        out[i] = (long)x;
    } else if (what == 1) {
        x[at] = 1.0f;
    } else if (what == 2) {
        *(volatile __global int*)0 = 1;
    } else if (what == 3) {
        out[i] = 7 / (at - at);
    } else if (what == 4) {
        while (((volatile __global long*)out)[0] != 12345) {
        }
    } else if (what == 5 && i == 0) {
        printf("x is %d\\n", at);
    }
}
"""
FOUR = LaunchSize((1, 1, 1), (4, 1, 1), 0)


@pytest.fixture(scope="module")
def build() -> Build:
    built = compile_opencl(SOURCE, entry="many", blocks=[(4, 1, 1)])
    assert built.ok, built.diagnostics
    return built


@pytest.fixture(scope="module")
def device() -> Iterator[OpenClDevice]:
    with OpenClDevice(deadline_seconds=10.0) as opened:
        yield opened


def values(what: int, at: int = 0, count: int = 4) -> tuple[Value, ...]:
    return (
        Value("x", np.arange(count, dtype=np.float32), writable=True),
        Value("out", np.full(count, -1, np.int64), writable=True, initialised=False),
        Value("what", np.array(what, np.int32), writable=False),
        Value("at", np.array(at, np.int32), writable=False),
    )


def test_at_least_eight_examples_give_an_opencl_kernel() -> None:
    assert len(GIVEN) >= 8
    assert all(read_task(TASKS / name).opencl for name in GIVEN)


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in FAST)) for name in GIVEN])
def test_examples_are_right_on_every_workload(device: OpenClDevice, name: str) -> None:
    task = read_task(TASKS / name)
    candidate = read_candidate(task.opencl, task, task.opencl_file)
    assert candidate.language == "opencl"
    built = build_opencl(task, candidate)
    assert built.ok and built.language == "opencl" and built.gpu_arch == "", built.diagnostics
    for workload in task.workloads:
        inputs, given = fresh_values(task, workload, seed=5)
        size = evaluate_launch(candidate, workload.axes)
        done = device.execute(built, task.entry, given, size, check=True)
        assert not done.faults and not done.refused, (workload.name, done)
        result = verify_outputs(task, workload, inputs, done.arrays, seed=5)
        assert result.ok, (workload.name, result)


def test_arrays_given_are_not_changed_and_come_back_new(device: OpenClDevice, build: Build) -> None:
    given = values(0)
    done = device.execute(build, "many", given, FOUR, check=True)
    assert done.arrays["x"].tolist() == [0, 2, 4, 6]
    assert given[0].array.tolist() == [0, 1, 2, 3]
    assert set(done.arrays) == {"x", "out"}


def test_every_call_gets_other_addresses(device: OpenClDevice, build: Build) -> None:
    calls = [device.execute(build, "many", values(0), FOUR, check=False) for _ in range(6)]
    addresses = [int(call.arrays["out"][0]) for call in calls]
    assert len(set(addresses)) > 1
    assert all(address % 256 == 0 for address in addresses)


@pytest.mark.parametrize(("at", "side", "distance"), [(-1, "before", 1), (4, "after", 1), (4000, "after", 15985)])
def test_a_write_past_an_array_is_a_fault(
    device: OpenClDevice, build: Build, at: int, side: str, distance: int
) -> None:
    done = device.execute(build, "many", values(1, at), FOUR, check=True)
    assert [fault.kind for fault in done.faults] == ["out_of_bounds"]
    assert done.faults[0].array == "x" and f" {side} x " in done.faults[0].message
    nearest = int(done.faults[0].message.split("nearest ")[1].split()[0])
    assert distance <= nearest < distance + 4  # one byte of the four may happen to be what the guard holds


def test_a_null_pointer_is_a_crash_and_the_next_launch_works(device: OpenClDevice, build: Build) -> None:
    done = device.execute(build, "many", values(2), FOUR, check=True)
    assert [fault.kind for fault in done.faults] == ["crash"] and "SIGSEGV" in done.faults[0].message
    assert not device.execute(build, "many", values(0), FOUR, check=True).faults


def test_an_endless_loop_is_a_deadline(build: Build) -> None:
    with OpenClDevice(deadline_seconds=1.0) as impatient:
        assert not impatient.execute(build, "many", values(0), FOUR, check=True).faults
        done = impatient.execute(build, "many", values(4), FOUR, check=True)
        assert [fault.kind for fault in done.faults] == ["deadline"]


def test_what_a_kernel_prints(device: OpenClDevice, build: Build) -> None:
    assert device.execute(build, "many", values(5, 42), FOUR, check=False).printed == "x is 42\n"


def test_parameters_that_do_not_fit_are_refused(device: OpenClDevice, build: Build) -> None:
    few = device.execute(build, "many", values(0)[:2], FOUR, check=True)
    assert "4 parameters" in few.refused and not few.arrays
    wide = (*values(0)[:3], Value("at", np.array(0, np.int64), writable=False))
    assert "parameter 4" in device.execute(build, "many", wide, FOUR, check=True).refused


def test_a_block_size_that_was_not_foreseen_is_compiled_when_it_comes(device: OpenClDevice, build: Build) -> None:
    assert has_block(build, "many", (4, 1, 1)) and not has_block(build, "many", (2, 1, 1))
    done = device.execute(build, "many", values(0), LaunchSize((2, 1, 1), (2, 1, 1), 0), check=True)
    assert done.arrays["x"].tolist() == [0, 2, 4, 6]


def test_a_block_that_is_too_large_is_refused(device: OpenClDevice, build: Build) -> None:
    done = device.execute(build, "many", values(0), LaunchSize((1, 1, 1), (8192, 1, 1), 0), check=True)
    assert done.refused and not done.arrays


def test_empty_arrays(device: OpenClDevice, build: Build) -> None:
    done = device.execute(build, "many", values(9, count=0), FOUR, check=True)
    assert not done.faults and done.arrays["x"].shape == (0,)


def test_a_lane_is_timed_by_the_parent(build: Build) -> None:
    timed: TimedDevice = OpenClDevice(threads=2)
    lane = timed.open_lane(build, "many")
    try:
        for _ in range(3):
            call = lane.call(values(0), FOUR)
            assert not call.faults
            assert 0 <= call.device_us < call.wall_us < call.total_us
            assert call.arrays["x"].tolist() == [0, 2, 4, 6]
        crashed = lane.call(values(2), FOUR)
        assert crashed.faults[0].kind == "crash" and np.isnan(crashed.wall_us) and not crashed.arrays
        assert lane.call(values(0), FOUR).faults == crashed.faults
    finally:
        lane.close()
        lane.close()


def test_two_lanes_are_two_processes(device: OpenClDevice, build: Build) -> None:
    first, second = device.open_lane(build, "many"), device.open_lane(build, "many")
    try:
        assert not first.call(values(0), FOUR).faults
        assert second.call(values(2), FOUR).faults
        assert not first.call(values(0), FOUR).faults
    finally:
        first.close()
        second.close()


def test_a_profile_has_the_time_and_says_what_it_has_not(device: OpenClDevice, build: Build) -> None:
    profile = device.profile(build, "many", values(0), FOUR, source_text=SOURCE)
    assert profile.source == "measured" and profile.device == "opencl" and profile.isa == "native"
    assert set(profile.counters) == {"duration_us"} and profile.counters["duration_us"] > 0
    assert {"dram_bytes", "occupancy", "l1_hit_rate"} <= set(profile.not_measured)
    with pytest.raises(CannotProfile, match="crash"):
        device.profile(build, "many", values(2), FOUR, source_text=SOURCE)


def test_a_failed_compile_has_its_errors_at_their_lines() -> None:
    text = "__kernel void many(__global int* x) {\n    int unused;\n    x[0] = y;\n}\n"
    built = compile_opencl(text, entry="many", name="mine.cl")
    assert not built.ok and built.native == b""
    error = next(d for d in built.diagnostics if d.severity == "error")
    assert (error.file, error.line, error.column) == ("mine.cl", 3, 12) and "'y'" in error.message
    assert "/" not in built.log


def test_a_text_without_the_entry_does_not_compile() -> None:
    built = compile_opencl("__kernel void other(__global int* x) { x[0] = 1; }\n", entry="many")
    assert not built.ok and "other" in built.diagnostics[0].message


def test_the_compiler_reads_no_file_of_the_machine(tmp_path: Path) -> None:
    secret = tmp_path / "secret.h"
    secret.write_text("int hunter2;\n")
    plain = compile_opencl(f'#include "{secret}"\n{SOURCE}', entry="many")
    assert not plain.ok and "not allowed" in plain.diagnostics[0].message
    hidden = compile_opencl(f'#define FILE "{secret}"\n#include FILE\n{SOURCE}', entry="many")
    assert not hidden.ok and "hunter2" not in hidden.log and "not found" in hidden.log
    pulled = compile_opencl(f'__asm__(".incbin \\"{secret}\\"");\n{SOURCE}', entry="many", blocks=[(4, 1, 1)])
    assert "hunter2" not in pulled.log and b"hunter2" not in pulled.native


def test_options_are_an_allow_list(tmp_path: Path) -> None:
    for bad in ("-I/etc", "-include x", "-DX=$(id)", "-save-temps", "--use_fast_math"):
        with pytest.raises(UsageError, match="not allowed"):
            compile_opencl(SOURCE, entry="many", options=[bad])
    text = "__kernel void f(__global int* x) { x[0] = VALUE; }"
    cache = Cache(tmp_path)
    built = compile_opencl(text, entry="f", options=["-DVALUE=3", "-cl-mad-enable"], cache=cache)
    assert built.ok and not built.cached
    again = compile_opencl(text, entry="f", options=["-DVALUE=3", "-cl-mad-enable"], cache=cache)
    assert again.cached and again.native == built.native


def test_a_cuda_build_is_not_for_this_device(device: OpenClDevice) -> None:
    cuda = Build(
        ok=True, source_sha256="0" * 64, gpu_arch="sm_80", options=(), compiler="c", ptx="x", diagnostics=(), log=""
    )
    with pytest.raises(UsageError, match="OpenCL"):
        device.open_lane(cuda, "many")
