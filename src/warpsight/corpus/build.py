"""Builds a corpus: draws tasks, measures the truth of each, and writes one JSON row a task. Resumable, never rewrites.

A row is written and flushed when its truth is known, so an interrupted build goes on where it stopped. Workers are
processes: the simulator uses one core each. What must stay true: the same seed gives the same rows in the same order.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from warpsight.corpus.families import Split
from warpsight.corpus.specs import Spec, draw_specs
from warpsight.corpus.truth import Truth, measure
from warpsight.errors import UsageError
from warpsight.nouns import Noun

Progress = Callable[[int, int], None]


class Row(Noun):
    """One task of a corpus file, with its measured truth (simulated times)."""

    number: int
    split: Split
    seed: int
    spec: Spec
    truth: Truth


def read_rows(file: Path) -> list[Row]:
    """The rows of a corpus file; a last line that was cut by an interruption is left out."""
    rows: list[Row] = []
    lines = file.read_text().split("\n") if file.exists() else []
    for at, line in enumerate(lines[:-1]):  # what follows the last newline was not finished
        try:
            rows.append(Row.model_validate(json.loads(line)))
        except ValueError as problem:
            raise UsageError(f"{file}:{at + 1}: expected a row of a corpus, found {str(problem)[:200]}") from None
    return rows


def build_corpus(
    file: Path, *, seed: int, split: Split, count: int, cores: int = 1, progress: Progress = lambda _done, _all: None
) -> list[Row]:
    """Write rows until the file has `count`; rows that are there already are kept."""
    rows = read_rows(file)
    if any(row.seed != seed or row.split != split for row in rows):
        raise UsageError(f"{file} was built with another seed or split", hint="give another file, or the same --seed")
    _drop_cut_line(file, rows)
    todo = itertools.islice(enumerate(draw_specs(seed, split)), len(rows), count)
    with file.open("a") as out:
        for number, spec, truth in _measured(todo, cores):
            row = Row(number=number, split=split, seed=seed, spec=spec, truth=truth)
            out.write(row.model_dump_json() + "\n")
            out.flush()
            rows.append(row)
            progress(len(rows), count)
    return rows


def _measured(todo: Iterator[tuple[int, Spec]], cores: int) -> Iterator[tuple[int, Spec, Truth]]:
    if cores == 1:
        for number, spec in todo:
            yield number, spec, measure(spec)
        return
    with ProcessPoolExecutor(cores) as pool:
        waiting = [(number, spec, pool.submit(measure, spec)) for number, spec in todo]
        for number, spec, result in waiting:
            yield number, spec, result.result()


def _drop_cut_line(file: Path, rows: list[Row]) -> None:
    """Cut off what an interruption left unfinished, so that the next row starts on a line of its own."""
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        return
    whole = "".join(f"{line}\n" for line in file.read_text().split("\n")[: len(rows)])
    if whole != file.read_text():
        file.write_text(whole)
