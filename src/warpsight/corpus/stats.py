"""What a corpus holds, and how much of the answer stands in the text alone.

Two tasks with the same text but another size or GPU may have different answers. Over texts (family, defects, constants)
that occur more than once: `text_decides` is the share of tasks that the best single answer for each text gets right,
known only afterwards; `text_carries` how often the answer of one task is right for another of the same text.
"""

from __future__ import annotations

import itertools
import statistics
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from warpsight.causes import NOTHING
from warpsight.corpus.build import CorpusRow


@dataclass(frozen=True)
class Stats:
    """Counts over a corpus; shares are between 0 and 1."""

    tasks: int
    families: dict[str, int]
    gpus: dict[str, int]
    answers: dict[str, int]
    most_common_answer: float
    text_decides: float | None
    text_carries: float | None
    texts_seen_twice: int
    with_trap: float
    nothing: float
    median_gain: float
    geomean_gain: float
    geomean_gain_of_all: float


def summarise(rows: Sequence[CorpusRow]) -> Stats:
    """The numbers that `warpsight corpus stats` shows."""
    answers = Counter(kind for row in rows for kind in row.truth.right)
    gains = sorted(row.truth.gain for row in rows)
    decided, seen = _text_decides(rows)
    trapped = sum(has_trap(row) for row in rows)
    return Stats(
        tasks=len(rows),
        families=dict(Counter(row.spec.family for row in rows)),
        gpus=dict(Counter(row.spec.gpu for row in rows)),
        answers=dict(answers.most_common()),
        most_common_answer=max(answers.values(), default=0) / max(1, len(rows)),
        text_decides=decided,
        text_carries=_text_carries(rows),
        texts_seen_twice=seen,
        with_trap=trapped / max(1, len(rows)),
        nothing=sum(row.truth.right == (NOTHING,) for row in rows) / max(1, len(rows)),
        median_gain=gains[len(gains) // 2] if gains else 1.0,
        geomean_gain=_geomean(gains),
        geomean_gain_of_all=_geomean([row.truth.time_us / row.truth.fast_us for row in rows]),
    )


def has_trap(row: CorpusRow) -> bool:
    """A defect stands in the text whose removal gives less than 3 %."""
    return any(row.truth.time_us / time < 1.03 for time in row.truth.without_us.values())


def _geomean(gains: Sequence[float]) -> float:
    return statistics.geometric_mean(gains) if gains else 1.0


def _same_text(rows: Sequence[CorpusRow]) -> list[list[CorpusRow]]:
    by_text: dict[tuple[object, ...], list[CorpusRow]] = defaultdict(list)
    for row in rows:
        by_text[(row.spec.family, row.spec.defects, row.spec.constants)].append(row)
    return [group for group in by_text.values() if len(group) > 1]


def _text_decides(rows: Sequence[CorpusRow]) -> tuple[float | None, int]:
    """The best that any reader of the text alone could do, where the same text was measured more than once."""
    groups = _same_text(rows)
    total = sum(len(group) for group in groups)
    if total == 0:
        return None, 0
    best = sum(max(Counter(kind for row in group for kind in row.truth.right).values()) for group in groups)
    return best / total, total


def _text_carries(rows: Sequence[CorpusRow]) -> float | None:
    """The mean over ordered pairs of tasks of one text: the first's answers, one drawn, right for the second?"""
    shares = [
        sum(kind in other.truth.right for kind in row.truth.right) / len(row.truth.right)
        for group in _same_text(rows)
        for row, other in itertools.permutations(group, 2)
    ]
    return sum(shares) / len(shares) if shares else None
