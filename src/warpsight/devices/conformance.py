"""What every device must keep, as tests that a device of another package can run: `python -m ... NAME`.

    from warpsight.devices.conformance import CASES
    @pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
    def test_my_device(case): case(MyDevice)

Each case opens the device anew and raises AssertionError with what is wrong. They say nothing of how fast it is, nor of
faults that only some devices can see (races, reads out of bounds).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, cast

import numpy as np

from warpsight.devices.device import Device, TimedDevice, Value, arch_of, teach
from warpsight.devices.opencl_build import compile_opencl
from warpsight.devices.registry import device_class
from warpsight.nouns import Build
from warpsight.tasks import LaunchSize
from warpsight.toolchain.compile import compile_cuda

ENTRY, N, BLOCK = "scale_add", 1000, 128
CUDA = """
extern "C" __global__ void scale_add(const float* x, float* y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + 1.0f;
}
"""
OPENCL = """
__kernel void scale_add(__global const float* x, __global float* y, float a, int n) {
  int i = get_global_id(0);
  if (i < n) y[i] = a * x[i] + 1.0f;
}
"""
SIZE = LaunchSize((-(-N // BLOCK), 1, 1), (BLOCK, 1, 1), 0)
Open = Callable[[], Any]


@contextmanager
def _opened(kind: Any) -> Generator[tuple[Device, Build, str], None, None]:
    """The device with the kernel in its language."""
    device: Device = kind.open(gpu=None, default_gpu="a100", cores=1, deadline_seconds=60.0, unsafe=False)
    try:
        if "opencl" in getattr(device, "languages", ("cuda",)):
            yield device, compile_opencl(OPENCL, entry=ENTRY, blocks=[SIZE.block]), OPENCL
        else:
            teach(device, CUDA)
            yield device, compile_cuda(CUDA, entry=ENTRY, gpu_arch=arch_of(device) or "sm_80"), CUDA
    finally:
        for _ in range(2):  # ending twice is fine
            getattr(device, "close", lambda: None)()


def _values(seed: int = 0, n: int = N) -> tuple[Value, ...]:
    x = np.random.Generator(np.random.PCG64(seed)).random(N, np.float32)
    return (
        Value("x", x, writable=False),
        Value("y", np.full(N, np.nan, np.float32), writable=True, initialised=False),
        Value("a", np.array(2.0, np.float32), writable=False),
        Value("n", np.array(n, np.int32), writable=False),
    )


def says_what_it_is(kind: Any) -> None:
    """`name`, `source`, `languages`."""
    assert isinstance(kind.name, str) and kind.name, "a device has a name"
    assert kind.source in ("simulated", "measured"), f"source is simulated or measured, not {kind.source!r}"
    assert set(kind.languages) <= {"cuda", "opencl", "triton"}, f"unknown languages: {kind.languages}"


def gives_right_results(kind: Any) -> None:
    with _opened(kind) as (device, build, text):
        values = _values()
        done = device.execute(build, ENTRY, values, SIZE, check=True, source_text=text)
        assert not done.refused and not done.faults, f"a right kernel: {done.refused or done.faults}"
        assert np.allclose(done.arrays["y"], 2 * values[0].array + 1), "the results are wrong"


def leaves_the_given_arrays_alone(kind: Any) -> None:
    with _opened(kind) as (device, build, text):
        values = _values()
        before = [value.array.copy() for value in values]
        device.execute(build, ENTRY, values, SIZE, check=False, source_text=text)
        for value, array in zip(values, before, strict=True):
            assert np.array_equal(value.array, array, equal_nan=value.array.ndim > 0), f"{value.name} was changed"


def remembers_nothing(kind: Any) -> None:
    """The second launch sees its own inputs and poison."""
    with _opened(kind) as (device, build, text):
        device.execute(build, ENTRY, _values(1), SIZE, check=False, source_text=text)
        half = _values(2, n=N // 2)
        done = device.execute(build, ENTRY, half, SIZE, check=False, source_text=text)
        assert np.allclose(done.arrays["y"][: N // 2], 2 * half[0].array[: N // 2] + 1), "old results"
        assert np.all(np.isnan(done.arrays["y"][N // 2 :])), "what the kernel does not write keeps the given bytes"


def sees_a_write_past_an_array(kind: Any) -> None:
    with _opened(kind) as (device, build, text):
        done = device.execute(build, ENTRY, _values(n=N + 16), SIZE, check=True, source_text=text)
        assert done.faults, "sixteen elements past the end were written and nobody saw it"


def refuses_an_impossible_launch(kind: Any) -> None:
    with _opened(kind) as (device, build, text):
        huge = LaunchSize((1, 1, 1), (1 << 20, 1, 1), 0)
        done = device.execute(build, ENTRY, _values(), huge, check=False, source_text=text)
        assert done.refused or done.faults, "a block of a million threads ran"


def profiles_with_units(kind: Any) -> None:
    with _opened(kind) as (device, build, text):
        found = device.profile(build, ENTRY, _values(), SIZE, source_text=text)
        assert found.source == device.source and found.total_blocks == SIZE.grid[0]
        assert found.counters.get("duration_us", 0) > 0 and found.units["duration_us"] == "us", "a time, in us"


def times_fresh_contents(kind: Any) -> None:
    """For devices that measure: every call works on what it is given."""
    with _opened(kind) as (device, build, _text):
        if not hasattr(device, "open_lane"):
            assert hasattr(device, "observe"), "a device opens lanes (it measures) or observes (it simulates)"
            return
        lane = cast(TimedDevice, device).open_lane(build, ENTRY)
        try:
            for seed in range(3):
                values = _values(seed)
                call = lane.call(values, SIZE)
                assert not call.faults and call.device_us > 0 and call.wall_us > 0, "a call has a time"
                assert np.allclose(call.arrays["y"], 2 * values[0].array + 1), "a call works on its own contents"
        finally:
            lane.close()
            lane.close()


CASES: tuple[Callable[[Any], None], ...] = (
    says_what_it_is, gives_right_results, leaves_the_given_arrays_alone, remembers_nothing, sees_a_write_past_an_array,
    refuses_an_impossible_launch, profiles_with_units, times_fresh_contents,
)  # fmt: skip


def main(names: list[str]) -> int:
    """Run all cases on the devices of these names; the exit code is the number that failed."""
    failed = 0
    for name in names:
        for case in CASES:
            try:
                case(device_class(name))
                print(f"{name}: {case.__name__.replace('_', ' ')}: passed")
            except AssertionError as wrong:
                failed += 1
                print(f"{name}: {case.__name__.replace('_', ' ')}: FAILED: {wrong}")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
