"""A ranker of causes: from the counters and findings of one look, what each change would gain. No language in it.

The honest rival of a model that reads a profile: boosted trees on the same look, trained on the same tasks, which order
the changes that are known for a kernel. What must stay true: it sees of a task what a look shows and which rewrites
exist, never what came of them; it is not trained on tasks of the family that it is asked about.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from warpsight.causes import NOTHING, TIE
from warpsight.corpus.outcomes import OutcomeLine, change_values
from warpsight.errors import UsageError
from warpsight.learn.boosting import BoostedTrees, Boosting, Numbers, fit

MOST_GAIN = 4.0  # doublings; one task with a gain of a hundred should not teach more than ten others


@dataclass(frozen=True)
class Ranker:
    """What was learned: the features it reads, the answers it knows."""

    features: tuple[str, ...]
    answers: tuple[str, ...]
    trees: BoostedTrees
    tasks: int

    def gains(self, line: OutcomeLine) -> dict[str, float]:
        """Of each answer the gain that is expected, as a factor; `nothing` gains nothing."""
        found = self.trees.predict(_matrix([features_of(line)], self.features))[0]
        return {answer: float(2**gain) for answer, gain in zip(self.answers, found, strict=True)} | {NOTHING: 1.0}

    def order(self, line: OutcomeLine) -> list[str]:
        """The answers, the most promising first; those that promise less than a tie come after `nothing`."""
        gains = self.gains(line)
        return sorted(gains, key=lambda answer: (-(TIE if answer == NOTHING else gains[answer]), answer))


def train_ranker(lines: Sequence[OutcomeLine], *, without: str = "", how: Boosting | None = None) -> Ranker:
    """Learn from the lines of given kernels, of all families but one."""
    some = [line for line in lines if not line.way and line.look is not None and line.family != without]
    if len(some) < 2:
        raise UsageError("a ranker needs tasks of other families to learn from", hint="a larger table: --train FILE")
    values = [change_values(line) for line in some]
    answers = tuple(sorted({answer for each in values for answer in each} - {NOTHING}))
    read = [features_of(line) for line in some]
    names = tuple(sorted({name for each in read for name in each}))
    targets = np.array([[min(MOST_GAIN, math.log2(each.get(answer, 1.0))) for answer in answers] for each in values])
    return Ranker(names, answers, fit(_matrix(read, names), targets, how), len(some))


def features_of(line: OutcomeLine) -> dict[str, float]:
    """What a look shows, as numbers by name, and which rewrites are known."""
    look = line.look
    if look is None:
        return {}
    found = {f"counter {name}": math.log1p(abs(value)) for name, value in look.counters.items()}
    found |= {f"finding {name}": math.log(gain) + 0.1 for name, gain in (*look.smaller, *look.findings)}
    found |= {f"first {name}": 1.0 for name, _ in look.findings[:1]}
    found |= {f"without {name}": math.log(gain) + 0.1 for name, gain in look.what_if}
    found |= {f"bound {look.bound}": 1.0} if look.bound else {}
    return found | {f"known {cause}": float(count) for cause, count in Counter(o.cause for o in line.tries).items()}


def _matrix(read: Sequence[dict[str, float]], names: Sequence[str]) -> Numbers:
    return np.array([[each.get(name, 0.0) for name in names] for each in read], dtype=np.float64)
