"""What is slow, with the evidence for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from warpsight.nouns.base import Noun


class Evidence(Noun):
    """One counter that a finding rests on."""

    counter: str
    value: float
    unit: str
    limit: float | None = None
    line: int | None = None


class Finding(Noun):
    """What is slow, why we say so, what to try, and which counters should move if it works.

    `assumes` is what the estimated gain rests on: the factor on each counter if the cause were gone.
    """

    name: str
    message: str
    evidence: tuple[Evidence, ...] = Field(min_length=1)
    estimated_gain: float | None = Field(default=None, ge=1)
    assumes: Mapping[str, float] = Field(default_factory=dict)
    suggestion: str
    should_move: Mapping[str, Literal["up", "down"]] = Field(default_factory=dict)


class WhatIfTime(Noun):
    """The simulated time of a kernel with a cause removed, beside its own, and what was assumed for it.

    Nobody has written that kernel: `gain` is what there is to win at best, not what an edit won.
    """

    cause: str
    time_us: float = Field(gt=0)
    without_us: float = Field(gt=0)
    assumes: str

    @property
    def gain(self) -> float:
        return self.time_us / self.without_us
