"""The score of KernelBench: fast_p, the share of problems whose candidate is right and faster than the reference by p.

Pure. A problem without a candidate, or with one that is wrong, failed or was rejected, counts as not solved: the
denominator is all problems. `p = 0` is the share that is right.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, Self

from pydantic import Field, model_validator

from warpsight.nouns.base import Noun, Trust, require

THRESHOLDS = (0.0, 0.5, 0.8, 1.0, 1.5, 2.0)
Verdict = Literal["right", "wrong", "failed", "rejected", "not run", "no candidate"]


class CandidateScore(Noun):
    """What came of one candidate for one problem. Times are seen from outside its process, medians, per call."""

    problem: str
    candidate: str = ""
    backend: str = ""
    verdict: Verdict
    reason: str = ""
    trials: int = Field(default=0, ge=0)
    worst: float | None = None
    tolerance: float | None = None
    reference_ms: float | None = Field(default=None, gt=0)
    candidate_ms: float | None = Field(default=None, gt=0)
    reference_samples_ms: tuple[float, ...] = ()
    candidate_samples_ms: tuple[float, ...] = ()
    calls_per_sample: int = 0
    charged_ms: float | None = Field(default=None, ge=0, description="of candidate_ms: work outside of the timed calls")
    seed: int | None = Field(default=None, description="what weights and inputs were drawn from, told afterwards")
    waited_share: float | None = Field(default=None, ge=0, description="of the timed seconds, for a busy processor")
    source: Literal["measured", ""] = ""
    device: str = ""
    trust: Trust = "host_code"

    @model_validator(mode="after")
    def _times_only_if_right(self) -> Self:
        timed = self.reference_ms is not None or self.candidate_ms is not None
        require(not timed or self.verdict == "right", "only a right candidate has times")
        require((self.reference_ms is None) == (self.candidate_ms is None), "times come in pairs")
        require(not timed or self.source == "measured", "a time says that it was measured")
        return self

    @property
    def speedup(self) -> float | None:
        """Reference time over candidate time."""
        if self.reference_ms is None or self.candidate_ms is None:
            return None
        return self.reference_ms / self.candidate_ms


def fast_p(attempts: Sequence[CandidateScore], p: float) -> float:
    """The share of all problems that are right and whose speed-up is more than p."""
    if not attempts:
        return math.nan
    return sum(_counts(attempt, p) for attempt in attempts) / len(attempts)


def _counts(attempt: CandidateScore, p: float) -> bool:
    if attempt.verdict != "right":
        return False
    return p <= 0 or (attempt.speedup is not None and attempt.speedup > p)


def geometric_mean(attempts: Sequence[CandidateScore]) -> float | None:
    """The geometric mean of the speed-ups of right candidates, as the benchmark reports beside fast_p."""
    found = [attempt.speedup for attempt in attempts if attempt.speedup is not None]
    return math.exp(sum(math.log(one) for one in found) / len(found)) if found else None
