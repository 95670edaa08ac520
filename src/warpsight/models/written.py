"""What an engine for local weights gives back."""

from __future__ import annotations

from typing import NamedTuple


class Written(NamedTuple):
    """The tokens of each row, and whether the time was over before all rows had ended."""

    rows: list[list[int]]
    late: bool
