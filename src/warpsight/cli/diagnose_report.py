"""`warpsight diagnose --from REPORT`: the findings of a report of a real GPU, and what differs from another profile.

`--against` is a second report, or a task: its kernel is then profiled on the virtual GPU as the card that the report
names, counter by counter, so that one sees how far to trust the simulation. `--out` writes the differences without any
line of source and without the kernel's name.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpsight.cli.output import emit
from warpsight.cli.task_argument import document_of
from warpsight.errors import UsageError
from warpsight.lens import find_findings, read_profile
from warpsight.lens.render import number

if TYPE_CHECKING:
    from rich.console import Console

    from warpsight.nouns import Profile
    from warpsight.tools.compare import Move

REPORTS = (".ncu-rep", ".csv", ".sqlite")
FAR = math.log(1.25)
MOST_SHOWN = 24


def diagnose_report(
    report: Path, others: Sequence[object], *, kernel: str | None, source: Path | None, against: str | None,
    workload: str | None, gpu: str | None, out: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Read the report and print it. `others` are what else the command was given, which must be nothing."""
    from warpsight.cli.text.findings import render_findings

    if any(given is not None for given in others):
        raise UsageError("expected --from without a task: a report was run already", "name a task with --against TASK")
    if out is not None and against is None:
        raise UsageError("expected --out only with --against", "it writes how two profiles differ")
    found = read_profile(report, kernel)
    if against is not None:
        _show_difference(found, _other(found, against, kernel, workload, gpu or found.gpu), out, as_json=as_json)
        return
    findings = find_findings(found)
    text = _source_text(found, source)
    known = f" (known as {found.gpu})" if found.gpu else ""
    head = f"{report.name}: kernel {found.kernel} on {found.device}{known}, measured"
    document = {**document_of(found), "report": report.name, "findings": [document_of(one) for one in findings]}
    emit(document, as_json=as_json, render=lambda console: render_findings(console, head, found, findings, text))


def _source_text(found: Profile, source: Path | None) -> str:
    """The kernel's file: the one that was named, else what the report carries of it."""
    if source is not None:
        try:
            return source.read_text(encoding="utf-8", errors="replace")
        except OSError as problem:
            raise UsageError(f"expected the kernel's source at {source}: {problem.strerror}") from None
    lines = {line.line: line.text for line in found.lines}
    return "\n".join(lines.get(at, "") for at in range(1, max(lines, default=0) + 1))


def _other(found: Profile, against: str, kernel: str | None, workload: str | None, gpu: str | None) -> Profile:
    """The profile of the second report; or of a task's kernel, simulated on the card of the first."""
    path = Path(against)
    if path.suffix.lower() in REPORTS:
        return read_profile(path, kernel)
    from warpsight.cli.asked import asked, require_build

    if not gpu:
        raise UsageError(f"there is no data sheet of {found.device}", "--gpu NAME, or compare with a second report")
    with asked(against, None, device="virtual", gpu=gpu, workload=workload) as question:
        require_build(question, as_json=False)
        return question.session.counters(question.kernel)


def _show_difference(one: Profile, other: Profile, out: Path | None, *, as_json: bool) -> None:
    from warpsight.files import write_whole

    moves = differences(one, other)
    gone, new = _findings(one, other)
    document: dict[str, Any] = {
        "gpu": one.gpu, "device": one.device, "sources": [one.source, other.source],
        "counters": [document_of(move) for move in moves], "findings_only_first": gone, "findings_only_second": new,
    }  # fmt: skip
    if out is not None:
        write_whole(out, json.dumps(document, indent=1) + "\n")

    def render(console: Console) -> None:
        raw: dict[str, Any] = {"markup": False, "highlight": False}
        heads = (f"first ({one.source})", f"second ({other.source})")
        console.print(f"{'':32}{heads[0]:>20}{heads[1]:>20}{'ratio':>8}", highlight=False)
        for move in moves[:MOST_SHOWN]:
            ratio = f"{move.after / move.before:.2f}" if move.before and move.after else "-"
            row = f"{move.counter:<32}{number(move.before):>20}{number(move.after):>20}{ratio:>8}  {move.unit}"
            console.print(row, markup=False, highlight=False)
        near = sum(_distance(move) <= FAR for move in moves)
        console.print(f"{near} of the {len(moves)} counters that both have are within 1.25 times")
        sizes = [profile.counters.get("blocks") for profile in (one, other)]
        if sizes[0] != sizes[1]:
            console.print(f"The launches differ: {sizes[0]} and {sizes[1]} blocks. Compare launches of one size.")
            if other.source == "simulated":
                console.print(
                    "For a task: add a [[workloads]] of that size to its task.toml, and --workload NAME.", **raw
                )
        overhead = other.counters.get("launch_overhead_us")
        if one.source == "measured" and overhead:
            said = "us for the launch itself; its cycles are without it"
            console.print(f"duration_us of the simulation includes {number(overhead)} {said}.", **raw)
        for said, names in (("only the first", gone), ("only the second", new)):
            if names:
                console.print(f"findings of {said}: {', '.join(names)}")
        if out is not None:
            console.print(f"wrote {out}: counters and findings, no source and no names", markup=False)

    emit(document, as_json=as_json, render=render)


def differences(one: Profile, other: Profile) -> list[Move]:
    """The counters that both have, the time first, then by how far they are apart."""
    from warpsight.devices.machine_code import RANGE
    from warpsight.tools.compare import TIMES, Move

    both = [name for name in one.counters if name in other.counters and name not in RANGE]
    found = [
        Move(counter=name, unit=one.units[name], before=one.counters[name], after=other.counters[name])
        for name in both
        if one.counters[name] or other.counters[name]
    ]
    return sorted(found, key=lambda move: (move.counter not in TIMES, -_distance(move), move.counter))


def _distance(move: Move) -> float:
    if move.before == move.after:
        return 0.0
    return abs(math.log(move.after / move.before)) if move.before > 0 and move.after > 0 else math.inf


def _findings(one: Profile, other: Profile) -> tuple[list[str], list[str]]:
    names = [dict.fromkeys(finding.name for finding in find_findings(profile)) for profile in (one, other)]
    return [n for n in names[0] if n not in names[1]], [n for n in names[1] if n not in names[0]]
