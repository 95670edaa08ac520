"""Programs that use NVIDIA's driver alone: what they see on the stand-in for it, from C++ and by Python's packages."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.programs.conftest import SOURCES, Ran, run_target

from warpsight.programs.contents import CannotLoad, look_into
from warpsight.programs.door import driver_folder, open_door
from warpsight.toolchain.compile import compile_cuda
from warpsight.toolchain.packages import include_dirs

SCALE = """
__device__ int seen = 0;
__constant__ float table[4] = {0, 0, 0, 0};
extern "C" __global__ void scale(const float* x, float* y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&seen, 1);
  if (i < n) y[i] = a * x[i] + table[i % 4];
}
"""
VECTOR_ADD = '''
import sys
import numpy as np
from cuda.bindings import driver
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

TEXT = """
template <typename T> __global__ void vector_add(const T* a, const T* b, T* c, size_t n) {
  for (size_t i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += gridDim.x * blockDim.x) c[i] = a[i] + b[i];
}
"""
device = Device()
device.set_current()
stream = device.create_stream()
options = ProgramOptions(std="c++17", arch=f"sm_{device.arch}")
module = Program(TEXT, code_type="c++", options=options).compile(sys.argv[1], name_expressions=("vector_add<float>",))
kernel = module.get_kernel("vector_add<float>")
n = 50000
a, b, c = (np.random.default_rng(seed).random(n, np.float32) for seed in range(3))
on_gpu = [device.allocate(n * 4, stream=stream) for _ in range(3)]
for array, buffer in ((a, on_gpu[0]), (b, on_gpu[1])):
    driver.cuMemcpyHtoD(int(buffer.handle), array.ctypes.data, array.nbytes)
launch(stream, LaunchConfig(grid=(n + 255) // 256, block=256), kernel, *(buffer for buffer in on_gpu), np.uint64(n))
stream.sync()
driver.cuMemcpyDtoH(c.ctypes.data, int(on_gpu[2].handle), c.nbytes)
print("sums:", int(np.sum(c == a + b)), "of", n, "on", device.name)
'''
TRITON = '''
import importlib.abc, sys
class NoTorch(importlib.abc.MetaPathFinder):
    """Triton asks torch where there is one, and a torch for processors knows of no GPU."""
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, NoTorch())
import numpy as np, triton, triton.language as tl
from cuda.bindings import driver

@triton.jit
def multiply(a, b, c, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, K)
    found = tl.zeros((M, N), dtype=tl.float32)
    for k in range(0, n, K):
        left = tl.load(a + rows[:, None] * n + k + inner[None, :])
        right = tl.load(b + (k + inner[:, None]) * n + columns[None, :])
        found = tl.dot(left, right, found)
    tl.store(c + rows[:, None] * n + columns[None, :], found.to(tl.float16))

class Pointer:
    dtype = "float16"
    def __init__(self, address):
        self.address = address
    def data_ptr(self):
        return self.address

n = 128
a, b = (np.random.default_rng(seed).standard_normal((n, n)).astype(np.float16) for seed in range(2))
c = np.zeros((n, n), np.float16)
driver.cuInit(0)
driver.cuCtxSetCurrent(driver.cuDevicePrimaryCtxRetain(0)[1])
places = [int(driver.cuMemAlloc(n * n * 2)[1]) for _ in range(3)]
for place, array in zip(places, (a, b)):
    driver.cuMemcpyHtoD(place, array.ctypes.data, array.nbytes)
multiply[(2, 2)](*map(Pointer, places), n, M=64, N=64, K=32, num_warps=4)
driver.cuMemcpyDtoH(c.ctypes.data, places[2], c.nbytes)
print("right:", np.allclose(c, a.astype(np.float32) @ b.astype(np.float32), atol=0.05, rtol=0.01))
'''

WITH_NVIDIA_S_RUNTIME = """
import ctypes, sys
ctypes.CDLL(sys.argv[2], ctypes.RTLD_GLOBAL)  # as cuda-pathfinder loads it, for numba-cuda and others
"""
NUMBA = """
import numpy as np
from numba import cuda

@cuda.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]

@cuda.jit
def multiply(a, b, c):
    i, j = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        found = 0.0
        for k in range(a.shape[1]):
            found += a[i, k] * b[k, j]
        c[i, j] = found

x = np.arange(5000, dtype=np.float32)
total = cuda.device_array_like(x)
add[20, 256](cuda.to_device(x), cuda.to_device(2 * x), total)
a, b = (np.random.default_rng(seed).random((40, 40), np.float32) for seed in (1, 2))
c = cuda.device_array((40, 40), np.float32)
multiply[(5, 5), (8, 8)](cuda.to_device(a), cuda.to_device(b), c)
print(np.array_equal(total.copy_to_host(), 3 * x), np.allclose(c.copy_to_host(), a @ b, rtol=1e-4))
"""


@pytest.fixture(scope="module")
def from_cpp(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """The C++ program, built against the driver's header and our library, and run."""
    folder = tmp_path_factory.mktemp("driver")
    folder.chmod(0o755)
    headers = next(place for place in include_dirs() if (place / "cuda_runtime_api.h").is_file())
    words = ["c++", "-std=c++17", "-O1", f"-I{headers}", str(SOURCES / "driver.cpp"), "-o", str(folder / "program")]
    subprocess.run([*words, f"-L{driver_folder()}", "-lcuda"], check=True)
    built = compile_cuda(SCALE, entry="scale", gpu_arch="sm_80")
    (folder / "scale.ptx").write_text(built.ptx)
    (folder / "scale.cubin").write_bytes(built.cubin)
    (folder / "other.cubin").write_bytes(compile_cuda(SCALE, entry="scale", gpu_arch="sm_90").cubin)
    return run_target(folder / "program", "scale.ptx", "scale.cubin", "other.cubin", driver=True, limit_s=120.0)


def test_a_program_that_uses_the_driver_alone(from_cpp: Ran) -> None:
    both = [
        line.format(what=what)
        for what in ("ptx", "cubin")
        for line in (
            "{what}: no such kernel: CUDA_ERROR_NOT_FOUND",
            "{what}: bad=0 seen=2048 of 4 bytes, parameter 3 at 20 of 4, timed=1",
            "{what}: too many threads: CUDA_ERROR_INVALID_VALUE",
        )
    ]
    assert from_cpp.output.splitlines() == [
        "before cuInit: CUDA_ERROR_NOT_INITIALIZED",
        "second GPU: CUDA_ERROR_INVALID_DEVICE",
        "no context: CUDA_ERROR_INVALID_CONTEXT",
        "count=1 same=1 major=8 warp=32",
        *both,
        "other GPU: CUDA_ERROR_NO_BINARY_FOR_GPU",
        "text: CUDA_ERROR_INVALID_IMAGE",
        "half: CUDA_ERROR_INVALID_PTX",
        "array: CUDA_ERROR_NOT_SUPPORTED",
        "copy of arrays: CUDA_ERROR_NOT_SUPPORTED",
        "address: CUDA_ERROR_NOT_FOUND",
        "same function: 1",
        "fault: CUDA_ERROR_ILLEGAL_ADDRESS",
        "it stays: CUDA_ERROR_ILLEGAL_ADDRESS",
    ]


def test_what_is_missing_is_named(from_cpp: Ran) -> None:
    assert from_cpp.run.missing == ("cuArrayCreate_v2", "cuMemcpy2D")
    assert "cuArrayCreate_v2 is not provided" in from_cpp.errors
    assert from_cpp.run.launches == 5 and [f.fault.kind for f in from_cpp.run.faults] == ["out_of_bounds"]


def test_machine_code_and_ptx_take_the_same_time(from_cpp: Ran) -> None:
    """The one is assembled from the other."""
    times = {row.kernel: row.time_us for row in from_cpp.run.kernels if row.launches == 2}
    rows = [row.time_us for row in from_cpp.run.kernels if row.launches == 2]
    assert len(rows) == 2 and len(times) == 1
    assert rows[0] and rows[1] and rows[0] == pytest.approx(rows[1], rel=0.2)


def test_the_driver_is_found_only_where_it_is_asked_for(tmp_path: Path) -> None:
    code = "import ctypes\ntry:\n    print(ctypes.CDLL('libcuda.so.1').cuInit(0))\nexcept OSError:\n    print('none')\n"
    plain = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    with open_door(times=False) as environment:
        two = [
            subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment) for _ in range(2)
        ]
        assert [process.communicate()[0] for process in two] == [b"0\n", b"0\n"]  # each has a GPU of its own
    assert "warpsight" not in plain.stdout and plain.stdout in ("none\n", "0\n")  # 0 where there is a GPU


@pytest.mark.parametrize("form", ["ptx", "cubin"])
def test_cuda_core_adds_vectors(tmp_path: Path, run_script: Callable[..., Ran], form: str) -> None:
    pytest.importorskip("cuda.core")
    ran = run_script(VECTOR_ADD, form)
    assert ran.output.startswith("sums: 50000 of 50000 on NVIDIA A100"), ran.errors
    (row,) = ran.run.kernels
    assert row.kernel.startswith("_Z10vector_add") and row.time_us and row.launches == 1


def test_nvidia_s_runtime_beside_it_is_not_taken_for_ours() -> None:
    """It has the names of ours, and comes first in the process."""
    pytest.importorskip("cuda.core")
    theirs = next((p for f in find_spec("nvidia").submodule_search_locations  # pyright: ignore[reportOptionalMemberAccess, reportOptionalIterable]
                   for p in Path(f).glob("cu*/lib/libcudart.so.1*")), None)  # fmt: skip
    if theirs is None:
        pytest.skip("needs nvidia-cuda-runtime")
    with open_door(times=False) as environment:
        words = [sys.executable, "-c", WITH_NVIDIA_S_RUNTIME + VECTOR_ADD, "ptx", str(theirs)]
        ran = subprocess.run(words, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    assert ran.stdout.startswith("sums: 50000 of 50000"), ran.stderr


def test_numba_adds_and_multiplies() -> None:
    pytest.importorskip("numba_cuda")
    with open_door(times=False) as environment:
        words = [sys.executable, "-W", "ignore", "-c", NUMBA]
        ran = subprocess.run(words, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    assert ran.stdout == "True True\n", ran.stderr


def test_triton_multiplies_on_tensor_cores(tmp_path: Path, run_script: Callable[..., Ran]) -> None:
    pytest.importorskip("cuda.bindings")
    pytest.importorskip("triton")
    ran = run_script(TRITON)
    assert ran.output == "right: True\n", ran.errors
    assert [row.kernel for row in ran.run.kernels] == ["multiply"]


@pytest.mark.parametrize("where", [0, 16, 40, 60, 100, 400, 900])
def test_a_damaged_cubin_is_refused_or_read_never_worse(where: int) -> None:
    cubin = bytearray(compile_cuda(SCALE, entry="scale", gpu_arch="sm_80").cubin)
    cubin[where : where + 8] = b"\xff" * 8
    try:
        found = look_into(bytes(cubin), "8.0")
    except CannotLoad as refused:
        assert refused.code in (200, 209, 218)
    else:
        assert found.cubin
