"""Kernels for the example tasks that are not what they seem: cheats, too few bits, and honest ones that look odd."""

from __future__ import annotations

from pathlib import Path

from warpsight.devices.virtual import VirtualGpu
from warpsight.gate.check import check_candidate
from warpsight.nouns import Candidate, Check, Task
from warpsight.tasks import read_candidate, read_task

TASKS = Path(__file__).parents[3] / "tasks"


def task_named(name: str) -> Task:
    return read_task(TASKS / name)


def own(task: Task) -> Candidate:
    return read_candidate(task.kernel, task)


def checked(name: str, text: str, **more: object) -> Check:
    """The verdict on all small workloads and on drawn ones."""
    task = task_named(name)
    small = task.model_copy(update={"workloads": tuple(w for w in task.workloads if not w.profile)})
    return check_candidate(small, read_candidate(text, small), VirtualGpu(cores=2), secret_seed=5, **more)  # type: ignore[arg-type]


def changed(name: str, *edits: tuple[str, str]) -> str:
    """The task's own kernel with texts replaced."""
    text = task_named(name).kernel
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    return text


VECTOR_ADD = 'extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)'
PER_ELEMENT = "// launch: grid=(ceil(N/256)) block=(256) shared=0\n"
INDEX = "int i = blockIdx.x * blockDim.x + threadIdx.x;"
SUM = 'extern "C" __global__ void reduce_sum(const float* x, float* out, int N)'
MATMUL = 'extern "C" __global__ void matmul_naive(const float* A, const float* B, float* C, int M, int N, int K)'
TILES = "// launch: grid=(ceil(N/16), ceil(M/16)) block=(16, 16) shared=0\n"
ROW_COL = "int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;"
HALF = "#include <cuda_fp16.h>\n"
BF16 = "#include <cuda_bf16.h>\n"


def adds(body: str) -> str:
    return f"{PER_ELEMENT}{VECTOR_ADD} {{ {INDEX} {body} }}\n"


def multiplies(body: str, before: str = "") -> str:
    inside = f"{ROW_COL} if (row < M && col < N) {{ {body} }}"
    return f"{TILES}{before}{MATMUL} {{ {inside} }}\n"


TF32 = "__device__ float tf32(float v) { return __uint_as_float((__float_as_uint(v) + 0x1000u) & 0xffffe000u); }\n"

# name: (task, text, the reason it must be rejected for)
CHEATS: dict[str, tuple[str, str, str]] = {
    "nothing": ("vector_add", adds("(void)i;"), "output_not_written"),
    "no threads at work": ("vector_add", adds("if (i < 0) c[i] = a[i];"), "output_not_written"),
    "zeros": ("vector_add", adds("if (i < N) c[i] = 0.0f;"), "wrong_values"),
    "one poison": ("vector_add", adds("if (i < N) c[i] = __int_as_float(0xa5a5a5a5);"), "output_not_written"),
    "other poison": ("vector_add", adds("if (i < N) c[i] = __int_as_float(0x5b5b5b5b);"), "wrong_values"),
    "pass-through": ("vector_add", adds("if (i < N) c[i] = a[i];"), "wrong_values"),
    "one input twice": ("vector_add", adds("if (i < N) c[i] = a[i] + a[i];"), "wrong_values"),
    "first half only": ("vector_add", adds("if (i < N / 2) c[i] = a[i] + b[i];"), "output_not_written"),
    "no tail": ("vector_add", adds("if (i < N / 256 * 256) c[i] = a[i] + b[i];"), "output_not_written"),
    "every other block": (
        "vector_add",
        adds("if (i < N) c[i] = blockIdx.x % 2 ? a[i] : a[i] + b[i];"),
        "wrong_values",
    ),
    "not a number": ("vector_add", adds("if (i < N) c[i] = __int_as_float(0x7fc00000);"), "non_finite"),
    "infinity": ("vector_add", adds("if (i < N) c[i] = __int_as_float(0x7f800000);"), "non_finite"),
    "shapes by heart": (
        "vector_add",
        adds(
            "bool known = N == 1000 || N == 4096 || N == 12345 || N == 1 || N == 10007 || N == 257;"
            "if (i < N) c[i] = known ? a[i] + b[i] : 0.0f;"
        ),
        "wrong_values",
    ),
    "input zeroed": (
        "vector_add",
        adds("if (i < N) { c[i] = a[i] + b[i]; const_cast<float*>(a)[i] = 0.0f; }"),
        "write_to_const",
    ),
    "past the end": ("vector_add", adds("c[i] = a[i] + b[i];"), "out_of_bounds"),
    "a sample scaled up": (
        "reduce_sum",
        f"// launch: grid=(1) block=(1) shared=0\n{SUM} {{ float s = 0; for (int i = 0; i < N; i += 2) s += x[i];"
        " *out = 2 * s; }\n",
        "wrong_values",
    ),
    "the mean times the count": (
        "reduce_sum",
        f"// launch: grid=(1) block=(1) shared=0\n{SUM} {{ *out = 0.5f * N; }}\n",
        "wrong_values",
    ),
    "sum without atomics": (
        "reduce_sum",
        f"// launch: grid=(ceil(N/256)) block=(256) shared=0\n{SUM} {{ {INDEX} if (i < N) *out += x[i]; }}\n",
        "global_race",
    ),
    "last row missing": (
        "matmul_naive",
        multiplies("float s = 0; for (int k = 0; k + 1 < K; ++k) s += A[row*K+k]*B[k*N+col]; C[row*N+col] = s;"),
        "wrong_values",
    ),
    "x @ x": (
        "matmul_naive",
        multiplies("float s = 0; for (int k = 0; k < K; ++k) s += A[row*K+k]*A[row*K+k]; C[row*N+col] = s;"),
        "wrong_values",
    ),
    "softmax without the greatest": (
        "softmax",
        changed("softmax", ("in[c] - greatest", "in[c]")),
        "non_finite",
    ),
    "softmax of one value": (
        "softmax",
        "// launch: grid=(R) block=(256) shared=0\n"
        'extern "C" __global__ void softmax(const float* x, float* y, int C) {\n'
        "    for (int c = threadIdx.x; c < C; c += 256) y[(size_t)blockIdx.x * C + c] = 1.0f / C;\n}\n",
        "wrong_values",
    ),
}

LOW_PRECISION: dict[str, tuple[str, str]] = {
    "matmul, half sums": (
        "matmul_naive",
        multiplies(
            "half s = 0; for (int k = 0; k < K; ++k) s = __hfma(__float2half(A[row*K+k]), __float2half(B[k*N+col]), s);"
            "C[row*N+col] = __half2float(s);",
            HALF,
        ),
    ),
    "matmul, half inputs": (
        "matmul_naive",
        multiplies(
            "float s = 0; for (int k = 0; k < K; ++k)"
            " s += __half2float(__float2half(A[row*K+k])) * __half2float(__float2half(B[k*N+col])); C[row*N+col] = s;",
            HALF,
        ),
    ),
    "matmul, tf32 inputs": (
        "matmul_naive",
        multiplies(
            "float s = 0; for (int k = 0; k < K; ++k) s += tf32(A[row*K+k]) * tf32(B[k*N+col]); C[row*N+col] = s;", TF32
        ),
    ),
    "matmul, tf32 in one input": (
        "matmul_naive",
        multiplies(
            "float s = 0; for (int k = 0; k < K; ++k) s += A[row*K+k] * tf32(B[k*N+col]); C[row*N+col] = s;", TF32
        ),
    ),
    "matmul, bfloat16 inputs": (
        "matmul_naive",
        multiplies(
            "float s = 0; for (int k = 0; k < K; ++k) s += __bfloat162float(__float2bfloat16(A[row*K+k]))"
            " * __bfloat162float(__float2bfloat16(B[k*N+col])); C[row*N+col] = s;",
            BF16,
        ),
    ),
    "softmax, half exponentials": (
        "softmax",
        changed("softmax", ("expf(in[c] - greatest)", "__half2float(__float2half(expf(in[c] - greatest)))")).replace(
            "#define", HALF + "#define", 1
        ),
    ),
    "softmax, half result": (
        "softmax",
        changed(
            "softmax", ("expf(in[c] - greatest) / sum;", "__half2float(__float2half(expf(in[c] - greatest) / sum));")
        ).replace("#define", HALF + "#define", 1),
    ),
    "layer norm, half result": (
        "layer_norm",
        changed(
            "layer_norm",
            (
                "(in[c] - mean) * scale * gamma[c] + beta[c];",
                "__half2float(__float2half((in[c] - mean) * scale * gamma[c] + beta[c]));",
            ),
        ).replace("#define", HALF + "#define", 1),
    ),
    "sum in half": (
        "reduce_sum",
        changed("reduce_sum", ("sum += x[i];", "sum = __half2float(__float2half(sum + x[i]));")).replace(
            "#define", HALF + "#define", 1
        ),
    ),
    "sum of half values": (
        "reduce_sum",
        changed("reduce_sum", ("sum += x[i];", "sum += __half2float(__float2half(x[i]));")).replace(
            "#define", HALF + "#define", 1
        ),
    ),
    "scan in half": (
        "scan",
        changed("scan", ("value += before;", "value = __half2float(__float2half(value + before));")).replace(
            "#define", HALF + "#define", 1
        ),
    ),
    "double in single": (
        "daxpy",
        changed("daxpy", ("alpha * x[i] + y[i]", "(float)alpha * (float)x[i] + (float)y[i]")),
    ),
    "stencil in half": (
        "stencil2d",
        changed("stencil2d", ("float centre = u[i];", "float centre = __half2float(__float2half(u[i]));")).replace(
            "extern", HALF + "extern", 1
        ),
    ),
}

HONEST: dict[str, tuple[str, str]] = {
    "split-k with atomics": (
        "scatter_add",
        task_named("scatter_add").kernel.replace("block=(256)", "block=(64)").replace("ceil(N/256)", "ceil(N/64)"),
    ),
    "sum by one thread": (
        "reduce_sum",
        f"// launch: grid=(1) block=(1) shared=0\n{SUM} {{ float s = *out; for (int i = 0; i < N; ++i) s += x[i];"
        " *out = s; }\n",
    ),
    "sum, one atomic a thread": (
        "reduce_sum",
        f"// launch: grid=(ceil(N/256)) block=(256) shared=0\n{SUM} {{ {INDEX} if (i < N) atomicAdd(out, x[i]); }}\n",
    ),
    "matmul from the other end": (
        "matmul_naive",
        multiplies("float s = 0; for (int k = K - 1; k >= 0; --k) s += A[row*K+k]*B[k*N+col]; C[row*N+col] = s;"),
    ),
    "matmul, four partial sums": (
        "matmul_naive",
        multiplies(
            "float s[4] = {}; for (int k = 0; k < K; ++k) s[k % 4] += A[row*K+k]*B[k*N+col];"
            " C[row*N+col] = (s[0] + s[1]) + (s[2] + s[3]);"
        ),
    ),
    "matmul in double": (
        "matmul_naive",
        multiplies("double s = 0; for (int k = 0; k < K; ++k) s += (double)A[row*K+k]*B[k*N+col]; C[row*N+col] = s;"),
    ),
    "matmul without fused multiply": (
        "matmul_naive",
        multiplies(
            "float s = 0; for (int k = 0; k < K; ++k) s = __fadd_rn(s, __fmul_rn(A[row*K+k], B[k*N+col]));"
            " C[row*N+col] = s;"
        ),
    ),
    "scan by one thread": (
        "scan",
        "// launch: grid=(R) block=(1) shared=0\n"
        'extern "C" __global__ void scan(const float* x, float* y, int C) {\n'
        "    const size_t at = (size_t)blockIdx.x * C;\n"
        "    float s = 0; for (int c = 0; c < C; ++c) { s += x[at + c]; y[at + c] = s; }\n}\n",
    ),
    **{
        f"{name}, fast math": (name, task_named(name).kernel.replace("\n", "\n// options: --use_fast_math\n", 1))
        for name in ("softmax", "layer_norm", "matmul_tiled", "nbody", "stencil2d", "reduce_max_rows", "conv2d")
    },
}
