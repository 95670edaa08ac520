"""Kernels as people write them first, each a whole task: what the restructuring rules are for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from warpsight.nouns import Task
from warpsight.tasks import read_task


class PlainTask(NamedTuple):
    """`arguments` as `role dtype name[A, B]`; a scalar is `scalar dtype name = value`."""

    name: str
    arguments: Sequence[str]
    kernel: str
    reference: str
    small: str
    odd: str
    profile: str
    rtol: float = 1e-4
    atol: float = 1e-5
    low: int = 1


def written(one: PlainTask, folder: Path) -> Task:
    """The task, in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    axes = [part.partition("=")[0].strip() for part in one.small.split(",")]
    lines = [f'name = "{one.name}"', f'description = "{one.name}"', 'kernel = "kernel.cu"', f'entry = "{one.name}"']
    lines += ["[target]", 'gpu = "a100"', 'arch = "sm_80"', "[axes]"]
    lines += [f"{axis} = {{ min = {one.low}, max = 8388608 }}" for axis in axes]
    for argument in one.arguments:
        lines += ["[[arguments]]", *_argument(argument)]
    lines += ["[tolerance]", f"rtol = {one.rtol}", f"atol = {one.atol}"]
    for name, sizes, more in (
        ("small", one.small, ""),
        ("odd", one.odd, "hidden = true"),
        ("profile", one.profile, "profile = true"),
    ):
        lines += ["[[workloads]]", f'name = "{name}"', f"axes = {{ {sizes} }}", more]
    (folder / "task.toml").write_text("\n".join(lines) + "\n")
    (folder / "kernel.cu").write_text(one.kernel)
    (folder / "reference.py").write_text("import numpy as np\n\n\n" + one.reference)
    return read_task(folder)


def _argument(text: str) -> list[str]:
    role, dtype, rest = text.split(maxsplit=2)
    if role == "scalar":
        name, value = (part.strip() for part in rest.split("="))
        return [
            f'name = "{name}"',
            f'dtype = "{dtype}"',
            'role = "scalar"',
            f"value = {value if value[0].isdigit() else repr(value)}",
        ]
    rest, _, fill = rest.partition(" fill ")
    name, shape = rest.rstrip("]").split("[")
    parts = ", ".join(f'"{part.strip()}"' for part in shape.split(","))
    lines = [f'name = "{name}"', f'dtype = "{dtype}"', f"shape = [{parts}]", f'role = "{role}"']
    if fill:
        kind, *rest_of = fill.split()
        lines += [f'fill = "{kind}"', *(part.replace("=", " = ") for part in rest_of)]
    return lines


HEAD = "// launch: grid=(ceil(R/256)) block=(256)\n"
ROW = "    int row = blockIdx.x * blockDim.x + threadIdx.x;\n    if (row >= R) return;\n"
SIZES = {"small": "R = 37, C = 100", "odd": "R = 3, C = 1", "profile": "R = 4096, C = 1024"}

SOFTMAX = PlainTask(
    "softmax_rows", ("in float32 x[R, C]", "out float32 y[R, C]", "scalar int32 R = R", "scalar int32 C = C"),
    HEAD + 'extern "C" __global__ void softmax_rows(const float* x, float* y, int R, int C) {\n' + ROW +
    """    float m = x[row * C];
    for (int c = 1; c < C; c++) {
        if (x[row * C + c] > m) m = x[row * C + c];
    }
    float sum = 0.0f;
    for (int c = 0; c < C; c++) {
        y[row * C + c] = expf(x[row * C + c] - m);
        sum += y[row * C + c];
    }
    for (int c = 0; c < C; c++) y[row * C + c] /= sum;
}
""",
    "def reference(x):\n    e = np.exp(x - x.max(axis=1, keepdims=True))\n"
    "    return e / e.sum(axis=1, keepdims=True)\n",
    **SIZES,
)  # fmt: skip

ARGMAX = PlainTask(
    "argmax_rows", ("in float32 x[R, C]", "out int32 at[R]", "scalar int32 R = R", "scalar int32 C = C"),
    HEAD + 'extern "C" __global__ void argmax_rows(const float* x, int* at, int R, int C) {\n' + ROW +
    """    const float* mine = x + (size_t)row * C;
    float best = mine[0];
    int where = 0;
    for (int c = 1; c < C; ++c) {
        float v = mine[c];
        if (v > best) { best = v; where = c; }
    }
    at[row] = where;
}
""",
    "def reference(x):\n    return x.argmax(axis=1).astype(np.int32)\n",
    **SIZES,
)  # fmt: skip

LAYER_NORM = PlainTask(
    "norm_rows",
    ("in float32 x[R, C]", "in float32 g[C]", "out float32 y[R, C]", "scalar int32 R = R", "scalar int32 C = C"),
    HEAD + 'extern "C" __global__ void norm_rows(const float* x, const float* g, float* y, int R, int C) {\n' +
    """    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < R) {
        float mean = 0.0f;
        for (int c = 0; c < C; c++) mean += x[row * C + c];
        mean /= C;
        float var = 0.0f;
        for (int c = 0; c < C; c++) {
            float d = x[row * C + c] - mean;
            var += d * d;
        }
        float scale = rsqrtf(var / C + 1e-5f);
        for (int c = 0; c < C; c++) y[row * C + c] = (x[row * C + c] - mean) * scale * g[c];
    }
}
""",
    "def reference(x, g):\n    m = x.mean(axis=1, keepdims=True)\n    v = ((x - m) ** 2).mean(axis=1, keepdims=True)\n"
    "    return (x - m) / np.sqrt(v + 1e-5) * g\n",
    **SIZES,
)  # fmt: skip

COLUMN_MEAN = PlainTask(
    "column_mean", ("in float32 x[R, C]", "out float32 y[C]", "scalar int32 R = R", "scalar int32 C = C"),
    "// launch: grid=(ceil(C/256)) block=(256)\n"
    'extern "C" __global__ void column_mean(const float* x, float* y, int R, int C) {\n'
    """    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= C) return;
    float sum = 0.0f;
    for (int r = 0; r < R; r++) sum += x[r * C + c];
    y[c] = sum / R;
}
""",
    "def reference(x):\n    return x.mean(axis=0)\n",
    "R = 37, C = 100", "R = 3, C = 1", "R = 4096, C = 1024",
)  # fmt: skip

DOT_IN_MEMORY = PlainTask(
    "row_dots",
    ("in float32 x[R, C]", "in float32 v[C]", "out float32 y[R]", "scalar int32 R = R", "scalar int32 C = C"),
    HEAD + 'extern "C" __global__ void row_dots(const float* x, const float* v, float* y, int R, int C) {\n' + ROW +
    """    y[row] = 0.0f;
    for (int c = 0; c < C; c++) y[row] += x[row * C + c] * v[c];
}
""",
    "def reference(x, v):\n    return x @ v\n",
    **SIZES, atol=1e-3,
)  # fmt: skip

HISTOGRAM = PlainTask(
    "histogram",
    ("in uint8 data[N] fill integers low=0 high=256", "inout uint32 counts[256] fill zeros", "scalar int32 N = N"),
    "// launch: grid=(ceil(N/256)) block=(256)\n"
    'extern "C" __global__ void histogram(const unsigned char* data, unsigned int* counts, int N) {\n'
    """    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    atomicAdd(&counts[data[i]], 1u);
}
""",
    "def reference(data, counts):\n"
    "    return counts + np.bincount(data.astype(int), minlength=256).astype(np.uint32)\n",
    "N = 1000", "N = 7", "N = 1048576",
)  # fmt: skip

TOTAL = PlainTask(
    "total", ("in int32 x[N] fill integers low=0 high=9", "inout int32 sum[1] fill zeros", "scalar int32 N = N"),
    "// launch: grid=(ceil(N/256)) block=(256)\n"
    'extern "C" __global__ void total(const int* x, int* sum, int N) {\n'
    """    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) atomicAdd(sum, x[i]);
}
""",
    "def reference(x, sum):\n    return sum + x.sum(dtype=np.int32)\n",
    "N = 1000", "N = 7", "N = 1048576",
)  # fmt: skip

DISTANCES = PlainTask(
    "distances",
    ("in float32 a[M, K]", "in float32 b[N, K]", "out float32 y[M, N]", "scalar int32 M = M", "scalar int32 N = N",
     "scalar int32 K = K"),
    "// launch: grid=(ceil(N/16), ceil(M/16)) block=(16, 16)\n"
    'extern "C" __global__ void distances(const float* a, const float* b, float* y, int M, int N, int K) {\n'
    """    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= M || j >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; k++) {
        float d = a[i * K + k] - b[j * K + k];
        sum += d * d;
    }
    y[i * N + j] = sqrtf(sum);
}
""",
    "def reference(a, b):\n    return np.sqrt(((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2))\n",
    "M = 70, N = 50, K = 33", "M = 1, N = 3, K = 5", "M = 256, N = 384, K = 128",
)  # fmt: skip

BLUR = PlainTask(
    "blur", ("in uint8 x[H, W] fill integers low=0 high=256", "out uint8 y[H, W]", "scalar int32 H = H",
     "scalar int32 W = W"),
    "// launch: grid=(ceil(W/32), ceil(H/8)) block=(32, 8)\n"
    'extern "C" __global__ void blur(const unsigned char* x, unsigned char* y, int H, int W) {\n'
    """    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r >= H || c >= W) return;
    int sum = 0;
    for (int dr = -3; dr <= 3; dr++) {
        for (int dc = -3; dc <= 3; dc++) {
            sum += x[min(max(r + dr, 0), H - 1) * W + min(max(c + dc, 0), W - 1)];
        }
    }
    y[r * W + c] = sum / 49;
}
""",
    "def reference(x):\n    p = np.pad(x.astype(np.int64), 3, mode='edge')\n    h, w = x.shape\n"
    "    return sum(p[i : i + h, j : j + w] for i in range(7) for j in range(7)) // 49\n",
    "H = 33, W = 70", "H = 1, W = 2", "H = 512, W = 512",
)  # fmt: skip

TURNED = PlainTask(
    "scaled", ("in float32 x[H, W]", "out float32 y[H, W]", "scalar int32 H = H", "scalar int32 W = W"),
    "// launch: grid=(ceil(H/16), ceil(W/16)) block=(16, 16)\n"
    'extern "C" __global__ void scaled(const float* x, float* y, int H, int W) {\n'
    """    int r = blockIdx.x * blockDim.x + threadIdx.x;
    int c = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < H && c < W) y[r * W + c] = 2.0f * x[r * W + c];
}
""",
    "def reference(x):\n    return 2 * x\n",
    "H = 33, W = 70", "H = 1, W = 2", "H = 1024, W = 1024",
)  # fmt: skip

FILTER = PlainTask(
    "fir", ("in float32 x[N]", "in float32 taps[32]", "out float32 y[N]", "scalar int32 N = N"),
    "// launch: grid=(ceil(N/256)) block=(256)\n"
    'extern "C" __global__ void fir(const float* x, const float* taps, float* y, int N) {\n'
    """    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < 32; k++) {
        if (n - k >= 0) sum += taps[k] * x[n - k];
    }
    y[n] = sum;
}
""",
    "def reference(x, taps):\n    return np.convolve(x, taps)[: len(x)]\n",
    "N = 1000", "N = 7", "N = 1048576", atol=1e-4,
)  # fmt: skip

CUMULATIVE = PlainTask(
    "running_rows", ("in float32 x[R, C]", "out float32 y[R, C]", "scalar int32 R = R", "scalar int32 C = C"),
    HEAD + 'extern "C" __global__ void running_rows(const float* x, float* y, int R, int C) {\n' + ROW +
    """    float sum = 0.0f;
    for (int c = 0; c < C; c++) {
        y[row * C + c] = sum;
        sum += x[row * C + c];
    }
}
""",
    "def reference(x):\n    s = np.cumsum(x.astype(np.float64), axis=1)\n"
    "    return np.concatenate([np.zeros((len(x), 1)), s[:, :-1]], axis=1).astype(np.float32)\n",
    "R = 37, C = 100", "R = 3, C = 1", "R = 2048, C = 256", atol=1e-3,
)  # fmt: skip

SMOOTHED = PlainTask(
    "smooth_rows", ("in float32 x[R, C]", "out float32 y[R, C]", "scalar int32 R = R", "scalar int32 C = C"),
    HEAD + 'extern "C" __global__ void smooth_rows(const float* x, float* y, int R, int C) {\n' + ROW +
    """    float state = 0.0f;
    for (int c = 0; c < C; c++) {
        state = 0.75f * state + 0.25f * x[row * C + c];
        y[row * C + c] = state;
    }
}
""",
    "def reference(x):\n    y = np.empty_like(x)\n    s = np.zeros(len(x), dtype=np.float32)\n"
    "    for c in range(x.shape[1]):\n        s = np.float32(0.75) * s + np.float32(0.25) * x[:, c]\n"
    "        y[:, c] = s\n    return y\n",
    "R = 37, C = 100", "R = 3, C = 1", "R = 4096, C = 256",
)  # fmt: skip

PIXELS = PlainTask(
    "luma", ("in uint8 rgba[N*12] fill integers low=0 high=256", "out int32 y[N*3]", "scalar int32 N = N"),
    "// launch: grid=(ceil(N/256)) block=(256)\n"
    'extern "C" __global__ void luma(const unsigned char* rgba, int* y, int N) {\n'
    """    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    for (int p = 0; p < 3; p++) {
        y[i * 3 + p] = 0;
        for (int c = 0; c < 4; c++) {
            y[i * 3 + p] += (c + 1) * rgba[i * 12 + p * 4 + c];
        }
    }
}
""",
    "def reference(rgba):\n"
    "    weights = np.arange(1, 5, dtype=np.int32)\n"
    "    return (rgba.reshape(-1, 4).astype(np.int32) * weights).sum(axis=1).astype(np.int32)\n",
    "N = 1000", "N = 7", "N = 262144",
)  # fmt: skip

DEGREES = PlainTask(
    "degrees",
    ('in int32 ends[E] fill index high="V"', "inout int32 degree[V] fill zeros", "scalar int32 E = E",
     "scalar int32 V = V"),
    "// launch: grid=(ceil(E/256)) block=(256)\n"
    'extern "C" __global__ void degrees(const int* ends, int* degree, int E, int V) {\n'
    """    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < E) atomicAdd(&degree[ends[e]], 1);
}
""",
    "def reference(ends, degree):\n    return degree + np.bincount(ends, minlength=len(degree)).astype(np.int32)\n",
    "E = 1000, V = 100", "E = 7, V = 20000", "E = 1048576, V = 256",
)  # fmt: skip

GROUPS = PlainTask(
    "group_sum", ("in float32 x[G*S]", "inout float32 sum[G] fill zeros", "scalar int32 G = G", "scalar int32 S = S"),
    "// launch: grid=(ceil(G*S/256)) block=(256)\n"
    'extern "C" __global__ void group_sum(const float* x, float* sum, int G, int S) {\n'
    """    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= G * S) return;
    int group = i / S;
    atomicAdd(&sum[group], x[i]);
}
""",
    "def reference(x, sum):\n    return sum + x.reshape(len(sum), -1).sum(axis=1)\n",
    "G = 9, S = 100", "G = 3, S = 1", "G = 16, S = 16384", atol=1e-2,
)  # fmt: skip

JACOBI = PlainTask(
    "jacobi", ("in float32 x[H, W]", "out float32 y[H, W]", "scalar int32 H = H", "scalar int32 W = W"),
    "// launch: grid=(ceil(W/32), ceil(H/8)) block=(32, 8)\n"
    'extern "C" __global__ void jacobi(const float* x, float* y, int H, int W) {\n'
    """    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r >= H || c >= W) return;
    int i = r * W + c;
    if (r == 0 || c == 0 || r == H - 1 || c == W - 1) {
        y[i] = x[i];
    } else {
        y[i] = 0.25f * (x[i - W] + x[i + W] + x[i - 1] + x[i + 1]);
    }
}
""",
    "def reference(x):\n    y = x.copy()\n"
    "    y[1:-1, 1:-1] = 0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])\n    return y\n",
    "H = 33, W = 70", "H = 1, W = 2", "H = 512, W = 512",
)  # fmt: skip

BYTE_DOTS = PlainTask(
    "byte_dots",
    ("in int8 a[M, 64] fill integers low=-9 high=9", "in int8 b[N, 64] fill integers low=-9 high=9",
     "out int32 y[M, N]", "scalar int32 M = M", "scalar int32 N = N"),
    "// launch: grid=(ceil(N/16), ceil(M/16)) block=(16, 16)\n"
    'extern "C" __global__ void byte_dots(const signed char* a, const signed char* b, int* y, int M, int N) {\n'
    """    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < M && j < N) {
        int sum = 0;
        for (int k = 0; k < 64; k++) sum += (int)a[i * 64 + k] * (int)b[j * 64 + k];
        y[i * N + j] = sum;
    }
}
""",
    "def reference(a, b):\n    return a.astype(np.int32) @ b.astype(np.int32).T\n",
    "M = 70, N = 50", "M = 1, N = 3", "M = 256, N = 384",
)  # fmt: skip
