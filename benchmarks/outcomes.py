"""Published numbers that follow from the outcomes of the bench: results/bench.jsonl, made.jsonl and typed.jsonl."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from warpsight.bench.metrics import MeanInterval, diagnosed, difference, log_speed, mean_of, scored
from warpsight.bench.units import BenchOutcome

RESULTS = Path(__file__).parents[1] / "results"
FILES = ("bench.jsonl", "made.jsonl", "typed.jsonl")


def value_of_outcomes(asked: str, show: str) -> dict[str, str]:
    """`SUITE MODEL:FEEDBACK COUNT`, or `... COUNT - MODEL:FEEDBACK` for a difference on the same tasks.

    `show` is what: accuracy (percent, or points of a difference) or speed (geometric mean, or ratio of two).
    """
    one, minus, other = asked.partition(" - ")
    suite, condition, count = one.split()
    some = _outcomes(suite, condition, int(count))
    if not minus:
        return _alone(some, show)
    return _against(some, _outcomes(suite, other.strip(), int(count)), show)


def _alone(some: Sequence[BenchOutcome], show: str) -> dict[str, str]:
    if show == "speed":
        found = mean_of(some, log_speed, geometric=True)
        return _said(found, f"{found.value:.2f}x", f"{found.low:.2f} to {found.high:.2f}")
    found = mean_of(scored(some), diagnosed)
    return _said(found, f"{100 * found.value:.1f} %", f"{100 * found.low:.1f} to {100 * found.high:.1f}")


def _against(one: Sequence[BenchOutcome], other: Sequence[BenchOutcome], show: str) -> dict[str, str]:
    if show == "speed":
        found = difference(one, other, log_speed)
        value, low, high = (math.exp(part) for part in found[:3])
        return _said(found, f"{value:.2f}x", f"{low:.2f} to {high:.2f}")
    found = difference(scored(one), scored(other), diagnosed)
    value, low, high = (100 * part for part in found[:3])
    return _said(found, f"{value:+.1f} points", f"{low:+.1f} to {high:+.1f}")


def _said(found: MeanInterval, value: str, interval: str) -> dict[str, str]:
    return {"value": value, "interval": interval, "n": f"{found.tasks} tasks"}


def _outcomes(suite: str, condition: str, count: int) -> list[BenchOutcome]:
    model, _, feedback = condition.rpartition(":")
    wanted = (suite, model, feedback)
    found = [one for one in _all() if (one.unit.suite, one.unit.label, one.unit.feedback) == wanted]
    first = [one for one in found if one.unit.row < count]
    if len({one.unit.row for one in first}) != count:
        raise ValueError(f"{suite} {condition}: expected the first {count} tasks, found {len(first)} of them")
    return first


@cache
def _all() -> tuple[BenchOutcome, ...]:
    lines = (line for name in FILES for line in (RESULTS / name).read_text(encoding="utf-8").splitlines())
    return tuple(BenchOutcome.model_validate_json(line) for line in lines if line)
