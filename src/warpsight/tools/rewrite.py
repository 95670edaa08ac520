"""`rewrite`: known rewrites for a named cause, for a caller that can say what is wrong and cannot type the edit.

The search is `session/search.py`; no time is told of a kernel that the gate did not find right.
"""

from __future__ import annotations

import difflib
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from warpsight.causes import canonical
from warpsight.errors import UsageError
from warpsight.nouns import Noun, kernel_id
from warpsight.rewrite import CAUSES, rewritable
from warpsight.session.feedback import NO_TIME, shows_time
from warpsight.session.guided import GuidedSearch, search_guided
from warpsight.session.search import RewriteSearch, Try, search, speed_over_given
from warpsight.session.session import Session
from warpsight.tools.answer import Answer, Kernel, KernelId
from warpsight.tools.time import decision_line

MOST_LINES = 16


RESTRUCTURING = {
    "thread_per_row": "warp or block for a row, scans",
    "serial_loop": "a loop split over threads",
    "contended_atomics": "sums by block or warp first",
    "missing_tile": "a shared tile",
    "overlapping_reads": "more outputs a thread, halos",
    "uncoalesced": "lanes along the fastest axis",
}
"""What the edits do that change who does which work; the others are named by findings."""


def _list_causes(schema: dict[str, Any]) -> None:
    known = rewritable()
    others = [name for name in known if name not in CAUSES]  # what other packages bring
    told = ", ".join([*(f"{name} ({what})" for name, what in RESTRUCTURING.items() if name in known), *others])
    schema["description"] = f"a finding's name, also: {told}"


Cause = Annotated[str | None, Field(max_length=200, json_schema_extra=_list_causes)]


class Rewritten(Noun):
    """The best rewrite, where there is one. `ratio` is its speed over that of the kernel it was made from."""

    cause: str
    base: KernelId
    found: bool
    kernel: str = ""
    rewrite: str = ""
    changes: tuple[str, ...] = ()
    decision: str = ""
    source: str = ""
    ratio: float | None = None
    ratio_to_given: float | None = None
    steps: tuple[str, ...] = ()
    tried: tuple[Try, ...] = ()
    reason: str = ""


def rewrite(session: Session, kernel: Kernel, cause: Cause = None) -> Answer[Rewritten]:
    """Try the usual edits for a cause; you need not write them. The best that is right and faster becomes
    `current`; you get its id and what changed. Or none helps. Without a cause: edits on top of one another, each for
    what the profile shows."""
    if cause is not None:
        return _told(session, kernel, cause, search(session, kernel, cause))
    if session.simulator is None or not shows_time(session.feedback):
        raise UsageError("expected a cause: without one times must be simulated and shown", hint="name a finding")
    return _guided(session, kernel, search_guided(session, kernel))


def _guided(session: Session, kernel: str, found: GuidedSearch) -> Answer[Rewritten]:
    """The steps in their order, then what is left."""
    steps = tuple(f"{one.cause}: {one.rewrite.name}, {one.ratio:.3f}x" for one in found.steps)
    causes_of = found.steps[0].cause if found.steps else "nothing"
    answer = _told(session, kernel, causes_of, RewriteSearch(found.winner, found.tried))
    lines = answer.text.split("\n")
    at = next((at for at, line in enumerate(lines) if line == "tried:"), 1)
    left = [f"{one.name}: {one.message}" for one in found.left[:3]]
    why = [one.rewrite.why for one in found.steps if one.rewrite.why]
    told = [
        *lines[: min(at, 2)],
        "steps:",
        *steps,
        *dict.fromkeys(why),
        "left:",
        *left,
        f"ended: {found.stopped}",
        *lines[2:],
    ]
    return replace(answer, text="\n".join(told), data=answer.data.model_copy(update={"steps": steps}))


def draft(session: Session, kernel: str, cause: str) -> Answer[Rewritten]:
    """The same, where times are simulated, with a check of the small sizes alone."""
    return _told(session, kernel, cause, search(session, kernel, cause, drafts=session.simulator is not None))


def _told(session: Session, kernel: str, cause: str, found: RewriteSearch) -> Answer[Rewritten]:
    base, winner = kernel_id(kernel), found.winner
    data = Rewritten(cause=canonical(cause), base=base, found=winner is not None, tried=found.tried)
    told = [f"{one.rewrite}: {one.outcome}" for one in found.tried]
    if winner is None:
        why = _why_none(session, found)
        lines = [f"{base}: {why}", *told]
        return Answer("\n".join(lines), data.model_copy(update={"reason": why}))
    name, changes = kernel_id(winner.rewrite.text), changed_lines(kernel, winner.rewrite.text)
    update = {"kernel": name, "rewrite": winner.rewrite.name, "changes": changes}
    lines = [f"{name}: {winner.rewrite.name}, made from {base}", *changes]
    timing = None if winner.evaluation is None else winner.evaluation.timing
    if winner.evaluation is None:
        over_given = speed_over_given(session, winner.candidate)
        update |= {"ratio": winner.ratio, "ratio_to_given": over_given, "source": "simulated"}
        lines.insert(1, f"right at the small sizes, {winner.ratio or 0.0:.3f}x")
    elif shows_time(session.feedback) and timing is not None:
        update |= {
            "ratio": winner.ratio, "ratio_to_given": timing.ratio,
            "decision": timing.decision or "", "source": timing.source,
        }  # fmt: skip
        lines.insert(1, f"right; {decision_line(timing)}")
    else:
        lines.insert(1, f"right; {NO_TIME}")
    lines += ["tried:", *told]
    return Answer(
        "\n".join(lines), data.model_copy(update=update), evaluation=winner.evaluation, made=winner.rewrite.text
    )


def changed_lines(before: str, after: str, most: int = MOST_LINES) -> tuple[str, ...]:
    """The lines that went and came, at most so many."""
    old, new = ([line.rstrip() for line in text.splitlines()] for text in (before, after))
    found = [line for line in difflib.unified_diff(old, new, lineterm="", n=0) if line[:2] not in ("--", "++", "@@")]
    return tuple(found[:most]) + ((f"... and {len(found) - most} lines more",) if len(found) > most else ())


def _why_none(session: Session, found: RewriteSearch) -> str:
    if not found.tried:
        return "no known rewrite fits this kernel and this cause"
    return f"none of {len(found.tried)} rewrites is right" + (" and faster" if shows_time(session.feedback) else "")
