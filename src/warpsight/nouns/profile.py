"""Counters of one launch, in one vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Self

from pydantic import Field, model_validator

from warpsight.nouns.base import Count, Noun, Source, Trust, require, trust_field


class LineCounters(Noun):
    """Counters of one line of the kernel source."""

    line: int
    text: str
    counters: Mapping[str, int | float]


class InstructionCounters(Noun):
    """Counters of one instruction of the program."""

    index: Count
    text: str
    line: int | None
    counters: Mapping[str, int | float]


class Profile(Noun):
    """Counters of one launch, in one vocabulary, and what was NOT measured.

    `gpu` and `bound` are set when there is a time: on which GPU, and the resource that limits it.
    """

    kernel: str
    device: str
    source: Source
    isa: Literal["ptx", "sass", "native"] = "ptx"
    gpu: str = ""
    bound: str = ""
    notes: tuple[str, ...] = ()
    counters: Mapping[str, int | float]
    units: Mapping[str, str]
    lines: tuple[LineCounters, ...] = ()
    instructions: tuple[InstructionCounters, ...] = ()
    sampled_blocks: int = Field(ge=1)
    total_blocks: int = Field(ge=1)
    not_measured: tuple[str, ...] = ()
    trust: Trust = trust_field()

    @model_validator(mode="after")
    def _every_number_has_a_unit(self) -> Self:
        require(self.sampled_blocks <= self.total_blocks, "more sampled blocks than blocks")
        parts = (self.counters, *(p.counters for p in self.lines), *(p.counters for p in self.instructions))
        missing = sorted({name for part in parts for name in part} - set(self.units))
        require(not missing, f"counters without a unit: {', '.join(missing)}")
        both = sorted(set(self.counters) & set(self.not_measured))
        require(not both, f"counters that are given and not measured: {', '.join(both)}")
        return self
