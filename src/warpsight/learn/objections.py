"""What is held against an answer that does not fit what was tried: pure functions of the calls of one run.

A small model forgets: it has a rewrite timed as faster and then says that nothing helped, or gives up after the first
try that failed. It is told so, a few times at most, and decides again; what it says then is taken. Nothing is said
that the tools have not shown in this run already.
"""

from __future__ import annotations

from collections.abc import Sequence

from warpsight.corpus.kinds import kinds
from warpsight.learn.prompting import CAUSE, REWRITE
from warpsight.reason.loop import Done
from warpsight.rewrite import CAUSES
from warpsight.tools.box import SUBMIT

MOST_OBJECTIONS = 3
MOST_NAMED = 3
CLEARLY = 1.03  # gains that differ by less count as one


def objection_to(cause: str, so_far: Sequence[Done], *, changed: bool) -> str:
    """Why this answer does not fit what was tried, or nothing. `changed`: the kernel is not the one that was given."""
    if sum(done.tool == SUBMIT for done in so_far) >= MOST_OBJECTIONS:
        return ""
    gains = gains_of(so_far)
    if gains:
        best = max(gains, key=lambda tried: gains[tried])
        return "" if gains[best] < CLEARLY * gains.get(cause, 1.0) else f"{best} helped most: {gains[best]:.2f}x"
    left = [] if changed else untried(so_far)
    return f"nothing helped yet; not tried: {', '.join(left[:MOST_NAMED])}" if left else ""


def gains_of(so_far: Sequence[Done]) -> dict[str, float]:
    """What each rewrite that helped has gained, over the kernel that it was made from."""
    found: dict[str, float] = {}
    for done in so_far:
        ratio = done.result.data.get("ratio")
        if done.tool == REWRITE and isinstance(ratio, float):
            found[str(done.arguments[CAUSE])] = ratio
    return found


def untried(so_far: Sequence[Done]) -> list[str]:
    """What the findings of the first profile point at and was not tried, the largest finding first."""
    tried = {str(done.arguments[CAUSE]) for done in so_far if done.tool == REWRITE}
    named: list[str] = []
    for done in so_far[:1]:
        findings = done.result.data.get("findings") if done.tool == "profile" else None
        for one in findings if isinstance(findings, list) else ():
            name = one.get("name") if isinstance(one, dict) else None
            named += [kind.name for kind in kinds().values() if name in kind.findings]
    return [cause for cause in dict.fromkeys(named) if cause in CAUSES and cause not in tried]
