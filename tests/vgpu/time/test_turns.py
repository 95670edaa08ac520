"""Who waits does another number of accesses when blocks have their turns otherwise; who shares out work does not."""

from __future__ import annotations

import numpy as np
import pytest

from warpsight.devices.device import Value
from warpsight.devices.machine_code import machine_code
from warpsight.devices.whole_launch import WholeLaunch, time_whole_launch
from warpsight.tasks import LaunchSize
from warpsight.toolchain.compile import compile_cuda
from warpsight.vgpu.gpus import find_gpu
from warpsight.vgpu.turns import other_order

GPU = find_gpu("a100")
BLOCKS, N = 12, 12 * 256 * 4
KERNEL = """
__device__ unsigned turn, spins, flags[64], most;
__device__ __align__(16) uint4 pair;
__device__ unsigned long long wide;
__device__ int ticket;
__device__ float partial[64], best;
extern "C" __global__ void k(const float *x, float *y, int n) {
    __shared__ int got;
    __shared__ volatile unsigned baton;
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    unsigned b = blockIdx.x, last = gridDim.x - 1;
    float v = 0.0f;
    BODY
    y[i] = v;
}
"""
WORK = "for (int j = 0; j < 300; ++j) v = fmaf(v, 1.0000001f, x[(i + 64 * j) % n]);"


def chain(poll: str, leave: str) -> str:
    """Each block waits for the one before it."""
    return f"if (threadIdx.x == 0) {{ {poll} }} __syncthreads(); {WORK} __threadfence(); __syncthreads(); {leave}"


NEXT = "if (threadIdx.x == 0) atomicExch(&turn, b == last ? 0u : b + 1);"
ALTERNATE = " ".join(f"if ((atomicAdd(&turn, 65536u * {k + 1}) & 65535u) == b) break;" for k in range(40))
WAITS = {
    "a spin count in the same word": chain(
        "while ((atomicAdd(&turn, 65536u) & 65535u) != b) {}",
        "if (threadIdx.x == 0) { if (b == last) atomicExch(&turn, 0u); else atomicAdd(&turn, 1u); }",
    ),
    "a random word is exchanged beside": chain(
        "for (unsigned r = b; ; r = r * 5 + 1) { unsigned s = atomicExch(&spins, r); "
        "if (atomicOr(&turn, (s & 255u) << 16 | 65536u << (r & 7)) % 65536u == b) break; }",
        "if (threadIdx.x == 0) { if (b == last) atomicExch(&turn, 0u); else atomicAdd(&turn, 1u); }",
    ),
    "a vector load": chain(
        "uint4 seen; do { atomicAdd(&pair.x, 1u); "
        'asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(seen.x), "=r"(seen.y), "=r"(seen.z), '
        '"=r"(seen.w) : "l"(&pair) : "memory"); } while (seen.y != b);',
        "if (threadIdx.x == 0) atomicExch(&pair.y, b == last ? 0u : b + 1);",
    ),
    "forty polls in turn": chain(f"for (;;) {{ {ALTERNATE} }}", "if (threadIdx.x == 0) { if (b == last) "
        "atomicExch(&turn, 0u); else atomicAdd(&turn, 1u); }"),
    "a count of 64 bits": chain(
        "while ((unsigned)(atomicAdd(&wide, 1ull << 32)) != b) {}",
        "if (threadIdx.x == 0) { if (b == last) atomicExch(&wide, 0ull); else atomicAdd(&wide, 1ull); }",
    ),
    "a swap that holds": chain(
        "unsigned seen = atomicOr(&turn, 0u); while ((seen & 65535u) != b) { "
        "unsigned there = atomicCAS(&turn, seen, seen + 65536u); seen = there == seen ? seen + 65536u : there; }",
        "if (threadIdx.x == 0) { if (b == last) atomicExch(&turn, 0u); else atomicAdd(&turn, 1u); }",
    ),
    "swaps that never hold, in turn": chain(
        "for (;;) { " + " ".join(f"if (atomicCAS(&turn, b, b + {k} * 0u) == b) break;" for k in range(20)) + " }", NEXT
    ),
    "a lock": f"if (threadIdx.x == 0) while (atomicExch(&turn, 1u)) {{}} __syncthreads(); {WORK} __threadfence(); "
    "__syncthreads(); if (threadIdx.x == 0) atomicExch(&turn, 0u);",
    "all meet": f"{WORK} __syncthreads(); if (threadIdx.x == 0) {{ atomicAdd(&turn, 1u); "
    "while ((atomicAdd(&turn, 65536u) & 65535u) < gridDim.x) {} } __syncthreads();",
    "warps of a block": f"if (threadIdx.x == 0) baton = 0; __syncthreads(); if (threadIdx.x % 32 == 0) "
    f"while ((atomicAdd((unsigned *)&baton, 65536u) & 65535u) != threadIdx.x / 32) {{}} __syncwarp(); {WORK} "
    "__threadfence_block(); __syncwarp(); if (threadIdx.x % 32 == 0) atomicAdd((unsigned *)&baton, 1u);",
}  # fmt: skip
HONEST = {
    "tickets of blocks": "for (;;) { if (threadIdx.x == 0) got = atomicAdd(&ticket, 1); __syncthreads(); int t = got; "
    f"__syncthreads(); if (t >= 40) break; i = t * 256 + threadIdx.x; {WORK} y[i] = v; }} "
    "i = blockIdx.x * blockDim.x + threadIdx.x; v = 0;",
    "tickets of threads": f"for (int t; (t = atomicAdd(&ticket, 1)) < n; ) {{ i = t; {WORK} }} i = 0; v = 1;",
    "the last block adds up": f"{WORK} __syncthreads(); if (threadIdx.x == 0) {{ partial[b] = v; __threadfence(); "
    "got = atomicInc(&turn, last) == last; } __syncthreads(); if (got && threadIdx.x == 0) "
    "for (int j = 0; j < gridDim.x; ++j) v += __ldcg(&partial[j]);",
    "a greatest float": f"{WORK} unsigned *word = (unsigned *)&best; unsigned old = *word; "
    "while (__uint_as_float(old) < v) { unsigned seen = old; old = atomicCAS(word, seen, __float_as_uint(v)); "
    "if (old == seen) break; }",
    "a sum by swaps": f"{WORK} unsigned *word = (unsigned *)&best, old = *word, seen; do {{ seen = old; "
    "old = atomicCAS(word, seen, __float_as_uint(__uint_as_float(seen) + v)); } while (old != seen);",
    "a histogram with ranks": f"{WORK} v += atomicAdd(&flags[i * 7 % 64], 1u) * 0.0f;",
    "a list": f"{WORK} if (v > 0.5f) {{ unsigned at = atomicAdd(&turn, 1u); if (at < n) y[at] = v; }} v = 2;",
    "the greatest index": f"{WORK} if (atomicMax(&most, (unsigned)i) > i) v += 1.0f;",
}


def run(body: str, seed: int = 3) -> WholeLaunch:
    build = compile_cuda(KERNEL.replace("BODY", body), gpu_arch=GPU.arch)
    assert build.ok, build.diagnostics
    program = machine_code(build.cubin, "k").program
    assert program is not None
    values = (
        Value("x", np.linspace(0, 1, N, dtype=np.float32), False),
        Value("y", np.zeros(N, np.float32), True),
        Value("n", np.array(N, np.int32), False),
    )
    size = LaunchSize((BLOCKS, 1, 1), (256, 1, 1), 0)
    return time_whole_launch(program, build, GPU, values, size, seed=seed, other_turns=True)


@pytest.mark.parametrize("name", WAITS)
def test_waiting_is_seen_however_it_is_done(name: str) -> None:
    found = run(WAITS[name])
    assert found.order_matters or found.time.failed_polls, found.launched.excused_swaps


@pytest.mark.parametrize("name", HONEST)
def test_shared_work_is_not_waiting(name: str) -> None:
    found = run(HONEST[name])
    assert not found.order_matters and not found.time.failed_polls


def test_all_blocks_run_in_the_other_order_too() -> None:
    assert other_order(5, 3) == [2, 1, 0, 3, 4]
    assert sorted(other_order(1000, 400)) == list(range(1000))
