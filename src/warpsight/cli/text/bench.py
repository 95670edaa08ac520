"""Outcomes of a bench, as a document, a table, or two conditions against one another."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from warpsight.bench.metrics import summary_of
from warpsight.bench.table import conditions, report

if TYPE_CHECKING:
    from rich.console import Console

    from warpsight.bench.units import BenchOutcome

Render = Callable[["Console"], None]


def document_of(found: Sequence[BenchOutcome]) -> dict[str, Any]:
    return {
        "conditions": [
            {"suite": suite, "model": model, "feedback": mode, **summary_of(some)}
            for (suite, model, mode), some in conditions(found).items()
        ]
    }


def table_of(found: Sequence[BenchOutcome]) -> Render:
    return lambda console: console.print(report(found), markup=False)


def comparison_of(one: str, other: str, made: Mapping[str, Any]) -> Render:
    return lambda console: console.print("\n".join(_compared(one, other, made)), markup=False)


def _compared(one: str, other: str, made: Mapping[str, Any]) -> list[str]:
    part = made["accuracy"]
    points = part and f"{100 * part['value']:+.1f} points ({100 * part['low']:+.1f} to {100 * part['high']:+.1f})"
    told = f"right recommendation {points}, {part['tasks']} tasks" if part else "no right answers are known"
    lines = [f"{one} against {other}: {told}"]
    if made.get("within"):
        part = made["within"]
        points = f"{100 * part['value']:+.1f} points ({100 * part['low']:+.1f} to {100 * part['high']:+.1f})"
        lines.append(f"within 10 % of the best change: {points}, {part['tasks']} tasks")
    if "log_speedup" in made:
        ratio = {key: math.exp(made["log_speedup"][key]) for key in ("value", "low", "high")}
        told = f"{ratio['value']:.2f}x ({ratio['low']:.2f} to {ratio['high']:.2f})"
        lines.append(f"speed-up, ratio of the geometric means: {told}")
        same = made["alike"]
        told = f"the same answer {same['same_answer']} times, a kernel as fast {same['as_fast']} times"
        lines.append(f"of {same['pairs']} pairs: {told}")
    return lines
