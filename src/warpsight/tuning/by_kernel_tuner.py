"""Choosing by the strategies of Kernel Tuner, over our configurations and through our gate.

Kernel Tuner's `tune_kernel` compiles, launches and times by itself, in this process, on arguments that it copies once.
Our gate does that in disposable jailed workers, on fresh contents, against a baseline in interleaved pairs. So only its
search is used: a strategy gets its Searchspace, filled with our configurations, and a Runner of its own interface that
asks the gate. Written for kernel_tuner 1.5.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from warpsight.errors import UsageError
from warpsight.tuning.search import MOST_REPEATS, BudgetUsed, Cost, SearchStrategy
from warpsight.tuning.space import Configurations, Key

OBJECTIVE = "time"
BRUTE_FORCE = "brute_force"  # its one strategy that refuses a limit
MOST_THREADS = 1024


def kernel_tuner_search(name: str) -> SearchStrategy:
    """The search by the strategy of this name."""
    known: dict[str, Any] = import_module("kernel_tuner.interface").strategy_map
    if name not in known:
        raise UsageError(
            f"expected a strategy of Kernel Tuner, found {name!r}", hint=f"one of {', '.join(sorted(known))}"
        )

    def search(space: Configurations, of: Cost, *, seed: int, tries: int) -> None:
        _run(known[name], space, of, seed=seed, tries=tries, takes_limit=name != BRUTE_FORCE)

    return search


def _run(strategy: Any, space: Configurations, of: Cost, *, seed: int, tries: int, takes_limit: bool) -> None:
    import numpy as np

    util: Any = import_module("kernel_tuner.util")
    options: Any = import_module("kernel_tuner.interface").Options
    random.seed(seed)  # its strategies draw from the two global generators
    np.random.seed(seed % 2**32)
    most = min(tries, len(space.allowed))
    own: Any = options({"max_fevals": most} if takes_limit else {})
    tuning = options(
        tune_params={parameter.name: list(parameter.values) for parameter in space.space.parameters},
        strategy_options=own, objective=[OBJECTIVE], objective_higher_is_better=[False], max_fevals=most,
        budget=util.TuningBudget(None, most), restrictions=None, metrics=None, cache={}, cachefile=None, verbose=False,
        simulation_mode=False, iterations=1,
    )  # fmt: skip
    strategy.tune(_searchspace(space), _runner(space, of), tuning)


def _searchspace(space: Configurations) -> Any:
    """Its own kind of space, with our configurations in it: the rules are already kept to."""
    made: Any = import_module("kernel_tuner.searchspace").Searchspace
    values = {parameter.name: list(parameter.values) for parameter in space.space.parameters}
    listed = {",".join(map(str, key)): space.config(key) for key in space.allowed}
    return made(None, None, None, from_cache={"tune_params": values, "cache": listed})


def _runner(space: Configurations, of: Cost) -> Any:
    """A Runner of Kernel Tuner's interface, made here because its base class is in an optional package."""
    base: Any = import_module("kernel_tuner.runners.runner").Runner
    invalid: Any = import_module("kernel_tuner.util").RuntimeFailedConfig

    class GateRunner(base):
        """Every configuration that a strategy asks for goes to the gate, one after the other."""

        def __init__(self) -> None:
            base.__init__(self)
            self.known: dict[Key, float | None] = {}
            self.repeats = 0
            self.quiet, self.units, self.simulation_mode = True, {OBJECTIVE: "of the given kernel's"}, False

        def get_device_info(self) -> Any:
            return SimpleNamespace(max_threads=MOST_THREADS, name="the gate")

        def get_environment(self, tuning_options: Any) -> dict[str, str]:
            return {"device_name": "the gate"}

        def run(self, parameter_space: Iterable[Sequence[int]], tuning_options: Any) -> list[dict[str, Any] | None]:
            return [self._one(tuple(int(value) for value in element), tuning_options) for element in parameter_space]

        def _one(self, key: Key, tuning_options: Any) -> dict[str, Any] | None:
            if tuning_options.budget.is_done():
                return None
            if key in self.known:
                self.repeats += 1
                if self.repeats >= MOST_REPEATS:
                    raise BudgetUsed
            else:
                self.repeats = 0
                self.known[key] = of(key)
                tuning_options.budget.add_evaluations(1)
            cost = self.known[key]
            times = {"compile_time": 0.0, "verification_time": 0.0, "benchmark_time": 0.0}
            return {**space.config(key), OBJECTIVE: invalid() if cost is None else cost, **times} | (
                {"__error__": invalid()} if cost is None else {}
            )

    return GateRunner()
