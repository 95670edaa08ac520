"""What `ncu --csv` prints, to the same Profile: `--page raw` (a row a kernel) and `--page details` (a row a metric).

Lines of the profiler before the table are passed over. Numbers may be written 1,234.5 or 1.234,5: which of them is
decided once for the whole file, from the values that leave no doubt; without any, the point is the decimal sign.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from warpsight.errors import UsageError
from warpsight.lens.measured import MeasuredLaunch, choose, make_profile, plain_name
from warpsight.lens.vocabulary import Metric
from warpsight.nouns import Profile

ABOUT = ("ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Kernel Time", "Context", "Stream",
         "Block Size", "Grid Size", "Device", "CC")  # fmt: skip
_PEAK = ".avg.pct_of_peak_sustained_elapsed"
LABELS = {
    "Duration": "gpu__time_duration.sum",
    "Elapsed Cycles": "gpc__cycles_elapsed.max",
    "DRAM Throughput": f"gpu__dram_throughput{_PEAK}",
    "L2 Cache Throughput": f"lts__throughput{_PEAK}",
    "Theoretical Occupancy": "sm__maximum_warps_per_active_cycle_pct",
    "Waves Per SM": "launch__waves_per_multiprocessor",
    "Executed Ipc Active": "sm__inst_executed.avg.per_cycle_active",
    "Executed Instructions": "smsp__inst_executed.sum",
    "L1/TEX Hit Rate": "l1tex__t_sector_hit_rate.pct",
    "Avg. Active Threads Per Warp": "smsp__thread_inst_executed_per_inst_executed.ratio",
    "Grid Size": "launch__grid_size",
}
"""How the details page labels the metrics that our vocabulary uses."""
_NUMBER = re.compile(r"-?[\d.,]*\d(?:[eE][+-]?\d+)?")

Row = dict[str, str]


def read_csv(path: Path, kernel: str | int | None = None) -> Profile:
    """The profile of one kernel of the table in a file, chosen by name or index where there are several."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as problem:
        raise UsageError(f"expected CSV at {path}: {problem.strerror}", "give the path of a .csv file") from None
    except UnicodeDecodeError:
        raise _foreign(path) from None
    return parse_csv(text, path, kernel)


def parse_csv(text: str, path: Path, kernel: str | int | None = None) -> Profile:
    """The same from what was printed; `path` is only named in messages."""
    header, rows = _table(text, path)
    launches = _details(rows) if "Metric Name" in header else _raw(rows)
    if not launches:
        raise UsageError(f"{path} has a table without kernels", "profile a run that launches one")
    index, notes = choose([about["Kernel Name"] for about, _ in launches], kernel, path.name)
    about, cells = launches[index]
    comma = decimal_comma(value for _, found in launches for value, _ in found.values())
    numbers = {name: (read_number(value, comma), unit) for name, (value, unit) in cells.items()}
    metrics = {name: Metric(value, unit) for name, (value, unit) in numbers.items() if value is not None}
    name = cells.get("device__attribute_display_name", ("", ""))[0]
    return make_profile(
        MeasuredLaunch(
            kernel=plain_name(about["Kernel Name"]),
            device=name or _device(about),
            metrics=metrics,
            blocks=_blocks(about, metrics),
            notes=notes,
        )
    )


Cells = dict[str, tuple[str, str]]
"""Text of the value and unit of every metric of a launch."""


def _table(text: str, path: Path) -> tuple[list[str], list[Row]]:
    lines = text.splitlines(keepends=True)
    start = next((k for k, line in enumerate(lines) if re.match(r'"?ID"?,', line)), None)
    if start is None:
        raise _foreign(path)
    try:
        header, *rows = list(csv.reader(lines[start:], strict=True))
    except csv.Error as broken:
        raise UsageError(f"{path} is broken CSV: {broken}", "write it again with `ncu --csv`") from None
    rows = [row for row in rows if row and not row[0].startswith("==")]
    if "Kernel Name" not in header:
        raise _foreign(path)
    least = header.index("Metric Value") + 1 if "Metric Value" in header else len(header)  # rules may leave cells out
    wrong = next((row for row in rows if not least <= len(row) <= len(header)), None)
    if wrong is not None:
        found = f"a row of {len(wrong)} cells under a header of {len(header)}"
        raise UsageError(f"{path} is cut short or damaged: {found}", "write it again with `ncu --csv`")
    return header, [dict(zip(header, row + [""] * (len(header) - len(row)), strict=True)) for row in rows]


def _details(rows: Sequence[Row]) -> list[tuple[Row, Cells]]:
    launches: dict[str, tuple[Row, Cells]] = {}
    for row in rows:
        _, metrics = launches.setdefault(row["ID"], (row, {}))
        label = row["Metric Name"]
        if label:
            metrics.setdefault(LABELS.get(label, label), (row.get("Metric Value", ""), row.get("Metric Unit", "")))
    return list(launches.values())


def _raw(rows: Sequence[Row]) -> list[tuple[Row, Cells]]:
    """The first row has the units, and so no ID; where it is missing the first row is a kernel already."""
    units = rows[0] if rows and not rows[0]["ID"] else {}
    return [
        (row, {name: (value, units.get(name, "")) for name, value in row.items() if value and name not in ABOUT})
        for row in rows
        if row["ID"]
    ]


def decimal_comma(values: Iterable[str]) -> bool:
    """Whether the comma is the decimal sign: the first value that can be read in one way only says."""
    for value in values:
        if not _NUMBER.fullmatch(value):
            continue
        comma, point = value.rfind(","), value.rfind(".")
        if comma >= 0 and point >= 0:
            return comma > point
        sign = "," if comma >= 0 else "."
        groups = value.lstrip("-").split(sign)
        if len(groups) > 2:
            return sign == "."  # what comes twice parts thousands
        if len(groups) == 2 and (len(groups[1]) != 3 or len(groups[0]) > 3 or groups[0].startswith("0")):
            return sign == ","
    return False


def read_number(text: str, comma: bool) -> float | None:
    """The number, or None where there is none; `comma` says that the comma is the decimal sign."""
    if not _NUMBER.fullmatch(text):
        return None
    plain = text.replace(".", "").replace(",", ".") if comma else text.replace(",", "")
    try:
        return float(plain)
    except ValueError:
        return None


def _device(about: Row) -> str:
    capability = f", compute capability {about['CC']}" if about.get("CC") else ""
    return f"CUDA device {about['Device']}{capability}" if about.get("Device") else "a GPU that the table does not name"


def _blocks(about: Row, metrics: dict[str, Metric]) -> int | None:
    grid = re.findall(r"\d+", about.get("Grid Size", ""))
    if len(grid) == 3:
        return math.prod(int(n) for n in grid) or None
    size = metrics.get("launch__grid_size")
    return int(size.value) or None if size else None


def _foreign(path: Path) -> UsageError:
    return UsageError(
        f"{path} is not CSV of Nsight Compute: expected a header with ID and Kernel Name",
        "write it with `ncu --csv --page raw PROGRAM > report.csv`",
    )
