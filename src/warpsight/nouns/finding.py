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
