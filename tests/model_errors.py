"""Error tables of a made-up time model, so that no test depends on the errors of ours."""

from __future__ import annotations

from warpsight.nouns import Evaluation, Timing
from warpsight.nouns.timing import Likelihood
from warpsight.vgpu.model_error import ANY, QUANTILES, ErrorTable, ErrorTables


def even_errors(most: float) -> ErrorTables:
    """Errors spread evenly over `most` doublings either way, whatever limits the kernels."""
    table = ErrorTable(1000, tuple(most * (2.0 * share - 1.0) for share in QUANTILES))
    return ErrorTables({(ANY, ANY): table}, {ANY: table})


EXACT = even_errors(0.01)  # what is simulated faster is FASTER
ROUGH = even_errors(12.0)  # nothing is


def likely(found: Timing) -> Timing:
    """The same simulated winner, only likely faster."""
    assert found.ratio is not None and found.interval is not None
    said = Likelihood(
        baseline_bound="latency", candidate_bound="latency", level=0.9, factors=(0.5 / found.ratio, 2.0),
        probability_faster=0.8, tables="made up",
    )  # fmt: skip
    changes = {
        "decision": "LIKELY_FASTER", "likelihood": said, "simulated_interval": found.interval,
        "interval": (min(0.5, found.interval[0]), max(2.0 * found.ratio, found.interval[1])),
    }  # fmt: skip
    return Timing.model_validate({**dict(found), **changes})


def likely_faster(found: Evaluation) -> Evaluation:
    assert found.timing is not None
    return found.model_copy(update={"timing": likely(found.timing)})
