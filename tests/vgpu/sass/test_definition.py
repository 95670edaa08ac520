"""Both executors run machine code alike: the same bits, the same counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.vgpu.sass.both import Arrays, build, launch, programs, same_bits
from tests.vgpu.sass.generate import kernel
from tests.vgpu.sass.test_generated import inputs

from warpsight.vgpu import counters, definition
from warpsight.vgpu.bytecode import Program

DIVERGENT = """
extern "C" __global__ void k(const int *x, int *out) {
    int t = threadIdx.x, v = x[t], sum = 0;
    for (int n = 0; n < (v & 15); n++) {
        if ((v >> n) & 1) { sum += n; if (sum > 20) break; } else if (n == 7) continue;
        for (int m = 0; m < (t & 3); m++) { sum ^= m * v; if (sum == 12345) goto done; }
    }
done:
    sum += __shfl_xor_sync(0xffffffffu, sum, 1);
    unsigned mask = 0xffu << (t & 24);
    sum += __any_sync(mask, sum > 900) + __popc(__match_any_sync(0xffffffffu, sum & 3));
    out[t] = sum + __reduce_max_sync(0xffffffffu, sum & 255);
}"""
LOCK = """
__device__ int lock;
extern "C" __global__ void k(volatile int *sum) {
    while (atomicCAS(&lock, 0, 1) != 0) {}
    __threadfence();
    *sum = *sum + 1;
    __threadfence();
    atomicExch(&lock, 0);
}"""


def define(
    program: Program, arguments: Arrays, grid: int, block: int
) -> tuple[dict[str, NDArray[Any]], definition.Result]:
    memory, params = definition.Memory(), bytearray(program.param_bytes)
    places = dict[str, int]()
    for param, (name, array) in zip(program.params, arguments.items(), strict=True):
        places[name] = memory.alloc(name, array.tobytes())
        params[param.offset : param.offset + 8] = places[name].to_bytes(8, "little")
    result = definition.run(program, grid=(grid, 1, 1), block=(block, 1, 1), params=bytes(params), memory=memory)
    arrays = {
        name: np.frombuffer(memory.read(places[name], array.nbytes), array.dtype) for name, array in arguments.items()
    }
    return arrays, result


def agree(source: str, arguments: Arrays, gpu_arch: str, grid: int, block: int) -> None:
    _, program = programs(build(source, gpu_arch, ("--fmad=false",)))
    core = launch(program, arguments, grid, block)
    assert core.launched.faults == ()
    arrays, result = define(program, arguments, grid, block)
    same_bits(core.arrays, arrays)
    for name, counted in (("warps", result.warps), ("threads", result.threads), ("threads_on", result.threads_on)):
        np.testing.assert_array_equal(core.launched.counts[:, counters.INDEX[name]], counted, err_msg=name)


@pytest.mark.parametrize("gpu_arch", ["sm_80", "sm_89"])
def test_divergent_loops_meet_again_in_both(gpu_arch: str) -> None:
    x = np.random.default_rng(5).integers(0, 2**31, 32).astype(np.int32)
    agree(DIVERGENT, {"x": x, "out": np.zeros(32, np.int32)}, gpu_arch, 1, 32)


def test_lanes_that_spin_let_the_owner_of_the_lock_go_on() -> None:
    _, program = programs(build(LOCK, "sm_80"))
    done = launch(program, {"sum": np.zeros(1, np.int32)}, 2, 32)
    assert done.launched.faults == () and done.arrays["sum"][0] == 64


@pytest.mark.parametrize("seed", [1, 8, 20])
def test_generated_kernels_agree(seed: int) -> None:
    few = {name: array[: len(array) // 2] for name, array in inputs(seed).items()}
    agree(kernel(seed), few, "sm_80", 1, 64)
