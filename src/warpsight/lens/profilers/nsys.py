"""Nsight Systems: when each kernel ran and for how long. Needs no counters, so it works where they are forbidden.

Reads the table of `nsys stats` and the SQLite file of `nsys export`. Written from the documented command line and
tables, tried on output re-created from published samples; not run on a GPU by us.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from warpsight.lens.profilers.availability import Availability, look
from warpsight.lens.profilers.failures import BrokenOutput, NothingProfiled, refusal
from warpsight.lens.profilers.process import run_tool
from warpsight.lens.profilers.tables import Row, Table, read_table
from warpsight.lens.profilers.times import KernelTime, of_kernel, profile_of
from warpsight.nouns import Dim3, Profile

NAME = "nsys"
HOW = "install NVIDIA Nsight Systems (part of the CUDA toolkit, package cuda-nsight-systems); it is free"
PLACES = ("/usr/local/cuda/bin", "/usr/local/cuda-*/bin", "/opt/nvidia/nsight-systems/*/bin")
AGAIN = "run `nsys stats --report cuda_gpu_trace --format csv` on the report again"
_TO_US = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}
_KERNELS = """
SELECT names.value, k.start, k.end, k.gridX, k.gridY, k.gridZ, k.blockX, k.blockY, k.blockZ,
       k.registersPerThread, k.staticSharedMemory, k.dynamicSharedMemory, k.deviceId
FROM CUPTI_ACTIVITY_KIND_KERNEL AS k JOIN StringIds AS names ON names.id = k.demangledName ORDER BY k.start
"""


def available() -> Availability:
    return look(NAME, how=HOW, places=PLACES)


def argv(program: Sequence[str], *, report: Path, path: str = NAME) -> list[str]:
    """The command that records one run, GPU work alone, into `report` (it ends in .nsys-rep)."""
    words = [path, "profile", "--trace=cuda", "--sample=none", "--cpuctxsw=none", "--force-overwrite=true"]
    return [*words, f"--output={report}", *program]


def stats_argv(report: Path, *, path: str = NAME) -> list[str]:
    """The command that prints every launch of a report as CSV."""
    words = [path, "stats", "--report", "cuda_gpu_trace", "--format", "csv", "--timeunit", "nsec"]
    return [*words, "--force-export=true", "--output", "-", str(report)]


def export_argv(report: Path, database: Path, *, path: str = NAME) -> list[str]:
    """The command that writes a report as an SQLite file."""
    return [path, "export", "--type", "sqlite", "--force-overwrite=true", "--output", str(database), str(report)]


def parse(text: str) -> tuple[KernelTime, ...]:
    """Every kernel launch in what `stats_argv` printed; copies and fills are left out."""
    column, to_us = _duration_column(text)
    numeric = (column, "Reg/Trd", "StcSMem (MB)", "DymSMem (MB)", "Throughput (MB/s)", "Bytes (MB)")
    table = read_table(text, ("Name", column, "GrdX"), tool=NAME, numeric=numeric, again=AGAIN)
    found = [_launch(table, row, column, to_us) for row in table.rows if row["GrdX"].strip()]
    if not found:
        raise NothingProfiled(NAME, "the trace has no kernel, only copies and fills", "profile a run that launches one")
    return tuple(found)


def parse_sqlite(database: Path) -> tuple[KernelTime, ...]:
    """Every kernel launch in an exported SQLite file."""
    if not database.is_file() or database.read_bytes()[:15] != b"SQLite format 3":
        raise BrokenOutput(NAME, f"{database.name} is no SQLite file", "export the report again")
    try:
        with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as opened:
            rows = opened.execute(_KERNELS).fetchall()
            devices = dict(opened.execute("SELECT id, name FROM TARGET_INFO_GPU").fetchall())
    except sqlite3.DatabaseError as problem:
        if "no such table: CUPTI_ACTIVITY_KIND_KERNEL" in str(problem):
            raise NothingProfiled(NAME, "the export has no kernels", "profile a run that launches one") from None
        raise BrokenOutput(NAME, f"the export cannot be read: {problem}", "export the report again") from None
    if not rows:
        raise NothingProfiled(NAME, "the export has no kernels", "profile a run that launches one")
    return tuple(
        KernelTime(
            kernel=str(row[0]),
            device=str(devices.get(row[12], f"CUDA device {row[12]}")),
            duration_us=(row[2] - row[1]) / 1000,
            grid=(row[3], row[4], row[5]),
            block=(row[6], row[7], row[8]),
            also={
                "registers_per_thread": row[9],
                "static_shared_bytes": row[10],
                "dynamic_shared_bytes": row[11],
            },
        )
        for row in rows
    )


def measure(program: Sequence[str], kernel: str, *, folder: Path, deadline_s: float) -> Profile:
    """Times of the kernel in one run of `program`; the report stays in `folder`."""
    path = available().required()
    report = folder / f"{kernel}.nsys-rep"
    report.unlink(missing_ok=True)
    said = run_tool(argv(program, report=report, path=path), tool=NAME, deadline_s=deadline_s, folder=folder)
    if not report.exists():
        text = said.stdout + said.stderr
        gave = f"exit status {said.status} and no report: {text.strip()[-300:]}"
        raise refusal(NAME, text) or NothingProfiled(NAME, gave, AGAIN)
    shown = run_tool(stats_argv(report, path=path), tool=NAME, deadline_s=deadline_s, folder=folder)
    times = of_kernel(parse(shown.stdout if "Name" in shown.stdout else shown.stdout + shown.stderr), kernel, NAME)
    return profile_of(times, tool=NAME, notes=(f"report kept at {report}",))


def _duration_column(text: str) -> tuple[str, float]:
    found = re.search(r"Duration \((ns|us|ms|s)\)", text)
    return (found[0], _TO_US[found[1]]) if found else ("Duration (ns)", 1e-3)


def _launch(table: Table, row: Row, column: str, to_us: float) -> KernelTime:
    duration = table.number(row, column)
    if duration is None or duration < 0:
        raise BrokenOutput(NAME, f"a launch of {row['Name'][:80]} has no duration: {row[column]!r}", AGAIN)
    registers = table.number(row, "Reg/Trd")
    return KernelTime(
        kernel=row["Name"],
        device=row.get("Device", "") or "a GPU that the trace does not name",
        duration_us=duration * to_us,
        grid=_dim(table, row, ("GrdX", "GrdY", "GrdZ")),
        block=_dim(table, row, ("BlkX", "BlkY", "BlkZ")),
        also=None if registers is None else {"registers_per_thread": int(registers)},
    )


def _dim(table: Table, row: Row, columns: tuple[str, str, str]) -> Dim3 | None:
    x, y, z = (table.number(row, name) for name in columns)
    return None if x is None or y is None or z is None else (int(x), int(y), int(z))
