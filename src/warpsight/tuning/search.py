"""How configurations are chosen: one function for each way, all of the same shape.

A search asks `of` for the cost of a configuration (None where it has none) until it has nothing more to ask, or until
`of` raises Spent. Answers that were had before cost nothing and come again, so a search that is started over with the
same seed goes the way it went before: that is how a tuning is resumed. What must stay true: a search decides only what
is tried; what is right and fast is the gate's.
"""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Callable
from typing import Protocol

from warpsight.errors import ToolMissing, UsageError
from warpsight.tuning.space import Configurations, Key

Cost = Callable[[Key], float | None]
AUTO, EXHAUSTIVE, RANDOM, TPE, KERNEL_TUNER = "auto", "exhaustive", "random", "tpe", "kernel-tuner"
DEFAULT_KERNEL_TUNER = "genetic_algorithm"
INSTALL = "pip install 'warpsight[tune]'"
MOST_REPEATS = 200  # in a row: a search that only asks for what it knows has ended


class BudgetUsed(Exception):
    """The budget is used up; raised by `of`, and never seen outside of a tuning."""


class SearchStrategy(Protocol):
    """One way to choose. `tries` is how many new configurations may be asked for."""

    def __call__(self, space: Configurations, of: Cost, *, seed: int, tries: int) -> None: ...


def exhaustive(space: Configurations, of: Cost, *, seed: int, tries: int) -> None:
    """Every configuration, those that are most like the given kernel first."""
    for key in known_order(EXHAUSTIVE, space, seed):
        of(key)


def at_random(space: Configurations, of: Cost, *, seed: int, tries: int) -> None:
    """Every configuration in random order."""
    for key in known_order(RANDOM, space, seed):
        of(key)


def known_order(strategy: str, space: Configurations, seed: int) -> list[Key]:
    """The order of a strategy that looks at no result, so that several can be tried at once."""
    if strategy == EXHAUSTIVE:
        return sorted(space.allowed, key=lambda key: (space.distance(key), key))
    if strategy == RANDOM:
        return random.Random(seed).sample(space.allowed, len(space.allowed))
    raise UsageError(
        f"{strategy} chooses each configuration by the results before it, so it cannot try several at once",
        hint=f"--strategy {EXHAUSTIVE} or {RANDOM}, or leave out --on and --processes",
    )


def chosen_strategy(
    word: str, device: str, configurations: int, tries: int, *, at_once: bool = False
) -> tuple[str, str]:
    """The strategy that a word means here, and what is to be told about it. `at_once`: several are tried at a time.

    `auto`: all of a small space; else Kernel Tuner where it has devices of its own (OpenCL, CUDA, HIP), and Optuna's
    tree-structured estimator on the virtual GPU; where the package is not installed, chance, and that is told.
    """
    if word != AUTO:
        return (f"{KERNEL_TUNER}:{DEFAULT_KERNEL_TUNER}" if word == KERNEL_TUNER else word), ""
    if configurations <= tries:
        return EXHAUSTIVE, ""
    if at_once:
        return RANDOM, f"searched at random, since several are tried at once and not all {configurations} are"
    module, better = ("optuna", TPE) if device == "virtual" else ("kernel_tuner", KERNEL_TUNER)
    if importlib.util.find_spec(module) is None:
        told = f"searched at random, since {module} is not installed: {INSTALL}; --strategy {better} insists on it"
        return RANDOM, told
    return (TPE if better == TPE else f"{KERNEL_TUNER}:{DEFAULT_KERNEL_TUNER}"), ""


def search_of(strategy: str) -> SearchStrategy:
    """The function of a strategy; ToolMissing where its package is not installed."""
    kind, _, name = strategy.partition(":")
    if kind == EXHAUSTIVE and not name:
        return exhaustive
    if kind == RANDOM and not name:
        return at_random
    if kind == TPE and not name:
        _require("optuna", strategy)
        from warpsight.tuning.by_optuna import tree_estimator

        return tree_estimator
    if kind == KERNEL_TUNER:
        _require("kernel_tuner", strategy)
        from warpsight.tuning.by_kernel_tuner import kernel_tuner_search

        return kernel_tuner_search(name or DEFAULT_KERNEL_TUNER)
    raise UsageError(
        f"expected a strategy, found {strategy!r}",
        hint=f"{AUTO}, {EXHAUSTIVE}, {RANDOM}, {TPE}, {KERNEL_TUNER} or {KERNEL_TUNER}:NAME",
    )


def _require(module: str, strategy: str) -> None:
    if importlib.util.find_spec(module) is None:
        raise ToolMissing(
            f"the strategy {strategy} needs the package {module}, it is not installed",
            hint=f"{INSTALL}; or --strategy {RANDOM}, which needs none, or more --tries and --strategy {EXHAUSTIVE}",
        )
