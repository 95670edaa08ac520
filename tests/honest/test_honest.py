"""Kernels that people write are right, whatever the secret seed. See `collection` for where they come from.

The fast run takes a few of them with one seed, the slow one all with several.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path

import pytest
from tests.honest.collection import Entry, entries

from warpsight.devices.virtual import Isa, VirtualGpu
from warpsight.gate.check import check_candidate
from warpsight.nouns import Check
from warpsight.tasks import read_candidate
from warpsight.toolchain.compile import compile_cuda

ALL = entries()
FAST = ("gelu_tanh", "elu", "silu_bf16", "sigmoid_in", "quant_uint8_tensor", "masked_fill_dropout", "dequant_fp8_e5m2")
SEEDS = (1, 7, 20261117)
# Triton is told sm_80 for GPUs from sm_90 on, where it has no E4M3.
EIGHT_BITS = [
    pytest.param(entry, arch, id=f"{entry.name}-{arch}")
    for entry in ALL
    if "float8_" in entry.declared
    for arch in (("sm_89",) if entry.is_triton else ("sm_89", "sm_90"))
]


@functools.cache
def has_standard_headers() -> bool:
    text = "#include <cmath>\n#include <cstdint>\n#include <float.h>\n#include <limits.h>\n__global__ void k() {}\n"
    return compile_cuda(text, gpu_arch="sm_80").ok


def checked(entry: Entry, folder: Path, seed: int, isa: Isa = "ptx") -> Check:
    if entry.needs_headers and not has_standard_headers():
        pytest.skip("no headers of the standard library")
    task = entry.task(folder)
    candidate = read_candidate(task.kernel, task, task.kernel_file)
    return check_candidate(task, candidate, VirtualGpu(isa=isa), seed=seed % 1000, secret_seed=seed)


def test_there_are_sixty_of_them_of_both_languages() -> None:
    assert len({entry.name for entry in ALL}) == len(ALL) >= 60
    assert sum(entry.is_triton for entry in ALL) >= 15
    assert sum(entry.needs_headers for entry in ALL) >= 12


@pytest.mark.parametrize("entry", [e for e in ALL if e.name in FAST], ids=lambda e: e.name)
def test_a_common_kernel_is_right(entry: Entry, tmp_path: Path) -> None:
    found = checked(entry, tmp_path, SEEDS[0])
    assert found.verdict == "right", found.reason


@pytest.mark.parametrize("isa", ["ptx", "sass"])
@pytest.mark.parametrize("entry, arch", EIGHT_BITS)
def test_a_kernel_of_8_bit_floats_is_right_where_they_are_native(
    entry: Entry, arch: str, isa: Isa, tmp_path: Path
) -> None:
    found = checked(replace(entry, declared=f"arch {arch}\n{entry.declared}"), tmp_path, SEEDS[0], isa)
    assert found.verdict == "right", found.reason


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("entry", ALL, ids=lambda e: e.name)
def test_every_kernel_is_right(entry: Entry, seed: int, tmp_path: Path) -> None:
    found = checked(entry, tmp_path, seed)
    assert found.verdict == "right", found.reason
