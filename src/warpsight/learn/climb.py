"""On top of the rewrite that helps most, whatever else helps: the search behind a small model's call of `rewrite`.

Steps are drafts, which on the virtual GPU are right at the small sizes and not yet judged; the gate judges the last,
and where it refuses that, the one before. What must stay true: what comes out was found right by the whole gate, and a
cause whose rewrite the gate refuses even by itself is no gain.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from warpsight.learn.compact import HELPS, best_cause
from warpsight.nouns import Evaluation
from warpsight.rewrite import CAUSES as CAN_REWRITE
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
        while steps:
            last = steps[-1]
            found = last.evaluation or judge(last.made or "")
            timing = None if found is None else found.timing
            if timing is not None and timing.decision == "FASTER":
                records = [rewritten(step) for step in steps]
                records[-1] = records[-1].model_copy(
                    update={"ratio_to_given": timing.ratio, "decision": timing.decision, "source": timing.source}
                )
                return Climbed(records, last.made, found, frozenset(refused))
            steps.pop()
        refused.add(first)
        del gains[first]
    return Climbed([], None, None, frozenset(refused))


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
