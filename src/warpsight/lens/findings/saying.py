"""Making a finding: its words take their numbers from counters, so that each of them can be looked up again.

A message names a counter in braces, `warps wait {stall_barrier} % of the time`: it gets that counter's value, and the
counter becomes part of the evidence. What must stay true: no other number stands in a message than a value or a line of
its evidence.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from typing import Literal

from warpsight.causes import causes
from warpsight.lens.findings.gains import Change, factors, gain_of
from warpsight.lens.findings.reading import whole
from warpsight.lens.render import number
from warpsight.nouns import Evidence, Finding, LineCounters, Profile

Way = Literal["up", "down"]


def finding(
    profile: Profile,
    name: str,
    message: str,
    evidence: Sequence[Evidence],
    *,
    change: Change | None,
    suggestion: str,
    should_move: Mapping[str, Way],
    line: LineCounters | None = None,
) -> Finding | None:
    """The finding; nothing when a counter that its words need was not measured. Without a change it has no gain. Its
    name is a cause of the one dictionary."""
    if name not in causes():
        raise ValueError(f"no cause {name!r}: write it into causes.toml")
    named = [field for _, field, _, _ in string.Formatter().parse(message) if field]
    if any(counter not in profile.counters for counter in named):
        return None
    told = {e.counter for e in evidence if e.line is None}
    more = [e for counter in dict.fromkeys(named) if counter not in told for e in whole(profile, counter)]
    if not evidence and not more:
        return None
    where = "" if line is None or all(e.line != line.line for e in evidence) else f" (most at line {line.line})"
    words = message.format_map({counter: number(profile.counters[counter]) for counter in named})
    scaled = {} if change is None else factors(profile, change)
    return Finding(
        name=name,
        message=words + where,
        evidence=(*evidence, *more),
        estimated_gain=None if change is None else gain_of(profile, scaled),
        assumes=scaled,
        suggestion=suggestion,
        should_move=dict(should_move),
    )
