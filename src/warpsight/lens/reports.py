"""Reading a report of a profiler, whatever its format: by the ending of its name."""

from __future__ import annotations

from pathlib import Path

from warpsight.nouns import Profile


def read_profile(path: Path, kernel: str | int | None = None) -> Profile:
    """The profile of one kernel of a report: `.csv` as `ncu --csv` prints it, anything else as an `.ncu-rep` file."""
    if path.suffix.lower() == ".csv":
        from warpsight.lens.ncu_csv import read_csv

        return read_csv(path, kernel)
    from warpsight.lens.ncu_report import read_report

    return read_report(path, kernel)
