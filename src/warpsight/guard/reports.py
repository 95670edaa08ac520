"""What a guard found, for machines and reviewers: Markdown for a pull request, JUnit, SARIF. Pure functions.

Names, paths and messages may come from a stranger's pull request, so each format quotes them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

from warpsight import __version__
from warpsight.guard.judge import GuardRow

SIMULATED = "Times are simulated on the virtual GPU, not measured."
SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
MARKS = {"slower": "❌", "wrong": "❌", "new": "❌", "task_changed": "❌", "likely_slower": "⚠️", "unclear": "⚠️",
         "faster": "✅", "likely_faster": "✅"}  # fmt: skip


def micros(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.3g} us" if value < 1000 else f"{value / 1000:.4g} ms"


def change_words(row: GuardRow) -> str:
    """`+12 % (+8 to +17 % when measured)`; nothing where nothing was timed."""
    if row.change is None or row.likely is None:
        return ""
    low, high = row.likely
    return f"{100 * row.change:+.1f} % (likely {100 * low:+.0f} to {100 * high:+.0f} % when measured)"


def moved(row: GuardRow) -> list[str]:
    """Resources and findings that changed, in words."""
    if row.before is None or row.after is None or row.before == row.after:
        return []
    before, after = row.before, row.after
    pairs = (
        ("registers", before.registers, after.registers),
        ("spill bytes", before.spill_bytes, after.spill_bytes),
        ("shared bytes", before.shared_bytes, after.shared_bytes),
    )
    told = [f"{name} {old} -> {new}" for name, old, new in pairs if old != new]
    if before.occupancy is not None and after.occupancy is not None and before.occupancy != after.occupancy:
        told.append(f"occupancy {100 * before.occupancy:.0f} -> {100 * after.occupancy:.0f} %")
    told += [f"new finding {one.name}" for one in row.new_findings]
    return [*row.moves, *told, *(f"gone finding {name}" for name in row.gone_findings)]


def verdict_words(rows: Sequence[GuardRow], strict: bool) -> str:
    failed = [row for row in rows if row.fails(strict)]
    what = " and ".join(kind + "s" for kind in ("kernel", "program") if any(row.kind == kind for row in rows))
    if failed:
        return f"{len(failed)} of {len(rows)} guarded {what} fail"
    changed = sum(row.status != "unchanged" for row in rows)
    return f"{len(rows)} guarded {what}, {changed} changed, none fails"


def markdown(rows: Sequence[GuardRow], strict: bool) -> str:
    """A table for a pull request."""
    lines = [
        f"### Warpsight: {verdict_words(rows, strict)}",
        "",
        "| kernel | GPU | verdict | time | change | what moved |",
    ]
    lines.append("|---|---|---|---|---|---|")
    for row in rows:
        time = f"{micros(row.before.time_us)} → {micros(row.after.time_us)}" if row.before and row.after else ""
        words = (
            f"{MARKS.get(row.status, '')} {row.status}".strip(),
            time,
            change_words(row),
            "; ".join(moved(row)) or row.detail,
        )
        lines.append("| " + " | ".join(_cell(one) for one in (f"{row.task} ({row.file})", row.gpu, *words)) + " |")
    return "\n".join([*lines, "", SIMULATED, ""])


def _cell(text: str) -> str:
    quoted = text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|")
    return " ".join(quoted.replace("`", "'").split())


def junit(rows: Sequence[GuardRow], strict: bool) -> str:
    """One test case for each kernel and GPU."""
    failed = sum(row.fails(strict) for row in rows)
    suite = ElementTree.Element("testsuite", name="warpsight guard", tests=str(len(rows)), failures=str(failed))
    for row in rows:
        case = ElementTree.SubElement(suite, "testcase", classname=row.task, name=f"{row.file} on {row.gpu}")
        told = "; ".join(filter(None, (row.status, change_words(row), row.detail, *moved(row))))
        if row.fails(strict):
            ElementTree.SubElement(case, "failure", message=_clean(told)).text = SIMULATED
        else:
            ElementTree.SubElement(case, "system-out").text = _clean(told)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _clean(text: str) -> str:
    """Without control characters, which XML cannot hold."""
    return "".join(one for one in text if one.isprintable() or one in "\n\t")


def sarif(rows: Sequence[GuardRow], strict: bool) -> str:
    """Findings and verdicts at their source lines, for code scanning."""
    results: list[dict[str, Any]] = []
    for row in rows:
        if row.fails(strict) or row.status == "likely_slower":
            told = "; ".join(filter(None, (f"{row.status} on {row.gpu}", change_words(row), row.detail)))
            results.append(
                _result(f"guard/{row.status}", "error" if row.fails(strict) else "warning", told, row.path, row.line)
            )
        for one in row.findings:
            level = "warning" if one in row.new_findings else "note"
            line = next((evidence.line for evidence in one.evidence if evidence.line), None)
            path = row.finding_paths.get(one.name, row.path)
            line = line if row.kind == "kernel" or one.name in row.finding_paths else None
            told = f"{one.message} Try: {one.suggestion}"
            results.append(_result(f"finding/{one.name}", level, told, path, line))
    rules = [{"id": rule} for rule in sorted({result["ruleId"] for result in results})]
    driver = {"name": "warpsight", "version": __version__, "rules": rules}
    return (
        json.dumps(
            {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]},
            indent=1,
        )
        + "\n"
    )


def _result(rule: str, level: str, text: str, path: str, line: int | None) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": quote(path)}}
    if line:
        place["region"] = {"startLine": line}
    return {"ruleId": rule, "level": level, "message": {"text": text}, "locations": [{"physicalLocation": place}]}
