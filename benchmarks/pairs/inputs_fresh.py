"""The arguments of the kernels of fresh.toml, by kind of kernel; `inputs.py` has what they are made with."""

from __future__ import annotations

import numpy as np

from benchmarks.pairs.inputs import F32, I32, U8, U32, Values, draw, floats, given, number, updated, written
from benchmarks.pairs.pair import Axes, Side

COORDINATES, TAPS, BANK_TAPS, FILTERS, COLUMNS, WIDE_ROW, FIELDS = 256, 64, 32, 32, 128, 8192, 8
MODULUS, EXPONENT = 1_000_000_007, 1_000_000_005


def two_clouds(axes: Axes, side: Side) -> Values:
    n, r = axes["N"], draw()
    p, q = r.random((n, COORDINATES), F32), r.random((n, COORDINATES), F32)
    return given("P", p), given("Q", q), written("y", (n, n)), number("n", n)


def signal_and_bank(axes: Axes, side: Side) -> Values:
    n = axes["N"]
    weights = np.ascontiguousarray(floats(FILTERS, BANK_TAPS)[::-1])
    return given("x", floats(n + BANK_TAPS)), given("w", weights), written("y", (FILTERS, n)), number("n", n)


def signal_and_taps(axes: Axes, side: Side) -> Values:
    return given("x", floats(axes["N"] + TAPS)), given("w", floats(TAPS)[::-1]), written("y", axes["N"])


def rows_and_vector(axes: Axes, side: Side) -> Values:
    return given("A", floats(axes["N"], COLUMNS)), given("x", floats(COLUMNS)), written("y", axes["N"])


def records_from(axes: Axes, side: Side) -> Values:
    return given("x", floats(axes["N"])), written("y", (axes["N"], FIELDS))


def long_rows(axes: Axes, side: Side) -> Values:
    return given("x", floats(axes["N"], WIDE_ROW)), written("y", axes["N"])


def points_and_centres(axes: Axes, side: Side) -> Values:
    return given("x", floats(axes["N"])), given("centres", floats(128)), written("counts", axes["N"], I32)


def flat_areas(axes: Axes, side: Side) -> Values:
    """Words of four equal bytes below 64; a value holds for 512 words in a row."""
    areas = draw().integers(0, 64, axes["N"] // 512, U32)
    return given("x", np.repeat(areas * U32(0x01010101), 512)), updated("bins", np.zeros(64, U32))


def matrix_fields(axes: Axes, side: Side) -> Values:
    """Matrices of 8 x 8: all first elements side by side, then all second ones."""
    n = axes["N"]
    return given("x", floats(64, n)), written("y", (64, n)), number("n", n)


def labelled(axes: Axes, side: Side) -> Values:
    n = axes["N"]
    return given("x", floats(n)), given("label", draw().integers(0, 8, n, U8)), updated("sums", np.zeros(8, F32))


def words(axes: Axes, side: Side) -> Values:
    return given("x", draw().integers(0, 2**32, axes["N"], U32)), updated("counts", np.zeros(2, U32))


def words_to_words(axes: Axes, side: Side) -> Values:
    return given("x", draw().integers(0, 2**32, axes["N"], U32)), written("y", axes["N"], U32)


def tree_and_queries(axes: Axes, side: Side) -> Values:
    """A search tree of four levels over 32^4 sorted keys, every level after the one above it."""
    keys = np.cumsum(draw().integers(1, 1000, 32**4, I32), dtype=I32)
    tree = np.concatenate([keys[:: 32 ** (3 - level)] for level in range(4)])
    return (
        given("tree", tree),
        given("queries", draw().integers(1000, keys[-1], axes["N"], I32)),
        written("y", axes["N"], I32),
    )


def tall_matrix(axes: Axes, side: Side) -> Values:
    """N rows of 1024; the sums start at zero, since blocks add to them."""
    return given("x", floats(axes["N"], 1024)), updated("y", np.zeros(1024, F32)), number("rows", axes["N"])


def sparse_work(axes: Axes, side: Side) -> Values:
    """One item in eight has work to do."""
    n = axes["N"]
    return given("active", draw().integers(0, 8, n, U8) == 0, U8), given("x", floats(n)), written("y", n)


def residues(axes: Axes, side: Side) -> Values:
    """Numbers below a prime, and what Montgomery's way needs to know of it."""
    x = draw().integers(1, MODULUS, axes["N"], U32)
    inverse, square = -pow(MODULUS, -1, 2**32) % 2**32, 2**64 % MODULUS
    constants = {"exponent": EXPONENT, "modulus": MODULUS, "inverse": inverse, "square": square}
    return given("x", x), written("y", axes["N"], U32), *(number(name, value, U32) for name, value in constants.items())
