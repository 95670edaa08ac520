"""`read_report`: a report that a profiler wrote on a real GPU, as findings, like those of a simulated profile."""

from __future__ import annotations

from pathlib import Path

from pydantic import JsonValue

from warpsight.lens import find_findings, read_profile, render
from warpsight.serve.reply import ServedReply, shortened
from warpsight.tools.describe import Schema

READ_REPORT = "read_report"
OUTPUT: Schema = {
    "type": "object",
    "properties": {"counters": {"type": "object", "additionalProperties": {"type": "number"}}},
    "additionalProperties": True,
}


def report_for_client(path: Path, kernel: str | None) -> ServedReply:
    """The profile of one kernel of a report: findings in words, counters in the record."""
    found = read_profile(path, kernel)
    findings = find_findings(found)
    data: dict[str, JsonValue] = {
        "report": path.name, "kernel": found.kernel, "device": found.device, "source": found.source,
        "bound": found.bound, "findings": [one.name for one in findings],
        "counters": {name: float(value) for name, value in found.counters.items()},
    }  # fmt: skip
    short, cut = shortened(data, OUTPUT)
    text = f"{path.name}: {found.kernel} on {found.device}, measured\n{render(found, findings, 'curated')}"
    return ServedReply(text, short, cut=cut)
