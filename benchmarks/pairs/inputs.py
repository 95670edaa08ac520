"""The arguments of the pairs' kernels, by kind of kernel. The same axes give the same numbers, whichever side asks.

Outputs start as poison that counts as unwritten, so an element nobody wrote is seen.
Arrays that kernels add to start at zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.pairs.pair import Axes, Side
from warpsight.devices.device import Value

Values = tuple[Value, ...]
F16, F32, I32, U8, U32, U64 = np.float16, np.float32, np.int32, np.uint8, np.uint32, np.uint64
FIELDS = 8


def draw() -> np.random.Generator:
    return np.random.default_rng(0)


def given(name: str, array: NDArray[Any], dtype: Any = None) -> Value:
    return Value(name, np.ascontiguousarray(array, dtype), writable=False)


def number(name: str, value: float, dtype: Any = I32) -> Value:
    return Value(name, np.array(value, dtype), writable=False)


def written(name: str, shape: int | tuple[int, ...], dtype: Any = F32) -> Value:
    poison = np.full(int(np.prod(shape)) * np.dtype(dtype).itemsize, 0xA5, np.uint8)
    return Value(name, poison.view(dtype).reshape(shape), writable=True, initialised=False)


def updated(name: str, array: NDArray[Any]) -> Value:
    return Value(name, array, writable=True)


def floats(*shape: int) -> NDArray[np.float32]:
    return draw().random(shape, F32)


def square(axes: Axes, side: Side) -> Values:
    """x and y, n by n."""
    n = axes["N"]
    return given("x", floats(n, n)), written("y", (n, n)), number("n", n)


def framed_square(axes: Axes, side: Side) -> Values:
    """x has four more elements on every side."""
    n = axes["N"]
    return given("x", floats(n + 8, n + 8)), written("y", (n, n)), number("n", n)


def particles(axes: Axes, side: Side) -> Values:
    """Records side by side for the slow kernel, fields side by side for the fast one."""
    n = axes["N"]
    records = floats(n, FIELDS)
    return given("particles", records if side == "slow" else records.T), written("y", n), number("n", n)


def vector(axes: Axes, side: Side) -> Values:
    return given("x", floats(axes["N"])), written("y", axes["N"])


def sized_vector(axes: Axes, side: Side) -> Values:
    return *vector(axes, side), number("n", axes["N"])


def sized_half_axpy(axes: Axes, side: Side) -> Values:
    return *half_axpy(axes, side), number("n", axes["N"])


def scaled_rounds(axes: Axes, side: Side) -> Values:
    return *scaled(axes, side), number("rounds", axes["ROUNDS"])


def turned_square(axes: Axes, side: Side) -> Values:
    return *square(axes, side), number("rounds", axes["ROUNDS"])


def piece_behind_a_header(axes: Axes, side: Side) -> Values:
    """8192 floats that all blocks go over, and a result for each of N."""
    header = np.zeros(1 if side == "slow" else 8, F32)
    x = np.concatenate([header, floats(8192)])
    return given("x", x), written("y", axes["N"]), number("rounds", axes["ROUNDS"])


def vector_behind_a_header(axes: Axes, side: Side) -> Values:
    header = np.zeros(1 if side == "slow" else 8, F32)
    return given("x", np.concatenate([header, floats(axes["N"])])), written("y", axes["N"])


def vector_in_steps(axes: Axes, side: Side) -> Values:
    # Each launch writes a slice; the others are as the launch before left them, so the whole counts as written.
    return given("x", floats(axes["N"])), updated("y", np.zeros(axes["N"], F32)), number("step", 0)


def axpy(axes: Axes, side: Side) -> Values:
    n = axes["N"]
    return given("x", floats(n)), updated("y", np.ones(n, F32)), number("n", n)


def half_axpy(axes: Axes, side: Side) -> Values:
    n = axes["N"]
    return given("x", floats(n), F16), updated("y", np.ones(n, F16))


def rounds(axes: Axes, side: Side) -> Values:
    return *vector(axes, side), number("rounds", axes["ROUNDS"])


def slices(axes: Axes, side: Side) -> Values:
    n, count = axes["N"], axes["ROUNDS"]
    return given("x", floats(n // 64 * count * 256)), written("y", n), number("rounds", count)


def weighted(axes: Axes, side: Side) -> Values:
    return given("x", floats(axes["N"])), given("w", floats(8192)), written("y", axes["N"])


def unsigned(axes: Axes, side: Side) -> Values:
    return given("x", draw().integers(0, 2**32, axes["N"], U32)), written("y", axes["N"], U32)


def periodic(axes: Axes, side: Side) -> Values:
    x = draw().integers(2**40, 2**63, axes["N"], U64)  # too long for the short cut of 32-bit division
    return given("x", x), written("y", axes["N"], U64), number("period", 1000003, U64)


def byte_vector(axes: Axes, side: Side) -> Values:
    return given("x", draw().integers(0, 256, axes["N"], U8)), written("y", axes["N"], U8)


def two_sums(axes: Axes, side: Side) -> Values:
    """Every x times each of a few terms, added up plain and squared."""
    n, terms = axes["N"], axes["TERMS"]
    outputs = written("sums", n), written("squares", n)
    return given("x", floats(n)), given("w", floats(terms)), *outputs, number("terms", terms)


def scaled(axes: Axes, side: Side) -> Values:
    chosen = np.arange(8)[::-1]
    return (
        given("x", floats(axes["N"])),
        given("scales", floats(8)),
        given("chosen", chosen, I32),
        written("y", axes["N"]),
    )


def gather(axes: Axes, side: Side) -> Values:
    """Places and weights in random order for the slow kernel, sorted by place for the fast one."""
    n, r = axes["N"], draw()
    where, weight = r.integers(0, n, n, I32), r.integers(0, 1000, n, U32)
    order = np.arange(n) if side == "slow" else np.argsort(where, kind="stable")
    table = r.integers(0, 2**32, n, U32)
    return (
        given("table", table),
        given("where", where[order]),
        given("weight", weight[order]),
        updated("total", np.zeros(1, U32)),
    )


def matrices(axes: Axes, side: Side) -> Values:
    n, r = axes["N"], draw()
    a, b = r.random((n, n), F32), r.random((n, n), F32)
    return given("A", a), given("B", b), written("C", (n, n)), number("n", n)


def half_matrices(axes: Axes, side: Side) -> Values:
    a, b, c, n = matrices(axes, side)
    return given("A", a.array, F16), given("B", b.array, F16), c, n


def chain(axes: Axes, side: Side) -> Values:
    """`next` leads each warp from row to row: 32 equal numbers a row, so that the load is one line wide."""
    n = axes["N"]
    following = np.repeat(draw().permutation(n // 32).astype(I32), 32)
    return given("next", following), written("y", n, I32), number("steps", axes["STEPS"])


def chain_with_table(axes: Axes, side: Side) -> Values:
    following, y, steps = chain(axes, side)
    return following, given("table", draw().integers(0, 1000, 128 * 32, I32)), y, steps


def block_sums(axes: Axes, side: Side) -> Values:
    """`ROUNDS` sums for each block of `BLOCK` elements."""
    n = axes["N"]
    return given("x", draw().integers(-1000, 1000, n, I32)), written("y", n // axes["BLOCK"] * axes["ROUNDS"], I32)


def row_ends(axes: Axes, side: Side) -> Values:
    """Rows of 32, one result each."""
    return given("x", floats(axes["N"] // 32, 32)), written("y", axes["N"] // 32)


def whole_sum(axes: Axes, side: Side) -> Values:
    return given("x", floats(axes["N"])), updated("total", np.zeros(1, F32))


def even_histogram(axes: Axes, side: Side) -> Values:
    return given("x", draw().integers(0, 64, axes["N"], U8)), updated("bins", np.zeros(64, U32))


def skewed_histogram(axes: Axes, side: Side) -> Values:
    """Nine values of ten fall into one bin."""
    r = draw()
    x = np.where(r.random(axes["N"]) < 0.9, 7, r.integers(0, 256, axes["N"]))
    return given("x", x, U8), updated("bins", np.zeros(64, U32))


def work_list(axes: Axes, side: Side) -> Values:
    """Items with 1 to 2560 trips, few of them long; the fast kernel takes them in order of their trips."""
    n = axes["N"]
    trips = np.minimum(1 + draw().exponential(400.0, n), 2560).astype(I32)
    order = np.arange(n) if side == "slow" else np.argsort(trips, kind="stable")
    return given("order", order, I32), given("trips", trips), written("y", n)
