"""On which side of the roofline a kernel stands: bound by computation, or by the bandwidth of DRAM.

As in the literature: operations for each byte that comes from or goes to DRAM, against what the GPU can do for each
byte it can move. A kernel is bound by computation where any kind of arithmetic (single, double, integer) is above its
balance; else by bandwidth. It says where the roof is, not what a kernel waits for.
"""

from __future__ import annotations

import csv
import gzip
import math
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args

from warpsight.errors import UsageError
from warpsight.lens.findings.reading import executed
from warpsight.lens.roofline import dominant_arithmetic
from warpsight.nouns import Profile
from warpsight.vgpu.gpu import Arithmetic, Gpu

Side = Literal["compute", "bandwidth"]
SIDES: tuple[Side, ...] = get_args(Side)
LANES = 32
_INTEGER = ("IADD3", "IMAD", "ISETP", "LOP3", "SHF", "LEA", "IMNMX", "POPC", "FLO", "IABS", "PRMT")


def intensities(profile: Profile, gpu: Gpu) -> dict[Arithmetic, float]:
    """Operations for each DRAM byte, by kind; infinite where nothing comes from DRAM."""
    moved = profile.counters.get("dram_bytes", 0.0)
    done: dict[Arithmetic, float] = {}
    if flops := profile.counters.get("flops", 0.0):
        done[dominant_arithmetic(profile, gpu)] = flops
    integers = sum(w.count("threads_on") or LANES * w.warps for w in executed(profile) if w.base in _INTEGER)
    if integers:
        done["i32"] = integers
    return {kind: count / moved if moved else math.inf for kind, count in done.items()}


def side_of(found: Mapping[Arithmetic, float], gpu: Gpu) -> Side:
    """The side, by these intensities."""
    above = any(value >= gpu.ridge_flops_per_byte(kind) for kind, value in found.items())
    return "compute" if above else "bandwidth"


def side_words(profile: Profile, gpu: Gpu) -> str:
    """The intensities and the balance of the GPU, in one line for a model."""
    found = intensities(profile, gpu)
    told = [
        f"{kind} {value:.3g} operations a DRAM byte, balance {gpu.ridge_flops_per_byte(kind):.3g}"
        for kind, value in found.items()
    ]
    return "; ".join(told) or "no arithmetic that counts"


def published_sides(file: Path, gpu: Gpu) -> dict[tuple[str, str], Side]:
    """By program and kernel, from measurements by launch that others published; the median launch decides."""
    kinds: dict[Arithmetic, str] = {"f32": "sp_flop_per_s", "f64": "dp_flop_per_s"}
    rows: dict[tuple[str, str], list[dict[Arithmetic, float]]] = {}
    try:
        with gzip.open(file, "rt") if file.suffix == ".gz" else file.open() as lines:
            for row in csv.DictReader(lines):
                moved = float(row["dram_bytes_per_s"])
                seconds = float(row["time_ns"]) / 1e9
                rates: dict[Arithmetic, float] = {kind: float(row[column]) for kind, column in kinds.items()}
                rates["i32"] = float(row["integer_operations"]) / seconds
                found: dict[Arithmetic, float] = {
                    kind: rate / moved if moved else math.inf for kind, rate in rates.items() if rate
                }
                rows.setdefault((row["program"], row["kernel"]), []).append(found)
    except (OSError, KeyError, ValueError, ZeroDivisionError) as problem:
        raise UsageError(
            f"could not read {file}: {problem}", hint="a table of launches, with dram_bytes_per_s"
        ) from None
    return {
        key: side_of({kind: statistics.median(one.get(kind, 0.0) for one in some) for kind in (*kinds, "i32")}, gpu)
        for key, some in rows.items()
    }
