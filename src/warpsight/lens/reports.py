"""A recorded report as a Profile, whatever tool wrote it: told by its ending, and a table by its columns.

Tables of nsys, nvprof, rocprofv3 and rocprof are read beside those of Nsight Compute. What must stay true: a table is
given to the reader of its own tool or to none.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from warpsight.errors import UsageError
from warpsight.nouns import Profile

if TYPE_CHECKING:
    from warpsight.lens.profilers.times import KernelTime

HEAD_CHARACTERS = 20_000  # the columns stand before this


def read_profile(path: Path, kernel: str | int | None = None) -> Profile:
    """The profile of one kernel of a report: an `.ncu-rep`, an SQLite file of nsys, or a `.csv` of any of the tools."""
    ending = path.suffix.lower()
    if ending == ".sqlite":
        from warpsight.lens.profilers import nsys

        return _of_times(nsys.parse_sqlite(path), _named(kernel, path), nsys.NAME)
    if ending == ".csv":
        return _read_table(path, kernel)
    from warpsight.lens.ncu_report import read_report

    return read_report(path, kernel)


def _read_table(path: Path, kernel: str | int | None) -> Profile:
    from warpsight.lens.ncu_csv import read_csv
    from warpsight.lens.profilers import nsys, nvprof, rocprofv3

    try:
        text = path.read_text(errors="replace")
    except OSError:
        return read_csv(path, kernel)  # which tells what is wrong with the file
    head = text[:HEAD_CHARACTERS]
    if "Counter_Name" in head and "Dispatch_Id" in head:
        return rocprofv3.parse(text, _named(kernel, path))
    if "Start_Timestamp" in head and "Kernel_Name" in head:
        return _of_times(rocprofv3.parse_trace(text), _named(kernel, path), rocprofv3.NAME)
    if "KernelName" in head and "wgr" in head:
        return rocprofv3.parse_old(text, _named(kernel, path))
    if "GrdX" in head:
        return _of_times(nsys.parse(text), _named(kernel, path), nsys.NAME)
    if "Invocations" in head and "Metric Name" in head:
        return nvprof.parse(text, _named(kernel, path))
    if "Grid X" in head and "Duration" in head:
        return _of_times(nvprof.parse_trace(text), _named(kernel, path), nvprof.NAME)
    return read_csv(path, kernel)


def _of_times(times: tuple[KernelTime, ...], kernel: str | None, tool: str) -> Profile:
    from warpsight.lens.profilers.times import of_kernel, profile_of

    return profile_of(of_kernel(times, kernel, tool), tool=tool)


def _named(kernel: str | int | None, path: Path) -> str | None:
    if isinstance(kernel, int) or (kernel is not None and kernel.isdigit()):
        raise UsageError(f"{path.name} names its kernels, it does not number them", hint="--kernel-name NAME")
    return kernel
