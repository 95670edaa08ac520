"""`compare`: two kernels side by side, and which counters moved from one to the other."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import Field

from warpsight.devices.machine_code import RANGE
from warpsight.lens.removed import removed_findings
from warpsight.lens.render import number
from warpsight.nouns import Candidate, EntryUsage, Noun, Profile, kernel_id
from warpsight.session.feedback import NO_PROFILE, shows_counters, shows_time
from warpsight.session.session import IMPOSSIBLE, Session
from warpsight.tools.answer import Answer, Kernel, KernelId
from warpsight.tools.answer import against as said_against
from warpsight.tools.edits import GIVEN
from warpsight.tools.scoring import moved

MOST_MOVES = 24
TIMES = ("duration_us", "duration_us_at_base_clock", "cycles")
Against = Annotated[str, Field(description=said_against("the kernel to compare with"))]


class Move(Noun):
    """One counter in both kernels."""

    counter: str
    unit: str
    before: float
    after: float


class Compared(Noun):
    """What moved from `against` to `kernel`; `unmoved` is how many counters did not."""

    kernel: KernelId
    against: KernelId
    moved: tuple[Move, ...] = ()
    unmoved: int = 0
    findings_gone: tuple[str, ...] = ()
    findings_new: tuple[str, ...] = ()
    reason: str = ""


def compare(session: Session, kernel: Kernel, against: Against = GIVEN) -> Answer[Compared]:
    """What changed between two kernels? Counters with both values, the largest change first; findings that are gone or
    new. Shows whether an edit did what you predicted."""
    after, before = session.candidate(kernel), session.candidate(against)
    names = kernel_id(against), kernel_id(kernel)
    head = f"from {names[0]} to {names[1]}:"
    static = _static(session, before, after)
    empty = Compared(kernel=names[1], against=names[0])
    if not shows_counters(session.feedback) and not shows_time(session.feedback):
        return _plain(head, empty, static, NO_PROFILE)
    try:
        profiles = session.counters(before), session.counters(after)
    except IMPOSSIBLE as impossible:
        return _plain(head, empty, static, f"not profiled: {impossible.message}")
    if not shows_counters(session.feedback):
        found = [move for move in moves(*profiles)[0] if move.counter in TIMES]
        return _plain(head, empty, [*static, *found], NO_PROFILE)
    found, same = moves(*profiles)
    was, now = (session.diagnose(one) for one in (before, after))
    gone = [finding.name for finding in removed_findings(was, now, *profiles)]
    new = [finding.name for finding in now if finding.name not in {one.name for one in was}]
    data = empty.model_copy(
        update={"moved": tuple(found), "unmoved": same, "findings_gone": tuple(gone), "findings_new": tuple(new)}
    )
    lines = [head, *map(move_line, found), f"{same} counters did not move"]
    lines += [f"findings gone: {', '.join(gone)}"] if gone else []
    lines += [f"findings new: {', '.join(new)}"] if new else []
    made = {c.sha256: p.model_copy(update={"instructions": ()}) for c, p in zip((before, after), profiles, strict=True)}
    return Answer("\n".join(lines), data, profiled=made)


def _plain(head: str, data: Compared, found: list[Move], reason: str) -> Answer[Compared]:
    lines = [head, *map(move_line, found), reason]
    return Answer("\n".join(lines), data.model_copy(update={"moved": tuple(found), "reason": reason}))


def move_line(move: Move) -> str:
    factor = f" ({move.after / move.before:.3g}x)" if move.before and move.after else ""
    return f"{move.counter} {number(move.before)} -> {number(move.after)} {move.unit}{factor}"


def moves(before: Profile, after: Profile, most: int = MOST_MOVES) -> tuple[list[Move], int]:
    """The counters that both have and that moved, by how far; and how many did not. A likely range moves as its time
    does, and is left out."""
    both = [name for name in before.counters if name in after.counters and name not in RANGE]
    found = [
        Move(counter=n, unit=before.units[n], before=before.counters[n], after=after.counters[n])
        for n in both
        if moved(before.counters[n], after.counters[n])
    ]
    order = sorted(found, key=lambda move: (move.counter not in TIMES, -_distance(move), move.counter))
    return order[:most], len(both) - len(found)


def _distance(move: Move) -> float:
    """How far a counter moved, as a logarithm; from or to nothing is further than anything else."""
    if move.before <= 0 or move.after <= 0:
        return math.inf
    return abs(math.log(move.after / move.before))


def _static(session: Session, before: Candidate, after: Candidate) -> list[Move]:
    """What the compiler says of the two: it needs no run."""
    one, other = (_usage(session, candidate) for candidate in (before, after))
    if one is None or other is None:
        return []
    spills = [use.spill_store_bytes + use.spill_load_bytes for use in (one, other)]
    pairs = {
        "registers_per_thread": (one.registers, other.registers, "registers"),
        "static_shared_bytes": (one.shared_bytes, other.shared_bytes, "bytes"),
        "spilled_bytes": (spills[0], spills[1], "bytes"),
    }
    return [Move(counter=n, unit=unit, before=a, after=b) for n, (a, b, unit) in pairs.items() if a != b]


def _usage(session: Session, candidate: Candidate) -> EntryUsage | None:
    return next((use for use in session.build(candidate).entries if use.name == session.task.entry), None)
