"""One naive float32 matmul (a thread per element) on the virtual GPU, Oclgrind and numba's CUDA simulator, in one run.

Sizes differ because the rivals are slow; the comparison is inner iterations (one multiply-add with its loads) per
second. Rivals that are not installed are named and left out: `pip install 'warpsight[bench]'`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

import numpy as np

from warpsight.devices.device import Value
from warpsight.devices.memory import lay_out
from warpsight.toolchain.compile import compile_cuda
from warpsight.vgpu import machine
from warpsight.vgpu.ptx import load_ptx

CUDA = """
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int n) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0.0f;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] = sum;
}
"""

OCLGRIND = """
import time, sys, numpy as np, pyopencl as cl
n = int(sys.argv[1])
platform = next(p for p in cl.get_platforms() if "Oclgrind" in p.name)
context = cl.Context(platform.get_devices()); queue = cl.CommandQueue(context)
program = cl.Program(context, '''
__kernel void matmul(__global const float* a, __global const float* b, __global float* c, int n) {
    int col = get_global_id(0), row = get_global_id(1); float sum = 0.0f;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] = sum; }''').build()
a = np.random.rand(n, n).astype(np.float32); c = np.empty_like(a); f = cl.mem_flags
A = cl.Buffer(context, f.READ_ONLY | f.COPY_HOST_PTR, hostbuf=a); C = cl.Buffer(context, f.WRITE_ONLY, c.nbytes)
start = time.perf_counter()
program.matmul(queue, (n, n), (16, 16), A, A, C, np.int32(n)).wait()
seconds = time.perf_counter() - start
cl.enqueue_copy(queue, c, C).wait(); assert np.allclose(c, a @ a, rtol=1e-3)
print(seconds)
"""

NUMBA = """
import time, sys, numpy as np
from numba import cuda
n = int(sys.argv[1])
@cuda.jit
def matmul(a, b, c, n):
    col, row = cuda.grid(2)
    total = np.float32(0)
    for k in range(n):
        total += a[row, k] * b[k, col]
    c[row, col] = total
a = np.random.rand(n, n).astype(np.float32); c = np.zeros_like(a)
start = time.perf_counter(); matmul[(n // 16, n // 16), (16, 16)](a, a, c, n); seconds = time.perf_counter() - start
assert np.allclose(c, a @ a, rtol=1e-3)
print(seconds)
"""


def ours(n: int) -> float:
    a = np.random.default_rng(0).random((n, n), dtype=np.float32)
    build = compile_cuda(CUDA, gpu_arch="sm_80")
    program = load_ptx(build.ptx, "matmul")
    values = [
        Value("a", a, False),
        Value("b", a, False),
        Value("c", np.zeros_like(a), True),
        Value("n", np.array(n, dtype=np.int32), False),
    ]
    best = float("inf")
    for _ in range(3):
        memory, params, arrays = lay_out(program, values)
        start = time.perf_counter()
        machine.launch(program, memory, grid=(n // 16, n // 16, 1), block=(16, 16, 1), params=params)
        best = min(best, time.perf_counter() - start)
        assert np.allclose(arrays["c"], a @ a, rtol=1e-3)
    return n**3 / best


def rival(script: str, n: int, **environment: str) -> float | None:
    """Inner iterations per second of a rival, or None when it is not installed."""
    done = subprocess.run(
        [sys.executable, "-c", script, str(n)],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=600,
        check=False,
    )
    if done.returncode:
        print("  not measured:", (done.stderr.strip().splitlines() or ["no output"])[-1])
        return None
    return n**3 / float(done.stdout.split()[-1])


def main() -> None:
    rate = ours(256)
    print(f"virtual GPU, all cores, counters on, 256^3: {rate / 1e6:10.2f} M inner iterations/s")
    for name, script, n, environment in (
        ("Oclgrind", OCLGRIND, 64, {}),
        ("numba CUDA simulator", NUMBA, 32, {"NUMBA_ENABLE_CUDASIM": "1"}),
    ):
        print(f"{name}, {n}^3:", flush=True)
        other = rival(script, n, **environment)
        if other is not None:
            print(f"  {other / 1e6:.4f} M inner iterations/s; the virtual GPU is {rate / other:,.0f}x as fast")
