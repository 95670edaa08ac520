"""`rewrite`: the known rewrites for a named cause, tried; the best that is right and faster, or none.

For a caller that can say what is wrong and cannot type the edit. The texts come from `rewrite/`; verdicts and times are
the gate's, as everywhere. On the virtual GPU a rewrite is profiled before it is checked, so that only those that would
win are checked. What must stay true: nothing is handed out that the gate did not find right, no time is told of a
kernel that it did not, and where times are off none has a part in the choice. A `draft` is for those who put several
rewrites on top of one another: checked at the small sizes alone, so the caller owes the whole gate to the last of them.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from warpsight.devices.virtual import VirtualGpu
from warpsight.errors import TaskError
from warpsight.gate.check import check_candidate
from warpsight.nouns import Candidate, Evaluation, Noun
from warpsight.rewrite import CAUSES, MOST, Rewrite, facts_of, rewrites
from warpsight.tools.answer import Answer, Kernel, KernelId
from warpsight.tools.edits import kernel_id
from warpsight.tools.feedback import NO_TIME, shows_time
from warpsight.tools.time import decision_line
from warpsight.tools.workbench import Workbench

LEAST_GAIN = 1.01
MOST_LINES = 16
Cause = Annotated[str, Field(json_schema_extra={"enum": list(CAUSES)})]


class Try(Noun):
    """One rewrite and what came of it; `kernel` is its id."""

    rewrite: str
    kernel: KernelId
    outcome: str


class Rewritten(Noun):
    """The best rewrite, where there is one. `ratio` is its speed over that of the kernel it was made from."""

    cause: str
    base: KernelId
    found: bool
    kernel: str = ""
    rewrite: str = ""
    changes: tuple[str, ...] = ()
    decision: str = ""
    source: str = ""
    ratio: float | None = None
    ratio_to_given: float | None = None
    tried: tuple[Try, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Winner:
    """A rewrite that is right, and its speed over the kernel it was made from; a draft has no evaluation."""

    rewrite: Rewrite
    candidate: Candidate
    evaluation: Evaluation | None
    ratio: float | None


@dataclass(frozen=True)
class Search:
    """What came of all rewrites for one cause."""

    winner: Winner | None
    tried: tuple[Try, ...]


def rewrite(bench: Workbench, kernel: Kernel, cause: Cause) -> Answer[Rewritten]:
    """Try the usual edits for a cause, which you need not write: at most eight, each checked and timed. Gives the best
    that is right and faster, as the new `current`, with its id and what changed; or says that none helps."""
    return _told(bench, kernel, cause, search(bench, kernel, cause))


def draft(bench: Workbench, kernel: str, cause: str) -> Answer[Rewritten]:
    """The same, where times are simulated, with a check of the small sizes alone."""
    return _told(bench, kernel, cause, search(bench, kernel, cause, drafts=isinstance(bench.device, VirtualGpu)))


def _told(bench: Workbench, kernel: str, cause: str, found: Search) -> Answer[Rewritten]:
    base, winner = kernel_id(kernel), found.winner
    data = Rewritten(cause=cause, base=base, found=winner is not None, tried=found.tried)
    told = [f"{one.rewrite}: {one.outcome}" for one in found.tried]
    if winner is None:
        why = _why_none(bench, found)
        lines = [f"{base}: {why}", *told]
        return Answer("\n".join(lines), data.model_copy(update={"reason": why}))
    name, changes = kernel_id(winner.rewrite.text), changed_lines(kernel, winner.rewrite.text)
    update = {"kernel": name, "rewrite": winner.rewrite.name, "changes": changes}
    lines = [f"{name}: {winner.rewrite.name}, made from {base}", *changes]
    timing = None if winner.evaluation is None else winner.evaluation.timing
    if winner.evaluation is None:
        update |= {"ratio": winner.ratio, "ratio_to_given": _speed(bench, winner.candidate), "source": "simulated"}
        lines.insert(1, f"right at the small sizes, {winner.ratio or 0.0:.3f}x")
    elif shows_time(bench.feedback) and timing is not None:
        update |= {
            "ratio": winner.ratio, "ratio_to_given": timing.ratio,
            "decision": timing.decision or "", "source": timing.source,
        }  # fmt: skip
        lines.insert(1, f"right; {decision_line(timing)}")
    else:
        lines.insert(1, f"right; {NO_TIME}")
    lines += ["tried:", *told]
    return Answer(
        "\n".join(lines), data.model_copy(update=update), evaluation=winner.evaluation, made=winner.rewrite.text
    )


def search(bench: Workbench, kernel: str, cause: str, most: int = MOST, *, drafts: bool = False) -> Search:
    """Try the rewrites for a cause. The winner is right, and where times count, faster than the kernel."""
    base = bench.candidate(kernel)
    texts = rewrites(kernel, cause, facts_of(bench.task), most) if base.language == "cuda" else ()
    ready: list[tuple[Rewrite, Candidate]] = []
    tried: dict[str, Try] = {}
    for one in texts:
        try:
            ready.append((one, bench.candidate(one.text)))
        except TaskError:
            tried[one.name] = _try(one, "no valid kernel")
    if not shows_time(bench.feedback):
        winner = _first_right(bench, ready, tried)
    else:
        winner = _fastest(bench, base, ready, tried, drafts=drafts)
    order = [tried.get(one.name) or _try(one, "not needed") for one in texts]
    return Search(winner, tuple(order))


def changed_lines(before: str, after: str, most: int = MOST_LINES) -> tuple[str, ...]:
    """The lines that went and came, at most so many."""
    old, new = ([line.rstrip() for line in text.splitlines()] for text in (before, after))
    found = [line for line in difflib.unified_diff(old, new, lineterm="", n=0) if line[:2] not in ("--", "++", "@@")]
    return tuple(found[:most]) + ((f"... and {len(found) - most} lines more",) if len(found) > most else ())


def _first_right(bench: Workbench, ready: list[tuple[Rewrite, Candidate]], tried: dict[str, Try]) -> Winner | None:
    """In the order of promise, without a look at any time."""
    for one, candidate in ready:
        verdict = _quick_verdict(bench, candidate)
        verdict = bench.check(candidate).verdict if verdict == "right" else verdict
        tried[one.name] = _try(one, verdict.replace("_", " "))
        if verdict == "right":
            return Winner(one, candidate, bench.evaluation(candidate), None)
    return None


def _fastest(
    bench: Workbench, base: Candidate, ready: list[tuple[Rewrite, Candidate]], tried: dict[str, Try], *, drafts: bool
) -> Winner | None:
    """The fastest right one. Simulated times first where there are such: what would not win is not checked."""
    start = _speed(bench, base)
    best: Winner | None = None
    for one, candidate in _in_order(bench, base, ready, tried):
        verdict = _quick_verdict(bench, candidate)
        if verdict != "right":
            tried[one.name] = _try(one, verdict.replace("_", " "))
            continue
        if drafts:
            ratio = _speed(bench, candidate) / start
            tried[one.name] = _try(one, f"right at the small sizes, {ratio:.3f}x")
            return Winner(one, candidate, None, ratio)
        evaluation = bench.evaluation(candidate)
        timing = evaluation.timing
        if timing is None or timing.ratio is None:
            tried[one.name] = _try(one, evaluation.check.verdict.replace("_", " ") if timing is None else timing.reason)
            continue
        ratio = timing.ratio / start
        better = ratio >= LEAST_GAIN and timing.decision != "REJECTED"
        tried[one.name] = _try(one, f"right, {ratio:.3f}x" if better else "right, not faster")
        if better and (best is None or ratio > (best.ratio or 0.0)):
            best = Winner(one, candidate, evaluation, ratio)
            if isinstance(bench.device, VirtualGpu):
                break  # they came by their time: the rest is slower
    return best


def _speed(bench: Workbench, base: Candidate) -> float:
    """How fast the kernel is that rewrites start from, over the given one; simulated times need no check for that."""
    if base.sha256 == bench.given.sha256:
        return 1.0
    if isinstance(bench.device, VirtualGpu):
        given, own = bench.foretold_us(bench.given), bench.foretold_us(base)
        return given / own if given and own else 1.0
    timing = bench.evaluation(base).timing
    return 1.0 if timing is None or timing.ratio is None else timing.ratio


def _quick_verdict(bench: Workbench, candidate: Candidate) -> str:
    """The verdict over the small workloads alone: most wrong rewrites end here, before the long check."""
    small = [workload for workload in bench.task.workloads if not workload.profile]
    if not small:
        return "right"
    build = bench.build(candidate)
    return check_candidate(
        bench.task, candidate, bench.device, build=build, workloads=small, families=(), secret_seed=bench.seed
    ).verdict


def _in_order(
    bench: Workbench, base: Candidate, ready: list[tuple[Rewrite, Candidate]], tried: dict[str, Try]
) -> Iterator[tuple[Rewrite, Candidate]]:
    """On the virtual GPU those that would be faster, the fastest first; elsewhere all, as they come."""
    before = bench.foretold_us(base)
    if before is None:
        yield from ready
        return
    found: list[tuple[float, int]] = []
    for number, (one, candidate) in enumerate(ready):
        after = bench.foretold_us(candidate)
        if after is None:
            tried[one.name] = _try(one, "does not compile" if not bench.build(candidate).ok else "does not run")
        elif before / after < LEAST_GAIN:
            tried[one.name] = _try(one, "not faster, not checked")
        else:
            found.append((after, number))
    yield from (ready[number] for _, number in sorted(found))


def _try(one: Rewrite, outcome: str) -> Try:
    return Try(rewrite=one.name, kernel=kernel_id(one.text), outcome=outcome)


def _why_none(bench: Workbench, found: Search) -> str:
    if not found.tried:
        return "no known rewrite fits this kernel and this cause"
    return f"none of {len(found.tried)} rewrites is right" + (" and faster" if shows_time(bench.feedback) else "")
