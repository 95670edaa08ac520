"""Occupancy against the vendor's own calculator (a C++ header, compiled here), and against a table of its answers.

The header comes with the CUDA headers; where it or a compiler is missing, the table alone is checked.
"""

from __future__ import annotations

import itertools
import random
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from warpsight.errors import ToolMissing, UsageError
from warpsight.toolchain.packages import include_dirs
from warpsight.vgpu.gpu import GpuLimits
from warpsight.vgpu.gpus import block_limits, find_gpu
from warpsight.vgpu.occupancy import BLOCK_SIZES, REGISTER_COUNTS, Occupancy, most_registers, occupancy, occupancy_table

ARCHS = ("sm_70", "sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_100", "sm_120")
UNLIMITED = 2**31 - 1
BITS = {"warps": 1, "registers": 2, "shared": 4, "blocks": 8}
Case = tuple[str, int, int, int, int]  # architecture, threads, registers, shared bytes, carve-out percent (-1: none)

CALCULATOR = """
#include <climits>
#include <cstdio>
#include "cuda_occupancy.h"
int main() {
    cudaOccDeviceProp gpu;
    cudaOccFuncAttributes kernel;
    cudaOccDeviceState state;
    int threads;
    size_t shared;
    gpu.warpSize = 32;
    gpu.numSms = 1;
    kernel.maxThreadsPerBlock = INT_MAX;
    kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    while (std::scanf("%d %d %d %d %d %d %zu %zu %zu %zu %d %d %zu %d", &gpu.computeMajor, &gpu.computeMinor,
                      &gpu.maxThreadsPerBlock, &gpu.maxThreadsPerMultiprocessor, &gpu.regsPerBlock,
                      &gpu.regsPerMultiprocessor, &gpu.sharedMemPerBlock, &gpu.sharedMemPerMultiprocessor,
                      &gpu.sharedMemPerBlockOptin, &gpu.reservedSharedMemPerBlock, &threads, &kernel.numRegs, &shared,
                      &state.carveoutConfig) == 14) {
        cudaOccResult r;
        kernel.maxDynamicSharedSizeBytes = shared;
        int error = cudaOccMaxActiveBlocksPerMultiprocessor(&r, &gpu, &kernel, &state, threads, shared);
        std::printf("%d %d %u %d %d %d %d %d %zu\\n", error, r.activeBlocksPerMultiprocessor, r.limitingFactors,
                    r.blockLimitWarps, r.blockLimitBlocks, r.blockLimitRegs, r.blockLimitSharedMem,
                    r.allocatedRegistersPerBlock, r.allocatedSharedMemPerBlock);
    }
}
"""


@pytest.fixture(scope="module")
def calculator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = next((found for name in ("c++", "g++", "clang++") if (found := shutil.which(name))), None)
    try:
        header = next((folder for folder in include_dirs() if (folder / "cuda_occupancy.h").is_file()), None)
    except ToolMissing:
        header = None
    if compiler is None or header is None:
        pytest.skip("needs a C++ compiler and cuda_occupancy.h")
    folder = tmp_path_factory.mktemp("occupancy")
    (folder / "calculator.cpp").write_text(CALCULATOR)
    command = [compiler, "-O1", "-w", f"-I{header}", "calculator.cpp", "-o", "calculator"]
    subprocess.run(command, cwd=folder, check=True, timeout=120)
    return folder / "calculator"


def ask(calculator: Path, cases: Sequence[Case]) -> list[tuple[int, ...]]:
    """What the vendor's calculator says, one row of numbers for each case."""
    lines: list[str] = []
    for arch, threads, registers, shared, percent in cases:
        limits = block_limits(arch)
        major, minor = limits.capability.split(".")
        device = (
            major, minor, limits.threads_per_block, limits.threads_per_sm, limits.registers_per_block,
            limits.registers_per_sm, limits.shared_per_block_bytes, limits.shared_per_sm_bytes,
            limits.shared_per_block_optin_bytes, limits.shared_reserved_bytes,
        )  # fmt: skip
        lines.append(" ".join(map(str, (*device, threads, registers, shared, percent))))
    run = subprocess.run([calculator], input="\n".join(lines), capture_output=True, text=True, check=True, timeout=60)
    rows = [tuple(map(int, line.split())) for line in run.stdout.splitlines()]
    assert len(rows) == len(cases)
    return rows


def ours(case: Case) -> tuple[int, ...]:
    """The same row from the function under test."""
    arch, threads, registers, shared, percent = case
    found = occupancy(
        block_limits(arch), threads, registers, shared, carve_out_percent=None if percent < 0 else percent
    )
    return (
        0, found.blocks_per_sm, sum(BITS[name] for name in found.limited_by), found.limit_warps, found.limit_blocks,
        UNLIMITED if found.limit_registers is None else found.limit_registers,
        UNLIMITED if found.limit_shared is None else found.limit_shared,
        found.registers_per_block, found.shared_per_block_bytes,
    )  # fmt: skip


def differing(calculator: Path, cases: Sequence[Case]) -> list[tuple[Case, tuple[int, ...], tuple[int, ...]]]:
    return [
        (case, theirs, own)
        for case, theirs in zip(cases, ask(calculator, cases), strict=True)
        if (own := ours(case)) != theirs
    ]


def test_the_vendors_calculator_agrees_on_a_grid(calculator: Path) -> None:
    threads = (1, 31, 32, 33, 64, 96, 128, 160, 256, 320, 384, 512, 640, 768, 1000, 1024, 1025)
    registers = (0, 1, 16, 24, 32, 33, 40, 48, 64, 72, 80, 96, 128, 168, 255, 257)
    shared = (0, 1, 1024, 4000, 16384, 48128, 49152, 49153, 65536, 101376, 101377, 166912, 232448, 300000)
    cases = [(*case, -1) for case in itertools.product(ARCHS, threads, registers, shared)]
    assert len(cases) > 30_000
    assert differing(calculator, cases) == []


def test_the_vendors_calculator_agrees_on_random_kernels_and_carve_outs(calculator: Path) -> None:
    pick = random.Random(7)
    cases: list[Case] = []
    for _ in range(20_000):
        arch = pick.choice(ARCHS)
        most = block_limits(arch).shared_per_block_optin_bytes
        percent = pick.choice((-1, 0, 50, 100, pick.randint(0, 100)))
        cases.append((arch, pick.randint(1, 1024), pick.randint(0, 255), pick.randint(0, most + 2000), percent))
    assert differing(calculator, cases) == []


def test_a_register_more_than_a_compiler_gives_is_refused_here_and_not_there(calculator: Path) -> None:
    """The one known difference: the header lets 256 registers pass, the programming guide stops at 255."""
    case = ("sm_80", 32, 256, 0, -1)
    assert ask(calculator, [case])[0][1] > 0 and ours(case)[1] == 0


# Answers of the vendor's calculator: GPU, threads, registers, shared bytes -> blocks per SM, what limits.
ANSWERS = """
t4 32 16 0 16 blocks
t4 64 32 4096 16 warps,blocks,shared
t4 96 40 0 10 warps
t4 128 48 12000 5 shared
t4 256 32 0 4 warps
t4 256 64 16384 4 warps,registers,shared
t4 384 80 1000 2 warps,registers
t4 512 128 49152 1 registers,shared
t4 768 84 30000 0 registers
t4 1000 64 0 1 warps,registers
t4 1024 32 65536 1 warps,shared
t4 160 255 99000 0 shared
a100 32 16 0 32 blocks
a100 64 32 4096 32 warps,blocks,registers,shared
a100 96 40 0 16 registers
a100 128 48 12000 10 registers
a100 256 32 0 8 warps,registers
a100 256 64 16384 4 registers
a100 384 80 1000 2 registers
a100 512 128 49152 1 registers
a100 768 84 30000 0 registers
a100 1000 64 0 1 registers
a100 1024 32 65536 2 warps,registers,shared
a100 160 255 99000 1 registers,shared
rtx-3090 32 16 0 16 blocks
rtx-3090 64 32 4096 16 blocks
rtx-3090 96 40 0 16 warps,blocks,registers
rtx-3090 128 48 12000 7 shared
rtx-3090 256 32 0 6 warps
rtx-3090 256 64 16384 4 registers
rtx-3090 384 80 1000 2 registers
rtx-3090 512 128 49152 1 registers
rtx-3090 768 84 30000 0 registers
rtx-3090 1000 64 0 1 warps,registers
rtx-3090 1024 32 65536 1 warps,shared
rtx-3090 160 255 99000 1 registers,shared
rtx-4090 32 16 0 24 blocks
rtx-4090 64 32 4096 20 shared
rtx-4090 96 40 0 16 warps,registers
rtx-4090 128 48 12000 7 shared
rtx-4090 256 32 0 6 warps
rtx-4090 256 64 16384 4 registers
rtx-4090 384 80 1000 2 registers
rtx-4090 512 128 49152 1 registers
rtx-4090 768 84 30000 0 registers
rtx-4090 1000 64 0 1 warps,registers
rtx-4090 1024 32 65536 1 warps,shared
rtx-4090 160 255 99000 1 registers,shared
h100 32 16 0 32 blocks
h100 64 32 4096 32 warps,blocks,registers
h100 96 40 0 16 registers
h100 128 48 12000 10 registers
h100 256 32 0 8 warps,registers
h100 256 64 16384 4 registers
h100 384 80 1000 2 registers
h100 512 128 49152 1 registers
h100 768 84 30000 0 registers
h100 1000 64 0 1 registers
h100 1024 32 65536 2 warps,registers
h100 160 255 99000 1 registers
"""


def answers() -> list[tuple[str, int, int, int, int, tuple[str, ...]]]:
    rows = [line.split() for line in ANSWERS.strip().splitlines()]
    return [(gpu, int(t), int(r), int(s), int(b), tuple(by.split(","))) for gpu, t, r, s, b, by in rows]


@pytest.mark.parametrize(("gpu", "threads", "registers", "shared", "blocks", "limited_by"), answers())
def test_answers(gpu: str, threads: int, registers: int, shared: int, blocks: int, limited_by: tuple[str, ...]) -> None:
    found = occupancy(find_gpu(gpu), threads, registers, shared)
    assert (found.blocks_per_sm, found.limited_by) == (blocks, limited_by)
    assert found.warps_per_sm == blocks * -(-threads // 32)
    assert found.fraction == found.warps_per_sm / found.warps_possible


def test_there_are_enough_answers() -> None:
    found = answers()
    assert len(found) >= 40 and len({row[:4] for row in found}) == len(found)
    assert {row[0] for row in found} == {"t4", "a100", "rtx-3090", "rtx-4090", "h100"}


def test_an_a100_block_of_256_threads_by_hand() -> None:
    """64 registers: 2048 a warp, 8 warps in each of 4 partitions: 32 warps, 4 blocks. 17 KiB: 9 in 164 KiB."""
    found = occupancy(find_gpu("a100"), 256, 64, 16384)
    assert (found.limit_warps, found.limit_blocks, found.limit_registers, found.limit_shared) == (8, 32, 4, 9)
    assert found.blocks_per_sm == 4 and found.limited_by == ("registers",) and found.fraction == 0.5
    assert found.registers_per_block == 16384 and found.shared_per_block_bytes == 17408
    assert found.carve_out_bytes == 100 * 1024 and found.l1_bytes == 92 * 1024


def test_what_does_not_fit_is_no_block_and_names_the_reason() -> None:
    a100 = find_gpu("a100")
    assert reason(occupancy(a100, 1025, 32)) == (0, ("warps",))
    assert reason(occupancy(a100, 1024, 72)) == (0, ("registers",))
    assert reason(occupancy(a100, 800, 80)) == (0, ("registers",))  # 64000 registers, but checked as 28 warps
    assert reason(occupancy(a100, 64, 32, 166913)) == (0, ("shared",))
    assert reason(occupancy(a100, 1024, 72, 166913)) == (0, ("registers", "shared"))


def reason(found: Occupancy) -> tuple[int, tuple[str, ...]]:
    return found.blocks_per_sm, found.limited_by


def test_more_of_anything_never_holds_more_blocks() -> None:
    limits: GpuLimits = find_gpu("h100")
    table = {(o.threads, o.registers): o.blocks_per_sm for o in occupancy_table(limits, shared_bytes=8192)}
    assert len(table) == len(BLOCK_SIZES) * len(REGISTER_COUNTS)
    for (threads, registers), blocks in table.items():
        assert table.get((threads + 32, registers), 0) <= blocks
        assert table.get((threads, registers + 8), 0) <= blocks


def test_the_most_registers_for_a_number_of_blocks() -> None:
    a100 = find_gpu("a100")
    assert most_registers(a100, 256, blocks=8) == 32
    assert most_registers(a100, 256, blocks=4) == 64
    assert most_registers(a100, 256, blocks=1) == 255
    assert most_registers(a100, 256, blocks=9) is None
    assert most_registers(a100, 256, 100_000, blocks=2) is None


def test_a_smaller_carve_out_holds_fewer_blocks() -> None:
    a100 = find_gpu("a100")
    assert occupancy(a100, 128, 32, 15 * 1024).limit_shared == 10
    assert occupancy(a100, 128, 32, 15 * 1024, carve_out_percent=50).limit_shared == 6  # 82 KiB wanted, 100 given
    assert occupancy(a100, 128, 32, 15 * 1024, carve_out_percent=0).limit_shared == 1  # 0 would hold none


@pytest.mark.parametrize(
    ("threads", "registers", "shared", "percent"),
    [(0, 32, 0, None), (32, -1, 0, None), (32, 1, -1, None), (32, 1, 0, 101)],
)
def test_nonsense_is_refused(threads: int, registers: int, shared: int, percent: int | None) -> None:
    with pytest.raises(UsageError, match="expected"):
        occupancy(find_gpu("t4"), threads, registers, shared, carve_out_percent=percent)
