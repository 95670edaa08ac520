"""From the simulated ratio to the measured one: the likely range, and whether a simulated winner is FASTER for sure.

The simulation decides first, by its own interval. What it calls faster is FASTER only if the 90 % interval of measured
ratios of such pairs lies above 1, and LIKELY_FASTER otherwise. SLOWER, SAME and AMBIGUOUS stay as the simulation
says. Pure: the `Likelihood` has all numbers that the decision needs, so a certificate can be checked with other error
tables too.
The words that say all this to a person or a model are here as well, so that they are the same everywhere.
"""

from __future__ import annotations

from warpsight.gate import statistics
from warpsight.nouns.timing import Decision, Likelihood, Timing
from warpsight.vgpu import model_error
from warpsight.vgpu.model_error import ErrorTables

LEVEL = 0.9
Interval = tuple[float, float]


def likelihood_of(
    ratio: float, baseline_bound: str, candidate_bound: str, errors: ErrorTables | None = None
) -> Likelihood:
    """What the error tables (the built-in ones by default) say of a simulated ratio."""
    tables = errors or model_error.built_in()
    found = tables.ratio_interval(ratio, baseline_bound, candidate_bound, LEVEL)
    return Likelihood(
        baseline_bound=baseline_bound,
        candidate_bound=candidate_bound,
        level=LEVEL,
        factors=(found.low / ratio, found.high / ratio),
        probability_faster=found.probability_faster,
        tables=tables.id,
    )


def likely_interval(ratio: float, simulated: Interval, likelihood: Likelihood) -> Interval:
    """Where the measured ratio likely lies; never narrower than the simulated interval."""
    low, high = (factor * ratio for factor in likelihood.factors)
    return min(low, simulated[0]), max(high, simulated[1])


def decide(ratio: float, simulated: Interval, likelihood: Likelihood | None) -> tuple[Decision, Interval]:
    """The decision and the interval of the ratio. Without a likelihood both are the simulation's own."""
    said = statistics.place(*simulated)
    if likelihood is None:
        return said, simulated
    interval = likely_interval(ratio, simulated, likelihood)
    return "LIKELY_FASTER" if said == "FASTER" and interval[0] <= 1 else said, interval


def interval_words(timing: Timing) -> str:
    """The interval of a ratio, and what it is an interval of; nothing where there is no ratio."""
    if timing.interval is None:
        return ""
    low, high = timing.interval
    if timing.likelihood is not None:
        return f"likely {low:.2f} to {high:.2f} when measured"
    span = "between boost and base clock" if timing.source == "simulated" else "99 % interval"
    return f"{low:.3f} to {high:.3f} {span}"


def range_words(timing: Timing) -> str:
    """What a simulated ratio and its range mean; nothing for a measured one, whose interval says what it is."""
    if timing.likelihood is None or timing.ratio is None:
        return ""
    return f"the ratio is at the boost clock; the range has {100 * timing.likelihood.level:.0f} % of such pairs in it"


def chance_words(timing: Timing) -> str:
    """How sure a LIKELY_FASTER is; nothing for other decisions."""
    if timing.decision != "LIKELY_FASTER" or timing.likelihood is None:
        return ""
    return f"{100 * timing.likelihood.probability_faster:.0f} % of such pairs were measured faster"
