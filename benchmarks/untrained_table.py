"""The tables of `benchmarks/untrained.py`: each condition alone, and against another on the tasks that both have."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from warpsight.nouns.timing import IMPROVEMENTS

Row = Mapping[str, Any]
DRAWS = 4000
BASE = "small"
BESIDE = {"only-tags": "unconstrained", "skill": "no-skill"}  # all other arms beside `BASE`


class Condition(NamedTuple):
    model: str
    arm: str
    feedback: str


def speed_of(row: Row) -> float:
    """What the user gets: the speed-up of a right kernel that the gate accepted, else 1: the given one stays."""
    ratio = row["ratio"] if row["verdict"] == "right" and row["decision"] in IMPROVEMENTS else None
    return 1.0 if ratio is None else float(ratio)


def print_tables(rows: Sequence[Row]) -> None:
    """All tables, as Markdown."""
    found: dict[Condition, dict[str, Row]] = {}
    for row in rows:
        found.setdefault(Condition(row["model"], row["arm"], row["feedback"]), {})[row["task"]] = row
    tasks = dict.fromkeys(row["task"] for row in rows)
    print(f"\ntasks ({len(tasks)}): {', '.join(key.partition('|')[0] for key in tasks)}\n")
    _head("model, arm, feedback, tasks, usable replies, right and faster, geometric mean (95 %), calls, tokens read, "
          "written, model CPU s")  # fmt: skip
    for condition, some in found.items():
        print(_line(condition, list(some.values())))
    print()
    _head("model, condition, against, tasks, ratio of speeds (95 %), right and faster, usable")
    for condition, some in found.items():
        base = _base_of(condition, found)
        if base is not None:
            print(_pair(condition, some, base, found[base]))


def _head(names: str) -> None:
    columns = names.split(", ")
    print(f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|")


def _base_of(condition: Condition, found: Mapping[Condition, Any]) -> Condition | None:
    """What it differs from in one thing."""
    if condition.arm in ("script", "no-skill"):
        return None
    if condition.model == "none":
        wanted = Condition("none", "script", "curated")
    elif condition.arm == BASE and condition.feedback == "curated":
        wanted = Condition("none", "guided", "curated")
    elif condition.arm in BESIDE:
        wanted = condition._replace(arm=BESIDE[condition.arm])
    else:
        wanted = Condition(condition.model, BASE, "curated")
    return wanted if wanted in found and wanted != condition else None


def _line(condition: Condition, some: Sequence[Row]) -> str:
    replies = sum(row["replies"] for row in some)
    logs = np.array([math.log(speed_of(row)) for row in some])
    low, high = _interval(logs)
    faster = sum(speed_of(row) > 1 for row in some)

    def mean(name: str) -> float:
        return sum(row[name] for row in some) / len(some)

    usable = "-" if condition.model == "none" else f"{_share(sum(r['usable'] for r in some), replies)} of {replies}"
    return (
        f"| {condition.model} | {condition.arm} | {condition.feedback} | {len(some)} | {usable} "
        f"| {faster} ({_share(faster, len(some))}) | {math.exp(logs.mean()):.2f}x ({low:.2f} to {high:.2f}) "
        f"| {mean('tool_calls'):.1f} | {mean('input_tokens'):.0f} | {mean('output_tokens'):.0f} "
        f"| {mean('model_seconds'):.1f} |"
    )


def _pair(one: Condition, some: Mapping[str, Row], other: Condition, others: Mapping[str, Row]) -> str:
    both = sorted(some.keys() & others.keys())
    if not both:
        return f"| {one.model} | {one.arm}, {one.feedback} | {other.arm}, {other.feedback} | 0 | - | - | - |"
    logs = np.array([math.log(speed_of(some[task]) / speed_of(others[task])) for task in both])
    low, high = _interval(logs)
    sides = [[side[task] for task in both] for side in (some, others)]
    faster = [sum(speed_of(row) > 1 for row in side) for side in sides]
    usable = [_share(sum(r["usable"] for r in side), sum(r["replies"] for r in side)) for side in sides]
    return (
        f"| {one.model} | {one.arm}, {one.feedback} | {other.arm}, {other.feedback} | {len(both)} "
        f"| {math.exp(logs.mean()):.2f}x ({low:.2f} to {high:.2f}) | {faster[0]} against {faster[1]} "
        f"| {usable[0]} against {usable[1]} |"
    )


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "-"


def _interval(logs: np.ndarray) -> tuple[float, float]:
    draw = np.random.default_rng(0)
    means = logs[draw.integers(0, len(logs), size=(DRAWS, len(logs)))].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return math.exp(low), math.exp(high)
