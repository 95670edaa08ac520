"""Small kernels written for these tests, and what the rewrites may know of them."""

from __future__ import annotations

from warpsight.rewrite import Facts

COPY_LOOP = """// launch: grid=(16) block=(256) shared=0
// y = 2 x
extern "C" __global__ void twice(const float* x, float* y, int N) {
    int worker = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = worker; i < N; i += gridDim.x * blockDim.x) {
        y[i] = 2.0 * x[i];  // a double literal: "2.0"
    }
}
"""
FACTS = Facts(
    entry="twice",
    axes=("N",),
    dtypes={"x": "float32", "y": "float32", "N": "int32"},
    shapes={"x": ("N",), "y": ("N",)},
    scalars={"N": "N"},
)


def kernel(body: str, head: str = "grid=(ceil(N/256)) block=(256) shared=0") -> str:
    """A kernel `twice` with this body."""
    return f'// launch: {head}\nextern "C" __global__ void twice(const float* x, float* y, int N) {{\n{body}\n}}\n'
