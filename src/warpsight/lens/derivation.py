"""Deriving the numbers of a finding again from the profile it is about, so that a program can check every one of them.

A value is a counter of the profile or of one of its lines. A limit follows from what the counter is. A gain follows
from the profile and the factors that the finding says it assumes. What must stay true: this looks at the profile alone,
never at the detector.
"""

from __future__ import annotations

import math
import re

from warpsight.lens.findings.gains import gain_of
from warpsight.lens.render import number
from warpsight.nouns import Finding, Noun, Profile

DIGITS = 6  # of a number in words, see `render.number`


class Derived(Noun):
    """One number of a finding: as it says, and as it comes from the profile (None: the profile has no such number)."""

    finding: str
    what: str
    line: int | None = None
    said: float | None
    derived: float | None
    agrees: bool


def rederive(profile: Profile, finding: Finding) -> tuple[Derived, ...]:
    """Every value and limit of the evidence, every number in the message, and the estimated gain."""
    lines = {line.line: line.counters for line in profile.lines}
    found: list[Derived] = []
    for e in finding.evidence:
        place = profile.counters if e.line is None else lines.get(e.line, {})
        found.append(_compared(finding, e.counter, e.value, place.get(e.counter), e.line))
        if e.limit is not None:
            found.append(_compared(finding, f"limit of {e.counter}", e.limit, limit_of(profile, e.counter), e.line))
    known = {number(v): v for e in finding.evidence for v in (e.value, e.limit, e.line) if v is not None}
    for text in numbers_in(finding.message):
        found.append(_compared(finding, f"{text} in the message", float(text), known.get(text), digits=DIGITS))
    again = gain_of(profile, finding.assumes) if finding.assumes or finding.estimated_gain is not None else None
    found.append(_compared(finding, "estimated_gain", finding.estimated_gain, again))
    return tuple(found)


def limit_of(profile: Profile, counter: str) -> float | None:
    """What a counter is held against: every lane, the sectors of a full request, a block for each multiprocessor.

    Of other counters in % it is all of them, and of waits and of what ought not to be there at all it is nothing.
    """
    if counter == "blocks":
        return profile.counters.get("multiprocessors")
    if counter == "lanes_per_instruction":
        return 32.0
    if counter.endswith("_sectors_per_request"):
        return 4.0
    return 100.0 if profile.units.get(counter) == "%" and not counter.startswith("stall_") else 0.0


def numbers_in(text: str) -> list[str]:
    """The numbers of a text, without those that are part of a name (FP32, float4)."""
    return re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w])", text)


def _compared(
    finding: Finding, what: str, said: float | None, derived: float | None, line: int | None = None, digits: int = 0
) -> Derived:
    """Equal as they are; in words, where only some digits are shown, as far as these go."""
    if said is None or derived is None or not digits:
        agrees = said == derived
    else:
        agrees = math.isclose(said, derived, rel_tol=10.0 ** (1 - digits))
    return Derived(finding=finding.name, what=what, line=line, said=said, derived=derived, agrees=agrees)
