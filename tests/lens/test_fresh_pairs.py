"""The pairs of fresh.toml: they compute what they say, and the findings about them are those written down before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from benchmarks.findings import OLD_ANSWERS, judge, look
from benchmarks.pairs import load_fresh, load_pairs, run_side

from warpsight.devices.virtual import VirtualGpu
from warpsight.vgpu.gpus import find_gpu

FRESH = {pair.name: pair for pair in load_fresh()}
Arrays = Mapping[str, Any]


def windows(x: np.ndarray, *shape: int) -> np.ndarray:
    return np.lib.stride_tricks.sliding_window_view(x, shape)


def convolved(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    return np.moveaxis(windows(x, w.shape[-1])[:-1] @ w.astype(np.float64).T, -1, 0)


def squared(x: np.ndarray) -> np.ndarray:
    """Matrices of 8 x 8, element by element: each squared and scaled, eight times."""
    m = np.moveaxis(x.reshape(8, 8, -1).astype(np.float64), -1, 0)
    for _ in range(8):
        m = 0.25 * (m @ m)
    return np.moveaxis(m, 0, -1).reshape(x.shape)


def walked(following: np.ndarray, steps: int) -> list[np.ndarray]:
    """The rows that every thread comes to, step by step."""
    rows, row = [], np.arange(following.size // 32)
    for _ in range(steps):
        row = following[row * 32]
        rows.append(np.repeat(row, 32).astype(np.uint32))
    return rows


def log_of(v: Arrays) -> np.ndarray:
    total = np.zeros(v["y"].size, np.uint32)
    for row in walked(v["next"], int(v["steps"]))[3::4][::-1]:
        total = total * np.uint32(31) + row
    return total.view(np.int32)


def scanned(x: np.ndarray) -> np.ndarray:
    rounds = [np.cumsum((x ^ np.uint32(r)).reshape(-1, 256), axis=1, dtype=np.uint32) for r in range(8)]
    return np.bitwise_xor.reduce(rounds).reshape(-1)


def checked(x: np.ndarray) -> np.ndarray:
    crc = np.full_like(x, 0xFFFFFFFF)
    for word in range(8):
        crc ^= x + np.uint32(word)
        for _ in range(32):
            crc = (crc >> np.uint32(1)) ^ np.where(crc & 1, np.uint32(0xEDB88320), np.uint32(0))
    return ~crc


def worked(v: Arrays) -> np.ndarray:
    result = v["x"].astype(np.float64)
    for _ in range(512):
        result = np.where(v["active"], result * 0.99 + 0.01, result)
    return result


def softened(x: np.ndarray) -> np.ndarray:
    for _ in range(8):
        x = np.log1p(np.exp(x.astype(np.float64))) - 0.5
    return x


def sine_sums(v: Arrays) -> np.ndarray:
    multiples = np.arange(1, 33)[:, None] * v["x"].astype(np.float64)
    return 64 + v["w"][:32].astype(np.float64) @ np.sin(multiples)


EXPECTED: dict[str, Callable[[Arrays], Any]] = {
    "distances": lambda v: ((v["P"][:, None].astype(np.float64) - v["Q"][None]) ** 2).sum(2),
    "gram_matrix": lambda v: v["x"].T.astype(np.float64) @ v["x"],
    "filter_bank": lambda v: convolved(v["x"], v["w"]),
    "fir_filter": lambda v: windows(v["x"], 64)[:-1] @ v["w"].astype(np.float64),
    "matvec_rows": lambda v: v["A"].astype(np.float64) @ v["x"],
    "records_out": lambda v: v["x"].astype(np.float64)[:, None] ** np.arange(1, 9),
    "row_maxima": lambda v: v["x"].max(1),
    "neighbour_counts": lambda v: (np.abs(v["x"][:, None] - v["centres"]) < np.float32(0.1)).sum(1),
    "private_histograms": lambda v: np.bincount(v["x"].view(np.uint8), minlength=64),
    "small_matrices": lambda v: squared(v["x"]),
    "median_window": lambda v: np.median(windows(v["x"][3:-3, 3:-3], 3, 3), axis=(2, 3)),
    "class_sums": lambda v: np.bincount(v["label"], v["x"], minlength=8),
    "parity_counts": lambda v: np.bincount(v["x"].view(np.uint8) & 1),
    "tree_search": lambda v: np.searchsorted(v["tree"][-(32**4) :], v["queries"], "right") - 1,
    "walk_log": log_of,
    "column_sums": lambda v: v["x"].sum(0, dtype=np.float64),
    "compact_first": worked,
    "scan_barriers": lambda v: scanned(v["x"]),
    "softplus_double": lambda v: softened(v["x"]),
    "mod_power": lambda v: [pow(int(x), int(v["exponent"]), int(v["modulus"])) for x in v["x"]],
    "harmonics": sine_sums,
    "crc_bits": lambda v: checked(v["x"]),
}


def test_every_fresh_pair_is_here_and_there_are_enough() -> None:
    assert set(EXPECTED) == set(FRESH) and len(FRESH) >= 12 and len(load_pairs()) >= 55
    assert not set(OLD_ANSWERS) & set(FRESH)


@pytest.mark.parametrize("name", FRESH)
def test_a_fresh_pair_computes_what_it_says(name: str) -> None:
    pair = FRESH[name]
    before = {v.name: v.array for v in pair.values("slow", pair.small)}
    (got,) = run_side(pair, "slow", pair.small, VirtualGpu(cores=1), check=False).arrays.values()
    np.testing.assert_allclose(got, EXPECTED[name](before), rtol=max(pair.rtol, 1e-5))


@pytest.mark.slow
@pytest.mark.parametrize("gpu", ["rtx-a6000", "a100"])
@pytest.mark.parametrize("name", FRESH)
def test_a_fresh_defect_is_named_and_gone_when_repaired(name: str, gpu: str) -> None:
    found = judge(look(FRESH[name], find_gpu(gpu)), FRESH[name].expected_finding)
    assert found.named and found.gone
