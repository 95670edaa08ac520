"""Ways to choose, on costs that are known: each finds the best of a small space, none asks for what is forbidden."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Iterable

import pytest
from tests.tuning.conftest import configurations

from warpsight.errors import ToolMissing, UsageError
from warpsight.tuning.search import BudgetUsed, chosen_strategy, search_of
from warpsight.tuning.space import Configurations, Key

OPTUNA = importlib.util.find_spec("optuna") is not None
KERNEL_TUNER = importlib.util.find_spec("kernel_tuner") is not None
STRATEGIES = [
    "exhaustive",
    "random",
    pytest.param("tpe", marks=pytest.mark.skipif(not OPTUNA, reason="the extra `tune` is not installed")),
    *(
        pytest.param(
            f"kernel-tuner:{name}",
            marks=pytest.mark.skipif(not KERNEL_TUNER, reason="the extra `tune` is not installed"),
        )
        for name in ("genetic_algorithm", "random_sample", "simulated_annealing", "brute_force")
    ),
]


def bowl(key: Key) -> float | None:
    """Least at BM 64, BN 64, BK 16, TM 8, TN 4; kernels of 1024 threads fail."""
    best = (64, 64, 16, 8, 4)
    if key[-1] == 1024:
        return None
    return 1.0 + sum(abs(value.bit_length() - wanted.bit_length()) for value, wanted in zip(key, best, strict=False))


def least(keys: Iterable[Key]) -> float:
    return min(cost for key in keys if (cost := bowl(key)) is not None)


class Asked:
    """A cost with a budget, which keeps what it was asked for."""

    def __init__(self, space: Configurations, tries: int) -> None:
        self.space, self.tries = set(space.allowed), tries
        self.keys: list[Key] = []

    def of(self, key: Key) -> float | None:
        assert key in self.space and key not in self.keys
        if len(self.keys) >= self.tries:
            raise BudgetUsed
        self.keys.append(key)
        return bowl(key)


def ran(strategy: str, tries: int, seed: int = 1) -> list[Key]:
    space = configurations("matmul_register_blocked")
    asked = Asked(space, tries)
    with contextlib.suppress(BudgetUsed):
        search_of(strategy)(space, asked.of, seed=seed, tries=tries)
    return asked.keys


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_whole_budget_finds_the_best(strategy: str) -> None:
    """With as many tries as there are configurations, whatever the order."""
    space = configurations("matmul_register_blocked")
    keys = ran(strategy, len(space.allowed))
    assert least(keys) == least(space.allowed)
    if strategy in ("exhaustive", "random", "tpe", "kernel-tuner:brute_force"):
        assert set(keys) == set(space.allowed)


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_same_seed_goes_the_same_way(strategy: str) -> None:
    """That is how a tuning goes on: the answers that were had come again."""
    first = ran(strategy, 30)
    assert 20 < len(first) <= 30 and ran(strategy, 30) == first


@pytest.mark.filterwarnings("default")
@pytest.mark.skipif(not OPTUNA, reason="the extra `tune` is not installed")
def test_the_estimator_learns() -> None:
    """Over some seeds it is nearer to the best after 40 of 212 tries than chance is."""

    def reached(strategy: str) -> float:
        runs = [ran(strategy, 40, seed=seed) for seed in range(5)]
        return sum(least(keys) for keys in runs) / len(runs)

    assert reached("tpe") < reached("random")


def test_exhaustive_begins_near_the_given_kernel() -> None:
    space = configurations("matmul_register_blocked")
    distances = [space.distance(key) for key in ran("exhaustive", 50)]
    assert distances == sorted(distances) and distances[0] == 1


def test_the_strategy_that_auto_means() -> None:
    assert chosen_strategy("auto", "virtual", 20, 60) == ("exhaustive", "")
    assert chosen_strategy("auto", "virtual", 200, 60)[0] == ("tpe" if OPTUNA else "random")
    for device in ("opencl", "cuda", "hip"):
        meant = "kernel-tuner:genetic_algorithm" if KERNEL_TUNER else "random"
        assert chosen_strategy("auto", device, 200, 60)[0] == meant
    assert chosen_strategy("random", "cuda", 20, 60) == ("random", "")


def test_without_the_package_auto_is_chance_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    chosen, note = chosen_strategy("auto", "virtual", 200, 60)
    assert chosen == "random" and "optuna is not installed" in note and "warpsight[tune]" in note


@pytest.mark.parametrize("word", ["best", "exhaustive:x", "tpe:y", ""])
def test_no_such_strategy(word: str) -> None:
    with pytest.raises(UsageError, match="expected a strategy") as problem:
        search_of(word)
    assert "exhaustive" in (problem.value.hint or "")


@pytest.mark.skipif(not KERNEL_TUNER, reason="the extra `tune` is not installed")
@pytest.mark.filterwarnings("default")
def test_no_such_strategy_of_kernel_tuner() -> None:
    with pytest.raises(UsageError, match="found 'luck'") as problem:
        search_of("kernel-tuner:luck")
    assert "genetic_algorithm" in (problem.value.hint or "")


@pytest.mark.parametrize(("word", "module"), [("tpe", "optuna"), ("kernel-tuner", "kernel_tuner")])
def test_a_package_that_is_not_there_is_named(word: str, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == module else real(name))
    with pytest.raises(ToolMissing, match=module) as problem:
        search_of(word)
    assert "warpsight[tune]" in (problem.value.hint or "") and "--strategy random" in (problem.value.hint or "")
