"""A benchmark as tables: one row a condition, and every comparison in pairs. Markdown, for results and for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from warpsight.bench.metrics import MeanInterval, alike, diagnosed, difference, log_speed, scored, summary_of, within
from warpsight.bench.units import BenchOutcome
from warpsight.short.prompting import ANSWERS_ALONE

Condition = tuple[str, str, str]  # suite, model, feedback


def conditions(outcomes: Sequence[BenchOutcome]) -> dict[Condition, list[BenchOutcome]]:
    """Outcomes by what was asked of whom, in the order they came."""
    found: dict[Condition, list[BenchOutcome]] = {}
    for outcome in outcomes:
        unit = outcome.unit
        found.setdefault((unit.condition, unit.label, unit.feedback), []).append(outcome)
    return dict(sorted(found.items(), key=lambda item: (item[1][0].unit.suite, item[1][0].unit.tries, item[0])))


def report(outcomes: Sequence[BenchOutcome]) -> str:
    """All conditions in one table for each suite."""
    found = conditions(outcomes)
    made: list[str] = []
    for suite in sorted({some[0].unit.suite for some in found.values()}):
        rows = [(key, summary_of(some)) for key, some in found.items() if some[0].unit.suite == suite]
        made.append(SHOWN.get(suite, _optimize)(rows))
    return "\n\n".join(made)


def comparison(one: Sequence[BenchOutcome], other: Sequence[BenchOutcome]) -> dict[str, Any]:
    """`one` against `other`, in pairs: points of accuracy and, where kernels were handed in, the ratio of speeds."""
    known = scored(one), scored(other)
    found: dict[str, Any] = {"accuracy": difference(*known, diagnosed)._asdict() if all(known) else None}
    if one and one[0].unit.tries:
        judged = [[o for o in side if o.within is not None] for side in (one, other)]
        found["within"] = difference(judged[0], judged[1], within)._asdict() if all(judged) else None
    if one and one[0].unit.suite not in ANSWERS_ALONE:
        found["log_speedup"] = difference(one, other, log_speed)._asdict()
        found["alike"] = alike(one, other)
    return found


def _recommend(rows: Sequence[tuple[Condition, dict[str, Any]]]) -> str:
    lines = [
        "| model | feedback | tasks | right recommendation (95 % interval) | answered | calls | tokens written |",
        "|---|---|---|---|---|---|---|",
    ]
    for (_, model, feedback), found in rows:
        lines.append(
            f"| {model} | {feedback} | {found['tasks']} | {percent(found['accuracy'])} | {found['answered']:.0%} "
            f"| {found['tool_calls']:.1f} | {found['output_tokens']:.0f} |"
        )
    return "\n".join(lines)


def _optimize(rows: Sequence[tuple[Condition, dict[str, Any]]]) -> str:
    lines = [
        "| model | feedback | tasks | right kernel | fast_1 | fast_1.2 | fast_1.5 | fast_2 | speed-up (95 % interval) "
        "| share of roofline | diagnosis | predictions | calls | tokens written |",
        "|---" * 14 + "|",
    ]
    for (_, model, feedback), found in rows:
        fast = cast(dict[str, float], found["fast_p"])
        lines.append(
            f"| {model} | {feedback} | {found['tasks']} | {found['right']:.0%} | "
            + " | ".join(f"{share:.0%}" for share in fast.values())
            + f" | {times(found['geomean_speedup'], found['source'])} | {_maybe(found['roofline_share'])} "
            f"| {percent(found['accuracy'])} | {_maybe(found['predictions_right'])} | {found['tool_calls']:.1f} "
            f"| {found['output_tokens']:.0f} |"
        )
    return "\n".join(lines)


def _budget(rows: Sequence[tuple[Condition, dict[str, Any]]]) -> str:
    lines = [
        "| tries | model | feedback | tasks | of the best known gain (95 % interval) | speed-up "
        "| within 10 % of the best change | the very name | tries used | tokens written |",
        "|---" * 10 + "|",
    ]
    for (_, model, feedback), found in rows:
        lines.append(
            f"| {found['tries_allowed']} | {model} | {feedback} | {found['tasks']} | {percent(found['share_of_best'])} "
            f"| {times(found['geomean_speedup'], found['source'])} | {percent(found['within'])} "
            f"| {percent(found['accuracy'])} | {found['tries']:.1f} | {found['output_tokens']:.0f} |"
        )
    return "\n".join(lines)


def percent(found: dict[str, float] | None) -> str:
    """A share with its interval; a dash where there is none."""
    if found is None:
        return "-"
    part = MeanInterval(**cast(Any, found))
    return f"{100 * part.value:.1f} % ({100 * part.low:.1f} to {100 * part.high:.1f})"


def times(found: dict[str, float], source: str) -> str:
    part = MeanInterval(**cast(Any, found))
    said = f" {source}" if source else ""
    return f"{part.value:.2f}x{said} ({part.low:.2f} to {part.high:.2f})"


def _maybe(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"


SHOWN = {"recommend": _recommend, "classify": _recommend, "budget": _budget}
