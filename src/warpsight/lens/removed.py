"""Which findings of a kernel are gone in another: those that are not said any more, and whose counters moved.

A finding may stop being said for another reason, such as one that hides it. What is no longer said while its counter is
as bad as before is not gone.
"""

from __future__ import annotations

from collections.abc import Iterable

from warpsight.nouns import Finding, Profile

LEAST_MOVE = 0.05  # of the larger value


def removed_findings(before: Iterable[Finding], after: Iterable[Finding], old: Profile, new: Profile) -> list[Finding]:
    """The findings that are gone, in their order."""
    still = {finding.name for finding in after}
    return [one for one in before if one.name not in still and counter_moved(one, old, new)]


def counter_moved(finding: Finding, old: Profile, new: Profile) -> bool:
    """Whether one of its counters moved the way it should. Yes where none of them was measured in both."""
    known = [name for name in finding.should_move if name in old.counters and name in new.counters]
    return not known or any(_moved(old.counters[n], new.counters[n], finding.should_move[n]) for n in known)


def _moved(old: float, new: float, way: str) -> bool:
    gain = new - old if way == "up" else old - new
    return gain > 0 and gain >= LEAST_MOVE * max(abs(old), abs(new))
