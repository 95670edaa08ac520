"""Builds a corpus: draws tasks, measures the truth of each, and writes one JSON row a task. Resumable, never rewrites.

A row is written and flushed when its truth is known, so an interrupted build goes on where it stopped. A drawn task
whose answer is common already is left out, so that no answer is right by habit, and most that repeat a text and its
answer; one that the gate or the roofline refuses is left out too, and named in a file beside. Workers are processes
or nodes: the simulator uses one core each. What must stay true: the same seed gives the same rows in the same order.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from pathlib import Path

from warpsight.corpus.families import Split
from warpsight.corpus.looks import BadDefect
from warpsight.corpus.specs import Spec, draw_specs
from warpsight.corpus.truth import BelowRoof, Truth, measure
from warpsight.errors import UsageError
from warpsight.nouns import Noun
from warpsight.processes.executor import Executor, executor_for
from warpsight.runs.lines import cut_half_line, read_records

Progress = Callable[[int, int], None]
MOST_SHARE = 0.14  # an answer that is right for this share of the tasks so far is common
FEW = 3
KEPT_OF_SAME = 3  # one in so many
PATIENCE = 40
MAKE_ONE = "make one: warpsight corpus build FILE, for a bench with --split test"


class CorpusRow(Noun):
    """One task of a corpus file, with its measured truth (simulated times)."""

    number: int
    draw: int
    split: Split
    seed: int
    spec: Spec
    truth: Truth


def read_rows(file: Path) -> list[CorpusRow]:
    """The rows of a corpus file, of which there is at least one; half a last line is left out."""
    rows = _rows_of(file)
    if not rows:
        raise UsageError(f"no tasks in {file}", hint=MAKE_ONE)
    return rows


def _rows_of(file: Path) -> list[CorpusRow]:
    return read_records(file, CorpusRow, "a row of a corpus", hint=MAKE_ONE)


def build_corpus(
    file: Path,
    *,
    seed: int,
    split: Split,
    count: int,
    cores: int = 1,
    executor: Executor | None = None,
    progress: Progress = lambda _done, _all: None,
) -> list[CorpusRow]:
    """Write rows until the file has `count`; rows that are there already are kept."""
    rows = _rows_of(file) if file.exists() else []
    if any(row.seed != seed or row.split != split for row in rows):
        raise UsageError(f"{file} was built with another seed or split", hint="give another file, or the same --seed")
    if len(rows) >= count:
        return rows
    file.parent.mkdir(parents=True, exist_ok=True)
    for written in (file, unfit_file(file)):
        cut_half_line(written)
    todo = itertools.islice(enumerate(draw_specs(seed, split)), rows[-1].draw + 1 if rows else 0, None)
    with file.open("a") as out, closing(_measured(todo, executor or executor_for(None, cores))) as measured:
        for draw, spec, truth in measured:
            if isinstance(truth, str):
                _note_unfit(file, draw, spec, truth)
                continue
            if not balanced(rows, draw, spec, truth):
                continue
            row = CorpusRow(number=len(rows), draw=draw, split=split, seed=seed, spec=spec, truth=truth)
            out.write(row.model_dump_json() + "\n")
            out.flush()
            rows.append(row)
            progress(len(rows), count)
            if len(rows) == count:
                break
    return rows


def balanced(rows: Sequence[CorpusRow], draw: int, spec: Spec, truth: Truth) -> bool:
    """Whether a task may join, unless too many were turned away in a row.

    Not when its answer is common; and only one in three of those that repeat a text with the answer it had before, so
    that knowing a text's answer elsewhere is worth little.
    """
    last = rows[-1].draw if rows else -1
    if draw - last > PATIENCE:
        return True
    before = [row.truth.right for row in rows if row.spec.same_text(spec)]
    if truth.right in before and spec.style_seed % KEPT_OF_SAME:
        return False
    seen = Counter(kind for row in rows for kind in row.truth.right)
    return min(seen[kind] for kind in truth.right) < max(FEW, MOST_SHARE * len(rows))


def truth_or_reason(spec: Spec) -> Truth | str:
    """The truth, or why the task is not used: times that cannot be, or a planted kernel that the gate refuses."""
    try:
        return measure(spec)
    except (BelowRoof, BadDefect) as unfit:
        return unfit.message


def unfit_file(file: Path) -> Path:
    """Where a build says which draws it left out and why, one JSON document a line."""
    return file.with_name(file.name + ".unfit")


def _note_unfit(file: Path, draw: int, spec: Spec, why: str) -> None:
    with unfit_file(file).open("a") as out:
        out.write(json.dumps({"draw": draw, "task": spec.key, "why": why.partition("\n")[0]}) + "\n")


def _measured(todo: Iterator[tuple[int, Spec]], executor: Executor) -> Generator[tuple[int, Spec, Truth | str]]:
    """In the order of the draws; with several workers a few are measured ahead."""
    return executor.run(_measure_one, todo)


def _measure_one(unit: tuple[int, Spec]) -> tuple[int, Spec, Truth | str]:
    return *unit, truth_or_reason(unit[1])
