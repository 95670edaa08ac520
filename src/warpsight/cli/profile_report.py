"""`warpsight profile --from REPORT`: a measured report in the same words and tables as a simulated profile.

Says what the report has and what it lacks. There is no task here, so no roofline and no build.
"""

from __future__ import annotations

from pathlib import Path

from warpsight.cli.output import emit
from warpsight.cli.task_argument import document_of
from warpsight.cli.text import profile as profile_text
from warpsight.cli.text.time import measured_facts
from warpsight.lens import find_findings, read_profile


def show_report(path: Path, kernel: str | None, lines: int | None, *, everything: bool, as_json: bool) -> None:
    """Read a report (CSV by its ending) and print it; `lines` None: all of them, in the order of the source."""
    found = read_profile(path, kernel)
    findings = find_findings(found)
    known = f" (known as {found.gpu})" if found.gpu else ""
    head = (
        f"{path.name}: kernel {found.kernel}, {found.total_blocks:,} blocks",
        f"device     {found.device}{known}, measured",
    )
    document = {
        **document_of(found),
        "report": path.name,
        "findings": [document_of(finding) for finding in findings],
    }
    shown = profile_text.ShownProfile(head, tuple(measured_facts(found)), findings, lines, everything)
    emit(document, as_json=as_json, render=lambda console: profile_text.render(console, found, shown))
