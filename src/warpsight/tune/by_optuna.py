"""Choosing by Optuna's tree-structured Parzen estimator, one configuration at a time.

Each parameter is a place in the order of its values, so that near sizes are near. Configurations that the rules forbid,
or that the gate refused, are told to it as worse than anything it has seen. What must stay true: with the same seed and
the same answers it asks the same questions.
"""

from __future__ import annotations

import random
import warnings
from importlib import import_module
from typing import Any

from warpsight.tune.search import MOST_REPEATS, Cost
from warpsight.tune.space import Configurations, Key

STARTUP = 10
WORSE = 2.0


def tree_estimator(space: Configurations, of: Cost, *, seed: int, tries: int) -> None:
    """Until all is tried: ask the estimator; where it only repeats itself, take one that is new at random."""
    optuna: Any = import_module("optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    warnings.filterwarnings("ignore", message=".*multivariate.*")  # it was called experimental for years
    sampler = optuna.samplers.TPESampler(seed=seed, multivariate=True, n_startup_trials=min(STARTUP, tries))
    study = optuna.create_study(sampler=sampler, direction="minimize")
    parameters = space.space.parameters
    order = {parameter.name: sorted(parameter.values) for parameter in parameters}
    ranges = {name: optuna.distributions.IntDistribution(0, len(values) - 1) for name, values in order.items()}
    allowed, known = set(space.allowed), dict[Key, float | None]()
    fresh = random.Random(seed)
    repeats = 0
    while len(known) < len(allowed):
        trial: Any = study.ask(ranges)
        key: Key = tuple(order[name][int(trial.params[name])] for name in space.names)
        if key in allowed and key not in known:
            repeats = 0
            known[key] = of(key)
        else:
            repeats += 1
        study.tell(trial, _told(known.get(key), known))
        if repeats >= MOST_REPEATS:
            key = fresh.choice([one for one in space.allowed if one not in known])
            known[key], repeats = of(key), 0
            study.add_trial(_made(optuna, ranges, order, space.config(key), _told(known[key], known)))


def _told(cost: float | None, known: dict[Key, float | None]) -> float:
    """A cost, or more than the worst one so far."""
    if cost is not None:
        return cost
    return WORSE * max((one for one in known.values() if one is not None), default=1.0)


def _made(optuna: Any, ranges: Any, order: dict[str, list[int]], config: dict[str, int], cost: float) -> Any:
    places = {name: order[name].index(value) for name, value in config.items()}
    return optuna.trial.create_trial(params=places, distributions=ranges, value=cost)
