"""Traces of the suite `budget`: an oracle that knows the table of outcomes tries what helps, and says on what evidence.

It looks, names the finding that points at what it tries, reads what came of it, and goes on from there while it has
tries. In some traces (`detours`) it first follows the finding that promises most, as a reader would, and turns back
where that does not help. The calls are real calls of the real tools, answered from the table. What must stay true: it
states no number that a tool did not show it; a trace is kept only where the change it names gains within 10 % of the
best measured one, and its kernel is as fast as the table's best within its tries, or nearly.
"""

from __future__ import annotations

import functools
import json
import random
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from warpsight.causes import NOTHING, TIE, with_behind
from warpsight.corpus.build import CorpusRow
from warpsight.corpus.outcomes import WITHIN, OutcomeLine, OutcomeTable, change_values, is_within
from warpsight.corpus.specs import plain_of, task_of
from warpsight.errors import UsageError
from warpsight.learn.oracle import FIRST, FIRST_TEXT_ONLY, NO_HELP, TRY, played, said_of_finding, turn_of
from warpsight.learn.traces import lines_made_so, read_traces, restyled
from warpsight.models.model import Request
from warpsight.models.scripted import ScriptedModel
from warpsight.nouns.run import Run
from warpsight.processes.executor import Executor, executor_for
from warpsight.runs.hf import hf_row
from warpsight.runs.lines import cut_half_line
from warpsight.session.feedback import Feedback
from warpsight.session.tries import TriedRewrite
from warpsight.short.ask import ask
from warpsight.short.budget_box import BudgetBox
from warpsight.short.prompting import CAUSE
from warpsight.short.prompting import TRY as TRY_TOOL
from warpsight.short.words import findings_said
from warpsight.tools.box import SUBMIT
from warpsight.tools.profile import Found, Profiled

Progress = Callable[[int, int], None]
KEPT = ("Good.", "It helps.", "Kept.", "Faster.")
DONE = ("Enough.", "Nothing else is promised.", "")


@dataclass
class BudgetOracle:
    """The script of one conversation, decided as it goes on."""

    line: OutcomeLine
    box: BudgetBox
    feedback: Feedback
    draw: random.Random
    detours: float = 0.0

    def play(self, request: Request) -> str:
        looks = self.feedback != "none"
        if looks and not played(request):
            return turn_of((self.draw.choice(FIRST),), "profile", {})
        lead = self._lead()
        chosen = self._chosen()
        if chosen is None:
            return turn_of((lead, self.draw.choice(DONE) if self.box.log else ""), SUBMIT, {CAUSE: self._answer()})
        return turn_of((lead, self._why(chosen)), TRY_TOOL, {CAUSE: chosen})

    def _lead(self) -> str:
        """What is said of the try before."""
        if not self.box.log:
            return "" if self.feedback != "none" else self.draw.choice(FIRST_TEXT_ONLY)
        if self.feedback == "none":
            return ""
        last, before = self.box.log[-1], [one.speed for one in self.box.log[:-1]]
        return self.draw.choice(KEPT if last.speed > max([1.0, *before]) else NO_HELP)

    def _chosen(self) -> str | None:
        """What is tried next: the change that gains most here, or first what a reader would follow; None at the end."""
        if not self.box.left or (self.feedback == "none" and self.box.log):
            return None
        gains = {cause: self._gain(cause) for cause in self.box.can_try}
        best = max(gains, key=lambda cause: (gains[cause], cause), default=None)
        if not self.box.log and self.box.tries > 1 and self.draw.random() < self.detours:
            pointed = next((c for f in self._findings() for c in with_behind(f.name) if gains.get(c)), None)
            return pointed if pointed is not None else best
        return best if best is not None and gains[best] >= TIE else None

    def _gain(self, cause: str) -> float:
        """What the next rewrite for a cause gains over the fastest so far, where the table knows it."""
        found = self.box.next_for(cause)
        known = found.speed if isinstance(found, TriedRewrite) else 0.0
        return known / self.box.spent.speed

    def _why(self, chosen: str) -> str:
        """The finding that points at what is tried; where none does, no reason is made up."""
        words = self.draw.choice(TRY).format(chosen)
        mine = [] if self.box.log else [one for one in self._findings() if chosen in with_behind(one.name)]
        return f"{said_of_finding(mine[0])}: {words}" if mine else words

    @functools.cached_property
    def _read(self) -> tuple[Found, ...]:
        shown = self.box.call("profile", {})
        return tuple(findings_said(Profiled.model_validate_json(json.dumps(shown.data)), smaller=True))

    def _findings(self) -> tuple[Found, ...]:
        return self._read if self.feedback == "curated" else ()

    def _answer(self) -> str:
        """A right name: one that was tried and helped where there is one, else the planted one, else the best."""
        values = change_values(self.line)
        right = [name for name in values if is_within(self.line, name)]
        helped = [one.cause for one in self.box.log if one.speed > 1 and one.cause in right]
        planted = [name for name in (self.line.truth.right if self.line.truth else ()) if name in right]
        best = max(sorted(values), key=lambda name: values[name])
        return next(iter((*helped[:1], *planted, best)), NOTHING)


@dataclass(frozen=True)
class BudgetTraces:
    """How traces of this suite are made."""

    table: Path
    feedback: Feedback = "curated"
    tries: tuple[int, ...] = (1, 2, 4)
    seed: int = 0
    detours: float = 0.3


def budget_run(row: CorpusRow, how: BudgetTraces, tries: int, seed: int) -> tuple[Run, BudgetBox, OutcomeLine]:
    """One conversation of the oracle."""
    table = read_outcome_table(how.table)
    line = table.line(row.spec.key)
    if line is None or line.reason:
        raise UsageError(f"{how.table} does not have {row.spec.key}", hint="warpsight corpus outcomes TASKS OUT")
    box = BudgetBox(
        task_of(row.spec), "budget", how.feedback, tries=tries, known=partial(table.tries_of, row.spec.key),
        listed=False, plain=plain_of(row.spec), by_plain=True,
    )  # fmt: skip
    oracle = BudgetOracle(line, box, how.feedback, random.Random(f"budget {seed} {row.spec.key} {tries}"), how.detours)
    run = ask(box, ScriptedModel(oracle.play, name="oracle"), run_id=f"oracle-{seed}-{row.number}-{tries}")
    return run, box, line


def bears_out(run: Run, box: BudgetBox, line: OutcomeLine, how: BudgetTraces) -> bool:
    """Whether the answer is as good as the best, and the kernel nearly as fast as any within these tries."""
    if run.submission is None or not is_within(line, run.submission.cause):
        return False
    reached = read_outcome_table(how.table).best_speed(line.task, 1)
    return how.feedback == "none" or box.spent.speed * WITHIN >= reached or box.spent.tries < box.tries


@functools.lru_cache(maxsize=2)
def read_outcome_table(file: Path) -> OutcomeTable:
    return OutcomeTable.read(file)


def build_budget_traces(
    rows: Sequence[CorpusRow],
    file: Path,
    how: BudgetTraces,
    *,
    variants: int = 1,
    executor: Executor | None = None,
    progress: Progress = lambda _done, _all: None,
) -> int:
    """Write a trace for each task, budget and way of writing; the number of those kept. Goes on where it stopped."""
    made = f"budget {how.feedback} {how.seed} {how.detours} {how.tries} oracle"
    done = {(line["row"], line["variant"]) for line in lines_made_so(file, made)}
    asked = [(row, variant) for variant in range(variants * len(how.tries)) for row in rows]
    todo = [(row, variant) for row, variant in asked if (row.number, variant) not in done]
    file.parent.mkdir(parents=True, exist_ok=True)
    cut_half_line(file)
    running = (executor or executor_for()).run(partial(_budget_line, how=how), todo)
    with file.open("a") as out, closing(running) as lines:
        for number, line in enumerate(lines, start=len(asked) - len(todo) + 1):
            out.write(json.dumps({"made": made, **line}) + "\n")
            out.flush()
            progress(number, len(asked))
    return sum(1 for _ in read_traces(file))


def _budget_line(which: tuple[CorpusRow, int], *, how: BudgetTraces) -> dict[str, Any]:
    """What is written for a task, with one budget, in one of its ways."""
    row, variant = which
    tries = how.tries[variant % len(how.tries)]
    shown = restyled(row, variant // len(how.tries))
    line = {"variant": variant, "row": row.number, "key": row.spec.key, "suite": "budget", "feedback": how.feedback}
    run, box, known = budget_run(shown, how, tries, how.seed + variant)
    kept = bears_out(run, box, known, how)
    return {**line, **hf_row(run)} if kept else {**line, "messages": None}
