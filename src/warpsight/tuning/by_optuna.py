"""Choosing by Optuna's tree-structured Parzen estimator, one configuration at a time.

Each parameter is a place in the order of its values, so that near sizes are near. What it proposes is moved to the
nearest configuration that is allowed and was not tried yet, and it is told of that one; what the gate refused counts as
worse than anything so far. What must stay true: with the same seed and the same answers it asks the same questions.
"""

from __future__ import annotations

import random
import warnings
from importlib import import_module
from typing import Any

from warpsight.tuning.search import Cost
from warpsight.tuning.space import Configurations, Key

STARTUP = 10
WORSE = 2.0


def tree_estimator(space: Configurations, of: Cost, *, seed: int, tries: int) -> None:
    """Until all is tried or `of` has enough."""
    optuna: Any = import_module("optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    warnings.filterwarnings("ignore", message=".*multivariate.*")  # it was called experimental for years
    sampler = optuna.samplers.TPESampler(seed=seed, multivariate=True, n_startup_trials=min(STARTUP, tries))
    study = optuna.create_study(sampler=sampler, direction="minimize")
    order = [sorted(parameter.values) for parameter in space.space.parameters]
    ranges = {
        name: optuna.distributions.IntDistribution(0, len(values) - 1)
        for name, values in zip(space.names, order, strict=True)
    }
    left = {_places(key, order): key for key in space.allowed}
    chance, worst = random.Random(seed), 1.0
    while left:
        asked: Any = study.ask(ranges)
        proposed = tuple(int(asked.params[name]) for name in space.names)
        study.tell(asked, state=optuna.trial.TrialState.FAIL)  # what is told is the one that was tried
        place = _nearest(proposed, left, chance)
        cost = of(left.pop(place))
        worst = worst if cost is None else max(worst, cost)
        params = dict(zip(space.names, place, strict=True))
        told = optuna.trial.create_trial(
            params=params, distributions=ranges, value=WORSE * worst if cost is None else cost
        )
        study.add_trial(told)


def _places(key: Key, order: list[list[int]]) -> Key:
    return tuple(values.index(value) for value, values in zip(key, order, strict=True))


def _nearest(proposed: Key, left: dict[Key, Key], chance: random.Random) -> Key:
    """The fewest steps away; one of several by chance, so that no direction is preferred."""
    if proposed in left:
        return proposed
    distances = {place: sum(abs(a - b) for a, b in zip(proposed, place, strict=True)) for place in left}
    least = min(distances.values())
    return chance.choice([place for place, far in distances.items() if far == least])
