"""The records of a tuning: what may vary, what was asked for, what was tried. Frozen; behaviour is elsewhere.

A configuration is a value for every parameter, by name. What must stay true: a tuning's `asked.json` and its trials
are enough to go on with it, and a trial has a ratio only where the gate gave one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from warpsight.nouns import Launch
from warpsight.nouns.base import Count, Identifier, Noun, Sha256, Source, TaskName, require
from warpsight.nouns.timing import IMPROVEMENTS, Decision

Config = Mapping[str, int]
Whole = Annotated[int, Field(ge=0, le=2**31 - 1)]
Verdict = Literal["right", "wrong", "fault", "does_not_compile", "refused", "not_checked"]


class Parameter(Noun):
    """One thing that varies: a named constant of the text, or a number of the launch. `given` is its value now."""

    name: Identifier
    values: tuple[Whole, ...] = Field(min_length=1)
    given: Whole | None = None
    constant: bool
    about: str = ""

    @model_validator(mode="after")
    def _values_are_different(self) -> Self:
        require(len(set(self.values)) == len(self.values), f"parameter {self.name}: a value is listed twice")
        return self


class SearchSpace(Noun):
    """Everything that may be tried. `launch` is over the axes and the parameters; rules compare parameters.

    `notes` are what could not be told from the kernel alone.
    """

    parameters: tuple[Parameter, ...]
    launch: Launch
    rules: tuple[str, ...] = ()
    origin: str
    notes: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _names_are_different(self) -> Self:
        names = [parameter.name for parameter in self.parameters]
        require(len(set(names)) == len(names), "two parameters have the same name")
        return self


class TuneRequest(Noun):
    """What a tuning was asked to do; enough to go on with it. `kernel` is the text that is tuned, and beaten."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$")]
    task: TaskName
    task_sha256: Sha256
    folder: str
    device: str
    gpu: str | None = None
    kernel: str
    space: SearchSpace
    strategy: str
    configurations: Count | None = None
    tries: Annotated[int, Field(ge=1)]
    seconds: Annotated[float, Field(gt=0)] | None = None
    search_seed: Count = 0
    secret_seed: Count
    unsafe: bool = False
    started_at: str
    version: str


class TuningTrial(Noun):
    """One configuration and what the gate said of it. Above 1 is faster than the given kernel.

    One that would not beat the best so far is `not_checked`: then `foretold` is its simulated time over the given
    kernel's, which tells the search where not to look and is no result.
    """

    number: Count
    config: dict[str, int]
    kernel_sha256: Sha256
    verdict: Verdict
    reason: str = ""
    decision: Decision | None = None
    ratio: float | None = Field(default=None, gt=0)
    time_us: float | None = Field(default=None, gt=0)
    source: Source | None = None
    device: str = ""
    unsafe: bool = False
    foretold: float | None = Field(default=None, gt=0)
    seconds: float = Field(ge=0)

    @model_validator(mode="after")
    def _only_right_kernels_have_times(self) -> Self:
        if self.verdict != "right":
            require(self.decision is None and self.ratio is None, f"a {self.verdict} kernel has no time")
        require((self.foretold is not None) == (self.verdict == "not_checked"), "foretold is what was not checked")
        return self

    @property
    def improves(self) -> bool:
        """Whether the gate found it FASTER or LIKELY_FASTER."""
        return self.decision in IMPROVEMENTS

    @property
    def speed(self) -> float:
        """Over the given kernel's, by the gate, or as foretold where it was not checked; 0 without either."""
        return self.ratio or (0.0 if self.foretold is None else 1 / self.foretold)

    @property
    def counts(self) -> bool:
        """Whether its ratio may be compared with others: a rejected time is not believed."""
        return self.ratio is not None and self.decision not in (None, "REJECTED")
