"""How fast a measured device moves bytes at best: a copy kernel of our own, timed in a worker like the candidate's.

The copy runs on as many bytes as the task must move, so what its caches can hold counts for both. The best of several
calls is kept for the process, since a floor does not change with the load of the moment.
"""

from __future__ import annotations

import functools
import math
from contextlib import closing

import numpy as np

from warpsight.devices.device import Lane, TimedDevice, Value, arch_of, teach
from warpsight.devices.opencl_build import compile_opencl
from warpsight.errors import DeviceError
from warpsight.gate.roofline_cap import compulsory_bytes, measured_roof
from warpsight.nouns import Build, Task, Workload
from warpsight.nouns.timing import Roof
from warpsight.tasks import LaunchSize
from warpsight.toolchain.compile import compile_cuda

CALLS = 12
BLOCK = 256
WORDS_PER_ITEM = 16
SMALLEST_BYTES = 4096
ANY_ARCH = "sm_80"
ENTRY = "warpsight_copy"
COPY = """
__kernel void warpsight_copy(__global const uint* from, __global uint* to, int words) {
  int first = get_global_id(0) * 16;
  for (int i = first; i < first + 16 && i < words; i++) to[i] = from[i];
}
"""
CUDA_COPY = """
extern "C" __global__ void warpsight_copy(const unsigned* from, unsigned* to, int words) {
  int first = (blockIdx.x * blockDim.x * 16) + threadIdx.x;
  for (int i = first; i < first + 16 * blockDim.x && i < words; i += blockDim.x) to[i] = from[i];
}
"""


def copy_roof(task: Task, workload: Workload, device: TimedDevice) -> Roof:
    """The floor for this task on this device."""
    moved = compulsory_bytes(task, workload)
    # In steps of a quarter, downwards, so that tasks of about the same size share a measurement.
    step = SMALLEST_BYTES if moved <= SMALLEST_BYTES else int(2 ** (math.floor(4 * math.log2(moved)) / 4))
    return measured_roof(moved, *_copy_us(device, step))


@functools.lru_cache(maxsize=64)
def _copy_us(device: TimedDevice, moved: int) -> tuple[float, float]:
    """Best times of copying moved/2 bytes (as much is read as is written) and of the smallest copy, in one worker."""
    with closing(device.open_lane(_copy_build(device), ENTRY)) as lane:
        smallest = _best_us(device, lane, SMALLEST_BYTES)
        return (smallest if moved == SMALLEST_BYTES else _best_us(device, lane, moved)), smallest


def _best_us(device: TimedDevice, lane: Lane, moved: int) -> float:
    words = max(1, moved // 8)
    given = np.arange(words, dtype=np.uint32)
    values = (
        Value("from", given, writable=False),
        Value("to", np.zeros(words, np.uint32), writable=True, initialised=False),
        Value("words", np.array(words, np.int32), writable=False),
    )
    size = LaunchSize((-(-words // (BLOCK * WORDS_PER_ITEM)), 1, 1), (BLOCK, 1, 1), 0)
    calls = [lane.call(values, size) for _ in range(CALLS)]
    bad = next((call.faults[0] for call in calls if call.faults), None)
    if bad is not None or not np.array_equal(calls[-1].arrays["to"], given):
        why = "its output is wrong" if bad is None else f"{bad.kind}: {bad.message}"
        raise DeviceError(f"the copy kernel that measures {device.name} failed: {why}")
    return min(call.device_us for call in calls)


def _copy_build(device: TimedDevice) -> Build:
    """The copy kernel in the device's language."""
    own = getattr(device, "copy_build", None)
    if own is not None:
        build: Build = own(ENTRY)
    elif "opencl" in getattr(device, "languages", ("cuda",)):
        build = compile_opencl(COPY, entry=ENTRY, blocks=[(BLOCK, 1, 1)])
    else:
        teach(device, CUDA_COPY)
        build = compile_cuda(CUDA_COPY, entry=ENTRY, gpu_arch=arch_of(device) or ANY_ARCH)
    if not build.ok:
        raise DeviceError(f"the copy kernel does not compile: {build.log[:500]}")
    return build
