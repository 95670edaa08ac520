"""Traces: conversations that call the real tools, as training rows, from an oracle or from a teacher model.

Each trace is a run of the loop, so what the model wrote and what was put in is known by its steps, and the loss mask
comes from there. Only traces that the measurement confirms are kept: the recommendation is a right one and, in the
suite `optimize`, the kernel that was submitted went through the gate and is FASTER or LIKELY_FASTER (or was left
alone where nothing helps or, by the oracle, where no rewrite is known). The file has one JSON line a task, and an
interrupted build goes on where it stopped.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self

from pydantic import ConfigDict, model_validator

from warpsight.causes import NOTHING
from warpsight.corpus.build import CorpusRow
from warpsight.corpus.specs import plain_of, task_of
from warpsight.errors import UsageError
from warpsight.learn.oracle import SUSPECT_SHARE, OracleScript
from warpsight.models.model import Model
from warpsight.models.scripted import ScriptedModel
from warpsight.nouns.base import Noun, require
from warpsight.nouns.run import Run
from warpsight.processes.executor import Executor, Here, executor_for
from warpsight.runs.hf import hf_row
from warpsight.runs.lines import cut_half_line, read_records
from warpsight.session.feedback import Feedback
from warpsight.short.ask import ask
from warpsight.short.box import SmallBox
from warpsight.short.prompting import Suite
from warpsight.short.words import findings_said
from warpsight.tasks import read_candidate
from warpsight.tools.profile import Found, Profiled

Progress = Callable[[int, int], None]


class TraceMessage(Noun):
    """What a message of a trace has at least."""

    model_config = ConfigDict(extra="allow")

    role: str
    content: str


class TraceLine(Noun):
    """What a line of a file of traces has at least: a trace, or no messages where none was confirmed."""

    model_config = ConfigDict(extra="allow")

    row: int
    variant: int
    suite: Suite
    messages: list[TraceMessage] | None
    tools: list[dict[str, Any]] | None = None
    train: list[bool] | None = None

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.messages is not None:
            require(self.tools is not None, "a trace says which tools there were")
            require(len(self.train or ()) == len(self.messages), "a trace says of each message whether it is learned")
        return self


@dataclass(frozen=True)
class Words:
    """How the oracle writes; see `OracleScript`."""

    suspects: float = SUSPECT_SHARE
    vain: float = 0.0
    types: bool = False
    detours: float = 0.0


def oracle_run(row: CorpusRow, suite: Suite, feedback: Feedback, seed: int, words: Words | None = None) -> Run:
    """One conversation of the oracle with the tools."""
    box = SmallBox(task_of(row.spec), suite, feedback, listed=False, plain=plain_of(row.spec), by_plain=True)

    def findings() -> Sequence[Found]:
        shown = box.call("profile", {})
        found = Profiled.model_validate_json(json.dumps(shown.data))
        return findings_said(found, smaller=suite == "optimize")

    said = words or Words()
    oracle = OracleScript(row, suite, feedback, seed, findings, said.suspects, said.vain, said.types, said.detours)
    return ask(box, ScriptedModel(oracle.script(), name="oracle"), run_id=f"oracle-{seed}-{row.number}")


def confirmed(row: CorpusRow, suite: Suite, run: Run, *, types: bool = True) -> bool:
    """Whether the measurement bears out what was answered. Who cannot type may leave a kernel as it was."""
    if run.submission is None or run.submission.cause not in row.truth.right:
        return False
    if suite == "recommend":
        return True
    found = run.submitted
    if found is None or found.check.verdict != "right" or found.timing is None:
        return False
    if run.submission.cause == NOTHING:
        return found.timing.decision != "SLOWER"
    task = task_of(row.spec)
    given = {read_candidate(text, task).sha256 for text in (task.kernel, plain_of(row.spec)[0])}
    return found.timing.improves or (not types and found.candidate_sha256 in given)


def build_traces(
    rows: Sequence[CorpusRow],
    file: Path,
    *,
    suite: Suite,
    feedback: Feedback,
    seed: int = 0,
    teacher: Model | None = None,
    tries: int = 1,
    variants: int = 1,
    words: Words | None = None,
    processes: int = 1,
    executor: Executor | None = None,
    progress: Progress = lambda _done, _all: None,
) -> int:
    """Write the traces of these rows; the number of those kept. A teacher may try a task several times.

    `variants` writes each task in as many ways: other names and layout, other words; the truth is the same. The file
    is the same however many `processes` there are.
    """
    executor = executor or executor_for(None, processes)
    if teacher is not None and not isinstance(executor, Here):
        raise UsageError("a teacher is asked from one process", hint="leave out --processes and --on")
    if feedback == "wrong":
        raise UsageError("traces are never made with feedback `wrong`: it would teach to follow a false diagnosis")
    made = f"{suite} {feedback} {seed} {words or Words()} {'oracle' if teacher is None else teacher.name}"
    done = {(line["row"], line["variant"]) for line in lines_made_so(file, made)}
    asked = [(row, variant) for variant in range(variants) for row in rows]
    todo = [(row, variant) for row, variant in asked if (row.number, variant) not in done]
    write = partial(_line, suite=suite, feedback=feedback, seed=seed, teacher=teacher, tries=tries, words=words)
    file.parent.mkdir(parents=True, exist_ok=True)
    cut_half_line(file)
    with file.open("a") as out, closing(executor.run(write, todo)) as lines:
        for number, line in enumerate(lines, start=len(asked) - len(todo) + 1):
            out.write(json.dumps({"variant": line.pop("variant"), "made": made, **line}) + "\n")
            out.flush()
            progress(number, len(asked))
    return sum(1 for _ in read_traces(file))


def lines_made_so(file: Path, made: str) -> Iterator[dict[str, Any]]:
    """The lines of a file that is to be gone on with; one that was asked for otherwise is refused."""
    for line in read_lines(file) if file.exists() else ():
        if line.get("made", made) != made:
            raise UsageError(
                f"{file} has traces of `{line['made']}`, these would be of `{made}`", hint="write to another file"
            )
        yield line


def restyled(row: CorpusRow, variant: int) -> CorpusRow:
    """The same task written in another way; the compiler does not see the difference."""
    style = row.spec.style_seed + variant * 7919
    return row.model_copy(update={"spec": row.spec.model_copy(update={"style_seed": style})})


def _line(
    which: tuple[CorpusRow, int],
    *,
    suite: Suite,
    feedback: Feedback,
    seed: int,
    teacher: Model | None,
    tries: int,
    words: Words | None,
) -> dict[str, Any]:
    """What is written for a task in one of its ways: its trace, or that none was confirmed."""
    row, variant = restyled(*which), which[1]
    line = {"variant": variant, "row": row.number, "key": row.spec.key, "suite": suite, "feedback": feedback}
    for attempt in range(seed + variant, seed + variant + tries):
        if teacher is None:
            run = oracle_run(row, suite, feedback, attempt, words)
        else:
            box = SmallBox(task_of(row.spec), suite, feedback, plain=plain_of(row.spec))
            name = f"teacher-{row.number}-{attempt}"
            run = ask(box, teacher, run_id=name, temperature=1.0 if tries > 1 else None, seed=attempt)
        if confirmed(row, suite, run, types=teacher is not None or (words or Words()).types):
            return {**line, **hf_row(run)}
    return {**line, "messages": None}


def read_traces(file: Path) -> Iterator[dict[str, Any]]:
    """The traces of a file that were confirmed."""
    return (line for line in read_lines(file) if line["messages"] is not None)


def read_lines(file: Path) -> Iterator[dict[str, Any]]:
    """All finished lines, also of tasks without a confirmed trace."""
    made = "make them: warpsight train traces CORPUS FILE"
    lines = read_records(file, TraceLine, "a line of a file of traces", hint=made)
    return (line.model_dump(exclude_unset=True) for line in lines)
