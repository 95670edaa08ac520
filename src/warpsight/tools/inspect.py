"""`inspect`: where in the source the time goes, and the machine code or PTX of a range of lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from warpsight.devices.machine_code import machine_code, source_file
from warpsight.lens.render import number
from warpsight.nouns import Build, Candidate, Noun, Profile, kernel_id
from warpsight.session.feedback import NO_PROFILE, shows_counters
from warpsight.session.session import IMPOSSIBLE, Session
from warpsight.toolchain.sass import disassemble
from warpsight.tools.answer import Answer, Kernel, KernelId
from warpsight.tools.compile import diagnostic_lines
from warpsight.vgpu.ptx.lines import LineMap, own_file

MOST_HOT = 8
MOST_ROWS = 40  # in the record; the text has them all, in pages
HOT_COUNTERS = (
    "global_load_sectors_per_request", "global_store_sectors_per_request", "shared_bank_conflicts",
    "branch_efficiency", "atomic_conflicts",
)  # fmt: skip
View = Annotated[
    Literal["hot", "sass", "ptx"],
    Field(description="which of the three"),
]
FirstLine = Annotated[int, Field(ge=1, description="of the range")]
LastLine = Annotated[int, Field(ge=1, description="of the range")]


class InspectedLine(Noun):
    """One line: of the source (`hot`), else one instruction with the source line it comes from."""

    line: int | None
    text: str
    stall_percent: float | None = None
    executed: int | None = None


class Inspected(Noun):
    """What stands behind some lines of a kernel."""

    kernel: KernelId
    view: str
    rows: tuple[InspectedLine, ...] = ()
    total_rows: int = 0
    reason: str = ""


def inspect(
    session: Session, kernel: Kernel, view: View = "hot", first_line: FirstLine = 1, last_line: LastLine = 10**6
) -> Answer[Inspected]:
    """Look closer: the source lines where warps wait most (`hot`), or the machine code (`sass`) or PTX (`ptx`) of a
    range of lines, with how often each instruction ran. To tell two causes apart, or to see what an edit did."""
    candidate, name = session.candidate(kernel), kernel_id(kernel)
    build = session.build(candidate)
    if not build.ok:
        lines = [f"{name}: does not compile", *diagnostic_lines(build, kernel)]
        return Answer("\n".join(lines), Inspected(kernel=name, view=view, reason="does not compile"))
    wanted = range(first_line, last_line + 1)
    if view == "hot":
        rows, reason = _hot(session, candidate)
    elif view == "sass":
        rows, reason = _sass(session, candidate, build, wanted)
    else:
        rows, reason = _ptx(build, wanted)
    if not rows and not reason:
        reason = f"no {view} comes from lines {first_line} to {last_line}"
    data = Inspected(kernel=name, view=view, rows=rows[:MOST_ROWS], total_rows=len(rows), reason=reason)
    head = f"{name}: {view}" + (f": {reason}" if reason else "")
    return Answer("\n".join((head, *(_row_line(row) for row in rows))), data)


def _row_line(row: InspectedLine) -> str:
    parts = [f"stall {row.stall_percent:.1f} %"] if row.stall_percent is not None else []
    parts += [f"ran {row.executed}x"] if row.executed is not None else []
    where = "     " if row.line is None else f"{row.line:>5}"
    return f"{where} | {row.text}" + (f"   [{', '.join(parts)}]" if parts else "")


def _hot(session: Session, candidate: Candidate) -> tuple[tuple[InspectedLine, ...], str]:
    if not shows_counters(session.feedback):
        return (), NO_PROFILE
    try:
        profile = session.counters(candidate)
    except IMPOSSIBLE as impossible:
        return (), f"not profiled: {impossible.message}"
    total = sum(line.counters.get("stall_samples", 0) for line in profile.lines)
    if not total:
        return (), "the profile says nothing of where warps wait"
    order = sorted(profile.lines, key=lambda line: (-line.counters.get("stall_samples", 0), line.line))
    rows = [
        InspectedLine(
            line=line.line,
            text=line.text + _extra(line.counters),
            stall_percent=100 * line.counters.get("stall_samples", 0) / total,
        )
        for line in order[:MOST_HOT]
    ]
    return tuple(rows), ""


def _extra(counters: Mapping[str, int | float]) -> str:
    told = [
        f"{name} {number(counters[name])}"
        for name in HOT_COUNTERS
        if counters.get(name) and not (name == "branch_efficiency" and counters[name] == 100)
    ]
    return f"   ({', '.join(told)})" if told else ""


def _sass(session: Session, candidate: Candidate, build: Build, wanted: range) -> tuple[tuple[InspectedLine, ...], str]:
    if build.language == "opencl":
        return (), "only GPU kernels have machine code here"
    ran = _executed(session, candidate, build) if shows_counters(session.feedback) else {}
    code = [raw for raw in disassemble(build.cubin, name=session.file) if raw.function == session.task.entry]
    while code and code[-1].text == "NOP":
        code.pop()
    return tuple(
        InspectedLine(line=raw.line, text=raw.text, executed=ran.get(raw.address)) for raw in code if raw.line in wanted
    ), ""


def _executed(session: Session, candidate: Candidate, build: Build) -> dict[int, int]:
    """How many warps executed each instruction, by address; nothing where the profile is not of the machine code."""
    try:
        profile: Profile = session.counters(candidate)
    except IMPOSSIBLE:
        return {}
    program = machine_code(build.cubin, session.task.entry, source_file(build.ptx)).program
    if profile.isa != "sass" or program is None or program.sched is None:
        return {}
    addresses = program.sched["address"]
    return {int(addresses[row.index]): int(row.counters.get("warps", 0)) for row in profile.instructions}


def _ptx(build: Build, wanted: range) -> tuple[tuple[InspectedLine, ...], str]:
    if build.language == "opencl":
        return (), "only GPU kernels have PTX here"
    lines, line, rows = LineMap(own_file(build.ptx)), 0, list[InspectedLine]()
    for text in map(str.strip, build.ptx.splitlines()):
        if text.startswith(".loc"):
            line = lines.locate(text.removeprefix(".loc").strip())
        elif text.endswith(";") and not text.startswith(".") and line in wanted:
            rows.append(InspectedLine(line=line, text=" ".join(text.split())))
    return tuple(rows), ""
