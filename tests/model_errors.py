"""Error tables of a made-up time model, so that no test depends on the errors of ours."""

from __future__ import annotations

from warpsight.vgpu.model_error import ANY, QUANTILES, ErrorTable, ModelError


def even_errors(most: float) -> ModelError:
    """Errors spread evenly over `most` doublings either way, whatever limits the kernels."""
    table = ErrorTable(1000, tuple(most * (2.0 * share - 1.0) for share in QUANTILES))
    return ModelError({(ANY, ANY): table}, {ANY: table})


EXACT = even_errors(0.01)  # what is simulated faster is FASTER
ROUGH = even_errors(12.0)  # nothing is
