"""How fresh contents of a recorded array are drawn."""

from __future__ import annotations

import numpy as np

from warpsight.capture.arguments import KernelArgument, ladder


def freest(values: list[int], entries: int) -> object:
    before = np.array(values, np.int64)
    return ladder(KernelArgument("x", "int64", before=before), entries)[0]["fill"]


def test_row_pointers_end_within_another_array() -> None:
    """Numbers that only rise are row pointers where there are so many entries, and test data where there are not."""
    assert freest([0, 2, 2, 5], entries=5) == "csr_rows"
    assert freest([0, 2, 2, 5], entries=4) == "integers"
    assert freest([0, 10**17, 2 * 10**17, 3 * 10**17], entries=4) == "integers"
    assert freest([0, 2, 1, 3], entries=4) == "permutation"
