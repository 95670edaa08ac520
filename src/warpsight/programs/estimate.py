"""How long a launch will still take, from the blocks that have ended.

Blocks are taken to cost alike, so there is no estimate until some have ended, and none for a launch of few blocks.
"""

from __future__ import annotations

LEAST_ENDED = 4
LONG_S = 300.0


def launch_seconds_left(begun: int, blocks: int, spent_s: float, cores: int) -> float | None:
    """What is left of a launch in the seconds that were spent on it; None where that is not known yet."""
    ended = begun - cores
    return spent_s * (blocks - ended) / ended if ended >= LEAST_ENDED else None


def in_words(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < LONG_S else f"{seconds / 60:,.0f} minutes"
