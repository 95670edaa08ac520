"""How long a candidate takes, where the number comes from, and what is concluded from it."""

from __future__ import annotations

import math
import statistics
from typing import Literal, Self

from pydantic import Field, model_validator

from warpsight.nouns.base import Count, Noun, Source, Trust, later_field, require, trust_field

Decision = Literal["FASTER", "LIKELY_FASTER", "SLOWER", "SAME", "AMBIGUOUS", "REJECTED"]
IMPROVEMENTS: tuple[Decision, ...] = ("FASTER", "LIKELY_FASTER")
"""What a search goes on from; a certificate is for FASTER alone."""
TimingReason = Literal[
    "",
    # rejected
    "clock_disagrees",  # the device's own time is not borne out by the parent's clock
    "faster_than_roofline",  # less time than moving the task's data once takes
    "wrong_in_timed_call",  # an output of a timed call is wrong, or an input was changed
    "machine_code_differs",  # the machine code that is timed is wrong where the PTX that was checked is right
    "fault_in_timed_call",  # the worker faulted or was lost while it was timed
    "no_time",  # the device gives no time for this kernel
    # ambiguous
    "interval_too_wide",  # every look was taken and the interval still crosses the edge of the band
    "out_of_time",  # the budget of seconds ended before the samples could decide
    "wall_unconfirmed",  # faster by the device's time, not surely so by the parent's clock
    "not_confirmed",  # faster once, not again in a fresh process
    "waits_for_others",  # threads poll for what others write, and how long that takes is not simulated
    "not_faster_alone",  # faster only while the baseline ran beside the candidate's process
]
REJECTIONS: tuple[TimingReason, ...] = (
    "clock_disagrees", "faster_than_roofline", "wrong_in_timed_call", "machine_code_differs", "fault_in_timed_call",
    "no_time",
)  # fmt: skip


class Measurement(Noun):
    """Pairs of baseline and candidate, interleaved in random order, each kernel in a worker process of its own.

    Times are raw, in the order they were taken; the first `pairs_used` pairs made the decision. `wall` is the parent's
    clock from "go" to "done", `total` the same with contents sent and arrays fetched (empty where the device does not
    say). `alone_us` are calls of the baseline after the candidate's process had ended.
    """

    candidate_us: tuple[float, ...]
    baseline_us: tuple[float, ...]
    candidate_wall_us: tuple[float, ...]
    baseline_wall_us: tuple[float, ...]
    candidate_total_us: tuple[float, ...] = ()
    baseline_total_us: tuple[float, ...] = ()
    candidate_first: tuple[bool, ...]
    alone_us: tuple[float, ...] = ()
    pairs_used: Count
    bootstrap_seed: Count
    decision: Decision
    reason: TimingReason = ""
    detail: str = ""
    ratio: float | None = Field(default=None, gt=0)
    interval: tuple[float, float] | None = None
    verified_calls: Count = 0
    warm_up_calls: Count = 0
    seconds: float = Field(default=0.0, ge=0)
    load_before: float = Field(default=0.0, ge=0, description="runnable processes of the machine, one-minute mean")
    busy_share: float = Field(default=0.0, ge=0, description="of all cores, ours included, while it was measured")

    @model_validator(mode="after")
    def _pairs_are_pairs(self) -> Self:
        lengths = {len(x) for x in (self.candidate_us, self.baseline_us, self.candidate_wall_us, self.baseline_wall_us)}
        require(len(lengths) == 1, f"pairs need as many samples on both sides and both clocks, found {sorted(lengths)}")
        clocks = (self.candidate_us, self.baseline_us, self.alone_us, self.candidate_wall_us, self.baseline_wall_us)
        require(all(0 < t < math.inf for clock in clocks for t in clock), "times are greater than zero")
        totals = {len(self.candidate_total_us), len(self.baseline_total_us)}
        require(totals == {0} or totals == lengths, "totals are of all pairs, or not there")
        require(len(self.candidate_first) in lengths, "every pair says which of the two came first")
        require(self.pairs_used <= len(self.candidate_us), "more pairs were used than taken")
        require((self.ratio is None) == (self.interval is None), "ratio and interval come together")
        require(self.decision != "LIKELY_FASTER", "LIKELY_FASTER is for simulated times")
        return self


class Roof(Noun):
    """The least time the task's data can take on this device: `bytes` moved once, or the floor of a launch."""

    floor_us: float = Field(gt=0)
    compulsory_bytes: Count
    gb_per_s: float | None = Field(default=None, gt=0)
    launch_us: float = Field(ge=0)
    source: str


class Likelihood(Noun):
    """How far simulated ratios of such kernels were from measured ones, from the error tables that `tables` names.

    A share of `level` of the measured ratios lay between the two `factors` times the simulated ratio; a share of
    `probability_faster` was above 1. The bounds are what limits the two kernels.
    """

    baseline_bound: str
    candidate_bound: str
    level: float = Field(gt=0, lt=1)
    factors: tuple[float, float]
    probability_faster: float = Field(ge=0, le=1)
    tables: str = Field(min_length=1)

    @model_validator(mode="after")
    def _factors_rise(self) -> Self:
        low, high = self.factors
        require(0 < low <= high < math.inf, f"factors are above 0 and rise, found {low}, {high}")
        return self


class Timing(Noun):
    """Times of a candidate and, where compared, of its baseline in interleaved pairs. ratio > 1 is faster.

    Simulated: one sample at the boost clock and one at the base clock. `simulated_interval` is what the ratio is at the
    two, widened by `spread`, how far samples of the launches are apart. `interval` is where the measured ratio likely
    lies, from `likelihood`; without one it is the simulated interval. A kernel that is timed alone has `likely_us`,
    where 90 % of measured times lie at the boost clock.
    Measured: `measurements` holds all raw samples; those of the last are `samples_us` and `baseline_us`, and the ratio
    of a winner is that of its second measurement, which did not choose it.
    """

    source: Source
    device: str
    method: str
    samples_us: tuple[float, ...] = ()
    baseline_us: tuple[float, ...] = ()
    ratio: float | None = Field(default=None, gt=0)
    interval: tuple[float, float] | None = None
    spread: float = Field(default=0.0, ge=0, lt=1)
    simulated_interval: tuple[float, float] | None = later_field()
    likelihood: Likelihood | None = later_field()
    likely_us: tuple[float, float] | None = later_field()
    decision: Decision | None = None
    reason: str = ""
    detail: str = ""
    workload: str = ""
    measurements: tuple[Measurement, ...] = ()
    roof: Roof | None = None
    notes: tuple[str, ...] = ()
    trust: Trust = trust_field()

    @property
    def time_us(self) -> float | None:
        """One number for the candidate: at the boost clock, or the median of what was measured."""
        if not self.samples_us:
            return None
        return self.samples_us[0] if self.source == "simulated" else statistics.median(self.samples_us)

    @property
    def improves(self) -> bool:
        """Whether a search goes on from this candidate: it is FASTER or LIKELY_FASTER."""
        return self.decision in IMPROVEMENTS

    @model_validator(mode="after")
    def _likelihood_agrees(self) -> Self:
        require(
            (self.likelihood is None) == (self.simulated_interval is None),
            "likelihood and simulated interval come together",
        )
        if self.likelihood is None or self.simulated_interval is None:
            require(self.decision != "LIKELY_FASTER", "LIKELY_FASTER needs its likelihood")
            return self
        require(self.source == "simulated" and self.interval is not None, "a likelihood is of a simulated ratio")
        (low, high), (inner_low, inner_high) = self.interval or (0.0, 0.0), self.simulated_interval
        require(low <= inner_low <= inner_high <= high, "the likely range contains the simulated interval")
        require(self.decision != "FASTER" or low > 1, f"FASTER needs a likely range above 1, found {low}")
        require(self.decision != "LIKELY_FASTER" or low <= 1, f"{low} is above 1: that is FASTER")
        return self

    @model_validator(mode="after")
    def _comparison_is_whole(self) -> Self:
        require(all(t > 0 for t in (*self.samples_us, *self.baseline_us)), "times are greater than zero")
        rejected = self.decision == "REJECTED"
        require(rejected or len(self.samples_us) > 0, "only a rejected timing has no samples")
        require(not rejected or self.reason != "", "a rejected timing names its reason")
        require((self.ratio is None) == (self.interval is None), "ratio and interval come together")
        if self.ratio is not None:
            require(self.decision is not None, "ratio, interval and decision come together")
            require(len(self.baseline_us) > 0, "a comparison needs baseline samples")
        elif self.decision is not None:
            require(self.decision in ("REJECTED", "AMBIGUOUS"), f"{self.decision} needs a ratio and its interval")
        if self.interval is not None and self.ratio is not None:
            low, high = self.interval
            require(low <= self.ratio <= high, f"ratio {self.ratio} is outside its interval {low}..{high}")
        if self.measurements:
            last = self.measurements[-1]
            require(self.samples_us == last.candidate_us, "samples_us are those of the last measurement")
            require(self.baseline_us == last.baseline_us, "baseline_us are those of the last measurement")
        return self
