"""What a submission predicted, against what was then measured: which counter moves, and which way.

The arguments `cause` (a text) and `predicts` (counter to `up` or `down`) of the submit tool are what is scored, with
the profile of the kernel it started from and that of the kernel submitted. A counter that moved less than 1 % has not
moved. A prediction that cannot be looked up is unknown and counts neither way; two sources are never compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from pydantic import JsonValue

from warpsight.nouns import Profile
from warpsight.nouns.run import Submission, Way
from warpsight.tools.scoring import LEAST_MOVE, score

__all__ = ["LEAST_MOVE", "Accuracy", "accuracy", "score", "submission_of"]

CAUSE, PREDICTS = "cause", "predicts"


class Accuracy(NamedTuple):
    """How many predictions were right, of those that could be scored."""

    right: int
    scored: int

    @property
    def share(self) -> float | None:
        return self.right / self.scored if self.scored else None


def submission_of(
    arguments: Mapping[str, JsonValue], kernel_sha256: str, before: Profile | None, after: Profile | None
) -> Submission:
    """A submission with its predictions scored."""
    predicts = arguments.get(PREDICTS)
    ways: dict[str, Way] = {}
    for counter, way in predicts.items() if isinstance(predicts, dict) else ():
        if way in ("up", "down"):
            ways[counter] = "up" if way == "up" else "down"
    return Submission(
        kernel_sha256=kernel_sha256,
        cause=str(arguments.get(CAUSE, "")),
        predictions=tuple(score(name, way, before, after) for name, way in ways.items()),
    )


def accuracy(submissions: Iterable[Submission | None]) -> Accuracy:
    """Over any number of runs. A counter that was said to move and did not is a miss."""
    scored = [p for s in submissions if s is not None for p in s.predictions if p.verdict != "unknown"]
    return Accuracy(sum(p.verdict == "right" for p in scored), len(scored))
