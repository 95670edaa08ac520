"""Findings with their evidence, and the counters before and after with what each means."""

from __future__ import annotations

from collections.abc import Sequence

from warpsight.lens.removed import removed_findings
from warpsight.lens.render import evidence_text, number
from warpsight.lens.vocabulary import vocabulary
from warpsight.nouns import Finding, Profile
from warpsight.report.html import Html, join, tag
from warpsight.report.story import Attempt
from warpsight.tools.compare import Move, moves

_ALL = 10**6
_SHOWN = 16  # counters that stand open


def findings_section(given: Attempt, new: Attempt | None) -> Html | None:
    """What was slow in the given kernel, and what is left in the new one."""
    if given.findings is None and (new is None or new.findings is None):
        return None
    gone = set[str]()
    if given.findings is not None and new is not None and new.findings is not None:
        gone = {f.name for f in given.findings} - {f.name for f in new.findings}
        if given.profile is not None and new.profile is not None:
            gone = {f.name for f in removed_findings(given.findings, new.findings, given.profile, new.profile)}
    parts = [tag("h3", "In the given kernel"), _listed(given, gone, "n" if new is None else "g")]
    parts += [] if new is None else [tag("h3", "In the new kernel"), _listed(new, set(), "n")]
    return tag("section", tag("h2", "Why it was slow"), parts, id="findings")


def _listed(attempt: Attempt, gone: set[str], anchor: str) -> Html:
    if attempt.findings is None:
        return tag("p", "It was not diagnosed in this run: the model did not profile it.")
    return finding_list(attempt.findings, gone=gone, anchor=anchor) or tag("p", "Nothing worth changing was found.")


def finding_list(
    findings: Sequence[Finding], *, gone: set[str] | None = None, short: bool = False, anchor: str = ""
) -> Html | None:
    """Findings in the order of their estimated gain; None when there is none."""
    if not findings:
        return None
    return tag("ol", [_finding(finding, gone or set(), short, anchor) for finding in findings], class_="findings")


def _finding(finding: Finding, gone: set[str], short: bool, anchor: str) -> Html:
    gain = None
    if finding.estimated_gain is not None and finding.estimated_gain > 1:
        gain = tag("span", f"about {finding.estimated_gain:.2f}× without it", class_="gain")
    head = tag("p", tag("b", finding.name), " ", gain, " ", _gone(finding, gone))
    said = tag("p", finding.message)
    if short:
        return tag("li", head, said)
    evidence = tag("ul", [tag("li", tag("code", evidence_text(e)), _where(e.line, anchor)) for e in finding.evidence])
    expected = ", ".join(f"{name} {way}" for name, way in finding.should_move.items())
    return tag(
        "li",
        head,
        said,
        tag("p", "Evidence:", class_="lead"),
        evidence,
        tag("p", "To try: ", finding.suggestion),
        tag("p", "Should move: ", expected) if expected else None,
    )


def _gone(finding: Finding, gone: set[str]) -> Html | None:
    return tag("span", "gone in the new kernel", class_="state faster") if finding.name in gone else None


def _where(line: int | None, anchor: str) -> Html | None:
    return None if line is None or not anchor else join(" ", tag("a", "see the line", href=f"#{anchor}{line}"))


def no_counters(profile: Profile) -> bool:
    """Whether a profile says nothing but how long it took."""
    return profile.counters.keys() <= {"duration_us"}


def counters_section(
    before: Profile | None,
    after: Profile | None,
    expected: Sequence[str] = (),
    names: tuple[str, str] = ("given", "new"),
) -> Html | None:
    """Counters that moved, those that were predicted first; the rest folded."""
    if before is None or no_counters(before):
        return None
    if after is None:
        rows = [Move(counter=n, unit=before.units[n], before=v, after=v) for n, v in before.counters.items() if v]
        return tag(
            "section",
            tag("h2", "Counters"),
            tag("p", f"Of one launch of the given kernel, {before.source}."),
            _table(rows[:_SHOWN], names[:1]),
            _folded(f"{len(rows[_SHOWN:])} more", rows[_SHOWN:], names[:1]),
            id="counters",
        )
    moved, unmoved = moves(before, after, most=_ALL)
    first = [move for name in dict.fromkeys(("duration_us", *expected)) for move in moved if move.counter == name]
    rows = [*first, *(move for move in moved if move not in first)]
    known = {move.counter for move in moved}
    still = [
        Move(counter=n, unit=before.units[n], before=v, after=after.counters[n])
        for n, v in before.counters.items()
        if n in after.counters and n not in known
    ]
    note = f"Of one launch, {before.source}: time, what was predicted or expected to move, then by how far it moved."
    return tag(
        "section",
        tag("h2", f"Counters, {names[0]} and {names[1]}"),
        tag("p", note),
        _table(rows[:_SHOWN], names),
        _folded(f"{len(rows[_SHOWN:])} more that moved", rows[_SHOWN:], names),
        _folded(f"{unmoved} that did not move", still, names),
        id="counters",
    )


def _folded(title: str, rows: Sequence[Move], names: Sequence[str]) -> Html | None:
    return tag("details", tag("summary", title), _table(rows, names)) if rows else None


def _table(rows: Sequence[Move], names: Sequence[str]) -> Html:
    after = len(names) > 1
    values = (*names, "factor") if after else names
    heads = ("counter", *values, "unit", "what it means")
    body = [_row(move, after) for move in rows]
    head = tag("thead", tag("tr", [tag("th", name, scope="col") for name in heads]))
    return tag("div", tag("table", head, tag("tbody", body), class_="list counters"), class_="wide", tabindex=0)


def _row(move: Move, after: bool) -> Html:
    known = vocabulary().get(move.counter)
    factor = f"{move.after / move.before:.3g}×" if move.before and move.after else ""
    values = [number(move.before), *([number(move.after), factor] if after else [])]
    return tag(
        "tr",
        tag("th", tag("code", move.counter), scope="row"),
        [tag("td", value, class_="n") for value in values],
        tag("td", move.unit),
        tag("td", known.meaning if known else "", class_="meaning"),
    )
