"""The table of outcomes: every single try of every task, measured once and kept, so that a rollout costs no tools.

A line is a task and a way: the rewrites that lead from the given kernel to another one (none: the given kernel itself),
with every rewrite of the kernel at its end. Lines of the given kernel also say what a look shows. What must stay true:
an answer taken from a table is the one that the tools would give, by the version of gate, time model and rewrites that
the line names; a file goes on with lines of its own version alone; the same rows give the same lines wherever they
were measured.
"""

from __future__ import annotations

import functools
import hashlib
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field

import warpsight
from warpsight.causes import NOTHING, TIE
from warpsight.corpus.build import CorpusRow
from warpsight.corpus.specs import plain_of, task_of
from warpsight.corpus.truth import Truth
from warpsight.errors import UsageError, WarpsightError
from warpsight.lens import detect_findings
from warpsight.nouns import Noun, Task
from warpsight.processes.executor import Executor, executor_for
from warpsight.rewrite import facts_of, rewrites
from warpsight.runs.lines import cut_half_line, put_in_order, read_records
from warpsight.session.session import Session
from warpsight.session.tries import TriedRewrite, try_all
from warpsight.short.box import PROFILE_SEED
from warpsight.toolchain.packages import compiler_identity
from warpsight.tools.what_if import simulate_away
from warpsight.vgpu import _core

Progress = Callable[[int, int], None]
Second = Literal["best", "each"]
WITHIN = 1.10  # a change within 10 % of the best measured one is as good to recommend
MAKE_OUTCOMES = "make one: warpsight corpus outcomes TASKS FILE"
HASHED = (".py", ".toml", ".cpp", ".h", ".hpp")


class LookTaken(Noun):
    """What a profile of the given kernel shows, and what removing each finding would gain by simulation."""

    bound: str = ""
    counters: Mapping[str, float] = Field(default_factory=dict[str, float])
    findings: tuple[tuple[str, float], ...] = ()
    smaller: tuple[tuple[str, float], ...] = ()
    what_if: tuple[tuple[str, float], ...] = ()


class OutcomeLine(Noun):
    """One task at the end of one way. `ratio` is the speed of the kernel there over the given one; `reason` says why
    it has no tries, where the tools could do nothing with it."""

    row: int
    task: str
    split: str
    family: str
    version: Mapping[str, str]
    way: tuple[str, ...] = ()
    ratio: float = 1.0
    truth: Truth | None = None
    look: LookTaken | None = None
    tries: tuple[TriedRewrite, ...] = ()
    reason: str = ""

    @property
    def best(self) -> TriedRewrite | None:
        """The try that the gate found fastest; None where none is faster than the kernel here."""
        found = max(self.tries, key=lambda one: one.speed, default=None)
        return found if found is not None and found.speed > self.ratio else None


@dataclass(frozen=True)
class OutcomeUnit:
    """A line to be measured."""

    row: CorpusRow
    way: tuple[str, ...]
    ratio: float


@functools.cache
def outcomes_version() -> dict[str, str]:
    """Which gate, time model, rewrites and compiler the answers of a table are of."""
    parts = {"gate": ("gate", "tasks"), "time": ("vgpu", "devices"), "rewrites": ("rewrite", "session", "causes")}
    return {name: _sources(some) for name, some in parts.items()} | {
        "compiler": hashlib.sha256(compiler_identity().encode()).hexdigest()[:12]
    }


def _sources(parts: Sequence[str]) -> str:
    """A digest of the sources; where the core's sources did not come along, of the compiled core."""
    root = Path(warpsight.__file__).parent
    files = [file for part in parts for file in sorted((root / part).rglob("*")) if file.suffix in HASHED]
    if "vgpu" in parts and not any(file.suffix == ".cpp" for file in files):
        files.append(Path(_core.__file__))
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.relative_to(root).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:12]


def build_outcomes(
    rows: Sequence[CorpusRow],
    file: Path,
    *,
    steps: int = 2,
    second: Second = "best",
    executor: Executor | None = None,
    progress: Progress = lambda _done, _all: None,
) -> list[OutcomeLine]:
    """Measure what the file does not have. `steps` is how many rewrites stand on one another: 1 is single tries alone;
    from the second on the best so far is gone on from, or with `each` every cause that helps by itself, once."""
    found = read_outcomes_for(rows, file) if file.exists() else []
    known = {(line.task, line.way): line for line in found}
    file.parent.mkdir(parents=True, exist_ok=True)
    cut_half_line(file)
    at_work = executor or executor_for()
    for depth in range(steps):
        wanted = list(_units(rows, known, depth, second))
        todo = [unit for unit in wanted if (unit.row.spec.key, unit.way) not in known]
        progress(len(known), len(known) + len(todo))
        with file.open("a") as out, closing(at_work.run(measure_line, todo)) as lines:
            for done, line in enumerate(lines, start=1):
                out.write(line.model_dump_json(exclude_defaults=True) + "\n")
                out.flush()
                known[(line.task, line.way)] = line
                progress(len(known), len(known) + len(todo) - done)
    places = {key: place for place, key in enumerate(sorted(known, key=lambda k: (len(k[1]), known[k].row, k[1])))}
    put_in_order(file, lambda text: places.get(_key_of(text)))
    return list(known.values())


def _key_of(text: bytes) -> tuple[str, tuple[str, ...]]:
    line = OutcomeLine.model_validate_json(text)
    return line.task, line.way


def _units(
    rows: Sequence[CorpusRow], known: Mapping[tuple[str, tuple[str, ...]], OutcomeLine], depth: int, second: Second
) -> Iterator[OutcomeUnit]:
    """What is to be measured at this depth, given what is known of the one before."""
    tasks = {row.spec.key: row for row in rows}
    if depth == 0:
        yield from (OutcomeUnit(row, (), 1.0) for row in tasks.values())
        return
    for (task, way), line in list(known.items()):
        if len(way) != depth - 1 or task not in tasks:
            continue
        for one in _gone_on_from(line, second if depth == 1 else "best"):
            yield OutcomeUnit(tasks[task], (*way, one.name), one.speed)


def _gone_on_from(line: OutcomeLine, second: Second) -> list[TriedRewrite]:
    """The tries that a next step is put on: those that help by more than a tie."""
    helping = sorted((one for one in line.tries if one.speed >= TIE * line.ratio), key=lambda one: -one.speed)
    if second == "best":
        return helping[:1]
    first: dict[str, TriedRewrite] = {}
    for one in helping:
        if one.kernel not in {seen.kernel for seen in first.values()}:
            first.setdefault(one.cause, one)
    return list(first.values())


def measure_line(unit: OutcomeUnit) -> OutcomeLine:
    """One line, in whatever process."""
    row, spec = unit.row, unit.row.spec
    plain = plain_of(spec)[0]
    task = task_of(spec, plain)
    told = {
        "row": row.number, "task": spec.key, "split": row.split, "family": spec.family, "version": outcomes_version(),
        "way": unit.way, "ratio": unit.ratio,
    }  # fmt: skip
    secret = int(hashlib.sha256(f"outcomes {spec.key}".encode()).hexdigest()[:12], 16)
    with Session(task, seed=PROFILE_SEED, secret=secret, cores=1) as session:
        told |= {} if unit.way else {"truth": row.truth}
        try:
            told |= {} if unit.way else {"look": take_look(session)}
            told |= {"tries": tuple(try_all(session, kernel_at(plain, unit.way, task)))}
        except WarpsightError as problem:
            if problem.exit_code not in (1, 2):
                raise
            told |= {"reason": problem.message.partition("\n")[0]}
    return OutcomeLine.model_validate(told)


def kernel_at(kernel: str, way: Iterable[str], task: Task) -> str:
    """The text at the end of a way."""
    for name in way:
        cause, _, number = name.partition("#")
        made = rewrites(kernel, cause, facts_of(task))
        if int(number) >= len(made):
            raise UsageError(f"the rewrites have no {name} of this kernel now", hint="make the table of outcomes anew")
        kernel = made[int(number)].text
    return kernel


def take_look(session: Session) -> LookTaken:
    """What a profile of the given kernel shows, as numbers."""
    profile = session.counters()
    said = session.diagnose()
    names = {one.name for one in said}
    smaller = [one for one in detect_findings(profile, session.build()) if one.name not in names]
    without, _ = simulate_away(session, session.given.source, None)
    return LookTaken(
        bound=profile.bound,
        counters={name: float(value) for name, value in profile.counters.items() if value},
        findings=tuple((one.name, one.estimated_gain or 1.0) for one in said),
        smaller=tuple((one.name, one.estimated_gain or 1.0) for one in smaller),
        what_if=tuple((one.cause, one.gain) for one in without),
    )


def read_outcomes_for(rows: Sequence[CorpusRow], file: Path) -> list[OutcomeLine]:
    """The lines of a file that is to be gone on with: all of this version, and of these tasks."""
    found = read_table_lines(file)
    if any(dict(line.version) != outcomes_version() for line in found):
        raise UsageError(
            f"{file} is of another gate, time model or compiler, or of other rewrites", hint="another file"
        )
    known = {row.spec.key for row in rows}
    return [line for line in found if line.task in known]


def read_table_lines(file: Path) -> list[OutcomeLine]:
    """All finished lines."""
    return read_records(file, OutcomeLine, "a line of a table of outcomes", hint=MAKE_OUTCOMES)


class OutcomeTable:
    """A table to look things up in, by task and way."""

    def __init__(self, lines: Iterable[OutcomeLine]) -> None:
        self.lines = {(line.task, line.way): line for line in lines}

    @classmethod
    def read(cls, file: Path) -> OutcomeTable:
        return cls(read_table_lines(file))

    def line(self, task: str, way: Sequence[str] = ()) -> OutcomeLine | None:
        return self.lines.get((task, tuple(way)))

    def tries_of(self, task: str, way: Sequence[str]) -> tuple[TriedRewrite, ...] | None:
        """The tries at the end of a way; None where it was not measured."""
        line = self.line(task, way)
        return None if line is None or line.reason else line.tries

    def given(self) -> list[OutcomeLine]:
        """The lines of the given kernels that the tools could do something with."""
        return [line for line in self.lines.values() if not line.way and line.look is not None]

    def ways(self, task: str) -> list[OutcomeLine]:
        return [line for (name, _), line in self.lines.items() if name == task]

    def best_speed(self, task: str, tries: int | None = None) -> float:
        """The speed of the fastest kernel that is known, and that so many rewrites on one another lead to."""
        lines = [line for line in self.ways(task) if tries is None or len(line.way) < tries]
        return max((one.speed for line in lines for one in line.tries), default=1.0)


def change_values(line: OutcomeLine) -> dict[str, float]:
    """What each change is worth by itself: the best rewrite for a cause, or the removal of a defect that was planted;
    `nothing` is worth 1."""
    found: dict[str, float] = {NOTHING: 1.0}
    for one in line.tries:
        found[one.cause] = max(found.get(one.cause, 1.0), one.speed)
    truth = line.truth
    for defect, time in truth.without_us.items() if truth is not None else ():
        found[defect] = max(found.get(defect, 1.0), truth.time_us / time if truth else 1.0)
    return found


def is_within(line: OutcomeLine, answer: str) -> bool:
    """Whether what is recommended gains within 10 % of the best measured change."""
    values = change_values(line)
    return values.get(answer, 0.0) * WITHIN >= max(values.values())


def summary_of_table(lines: Iterable[OutcomeLine]) -> dict[str, object]:
    """The numbers that `warpsight corpus outcomes` shows."""
    table = OutcomeTable(lines)
    tasks = list(dict.fromkeys(task for task, _ in table.lines))
    return {
        "tasks": len(tasks),
        "lines": len(table.lines),
        "tries": sum(len(line.tries) for line in table.lines.values()),
        "without_tries": sum(bool(line.reason) for line in table.lines.values()),
        "best_speedup": _geomean([table.best_speed(task) for task in tasks]),
        "single_speedup": _geomean([max((o.speed for o in _tries_of(table, task)), default=1.0) for task in tasks]),
        "version": dict(next(iter(table.lines.values())).version) if table.lines else {},
    }


def _tries_of(table: OutcomeTable, task: str) -> tuple[TriedRewrite, ...]:
    line = table.line(task)
    return () if line is None else line.tries


def _geomean(values: Sequence[float]) -> float:
    return statistics.geometric_mean(values) if values else 1.0
