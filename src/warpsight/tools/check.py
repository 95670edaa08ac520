"""`check`: is a kernel right? The gate's verdict in words, with the place that is wrong.

What must stay true: of a workload that is hidden, only that it failed and why by name; never its size, its inputs, its
elements, nor an address in it. So details come from a second check, of the shown workloads alone. Where contents were
recorded in somebody's program, no element and no address is told either: a kernel could copy its inputs there.
"""

from __future__ import annotations

from typing import Literal

from warpsight.nouns import HOST_CODE_NOTE, Candidate, Check, Evaluation, Fault, Noun, WorkloadResult, kernel_id
from warpsight.nouns.check import FAULT_KINDS
from warpsight.session.session import Session
from warpsight.tools.answer import Answer, Kernel, KernelId
from warpsight.tools.compile import diagnostic_lines

MOST_FAULTS = 3
MOST_WORKLOADS = 4
PLACED = frozenset(
    ("out_of_bounds", "misaligned", "uninitialised_read", "write_to_const", "shared_race", "global_race")
)  # faults that tell an address
LOOK_AT = "it is right on all sizes you are shown; think of other sizes that the axes allow: tiny, odd, not a multiple"


class SaidFault(Noun):
    """Something the kernel did that it must not, on a shown workload."""

    kind: str
    message: str
    line: int | None
    count: int


class Checked(Noun):
    """A verdict. `hidden` says that it is right on the shown workloads and failed on a hidden one."""

    kernel: KernelId
    verdict: Literal["right", "wrong", "fault", "does_not_compile", "refused"]
    named: str = ""
    reason: str = ""
    hidden: bool = False
    faults: tuple[SaidFault, ...] = ()


def check(session: Session, kernel: Kernel) -> Answer[Checked]:
    """Is the kernel right? Runs every workload (hidden sizes and unusual inputs too), compares with the reference,
    looks for races, out-of-bounds accesses and other faults. Tells `right`, or why not: workload, worst element, source
    line. A wrong kernel is worth nothing: check before you time or submit."""
    candidate = session.candidate(kernel)
    found = session.check(candidate)
    data, lines = said_of(session, candidate, found)
    evaluation = Evaluation(candidate_sha256=candidate.sha256, check=found)
    return Answer("\n".join(lines), data, evaluation=evaluation)


def said_of(session: Session, candidate: Candidate, found: Check) -> tuple[Checked, list[str]]:
    """A verdict as it may be told."""
    name = kernel_id(candidate.source)
    if found.verdict == "right":
        told = f"{name}: right, on all shown and hidden workloads"
        trust = [] if found.trust == "kernel" else [HOST_CODE_NOTE]
        return Checked(kernel=name, verdict="right"), [told, *trust, *(f"note: {w}" for w in found.warnings)]
    if found.verdict == "does_not_compile":
        lines = [f"{name}: does not compile", *diagnostic_lines(session.build(candidate), candidate.source)]
        return Checked(kernel=name, verdict=found.verdict, reason=found.reason), lines
    shown = session.shown_check(candidate)
    if shown.verdict == "right":
        return _hidden(name, found)
    merged = [_as_told(session, fault) for fault in _merged(shown.faults)]
    lines = [f"{name}: {shown.verdict}" + ("" if merged else f": {shown.reason}")]
    lines += [line for fault in merged[:MOST_FAULTS] for line in _fault_lines(fault)]
    if len(merged) > MOST_FAULTS:
        lines.append(f"and {len(merged) - MOST_FAULTS} more faults")
    lines += [line for bad in _bad(shown)[:MOST_WORKLOADS] for line in _workload_lines(session, bad)]
    faults = tuple(SaidFault(kind=f.kind, message=f.message, line=f.line, count=f.count) for f in merged)
    reason = (
        f"{merged[0].kind}: {merged[0].message}" if merged and _tells_no_place(session, merged[0]) else shown.reason
    )
    data = Checked(kernel=name, verdict=shown.verdict, named=shown.named, reason=reason, faults=faults[:MOST_FAULTS])
    return data, lines


def _hidden(name: str, found: Check) -> tuple[Checked, list[str]]:
    """A failure that only hidden workloads show: its name, and for a fault the kernel's own line."""
    first = found.faults[0] if found.faults else None
    named = first.kind if first is not None else found.named or found.verdict
    where = "" if first is None or first.line is None else f" at line {first.line}"
    reason = f"a hidden workload failed: {named}{where}"
    data = Checked(kernel=name, verdict=found.verdict, named=named, reason=reason, hidden=True)
    lines = [f"{name}: {found.verdict}: {reason}"]
    lines += [f"  {first.line} | {first.line_text.strip()}"] if first is not None and first.line_text else []
    return data, [*lines, LOOK_AT]


def _merged(faults: tuple[Fault, ...]) -> list[Fault]:
    """One for each kind, line and array: an unrolled loop has many instructions for one line of the source."""
    found: dict[tuple[str, int | None, str | None], Fault] = {}
    for fault in faults:
        key = (fault.kind, fault.line, fault.array)
        first = found.get(key)
        found[key] = fault if first is None else first.model_copy(update={"count": first.count + fault.count})
    return list(found.values())


def _bad(found: Check) -> list[WorkloadResult]:
    return [result for result in found.workloads if not result.ok]


def _workload_lines(session: Session, bad: WorkloadResult) -> list[str]:
    sizes = ", ".join(
        f"{name}={size}"
        for workload in session.task.workloads
        if workload.name == bad.workload and not workload.hidden
        for name, size in workload.axes.items()
    )
    inputs = "" if bad.family == "declared" else f", {bad.family} inputs"
    told = f"workload {bad.workload} ({sizes}{inputs}): {bad.reason}"
    if bad.wrong_elements:
        told += f", {bad.wrong_elements} of {bad.total_elements} elements"
    worst = bad.worst
    if worst is None:
        return [told] if not bad.detail or bad.reason in FAULT_KINDS else [told, f"  {bad.detail}"]
    place = ", ".join(map(str, worst.index))
    if _has_recorded(session, bad.workload):
        return [told, f"  worst: {worst.output}[{place}]; its value is not told, since the inputs are recorded data"]
    return [told, f"  worst: {worst.output}[{place}] is {worst.got:.9g}, expected {worst.expected:.9g}"]


def _as_told(session: Session, fault: Fault) -> Fault:
    """Without the address, where that may come from recorded contents."""
    if not _tells_no_place(session, fault):
        return fault
    place = f"in array {fault.array!r}" if fault.array else "in no array"
    return fault.model_copy(update={"message": f"{place}; where is not told, since the inputs are recorded data"})


def _tells_no_place(session: Session, fault: Fault) -> bool:
    shown = [one for one in session.task.workloads if not one.hidden]
    return fault.kind in PLACED and any(_has_recorded(session, one.name) for one in shown)


def _has_recorded(session: Session, name: str) -> bool:
    """Whether a workload's contents are, in any order, what was recorded in a program."""
    workload = next((one for one in session.task.workloads if one.name == name), None)
    return any(
        a.recorded is not None and (workload is None or workload.recorded or a.fill in ("recorded", "resampled"))
        for a in session.task.arguments
    )


def _fault_lines(fault: Fault) -> list[str]:
    where = "" if fault.line is None else f" at line {fault.line}"
    who = "" if fault.thread is None else f", first in thread {fault.thread} of block {fault.block}"
    times = f" ({fault.count} times{who})" if fault.count > 1 else f"{who}"
    lines = [f"{fault.kind}{where}: {fault.message}{times}"]
    return [*lines, f"  {fault.line} | {fault.line_text.strip()}"] if fault.line_text else lines
