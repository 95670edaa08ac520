"""How long a candidate takes, where the number comes from, and what is concluded from it."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from warpsight.nouns.base import Noun, Source, require


class Timing(Noun):
    """Times of a candidate and, where compared, of its baseline in interleaved pairs. ratio > 1 is faster."""

    source: Source
    device: str
    method: str
    samples_us: tuple[float, ...] = Field(min_length=1)
    baseline_us: tuple[float, ...] = ()
    ratio: float | None = Field(default=None, gt=0)
    interval: tuple[float, float] | None = None
    decision: Literal["FASTER", "SLOWER", "SAME", "AMBIGUOUS", "REJECTED"] | None = None
    reason: str = ""

    @model_validator(mode="after")
    def _comparison_is_whole(self) -> Self:
        require(all(t > 0 for t in (*self.samples_us, *self.baseline_us)), "times are greater than zero")
        compared = (self.ratio is not None, self.interval is not None, self.decision is not None)
        require(all(compared) or not any(compared), "ratio, interval and decision come together")
        require(not any(compared) or len(self.baseline_us) > 0, "a comparison needs baseline samples")
        if self.interval is not None and self.ratio is not None:
            low, high = self.interval
            require(low <= self.ratio <= high, f"ratio {self.ratio} is outside its interval {low}..{high}")
        if self.decision == "REJECTED":
            require(self.reason != "", "a rejected timing names its reason")
        return self
