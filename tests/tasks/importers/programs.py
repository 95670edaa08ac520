"""Small HeCBench programs of our own, made from one table: a Makefile, CUDA sources, a self-check.

They vary in what real ones vary in: where the kernels lie (main.cu, a header, a second unit, the suite's include
folder), templates, macros, constants, namespaces, structs, shared memory, definitions on the command line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

MAKEFILE = """\
#===============================================================================
# User Options
#===============================================================================
CC        = nvcc
OPTIMIZE  = yes
DEBUG     = no
ARCH      = sm_60

program = main

source = {sources}

obj = $(source:.cu=.o)

CFLAGS := $(EXTRA_CFLAGS) {flags} -Xcompiler -Wall -arch=$(ARCH)
LDFLAGS =

ifeq ($(DEBUG),yes)
  CFLAGS += -g -DDEBUG
  LDFLAGS  += -g
endif

ifeq ($(OPTIMIZE),yes)
  CFLAGS += -O3
endif

$(program): $(obj) Makefile
\t$(CC) $(CFLAGS) $(obj) -o $@ $(LDFLAGS)

%.o: %.cu Makefile
\t$(CC) $(CFLAGS) -c $< -o $@

clean:
\trm -rf $(program) $(obj)

run: $(program)
\t./$(program) {arguments}
"""

MAIN = """\
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <chrono>
#include <vector>
#include <cuda.h>
#include <cuda_runtime.h>
{includes}

{kernels}

static float host_value(int i) {{
  return (i % 17) * 0.25f - 1.f;  // {{ a brace in a comment
}}

int main(int argc, char* argv[])
{{
  if (argc != 3) {{
    printf("Usage: %s <size> <repeat>\\n", argv[0]);
    return 1;
  }}
  const int n = atoi(argv[1]);
  const int repeat = atoi(argv[2]);
  std::vector<float> h(n), r(n);
  for (int i = 0; i < n; i++) h[i] = host_value(i);
  float *d_in, *d_out;
  cudaMalloc((void**)&d_in, n * sizeof(float));
  cudaMalloc((void**)&d_out, n * sizeof(float));
  cudaMemcpy(d_in, h.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  dim3 grids((n + 255) / 256), blocks(256);
  cudaDeviceSynchronize();
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < repeat; i++) {{
    {launch}
  }}
  cudaDeviceSynchronize();
  auto end = std::chrono::steady_clock::now();
  auto time = std::chrono::duration_cast<std::chrono::nanoseconds>(end - start).count();
  printf("Average kernel execution time %f (us)\\n", (time * 1e-3f) / repeat);
  cudaMemcpy(r.data(), d_out, n * sizeof(float), cudaMemcpyDeviceToHost);
  bool ok = true;
  for (int i = 0; i < n; i++) ok = ok && isfinite(r[i]);
  printf("%s\\n", ok ? "PASS" : "FAIL");
  cudaFree(d_in);
  cudaFree(d_out);
  return 0;
}}
"""


@dataclass(frozen=True)
class Program:
    """One program: its kernels in main.cu or in other files, how they are launched, and what is to be found."""

    name: str
    launch: str
    finds: tuple[str, ...]
    kernels: str = ""
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    includes: str = ""
    sources: str = "main.cu"
    flags: str = "-std=c++14"

    def write(self, suite: Path) -> Path:
        folder = suite / f"{self.name}-cuda"
        folder.mkdir(parents=True)
        makefile = MAKEFILE.format(sources=self.sources, flags=self.flags, arguments="100000 10")
        (folder / "Makefile").write_text(makefile)
        main = MAIN.format(includes=self.includes, kernels=self.kernels, launch=self.launch)
        (folder / "main.cu").write_text(main)
        for name, text in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return folder


def _map(name: str, body: str, before: str = "") -> Program:
    """One kernel over elements, in main.cu."""
    kernels = f"""{before}
__global__ void {name}(const float* __restrict__ x, float* __restrict__ y, const int n) {{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {{ {body} }}
}}
"""
    return Program(name, f"{name}<<<grids, blocks>>>(d_in, d_out, n);", (name,), kernels)


PROGRAMS: tuple[Program, ...] = (
    _map("scale", "y[i] = 2.f * x[i];"),
    _map("poly", "float s = 0; for (int k = 0; k < DEGREE; k++) s = s * x[i] + k; y[i] = s;", "#define DEGREE 8"),
    _map("logistic", "y[i] = squash(x[i]);",
         "__device__ __forceinline__ float squash(float v) { return 1.f / (1.f + expf(-v)); }"),
    _map("table", "y[i] = x[i] * weights[i % 16];", "__constant__ float weights[16] = {1, 2, 3, 4, 5, 6, 7, 8};"),
    _map("gather", "y[i] = x[(i * 1103515245u + 12345u) % (unsigned)n];"),
    _map("pairs", "Pair p = {x[i], x[n - 1 - i]}; y[i] = p.sum();", """
struct __align__(8) Pair {
  float a, b;
  __host__ __device__ float sum() const { return a + b; }
};"""),
    _map("checked", "assert(n > 0); y[i] = fminf(fmaxf(x[i], -1.f), 1.f) + FLT_MIN;",
         "#include <assert.h>\n#include <float.h>"),
    _map("typed", "uint32_t u = __float_as_uint(x[i]); y[i] = __uint_as_float(u ^ (1u << 31));", "#include <cstdint>"),
    _map("pi", "y[i] = sinf(x[i] * (float)M_PI);"),
    _map("half_way", "y[i] = __half2float(__float2half(x[i]));", "#include <cuda_fp16.h>"),
    Program("saxpy", "saxpy<<<grids, blocks>>>(2.f, d_in, d_out, n);", ("saxpy",),
            includes='#include "kernel.h"', files={
        "kernel.h": """#ifndef KERNEL_H
#define KERNEL_H
__global__ void saxpy(const float a, const float* x, float* y, const int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
#endif
"""}),
    Program("reduce", "reduce<<<grids, blocks>>>(d_in, d_out, n);\n    finish<<<1, blocks>>>(d_out, n);",
            ("reduce", "finish"), """
__global__ void reduce(const float* x, float* sums, int n) {
  __shared__ float part[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = i < n ? x[i] : 0.f;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}
__global__ void finish(float* sums, int n) { if (threadIdx.x == 0) atomicAdd(&sums[0], (float)n); }
"""),
    Program("adam", "adam<float><<<grids, blocks>>>(d_in, d_out, n, 0.9f);", ("adam",), """
typedef enum { MODE_0 = 0, MODE_1 = 1 } mode_t_;
template <typename T>
__global__
void adam (
  const T* __restrict__ g,
        T* __restrict__ m,
  const int n,
  const float b)
{
  for (int j = blockIdx.x * blockDim.x + threadIdx.x; j < n; j += gridDim.x * blockDim.x)
    m[j] = b * m[j] + (1.f - b) * g[j];
}
"""),
    Program("blocked", "blocked<256, float><<<grids, blocks>>>(d_in, d_out, n);", ("blocked",), """
template <int SIZE, typename T>
__global__ void __launch_bounds__(SIZE) blocked(const T* x, T* y, int n) {
  __shared__ T tile[SIZE + 2];
  int i = blockIdx.x * SIZE + threadIdx.x;
  tile[threadIdx.x] = i < n ? x[i] : T(0);
  __syncthreads();
  if (i < n && threadIdx.x > 0) y[i] = tile[threadIdx.x] - tile[threadIdx.x - 1];
}
"""),
    Program("through_host", "run_block<float>(d_in, d_out, n);", ("tiled",), """
template <typename T, int SIZE>
__global__ void tiled(const T* x, T* y, int n) {
  __shared__ T tile[SIZE];
  int i = blockIdx.x * SIZE + threadIdx.x;
  if (i < n) { tile[threadIdx.x] = x[i]; y[i] = tile[threadIdx.x] * T(2); }
}
template <typename T>
void run_block(const T* x, T* y, int n) {
  const int block = 128;
  tiled<T, block><<<(n + block - 1) / block, block>>>(x, y, n);
}
"""),
    Program("namespaced", "physics::step<<<grids, blocks>>>(d_in, d_out, n);", ("step",), """
namespace physics {
  __device__ float force(float x) { return -x * x * x; }
  __global__ void step(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + 0.01f * force(x[i]);
  }
}  // namespace physics
"""),
    Program("defined", "defined<<<grids, blocks>>>(d_in, d_out, n);", ("defined",), """
__global__ void defined(const dfloat* x, dfloat* y, const dlong n) {
  dlong i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = FACTOR * x[i];
}
""", flags="-Ddfloat=float -Ddlong=int -DFACTOR=3.5f -std=c++14"),
    Program("macros", "marked<<<grids, blocks>>>(d_in, d_out, n);", ("marked",), """
#define KERNEL __global__ void
#define DEVICE_INLINE static __host__ __device__ inline
DEVICE_INLINE float cube(float v) { return v * v * v; }
KERNEL marked(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = cube(x[i]);
}
"""),
    Program("two_units", "launch_blur(d_in, d_out, n);", ("blur",), sources="main.cu blur.cu",
            includes="void launch_blur(const float*, float*, int);", files={"blur.cu": """
#include <cstdio>
#include "blur.h"
__global__ void blur(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= RADIUS && i < n - RADIUS) {
    float s = 0;
    #pragma unroll
    for (int k = -RADIUS; k <= RADIUS; k++) s += x[i + k];
    y[i] = s / (2 * RADIUS + 1);
  }
}
void launch_blur(const float* x, float* y, int n) { blur<<<(n + 255) / 256, 256>>>(x, y, n); }
""", "blur.h": "#pragma once\n#define RADIUS 3\nvoid launch_blur(const float* x, float* y, int n);\n"}),
    Program("shared_header", "shifted<<<grids, blocks>>>(d_in, d_out, n);", ("shifted",),
            includes='#include "common.h"', flags="-std=c++17 -I./include", files={"include/common.h": """
template <typename T> __device__ inline T shift_by(T v, int s) { return v + T(s); }
__global__ void shifted(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = shift_by(x[i], 4);
}
"""}),
    Program("double_precision", "norms<<<grids, blocks>>>(d_in, d_out, n);", ("norms",), """
__global__ void norms(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  double s = 0;
  for (int k = 0; k < 4; k++) { double v = x[(i + k) % n]; s += v * v; }
  if (i < n) y[i] = (float)sqrt(s);
}
"""),
    Program("histogram", "count<<<grids, blocks>>>(d_in, (unsigned*)d_out, n);", ("count",), """
__global__ void count(const float* x, unsigned* bins, int n) {
  extern __shared__ unsigned local[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[(unsigned)(fabsf(x[i]) * 8) % 64], 1u);
}
"""),
    Program("warp", "warp_sum<<<grids, blocks>>>(d_in, d_out, n);", ("warp_sum",), """
#define FULL 0xffffffff
__inline__ __device__ float all(float v) {
  for (int offset = warpSize / 2; offset > 0; offset /= 2) v += __shfl_down_sync(FULL, v, offset);
  return v;
}
__global__ void warp_sum(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = all(i < n ? x[i] : 0.f);
  if (threadIdx.x % warpSize == 0) y[i / warpSize] = v;
}
"""),
    Program("host_types", "filter<<<grids, blocks>>>(d_in, d_out, n);", ("filter",), """
struct Options { std::vector<int> sizes; const char* name; };
static Options parsed(int argc, char** argv) { Options o; o.name = argc > 1 ? argv[1] : "{"; return o; }
std::vector<float> cache;
__global__ void filter(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] > 0.f ? x[i] : 0.f;
}
"""),
)  # fmt: skip


def write_suite(folder: Path) -> Path:
    """All programs, and folders of other languages that a suite has beside them."""
    for program in PROGRAMS:
        program.write(folder)
    other = folder / "scale-sycl"
    other.mkdir()
    (other / "Makefile").write_text("CC = clang++\n")
    return folder
