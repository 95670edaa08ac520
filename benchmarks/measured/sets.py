"""The published measurements: which file holds them, which kernel, card and clock they are of, and one row as a launch.

Nothing here is a measurement or the text of a kernel: both are read from folders that the caller names.
"""

from __future__ import annotations

import csv
import functools
import gzip
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from warpsight.devices.device import Value
from warpsight.tasks import LaunchSize

Config = Mapping[str, int]
IMAGE, BORDER = 4096, 14
GRID_POINTS, ATOMS = 256, 64
MATRIX = 4096


@dataclass(frozen=True)
class Row:
    """One measured launch. `registers` and `local_bytes` are of the measured build, None where nobody kept them."""

    config: Config
    measured_us: float
    size: LaunchSize
    registers: int | None = None
    local_bytes: int | None = None
    ncu: Mapping[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True)
class MeasuredSet:
    """One file of measurements. `unused` are columns of the configuration that the kernel's text does not use."""

    name: str
    file: str
    gpu: str
    mhz: int
    entry: str
    texts: tuple[str, ...]
    config: tuple[str, ...]
    values: Callable[[], tuple[Value, ...]]
    launch: Callable[[Config], LaunchSize]
    options: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()

    def source(self, kernels: Path) -> str:
        """The kernel's text from the folder, its functions with C names as the tuners that measured it compile it."""
        found = [find_text(kernels, name) for name in self.texts]
        return "\n".join(['extern "C" {', *(path.read_text(encoding="utf-8") for path in found), "}", ""])

    def defines(self, row: Row) -> tuple[str, ...]:
        return (*self.options, *(f"-D{name}={value}" for name, value in row.config.items()))


def find_text(kernels: Path, name: str) -> Path:
    """The file of this name (or path end) anywhere under the folder, so that a folder of checkouts will do."""
    found = sorted(path for path in kernels.rglob(Path(name).name) if path.as_posix().endswith(f"/{name}"))
    if not found:
        raise FileNotFoundError(f"no {name} under {kernels}")
    return found[0]


def read_rows(one: MeasuredSet, data: Path) -> list[Row]:
    """All rows, in the order of the file; repeats of a configuration are one row with their mean time."""
    with gzip.open(data / one.file, "rt", encoding="utf-8", newline="") as lines:
        return rows_of(one, csv.DictReader(lines))


def rows_of(one: MeasuredSet, table: Iterable[Mapping[str, str]]) -> list[Row]:
    repeats: dict[tuple[int, ...], list[Row]] = {}
    for line in table:
        row = _row(one, line)
        key = tuple(value for name, value in row.config.items() if name not in one.unused)
        repeats.setdefault(key, []).append(row)
    return [_mean(rows) for rows in repeats.values()]


def _row(one: MeasuredSet, line: Mapping[str, str]) -> Row:
    config = {name: int(line[name]) for name in one.config}
    recorded = "grid_x" in line
    size = _recorded_size(line) if recorded else one.launch(config)
    time_us = float(line["time_us"]) if "time_us" in line else 1e3 * float(line["time_ms"])
    ncu = {name: float(value) for name, value in line.items() if "__" in name and value}
    if not recorded:
        return Row(config, time_us, size)
    return Row(config, time_us, size, int(line["registers"]), int(line["local_bytes"]), ncu)


def _recorded_size(line: Mapping[str, str]) -> LaunchSize:
    grid, block = (tuple(int(line[f"{what}_{axis}"]) for axis in "xyz") for what in ("grid", "block"))
    return LaunchSize((grid[0], grid[1], grid[2]), (block[0], block[1], block[2]), 0)


def _mean(rows: list[Row]) -> Row:
    first = rows[0]
    ncu = {name: float(np.mean([row.ncu[name] for row in rows])) for name in first.ncu}
    time_us = float(np.mean([row.measured_us for row in rows]))
    return Row(first.config, time_us, first.size, first.registers, first.local_bytes, ncu)


def _covered(size: int, *factors: int) -> int:
    for factor in factors:
        size = -(-size // factor)
    return size


def _convolution_launch(c: Config) -> LaunchSize:
    block = (c["block_size_x"], c["block_size_y"], 1)
    tile = (c["tile_size_x"], c["tile_size_y"])
    return LaunchSize((_covered(IMAGE, block[0] * tile[0]), _covered(IMAGE, block[1] * tile[1]), 1), block, 0)


def _gemm_launch(c: Config) -> LaunchSize:
    return LaunchSize((_covered(MATRIX, c["MWG"]), _covered(MATRIX, c["NWG"]), 1), (c["MDIMC"], c["NDIMC"], 1), 0)


def _no_launch(c: Config) -> LaunchSize:
    raise ValueError("the launch of this set stands in its rows")


def array_value(name: str, count: int, *, writable: bool = False) -> Value:
    """An argument: zeros to write to, or numbers to read."""
    numbers = np.zeros(count, np.float32) if writable else np.random.default_rng(0).standard_normal(count, np.float32)
    return Value(name, numbers, writable=writable)


def _scalar(name: str, value: float, dtype: type) -> Value:
    return Value(name, np.array(value, dtype), writable=False)


@functools.cache
def _convolution_values() -> tuple[Value, ...]:
    image = array_value("input", (IMAGE + BORDER) ** 2)
    return array_value("output", IMAGE**2, writable=True), image, array_value("filter", (BORDER + 1) ** 2)


@functools.cache
def _coulomb_values() -> tuple[Value, ...]:
    each = (array_value(f"atomInfo{axis}", ATOMS) for axis in "XYZW")
    sizes = _scalar("atoms", ATOMS, np.int32), _scalar("gridSpacing", 0.5, np.float32)
    grid = _scalar("gridSize", GRID_POINTS, np.int32)
    return (
        array_value("atomInfo", 4 * ATOMS),
        *each,
        *sizes,
        grid,
        array_value("energyGrid", GRID_POINTS**3, writable=True),
    )


@functools.cache
def _gemm_values() -> tuple[Value, ...]:
    sizes = (_scalar(name, MATRIX, np.int32) for name in ("kSizeM", "kSizeN", "kSizeK"))
    factors = _scalar("alpha", 1.0, np.float32), _scalar("beta", 1.0, np.float32)
    matrices = (
        array_value("agm", MATRIX**2),
        array_value("bgm", MATRIX**2),
        array_value("cgm", MATRIX**2, writable=True),
    )
    return *sizes, *factors, *matrices, _scalar("b_offset", 0, np.int32), _scalar("c_offset", 0, np.int32)


SETS = (
    MeasuredSet(
        "conv 2080 Ti", "conv_rtx2080ti_counters.csv.gz", "rtx-2080-ti", 1785, "Convolution",
        ("KernelTunerConvolution.cu",),
        ("BLOCK_SIZE_X", "BLOCK_SIZE_Y", "TILE_SIZE_X", "TILE_SIZE_Y", "PADDING",
         "IMAGE_WIDTH", "IMAGE_HEIGHT", "HFS", "READ_ONLY"),
        _convolution_values, _no_launch, unused=("PADDING",),
    ),
    MeasuredSet(
        "coulomb 2080 Ti", "coulomb3d_rtx2080ti_counters.csv.gz", "rtx-2080-ti", 1350, "directCoulombSum",
        ("CoulombSum3d.cu",),
        ("WORK_GROUP_SIZE_X", "WORK_GROUP_SIZE_Y", "INNER_UNROLL_FACTOR", "Z_ITERATIONS", "USE_CONSTANT_MEMORY",
         "USE_SOA", "VECTOR_SIZE", "WORK_GROUP_SIZE_Z"),
        _coulomb_values, _no_launch, options=("--use_fast_math",),
    ),
    MeasuredSet(
        "conv A4000", "conv_rtxa4000.csv.gz", "rtx-a4000", 1560, "convolution_kernel", ("convolution.cu",),
        ("block_size_x", "block_size_y", "tile_size_x", "tile_size_y", "read_only", "use_padding", "use_shmem",
         "use_cmem", "filter_height", "filter_width"),
        _convolution_values, _convolution_launch,
    ),
    MeasuredSet(
        "gemm A6000", "gemm_clblast_rtxa6000.csv.gz", "rtx-a6000", 1410, "Xgemm",
        ("gemm_milo/cl_to_cuda.h", "gemm_milo/common.opencl",
         *(f"gemm_milo/xgemm_part{part}.opencl" for part in (1, 2, 3, 4))),
        ("GEMMK", "MWG", "NWG", "KWG", "MDIMC", "NDIMC", "MDIMA", "NDIMB", "KWI", "VWM", "VWN", "STRM", "STRN",
         "SA", "SB", "KREG", "PRECISION"),
        _gemm_values, _gemm_launch,
    ),
)  # fmt: skip
