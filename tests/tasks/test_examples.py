"""The example tasks: each is read without complaint, and its reference agrees with another way to compute it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from warpsight.nouns import Task, Workload
from warpsight.tasks import compare, evaluate_launch, generate_inputs, read_candidate, read_task, run_reference

FOLDERS = sorted(file.parent for file in (Path(__file__).parents[2] / "tasks").glob("*/task.toml"))
Arrays = Mapping[str, Any]


def matmul(v: Arrays) -> np.ndarray:
    return sum((np.outer(v["A"][:, k], v["B"][k]) for k in range(v["K"])), np.zeros((v["M"], v["N"])))


def batched_matmul(v: Arrays) -> np.ndarray:
    return (v["A"][:, :, :, None] * v["B"][:, None, :, :]).sum(axis=2)


def transposed(v: Arrays) -> np.ndarray:
    return np.array([[v["x"][r, c] for r in range(v["R"])] for c in range(v["C"])])


def softmax(v: Arrays) -> np.ndarray:
    return np.array([[1 / np.exp(row - value).sum() for value in row] for row in v["x"]])


def layer_norm(v: Arrays) -> np.ndarray:
    rows = [(row - np.mean(row)) / np.sqrt(np.mean(row**2) - np.mean(row) ** 2 + v["eps"]) for row in v["x"]]
    return np.stack(rows) * v["gamma"] + v["beta"]


def scan(v: Arrays) -> np.ndarray:
    return v["x"] @ np.triu(np.ones((v["C"], v["C"])))


def histogram(v: Arrays) -> np.ndarray:
    return np.array([np.count_nonzero(v["values"] == b) for b in range(v["BINS"])])


def stencil(v: Arrays) -> np.ndarray:
    u, out = v["u"], v["u"].copy()
    for y in range(1, v["H"] - 1):
        for x in range(1, v["W"] - 1):
            flow = sum(u[y + dy, x + dx] - u[y, x] for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0)))
            out[y, x] = u[y, x] + v["k"] * flow
    return out


def conv(v: Arrays) -> np.ndarray:
    height, width = v["H"] - v["R"] + 1, v["W"] - v["R"] + 1
    out = np.zeros((len(v["filters"]), height, width))
    for k, c, dy, dx in np.ndindex(v["filters"].shape):
        out[k] += v["filters"][k, c, dy, dx] * v["image"][c, dy : dy + height, dx : dx + width]
    return out


def scatter_add(v: Arrays) -> np.ndarray:
    return v["out"] + np.bincount(v["index"], weights=v["values"], minlength=v["M"])


def spmv(v: Arrays) -> np.ndarray:
    dense = np.zeros((v["M"], v["N"]))
    for row in range(v["M"]):
        for entry in range(v["rows"][row], v["rows"][row + 1]):
            dense[row, v["cols"][entry]] += v["vals"][entry]
    return dense @ v["x"]


def xorshift(v: Arrays) -> np.ndarray:
    def hashed(word: int) -> int:
        h = (word + 0x9E3779B9) % 2**32
        for _ in range(v["ROUNDS"]):
            h ^= h << 13 & 0xFFFFFFFF
            h ^= h >> 17
            h ^= h << 5 & 0xFFFFFFFF
            h = (h * 0x85EBCA6B + h.bit_count()) % 2**32
        return h

    return np.array([hashed(int(word)) for word in v["x"]], np.uint32)


def collatz(v: Arrays) -> np.ndarray:
    def steps(n: int) -> int:
        count = 0
        while n != 1:
            n, count = (3 * n + 1 if n & 1 else n >> 1), count + 1
        return count

    return np.array([steps(int(n)) for n in v["start"]])


def nbody(v: Arrays) -> np.ndarray:
    position, mass = v["bodies"][:, :3], v["bodies"][:, 3]
    d = position[None, :, :] - position[:, None, :]
    distance = np.sqrt(np.einsum("ijk,ijk->ij", d, d) + v["soft"])
    return np.einsum("j,ijk,ij->ik", mass, d, distance**-3.0)


def axpy(v: Arrays) -> np.ndarray:
    return np.array([v["alpha"] * a + b for a, b in zip(v["x"], v["y"], strict=True)])


def half_matmul(v: Arrays) -> np.ndarray:
    return np.einsum("mk,kn->mn", v["a"], v["b"])


def attention(v: Arrays) -> np.ndarray:
    out = np.zeros_like(v["q"])
    for head, row in np.ndindex(v["q"].shape[:2]):
        weights = np.exp(v["k"][head] @ v["q"][head, row] * v["scale"])
        out[head, row] = weights @ v["v"][head] / weights.sum()
    return out


ANOTHER_WAY: dict[str, Callable[[Arrays], np.ndarray]] = {
    "vector_add": lambda v: np.array([a + b for a, b in zip(v["a"], v["b"], strict=True)]),
    "saxpy": axpy,
    "daxpy": axpy,
    "half_axpy": axpy,
    "matmul_naive": matmul,
    "matmul_tiled": matmul,
    "matmul_register_blocked": matmul,
    "batched_matmul_small": batched_matmul,
    "transpose": transposed,
    "transpose_tiled": transposed,
    "reduce_sum": lambda v: np.array([sum(v["x"].tolist())]),
    "reduce_max_rows": lambda v: np.array([max(row.tolist()) for row in v["x"]]),
    "softmax": softmax,
    "layer_norm": layer_norm,
    "scan": scan,
    "histogram": histogram,
    "stencil2d": stencil,
    "conv2d": conv,
    "gather": lambda v: np.stack([v["table"][i] for i in v["index"]]),
    "scatter_add": scatter_add,
    "spmv_csr": spmv,
    "xorshift": xorshift,
    "collatz": collatz,
    "nbody": nbody,
    "triton_vector_add": lambda v: np.array([a + b for a, b in zip(v["a"], v["b"], strict=True)]),
    "triton_softmax": softmax,
    "triton_layer_norm": layer_norm,
    "triton_matmul": half_matmul,
    "triton_attention": attention,
    "bitonic_sort": lambda v: np.array([sorted(row.tolist()) for row in v["x"]]),
}


def wide(task: Task, workload: Workload, seed: int) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """(the inputs, the same by name as float64 with axes and scalars as plain numbers)."""
    inputs = generate_inputs(task, workload, seed)
    widened = {name: a.astype(np.float64) if a.dtype.kind == "f" else a for name, a in inputs.items()}
    return inputs, dict(workload.axes) | {name: a if a.ndim else a.item() for name, a in widened.items()}


def output(task: Task) -> str:
    (name,) = (a.name for a in task.arguments if a.role in ("out", "inout"))
    return name


def test_there_is_another_way_for_every_task() -> None:
    assert {folder.name for folder in FOLDERS} == set(ANOTHER_WAY)
    assert len(FOLDERS) >= 18


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_task_is_whole(folder: Path) -> None:
    task = read_task(folder)
    assert task.name == folder.name
    assert sum(w.hidden for w in task.workloads) >= 2
    assert sum(not w.hidden and not w.profile for w in task.workloads) >= 3
    assert sum(w.profile for w in task.workloads) == 1
    candidate = read_candidate(task.kernel, task, task.kernel_file)
    for workload in task.workloads:
        grid, block, _ = evaluate_launch(candidate, workload.axes)
        threads = int(np.prod(grid, dtype=np.int64)) * int(np.prod(block))
        assert threads <= (2**22 if workload.profile else 2**17), workload.name


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_reference_agrees_with_another_way(folder: Path) -> None:
    task = read_task(folder)
    name = output(task)
    for workload in task.workloads:
        if workload.profile:
            continue
        inputs, values = wide(task, workload, 11)
        expected = run_reference(task, inputs, workload.axes)[name]
        np.testing.assert_allclose(ANOTHER_WAY[task.name](values), expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_tolerance_lets_rounding_pass_and_lower_precision_fail(folder: Path) -> None:
    task = read_task(folder)
    name = output(task)
    dtype = np.dtype(next(a.dtype for a in task.arguments if a.name == name))
    workload = task.workloads[0]
    expected = run_reference(task, generate_inputs(task, workload, 5), workload.axes)
    assert compare(task, {name: expected[name].astype(dtype)}, expected).ok
    if dtype.kind == "f" and dtype.itemsize > 2:
        lower = np.float16 if dtype == np.float32 else np.float32
        result = compare(task, {name: expected[name].astype(lower).astype(dtype)}, expected)
        assert result.reason == "wrong_values"
