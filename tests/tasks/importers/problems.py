"""Small KernelBench problems of our own and a C++ candidate for each, made from one table.

All candidates share one C++ text, so that a machine compiles it once.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

HEADERS = """
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/utils/pybind.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>
using at::Tensor;
static const float* in(const Tensor& t) { return t.const_data_ptr<float>(); }
static float* out(Tensor& t) { return t.mutable_data_ptr<float>(); }
#define UNARY(name, expression) \\
  Tensor name(Tensor given) { \\
    Tensor x = given.contiguous(), y = at::empty_like(x); \\
    const float* a = in(x); float* b = out(y); \\
    for (int64_t i = 0, n = x.numel(); i < n; ++i) { const float v = a[i]; b[i] = (expression); } \\
    return y; }
#define BINARY(name, expression) \\
  Tensor name(Tensor p, Tensor q) { \\
    Tensor x = p.contiguous(), z = q.contiguous(), y = at::empty_like(x); \\
    const float *a = in(x), *c = in(z); float* b = out(y); \\
    for (int64_t i = 0, n = x.numel(); i < n; ++i) { const float v = a[i], w = c[i]; b[i] = (expression); } \\
    return y; }
#define MEAN_OF(name, expression) \\
  Tensor name(Tensor p, Tensor q) { \\
    Tensor x = p.contiguous(), z = q.contiguous(), y = at::empty({}, x.options()); \\
    const float *a = in(x), *c = in(z); double sum = 0; \\
    for (int64_t i = 0, n = x.numel(); i < n; ++i) { const double v = a[i], w = c[i]; sum += (expression); } \\
    *out(y) = static_cast<float>(sum / x.numel()); return y; }
#define ROWS(name, start, step, end) \\
  Tensor name(Tensor given) { \\
    Tensor x = given.contiguous(); const int64_t rows = x.size(0), columns = x.size(1); \\
    Tensor y = at::empty({rows}, x.options()); \\
    for (int64_t r = 0; r < rows; ++r) { const float* a = in(x) + r * columns; double s = start; \\
      for (int64_t c = 0; c < columns; ++c) { const double v = a[c]; step; } out(y)[r] = static_cast<float>(end); } \\
    return y; }
"""


@dataclass(frozen=True)
class Problem:
    """One problem: what the model computes, on what, and the C++ that computes the same."""

    name: str
    forward: str
    inputs: str
    cpp: str
    call: str
    init: str = ""
    init_values: str = ""
    layers: str = ""

    @property
    def parameters(self) -> str:
        return "x, z" if self.inputs.count("torch.") > 1 else "x"

    def model(self, name: str, forward: str) -> str:
        layers = "".join(f"        {line}\n" for line in self.layers.splitlines())
        init = f", {self.init}" if self.init else ""
        return (
            f"class {name}(nn.Module):\n    def __init__(self{init}):\n        super().__init__()\n{layers}\n"
            f"    def forward(self, {self.parameters}):\n        return {forward}\n"
        )

    @property
    def text(self) -> str:
        head = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"
        inputs = f"def get_inputs():\n    return [{self.inputs}]\n\n\n"
        init = f"def get_init_inputs():\n    return [{self.init_values}]\n"
        return f"{head}{self.model('Model', self.forward)}\n\n{inputs}{init}"

    @property
    def candidate(self) -> str:
        return candidate_text(self.model("ModelNew", f"extension.{self.call}"))


def candidate_text(model: str, source: str | None = None, functions: list[str] | None = None) -> str:
    source = SOURCE if source is None else source
    functions = FUNCTIONS if functions is None else functions
    return (
        "import torch\nimport torch.nn as nn\nfrom torch.utils.cpp_extension import load_inline\n\n"
        f'SOURCE = r"""{source}"""\n'
        f"extension = load_inline(name='many', cpp_sources=[SOURCE], functions={functions!r},\n"
        "                        extra_cflags=['-O3', '-ffast-math', '-march=native'], no_implicit_headers=True)\n\n\n"
        f"{model}"
    )


X = "torch.randn(64, 512)"
XZ = "torch.randn(64, 512), torch.randn(64, 512)"


def _unary(name: str, forward: str, expression: str) -> Problem:
    return Problem(name, forward, X, f"UNARY({name}, {expression})", f"{name}(x)")


def _rows(name: str, forward: str, start: str, step: str, end: str = "s") -> Problem:
    return Problem(name, forward, X, f"ROWS({name}, {start}, {step}, {end})", f"{name}(x)")


PROBLEMS: tuple[Problem, ...] = (
    _unary("relu", "torch.relu(x)", "v > 0 ? v : 0"),
    _unary("leaky_relu", "F.leaky_relu(x, 0.01)", "v > 0 ? v : 0.01f * v"),
    _unary("sigmoid", "torch.sigmoid(x)", "1 / (1 + std::exp(-v))"),
    _unary("tanh_", "torch.tanh(x)", "std::tanh(v)"),
    _unary("silu", "F.silu(x)", "v / (1 + std::exp(-v))"),
    _unary("gelu", "F.gelu(x)", "0.5f * v * (1 + std::erf(v * 0.70710678f))"),
    _unary("elu", "F.elu(x)", "v > 0 ? v : std::exp(v) - 1"),
    _unary("selu", "F.selu(x)", "1.05070099f * (v > 0 ? v : 1.67326324f * (std::exp(v) - 1))"),
    _unary("softplus", "F.softplus(x)", "v > 20 ? v : std::log1p(std::exp(v))"),
    _unary("softsign", "F.softsign(x)", "v / (1 + std::fabs(v))"),
    _unary("hardtanh", "F.hardtanh(x)", "std::min(1.f, std::max(-1.f, v))"),
    _unary("hardsigmoid", "F.hardsigmoid(x)", "std::min(1.f, std::max(0.f, v / 6 + 0.5f))"),
    _unary("hardswish", "F.hardswish(x)", "v * std::min(1.f, std::max(0.f, v / 6 + 0.5f))"),
    _unary("mish", "x * torch.tanh(F.softplus(x))", "v * std::tanh(std::log1p(std::exp(v)))"),
    _unary("scaled_square", "2.5 * x * x + 1.0", "2.5f * v * v + 1.0f"),
    Problem("add", "x + z", XZ, "BINARY(add, v + w)", "add(x, z)"),
    Problem("gated", "x * torch.sigmoid(z)", XZ, "BINARY(gated, v / (1 + std::exp(-w)))", "gated(x, z)"),
    Problem("fused_relu", "torch.relu(x + z) * 0.5", XZ, "BINARY(fused_relu, v + w > 0 ? 0.5f * (v + w) : 0)",
            "fused_relu(x, z)"),
    Problem("mse", "F.mse_loss(x, z)", XZ, "MEAN_OF(mse, (v - w) * (v - w))", "mse(x, z)"),
    Problem("l1", "F.l1_loss(x, z)", XZ, "MEAN_OF(l1, std::fabs(v - w))", "l1(x, z)"),
    Problem("huber", "F.smooth_l1_loss(x, z)", XZ,
            "MEAN_OF(huber, std::fabs(v - w) < 1 ? 0.5 * (v - w) * (v - w) : std::fabs(v - w) - 0.5)", "huber(x, z)"),
    Problem("hinge", "torch.mean(torch.clamp(1 - x * z, min=0))", XZ, "MEAN_OF(hinge, std::max(0.0, 1 - v * w))",
            "hinge(x, z)"),
    _rows("row_sum", "torch.sum(x, dim=1)", "0", "s += v"),
    _rows("row_mean", "torch.mean(x, dim=1)", "0", "s += v", "s / columns"),
    _rows("row_max", "torch.max(x, dim=1).values", "-1e30", "s = std::max(s, v)"),
    _rows("row_min", "torch.min(x, dim=1).values", "1e30", "s = std::min(s, v)"),
    _rows("row_norm", "torch.linalg.vector_norm(x, dim=1)", "0", "s += v * v", "std::sqrt(s)"),
    Problem("row_argmax", "torch.argmax(x, dim=1)", X, """
Tensor row_argmax(Tensor given) {
  Tensor x = given.contiguous(), y = at::empty({x.size(0)}, x.options().dtype(at::kLong));
  for (int64_t r = 0; r < x.size(0); ++r) {
    const float* a = in(x) + r * x.size(1);
    y.mutable_data_ptr<int64_t>()[r] = std::max_element(a, a + x.size(1)) - a;
  }
  return y;
}""", "row_argmax(x)"),
    Problem("softmax", "torch.softmax(x, dim=1)", X, """
Tensor softmax(Tensor given) {
  Tensor x = given.contiguous(), y = at::empty_like(x);
  for (int64_t r = 0, n = x.size(1); r < x.size(0); ++r) {
    const float* a = in(x) + r * n; float* b = out(y) + r * n;
    const float top = *std::max_element(a, a + n); float sum = 0;
    for (int64_t c = 0; c < n; ++c) sum += b[c] = std::exp(a[c] - top);
    for (int64_t c = 0; c < n; ++c) b[c] /= sum;
  }
  return y;
}""", "softmax(x)"),
    Problem("cumsum", "torch.cumsum(x, dim=1)", X, """
Tensor cumsum(Tensor given) {
  Tensor x = given.contiguous(), y = at::empty_like(x);
  for (int64_t r = 0, n = x.size(1); r < x.size(0); ++r) {
    double sum = 0;
    for (int64_t c = 0; c < n; ++c) out(y)[r * n + c] = static_cast<float>(sum += in(x)[r * n + c]);
  }
  return y;
}""", "cumsum(x)"),
    Problem("matmul", "x @ z", "torch.randn(48, 96), torch.randn(96, 64)", """
Tensor matmul(Tensor p, Tensor q) {
  Tensor x = p.contiguous(), z = q.contiguous();
  const int64_t m = x.size(0), k = x.size(1), n = z.size(1);
  Tensor y = at::empty({m, n}, x.options());
  std::fill(out(y), out(y) + m * n, 0.f);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t l = 0; l < k; ++l)
      for (int64_t j = 0; j < n; ++j) out(y)[i * n + j] += in(x)[i * k + l] * in(z)[l * n + j];
  return y;
}""", "matmul(x, z)"),
    Problem("diagonal", "torch.diag(x) @ z", "torch.randn(256), torch.randn(256, 256)", """
Tensor diagonal(Tensor p, Tensor q) {
  Tensor x = p.contiguous(), z = q.contiguous(), y = at::empty_like(z);
  for (int64_t i = 0, n = z.size(1); i < z.size(0); ++i)
    for (int64_t j = 0; j < n; ++j) out(y)[i * n + j] = in(x)[i] * in(z)[i * n + j];
  return y;
}""", "diagonal(x, z)"),
    Problem("rms_norm", "x / torch.sqrt(torch.mean(x * x, dim=1, keepdim=True) + self.eps)", X, """
Tensor rms_norm(Tensor given, double eps) {
  Tensor x = given.contiguous(), y = at::empty_like(x);
  for (int64_t r = 0, n = x.size(1); r < x.size(0); ++r) {
    double sum = 0;
    for (int64_t c = 0; c < n; ++c) sum += in(x)[r * n + c] * in(x)[r * n + c];
    const float scale = static_cast<float>(1 / std::sqrt(sum / n + eps));
    for (int64_t c = 0; c < n; ++c) out(y)[r * n + c] = in(x)[r * n + c] * scale;
  }
  return y;
}""", "rms_norm(x, self.eps)", init="eps", init_values="1e-5", layers="self.eps = eps"),
    Problem("linear_relu", "torch.relu(self.layer(x))", "torch.randn(32, 128)", """
Tensor linear_relu(Tensor given, Tensor weight, Tensor bias) {
  Tensor x = given.contiguous(), w = weight.contiguous(), b = bias.contiguous();
  const int64_t m = x.size(0), k = x.size(1), n = w.size(0);
  Tensor y = at::empty({m, n}, x.options());
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float sum = in(b)[j];
      for (int64_t l = 0; l < k; ++l) sum += in(x)[i * k + l] * in(w)[j * k + l];
      out(y)[i * n + j] = std::max(sum, 0.f);
    }
  return y;
}""", "linear_relu(x, self.layer.weight, self.layer.bias)", init="n_in, n_out", init_values="128, 64",
            layers="self.layer = nn.Linear(n_in, n_out)"),
)  # fmt: skip

FUNCTIONS = [problem.name for problem in PROBLEMS]
SOURCE = HEADERS + "\n".join(problem.cpp for problem in PROBLEMS)


def write_problems(folder: Path, problems: tuple[Problem, ...] = PROBLEMS) -> tuple[Path, Path]:
    """The folders of the problems and of their candidates."""
    for part in ("problems", "candidates"):
        (folder / part).mkdir(parents=True)
    for number, problem in enumerate(problems, start=1):
        (folder / "problems" / f"{number}_{problem.name}.py").write_text(problem.text)
        (folder / "candidates" / f"{number}_{problem.name}.py").write_text(problem.candidate)
    return folder / "problems", folder / "candidates"
