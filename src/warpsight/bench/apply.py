"""What recommendations are worth: for each, what the call of `rewrite` that names this one cause gives.

A small model says what is wrong and cannot type the edit; `rewrite` types it, and puts on top what else helps. Models
with tools name more in a call: what several findings point at, and what may help any kernel. What comes of it is handed
in and judged as theirs is. Each pair of task and answer is tried once, whoever gave it, and kept in a file, so models,
rivals and feedback modes are held to the same kernels. An answer that no rule can type, `nothing`, and no answer leave
the given kernel: a speed-up of 1. What must stay true: a pair's result depends on the task and the answer alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from warpsight.bench.units import BenchOutcome, BenchUnit, share_of_roof
from warpsight.causes import NOTHING
from warpsight.corpus.build import CorpusRow, read_rows
from warpsight.corpus.specs import plain_of, task_of
from warpsight.errors import UsageError
from warpsight.nouns.base import Noun
from warpsight.processes.executor import Executor, executor_for
from warpsight.rewrite import CAUSES as CAN_REWRITE
from warpsight.runs.lines import cut_half_line, read_records
from warpsight.short.box import SmallBox, steps_of
from warpsight.short.prompting import CAUSE, CAUSES, REWRITE
from warpsight.tools.box import SUBMIT
from warpsight.tools.edits import KERNEL

Progress = Callable[[int, int], None]
CEILING = "always-right"


class Applied(Noun):
    """What came of one answer to one task. `ratio` is the speed of the rewritten kernel over the given one;
    older lines have no `roofline_share`."""

    row: int
    task: str = ""
    answer: str
    rewrite: str = ""
    verdict: str = ""
    decision: str = ""
    ratio: float | None = None
    roofline_share: float | None = None


def apply_answers(
    corpus: Path,
    outcomes: Sequence[BenchOutcome],
    file: Path,
    *,
    count: int | None = None,
    processes: int = 1,
    executor: Executor | None = None,
    progress: Progress = lambda _done, _all: None,
) -> list[BenchOutcome]:
    """The recommendations as outcomes of the suite `optimize`; pairs that the file lacks are tried and added to it."""
    rows = {row.number: row for row in read_rows(corpus)[:count]}
    asked = [o for o in outcomes if o.unit.suite == "recommend" and o.unit.row in rows]
    known = {(one.row, one.answer): one for one in (read_applied(file) if file.exists() else ())}
    for (number, _), one in known.items():
        if one.task and number in rows and one.task != rows[number].spec.key:
            raise UsageError(f"{file} is of other tasks than {corpus}", hint="another file")
    pairs = sorted({(o.unit.row, o.answer) for o in asked if o.answer in CAN_REWRITE} - set(known))
    progress(0, len(pairs))
    cut_half_line(file)
    todo = [(rows[row], str(answer)) for row, answer in pairs]
    tried = (executor or executor_for(None, processes)).run(_apply_pair, todo)
    with file.open("a") as out, closing(tried):
        for done, one in enumerate(tried, start=1):
            out.write(one.model_dump_json() + "\n")
            out.flush()
            known[(one.row, one.answer)] = one
            progress(done, len(pairs))
    return [as_optimized(o, known.get((o.unit.row, o.answer or NOTHING))) for o in asked]


def right_answers(corpus: Path, count: int | None = None) -> list[BenchOutcome]:
    """What somebody would answer who always knew, to be held beside what models answer."""
    return [
        BenchOutcome(
            unit=BenchUnit(suite="recommend", model=CEILING, feedback="none", row=row.number),
            task=row.spec.key,
            answer=row.truth.right[0],
            right_answers=row.truth.right,
            diagnosed=True,
        )
        for row in read_rows(corpus)[:count]
    ]


def apply_one(row: CorpusRow, answer: str) -> Applied:
    """The rewrite for this answer, tried by the tools that models of the suite `optimize` have."""
    box = SmallBox(task_of(row.spec), "optimize", plain=plain_of(row.spec))
    result = box.call(REWRITE, {CAUSES: [answer]})
    found = box.call(SUBMIT, {CAUSE: answer, KERNEL: result.made}).evaluation if result.made is not None else None
    if found is None:
        return Applied(row=row.number, task=row.spec.key, answer=answer)
    timing = found.timing
    return Applied(
        row=row.number,
        task=row.spec.key,
        answer=answer,
        rewrite=", ".join(step.rewrite for step in steps_of(result)),
        verdict=found.check.verdict,
        decision=(timing.decision or "") if timing else "",
        ratio=timing.ratio if timing else None,
        roofline_share=share_of_roof(timing),
    )


def as_optimized(outcome: BenchOutcome, applied: Applied | None) -> BenchOutcome:
    """A recommendation with the kernel that it leads to; without one the given kernel is handed in."""
    unit = outcome.unit.model_copy(update={"suite": "optimize"})
    kept = {"unit": unit, "source": "simulated", "verdict": "right", "decision": "SAME", "ratio": 1.0}
    if applied is not None and applied.verdict:
        kept |= applied.model_dump(include={"verdict", "decision", "ratio", "roofline_share"})
    return outcome.model_copy(update=kept)


def read_applied(file: Path) -> list[Applied]:
    """All finished lines of a file."""
    return read_records(file, Applied, "an answer that `bench apply` tried")


def _apply_pair(pair: tuple[CorpusRow, str]) -> Applied:
    return apply_one(*pair)
