"""Choosing rows and predicting them, in one process or more, with what is known taken from the file."""

from __future__ import annotations

import multiprocessing
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.measured.predicted import Kept, Outcome, model_key, outcome_of, row_key
from benchmarks.measured.sets import MeasuredSet, Row, read_rows

SEED = 20261117
REGISTER_UNIT = 8  # a thread's registers are given in eights


@dataclass(frozen=True)
class Request:
    """What is asked of the bench."""

    data: Path
    kernels: Path
    n: int = 40
    seed: int = SEED
    jobs: int = 1
    terms: bool = False
    only: str = ""
    cache: Path = field(default=Path("build/measured/outcomes.jsonl"))
    write: bool = False


@dataclass(frozen=True)
class Predicted:
    """The chosen rows of a set, each with its outcome."""

    one: MeasuredSet
    rows: tuple[Row, ...]
    outcomes: tuple[Outcome, ...]

    def told(self) -> list[tuple[Row, Outcome]]:
        return [(row, done) for row, done in zip(self.rows, self.outcomes, strict=True) if not done.failed]

    def alike(self) -> list[tuple[Row, Outcome]]:
        """The rows whose measured build may be ours: the others tell of two compilers, not of the model."""
        return [(row, done) for row, done in self.told() if like_measured(row, done)]


def like_measured(row: Row, outcome: Outcome) -> bool:
    """Whether our build has the registers (in eights) and spills of the measured one; or no spills, if unknown."""
    if row.registers is None:
        return not outcome.spill_bytes
    same = -(-row.registers // REGISTER_UNIT) == -(-outcome.registers // REGISTER_UNIT)
    return same and bool(row.local_bytes) == bool(outcome.local_bytes)


def chosen_rows(one: MeasuredSet, request: Request) -> list[Row]:
    """A random choice that is the same whenever n and the seed are; a larger n holds the smaller one."""
    rows = read_rows(one, request.data)
    random.Random(request.seed).shuffle(rows)
    return rows[: request.n]


def predict_set(
    one: MeasuredSet, request: Request, say: Callable[[str], None], without: Sequence[str] = ()
) -> Predicted:
    rows, source, model = chosen_rows(one, request), one.source(request.kernels), model_key()
    kept, keys = Kept(request.cache), [row_key(one, row, source, model, without) for row in rows]
    todo = [at for at, key in enumerate(keys) if kept.get(key) is None]
    start = time.monotonic()
    for done, (at, outcome) in enumerate(_outcomes(one, rows, todo, source, without, request.jobs), 1):
        kept.put(keys[at], outcome)
        if done % 10 == 0 or done == len(todo):
            say(f"  {one.name}{_left_out(without)}: {done}/{len(todo)} rows in {time.monotonic() - start:.0f} s")
    outcomes = tuple(kept.get(key) or Outcome(failed="no outcome") for key in keys)
    return Predicted(one, tuple(rows), outcomes)


def _left_out(without: Sequence[str]) -> str:
    return f" without {', '.join(without)}" if without else ""


def _outcomes(
    one: MeasuredSet, rows: Sequence[Row], todo: Sequence[int], source: str, without: Sequence[str], jobs: int
) -> Iterator[tuple[int, Outcome]]:
    if jobs < 2 or len(todo) < 2:
        for at in todo:
            yield at, outcome_of(one, rows[at], source, without)
        return
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        asked = [(at, one.name, rows[at], source, tuple(without)) for at in todo]
        yield from pool.imap_unordered(_one, asked)


def _one(asked: tuple[int, str, Row, str, tuple[str, ...]]) -> tuple[int, Outcome]:
    from benchmarks.measured.sets import SETS

    at, name, row, source, without = asked
    one = next(each for each in SETS if each.name == name)
    return at, outcome_of(one, row, source, without)
