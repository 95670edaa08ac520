"""One prediction, that a counter moves one way, against two profiles.

A counter that moved less than 1 % has not moved. A prediction that cannot be looked up is unknown and counts neither
way; two sources are never compared.
"""

from __future__ import annotations

from warpsight.nouns import Profile
from warpsight.nouns.run import Prediction, Way

LEAST_MOVE = 0.01


def score(counter: str, way: Way, before: Profile | None, after: Profile | None) -> Prediction:
    """What came of one prediction."""
    if before is None or after is None or before.source != after.source:
        return Prediction(counter=counter, way=way, before=None, after=None, verdict="unknown")
    old, new = before.counters.get(counter), after.counters.get(counter)
    if old is None or new is None:
        return Prediction(counter=counter, way=way, before=None, after=None, verdict="unknown")
    right = (new > old) == (way == "up")
    verdict = "unmoved" if not moved(old, new) else "right" if right else "wrong"
    return Prediction(counter=counter, way=way, before=float(old), after=float(new), verdict=verdict)


def moved(old: float, new: float) -> bool:
    return abs(new - old) >= LEAST_MOVE * max(abs(old), abs(new)) and new != old
