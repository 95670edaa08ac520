"""What is held against an answer that does not fit what was tried: pure functions of the calls of one run.

A small model forgets: it has a rewrite timed as faster and then says that nothing helped, or gives up after the first
try that failed. It is told so, a few times at most, and decides again; what it says then is taken. Nothing is said
that the tools have not shown in this run already.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from warpsight.learn.compact import MOST_FINDINGS, causes_of
from warpsight.learn.prompting import CAUSE, REWRITE
from warpsight.reason.loop import Done
from warpsight.tools.box import SUBMIT
from warpsight.tools.profile import Profiled

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
    left = [] if changed else untried(so_far)  # a kernel that the model wrote itself is its own business
    return f"not tried: {', '.join(left[:MOST_NAMED])}" if left else ""


def gains_of(so_far: Sequence[Done]) -> dict[str, float]:
    """What each rewrite that helped has gained, over the kernel that it was made from."""
    found: dict[str, float] = {}
    for done in so_far:
        ratio = done.result.data.get("ratio")
        if done.tool == REWRITE and isinstance(ratio, float):
            found[str(done.arguments[CAUSE])] = ratio
    return found


def untried(so_far: Sequence[Done]) -> list[str]:
    """What the first profile names to be tried and was not, the largest finding first."""
    tried = {str(done.arguments[CAUSE]) for done in so_far if done.tool == REWRITE}
    if not so_far or so_far[0].tool != "profile" or so_far[0].result.is_error:
        return []
    found = Profiled.model_validate_json(json.dumps(so_far[0].result.data)).findings
    named = [cause for one in found[:MOST_FINDINGS] for cause in causes_of(one)]
    return [cause for cause in dict.fromkeys(named) if cause not in tried]
