"""Nsight Compute: counters of one kernel on an NVIDIA GPU (compute capability 7.0 and later).

The run leaves an `.ncu-rep` that is kept, its path is in the notes; the numbers come from the report through NVIDIA's
reader, or from its CSV page where that package is missing. Written from the documented command line and tried on
recorded output; not run on a GPU by us.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from warpsight.errors import UsageError
from warpsight.lens.ncu_csv import parse_csv
from warpsight.lens.ncu_report import read_report
from warpsight.lens.profilers.availability import Availability, look
from warpsight.lens.profilers.failures import BrokenOutput, NothingProfiled, ProfilerError, refusal
from warpsight.lens.profilers.process import run_tool
from warpsight.lens.vocabulary import terms, vocabulary
from warpsight.nouns import Profile

NAME = "ncu"
HOW = "install NVIDIA Nsight Compute (part of the CUDA toolkit, package cuda-nsight-compute); it is free"
PLACES = ("/usr/local/cuda/bin", "/usr/local/cuda-*/bin", "/opt/nvidia/nsight-compute/*")
AGAIN = "profile again; `ncu --import FILE --csv --page raw` must print a table"


def available() -> Availability:
    return look(NAME, how=HOW, places=PLACES)


def argv(
    program: Sequence[str],
    *,
    report: Path,
    path: str = NAME,
    kernel: str | None = None,
    metrics: Iterable[str] = (),
    sections: Iterable[str] = (),
    set_name: str = "full",
    launch_skip: int = 0,
    launch_count: int = 1,
) -> list[str]:
    """The command that profiles chosen launches of one kernel and writes `report`.

    With `metrics` or `sections` only those are collected, which needs fewer passes; else the set `set_name`.
    """
    if launch_skip < 0 or launch_count < 1:
        raise UsageError(f"expected launches to skip >= 0 and to profile >= 1, found {launch_skip} and {launch_count}")
    words = [path, "--target-processes", "all", "--force-overwrite", "--export", str(report)]
    chosen, parts = list(metrics), list(sections)
    for section in parts:
        words += ["--section", section]
    if chosen:
        words += ["--metrics", ",".join(chosen)]
    if not chosen and not parts:
        words += ["--set", set_name]
    if kernel is not None:
        words += ["--kernel-name-base", "function", "--kernel-name", f"regex:^{re.escape(kernel)}$"]
    words += ["--launch-skip", str(launch_skip), "--launch-count", str(launch_count)]
    return [*words, *program]


def csv_argv(report: Path, *, path: str = NAME) -> list[str]:
    """The command that prints a report as a table, in base units."""
    return [path, "--import", str(report), "--csv", "--page", "raw", "--print-units", "base"]


def metrics_for(counters: Iterable[str]) -> tuple[str, ...]:
    """The metrics that these counters of our vocabulary are made of, for `argv`; hardware metrics only."""
    names: dict[str, None] = {}
    for counter in counters:
        for formula in vocabulary()[counter].ncu:
            found = [name for part in terms(formula) for _, name in part]
            if all("__" in name for name in found):
                names |= dict.fromkeys(found)
                break
    return tuple(names)


def parse(text: str, kernel: str | int | None = None) -> Profile:
    """What `csv_argv` printed, to a Profile; what ncu refused is an error of its own type."""
    if (problem := refusal(NAME, text)) is not None and not re.search(r'^"?ID"?,', text, re.MULTILINE):
        raise problem
    if not text.strip():
        raise BrokenOutput(NAME, "it left nothing", AGAIN)
    try:
        return parse_csv(text, Path("the output of ncu"), kernel)
    except UsageError as broken:
        raise BrokenOutput(NAME, broken.message, broken.hint or AGAIN) from None


def measure(
    program: Sequence[str], kernel: str, *, folder: Path, deadline_s: float, metrics: Iterable[str] = ()
) -> Profile:
    """Profile one launch of the kernel in a run of `program`; the report stays in `folder`."""
    path = available().required()
    report = folder / f"{kernel}.ncu-rep"
    report.unlink(missing_ok=True)  # an old one must not be read as the new one
    command = argv(program, report=report, path=path, kernel=kernel, metrics=metrics)
    said = run_tool(command, tool=NAME, deadline_s=deadline_s, folder=folder)
    text = said.stdout + said.stderr
    own = "\n".join(line for line in text.splitlines() if line.startswith("=="))  # not what the program printed
    if (problem := refusal(NAME, own)) is not None:
        raise problem  # also where a report was written: one without kernels
    if not report.exists():
        gave = f"exit status {said.status} and no report: {text.strip()[-300:]}"
        raise refusal(NAME, text) or NothingProfiled(NAME, gave, AGAIN)
    profile = _read(report, kernel, path, deadline_s)
    return profile.model_copy(update={"notes": (f"report kept at {report}", *profile.notes)})


def _read(report: Path, kernel: str, path: str, deadline_s: float) -> Profile:
    def by_the_tool() -> Profile:
        return parse(run_tool(csv_argv(report, path=path), tool=NAME, deadline_s=deadline_s).stdout, kernel)

    if importlib.util.find_spec("ncu_report") is None:
        return by_the_tool()
    try:
        return read_report(report, kernel)
    except UsageError as broken:  # the package may be older than the tool
        try:
            profile = by_the_tool()
        except ProfilerError:
            raise BrokenOutput(NAME, broken.message, broken.hint) from None
        note = f"read by ncu itself, so nothing is told by source line: the package ncu-report failed: {broken.message}"
        return profile.model_copy(update={"notes": (note, *profile.notes)})
