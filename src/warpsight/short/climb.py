"""On top of the rewrite that helps most, whatever else helps: the search behind a small model's call of `rewrite`.

Steps are drafts, which on the virtual GPU are right at the small sizes and not yet judged; the gate judges the last,
and where it refuses that, or charges it with more time than the step before takes, that one. What must stay true: what
comes out was found right by the whole gate, and a cause whose rewrite the gate refuses even by itself is no gain.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from warpsight.nouns import Evaluation
from warpsight.rewrite import CAUSES as CAN_REWRITE
from warpsight.short.words import HELPS, best_cause
from warpsight.tools.box import ToolResult
from warpsight.tools.rewrite import Rewritten

MOST_ROUNDS = 3  # over all rewrites that are known
LAST = ("one_output_a_thread",)  # leaves a text that other rules hardly know again, so these come before it
Draft = Callable[[str, str], ToolResult]  # a kernel, a cause: a faster kernel, or none
Judge = Callable[[str], Evaluation | None]  # the gate's word on a kernel


class Climbed(NamedTuple):
    """The steps on top of one another, the kernel they lead to and the gate's word on it; all empty where none helps.
    `refused` are causes that seemed to help, by themselves, until the gate judged them."""

    steps: list[Rewritten]
    made: str | None
    evaluation: Evaluation | None
    refused: frozenset[str]


def rewritten(result: ToolResult) -> Rewritten:
    """The record of a call for one cause."""
    return Rewritten.model_validate_json(json.dumps(result.data))


def climb(alone: Mapping[str, ToolResult], draft: Draft, judge: Judge) -> Climbed:
    """From the best of what was tried alone, as far up as the gate follows; else from the next best."""
    gains = {cause: one.ratio or 0.0 for cause, found in alone.items() if (one := rewritten(found)).found}
    refused: set[str] = set()
    while (first := best_cause(gains)) and gains[first] >= HELPS:
        order = sorted(CAN_REWRITE, key=lambda cause: (cause in LAST, cause not in gains, -gains.get(cause, 0.0)))
        steps = [alone[first], *_on_top(alone[first], order, draft)]
        if (found := _highest(steps, judge, frozenset(refused))) is not None:
            return found
        refused.add(first)
        del gains[first]
    return Climbed([], None, None, frozenset(refused))


def _highest(steps: Sequence[ToolResult], judge: Judge, refused: frozenset[str]) -> Climbed | None:
    """The step that is fastest by the gate's word, looked for from the last one down. What was foretold of a step is
    the most that it can be worth: the gate may charge it with more time."""
    best: Climbed | None = None
    fastest = 0.0
    for count in range(len(steps), 0, -1):
        last, records = steps[count - 1], [rewritten(step) for step in steps[:count]]
        if best is not None and fastest >= (records[-1].ratio_to_given or 0.0):
            break
        found = last.evaluation or judge(last.made or "")
        timing = None if found is None else found.timing
        if timing is None or not timing.improves or timing.ratio is None or timing.ratio <= fastest:
            continue
        told = {"ratio_to_given": timing.ratio, "decision": timing.decision, "source": timing.source}
        fastest, records[-1] = timing.ratio, records[-1].model_copy(update=told)
        best = Climbed(records, last.made, found, refused)
    return best


def _on_top(best: ToolResult, causes: Sequence[str], draft: Draft) -> Iterator[ToolResult]:
    """What helps on top of the best so far, in turn, until all was tried on the same kernel."""
    for some in ([cause for cause in causes if cause not in LAST], causes):
        vain = 0
        for cause in itertools.islice(itertools.cycle(some), MOST_ROUNDS * len(some)):
            more = draft(best.made or "", cause)
            vain += 1
            if more.made is not None:
                best, vain = more, 0
                yield best
            if vain == len(some):
                break
