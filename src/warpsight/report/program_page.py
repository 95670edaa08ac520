"""The page of a whole program's profile: timeline, kernels by share, findings by what they would bring, each kernel.

All of it is simulated, and the page says what is not in it: the host's own time, and overlap of streams.
"""

from __future__ import annotations

from collections.abc import Mapping

from warpsight.lens.diagnosis import Diagnosis
from warpsight.lens.whole_program import ProgramFinding, ProgramProfile
from warpsight.nouns import KernelLaunches
from warpsight.report.bars import bounds_figure, stalls_figure
from warpsight.report.findings import finding_list
from warpsight.report.html import Child, Html, join, tag
from warpsight.report.page import document
from warpsight.report.program_lines import lines_table
from warpsight.report.program_timeline import colours_of, timeline_figure
from warpsight.vgpu.symbols import kernel_title

MOST_KERNELS, MOST_FINDINGS, MOST_IN_FULL = 40, 12, 12
OUTSIDE = (
    "One thing after the other, as the virtual GPU does it: streams do not overlap, and the host's own time between "
    "launches is not in it."
)


def program_page(found: ProgramProfile) -> str:
    """One HTML document."""
    return document(f"{found.run.program} on {found.run.gpu}", program_body(found))


def program_body(found: ProgramProfile, top: Child = None) -> Html:
    """What stands between the page's frame: also used by the local page."""
    run = found.run
    places = (("timeline", "Timeline"), ("kernels", "Kernels"), ("findings", "Findings"), ("details", "Each kernel"))
    head = tag(
        "header",
        top,
        tag("h1", f"{run.program} on {run.gpu}"),
        tag("p", f"simulated; {run.launches:,} launches of {len({row.kernel for row in run.kernels}):,} kernels"),
        tag("nav", [tag("a", name, href=f"#{place}") for place, name in places], aria_label="Sections"),
    )
    figure = timeline_figure(found.timeline, _caption(found))
    sections = [
        _cards(found),
        _cut(found),
        tag("section", tag("h2", "Timeline"), figure or tag("p", "Nothing has a simulated time."), id="timeline"),
        tag("section", tag("h2", "Kernels and copies"), _kernels(found), id="kernels"),
        tag("section", tag("h2", "What to change first"), _findings(found), id="findings"),
        tag("section", tag("h2", "Each kernel"), _details(found), id="details"),
    ]
    return join(head, tag("main", sections))


def duration(us: float) -> str:
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if us >= size:
            return f"{us / size:.3g} {unit}"
    return f"{us:.3g} us"


def _caption(found: ProgramProfile) -> str:
    more = f" {found.left_out:,} later events are not drawn." if found.left_out else ""
    return f"{OUTSIDE} Copies take what the data sheet of the link says ({found.run.link}).{more}"


def _cards(found: ProgramProfile) -> Html:
    run, whole = found.run, found.whole_us or 1.0
    copies = sum(row.count for row in run.copies)
    facts = (
        (duration(found.whole_us), "kernels and copies, simulated"),
        (f"{duration(run.kernel_us)}, {run.kernel_us / whole:.0%}", "in kernels"),
        (f"{duration(found.gap_us)}, {found.gap_us / whole:.0%}", f"of that: {run.launches:,} launches themselves"),
        (f"{duration(run.copy_us)}, {run.copy_us / whole:.0%}", f"{copies:,} copies and fills, {run.link}"),
    )  # fmt: skip
    return tag("div", [tag("div", tag("strong", value), tag("span", said), class_="card") for value, said in facts],
               class_="cards")  # fmt: skip


def _cut(found: ProgramProfile) -> Html | None:
    run = found.run
    said = [f"{run.cut:,} launches were cut off: what came after them worked on other data."] if run.cut else []
    if run.untimed:
        said.append(f"{run.untimed:,} launches have no simulated time; the table says why.")
    if run.end != "exited":
        said.append(f"The program did not come to its end ({run.end}): {run.detail}")
    return tag("div", [tag("p", line, class_="warning") for line in said]) if said else None


def _kernels(found: ProgramProfile) -> Html:
    colours, whole = colours_of(found.timeline), found.whole_us or 1.0
    names = ("share", "kernel", "launches", "each", "grid x block", "bound by", "first finding")
    rows = [_kernel_row(found, row, colours) for row in found.run.kernels[:MOST_KERNELS]]
    for copy in found.run.copies:
        cells = (
            tag("td", f"{copy.time_us / whole:.1%}", class_="n"), tag("td", copy.direction),
            tag("td", f"{copy.count:,}", class_="n"),
            tag("td", duration(copy.time_us / max(1, copy.count)), class_="n"),
            tag("td", f"{copy.size_bytes / 1e6:,.3g} MB"), tag("td", "data sheet"), tag("td", ""),
        )  # fmt: skip
        rows.append(tag("tr", cells))
    numbers = ("share", "launches", "each")
    heads = [tag("th", name, scope="col", class_="n" if name in numbers else None) for name in names]
    head = tag("thead", tag("tr", heads))
    more = len(found.run.kernels) - MOST_KERNELS
    left = tag("p", f"{more:,} more sizes of launches are not shown.") if more > 0 else None
    return join(tag("div", tag("table", head, tag("tbody", rows), class_="list"), class_="wide", tabindex=0), left)


def _kernel_row(found: ProgramProfile, row: KernelLaunches, colours: Mapping[str, int]) -> Html:
    key = tag("span", class_=f"key s{colours.get(row.kernel, 5)}")
    size = f"{'x'.join(map(str, row.grid))} x {'x'.join(map(str, row.block))}"
    name = tag("td", key, " ", tag("code", kernel_title(row.kernel)))
    count = tag("td", f"{row.launches:,}", class_="n")
    if row.time_us is None:
        cells = (tag("td", "–", class_="n"), name, count, tag("td", "no time", class_="n"), tag("td", size),
                 tag("td", row.no_time, colspan=2))  # fmt: skip
        return tag("tr", cells)
    diagnosis = found.of(row)
    first = diagnosis.findings[0].name if diagnosis is not None and diagnosis.findings else ""
    each = duration(row.time_us / max(1, row.launches))
    cells = (tag("td", f"{found.share(row):.1%}", class_="n"), name, count, tag("td", each, class_="n"),
             tag("td", size), tag("td", row.bound), tag("td", first))  # fmt: skip
    return tag("tr", cells)


def _findings(found: ProgramProfile) -> Html:
    findings = found.findings()
    if not findings:
        return tag("p", "Nothing was found that a rule knows.")
    note = "By Amdahl's law: what a fix would bring the whole of kernels and copies, not one kernel."
    listed = tag("ol", [_finding(one) for one in findings[:MOST_FINDINGS]], class_="findings")
    return join(tag("p", note, class_="hint"), listed)


def _finding(one: ProgramFinding) -> Html:
    gain = None if one.gain is None else tag("span", f"about {one.gain:.2f}× for the whole program", class_="gain")
    where = f" in {kernel_title(one.kernel)}, {one.share:.1%} of the time "
    head = tag("p", tag("b", one.finding.name), where, gain)
    return tag("li", head, tag("p", one.finding.message), tag("p", "To try: ", one.finding.suggestion))


def _details(found: ProgramProfile) -> Html:
    shown = [(row, diagnosis) for row in found.run.kernels if (diagnosis := found.of(row)) is not None]
    parts = [_in_full(found, row, diagnosis) for row, diagnosis in shown[:MOST_IN_FULL]]
    return join(parts) if parts else tag("p", "No kernel has a profile.")


def _in_full(found: ProgramProfile, row: KernelLaunches, diagnosis: Diagnosis) -> Html:
    size = f"{'x'.join(map(str, row.grid))} blocks of {'x'.join(map(str, row.block))}"
    title = f"{kernel_title(row.kernel)}: {found.share(row):.1%}, {row.launches:,} launches, {size}"
    figures = [bounds_figure(diagnosis.profile, None), stalls_figure(diagnosis.profile, None)]
    notes = [tag("p", f"note: {note}", class_="hint") for note in diagnosis.profile.notes]
    return tag(
        "details", tag("summary", title), tag("div", figures, class_="figures"),
        finding_list(diagnosis.findings), notes, lines_table(diagnosis.profile, found.sources.get(row.kernel, "")),
        open=row is found.run.kernels[0],
    )  # fmt: skip
