"""The reward of one answer: a pure function of what the gate evaluated and of what was measured to be right.

The order that must hold: a wrong kernel is worst, then no answer; with the same recommendation a right kernel that is
not faster comes next, then the faster the better on a logarithmic scale. A right recommendation is worth as much as a
doubling of speed, a right prediction a little; each tool call costs a little, so that looking must pay for itself. Of
what a model says the named cause is read, and nothing else.
"""

from __future__ import annotations

import math

from warpsight.nouns import Evaluation
from warpsight.nouns.base import Noun
from warpsight.nouns.run import Run, Submission
from warpsight.reason.predictions import accuracy
from warpsight.short.budget_box import BudgetSpent


class Prices(Noun):
    """What each thing is worth. What calls cost must stay below what being right adds."""

    wrong: float = -1.0
    no_answer: float = -0.75
    right: float = 0.0
    per_doubling: float = 1.0
    most_doublings: float = 4.0
    recommended: float = 1.0
    predicted: float = 0.2
    per_call: float = 0.02
    per_try: float = 0.08  # suite budget: a change that is compiled and timed


def reward(
    submission: Submission | None,
    evaluation: Evaluation | None,
    right: tuple[str, ...],
    tool_calls: int,
    prices: Prices | None = None,
) -> float:
    """The reward. `evaluation` is None where the suite asks for an answer alone; `right` are the right answers."""
    price = prices or Prices()
    paid = price.per_call * tool_calls
    if submission is None:
        return price.no_answer - paid
    if evaluation is not None and evaluation.check.verdict != "right":
        return price.wrong - paid
    earned = price.right + _speed(evaluation, price)
    if submission.cause in right:
        earned += price.recommended
    share = accuracy([submission]).share
    return earned + price.predicted * (share or 0.0) - paid


def reward_of(run: Run, right: tuple[str, ...], prices: Prices | None = None) -> float:
    """The reward of a run of the loop."""
    return reward(run.submission, run.submitted, right, run.spent.tool_calls, prices)


def budget_reward(
    submission: Submission | None, spent: BudgetSpent, within: bool, tool_calls: int, prices: Prices | None = None
) -> float:
    """The reward of the suite budget. `within`: the named change gains within 10 % of the best measured one. A try
    costs what a user pays for it: it must bring more than it costs, and what is found without one is worth more."""
    price = prices or Prices()
    paid = price.per_call * tool_calls + price.per_try * spent.tries
    if submission is None:
        return price.no_answer - paid
    gained = price.per_doubling * min(math.log2(spent.speed), price.most_doublings)
    return price.right + gained + (price.recommended if within else 0.0) - paid


def _speed(evaluation: Evaluation | None, price: Prices) -> float:
    """Doublings of speed; a kernel that is neither FASTER nor LIKELY_FASTER earns none, and a slower one loses none:
    leaving it alone would be worth as much."""
    timing = evaluation.timing if evaluation is not None else None
    if timing is None or not timing.improves or timing.ratio is None:
        return 0.0
    return price.per_doubling * min(math.log2(timing.ratio), price.most_doublings)
