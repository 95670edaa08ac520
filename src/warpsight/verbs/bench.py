"""`bench`: what the words of its commands mean, and what they do beside a bench itself: files in, files out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from warpsight.bench.apply import right_answers
from warpsight.bench.kept import read_kept
from warpsight.bench.suite import read_outcomes
from warpsight.bench.table import comparison, conditions
from warpsight.bench.units import BOXES, BenchOutcome, BoxName
from warpsight.errors import UsageError
from warpsight.session.feedback import MODES, Feedback
from warpsight.short.prompting import SUITES, Suite
from warpsight.short.shipped import find_shipped
from warpsight.verbs.optimize import LOCAL, LOCAL_WORDS

Name = TypeVar("Name", bound=str)


def require_suite(word: str, rounds: int = 1) -> Suite:
    if rounds > 1 and word != "optimize":
        raise UsageError("--rounds is for kernels that are made faster", hint="--suite optimize")
    return _one_of("suite", word, SUITES)


def require_tries(words: str | None, suite: str) -> tuple[int, ...]:
    """How many changes may be tried, in the suite budget alone."""
    if suite != "budget":
        if words is not None:
            raise UsageError("--tries is for the suite budget", hint="--suite budget")
        return ()
    found = tuple(int(word) for word in (words or "1,2,4,8").split(",") if word.strip().isdecimal())
    if not found or 0 in found or len(found) != len((words or "1,2,4,8").split(",")):
        raise UsageError(f"expected numbers of tries from 1, got {words!r}", hint="--tries 1,2,4,8")
    return tuple(sorted(set(found)))


def require_box(word: str) -> BoxName:
    return _one_of("box", word, BOXES)


def plain_weights_words(model: str, adapter: Path | None) -> str:
    """Which weights run where an adapter may have been forgotten: `optimize --model trained` takes the trained ones."""
    if model != LOCAL or adapter is not None:
        return ""
    shipped = find_shipped()
    way = "" if shipped is None or shipped.adapter is None else f"; trained: --adapter {shipped.adapter}"
    return f"no --adapter was given: using {LOCAL_WORDS} before any training{way}"


def require_modes(words: str) -> tuple[Feedback, ...]:
    """The modes that are named, with commas between them."""
    wanted = [word.strip() for word in words.split(",") if word.strip()]
    unknown = [word for word in wanted if word not in MODES]
    if unknown or not wanted:
        raise UsageError(f"expected feedback of {', '.join(MODES)}, got {words!r}", hint="--feedback none,curated")
    return tuple(mode for mode in MODES if mode in wanted)


def read_files(files: Iterable[Path], count: int | None = None) -> list[BenchOutcome]:
    """All outcomes of some files, or those of their first tasks; UsageError where there are none."""
    every = [outcome for file in files for outcome in read_outcomes(file)]
    found = [outcome for outcome in every if count is None or outcome.unit.row < count]
    if not found:
        raise UsageError("no outcomes in these files", hint="make some: warpsight bench run CORPUS FILE")
    return found


def answers_to_apply(corpus: Path, file: Path, models: Sequence[str], count: int | None) -> list[BenchOutcome]:
    """The recommendations of a file, of these models alone if any are named, and the right answers beside them."""
    answered = read_files([file])
    if missing := set(models) - {one.unit.model for one in answered}:
        raise UsageError(f"{file} has no answers of {', '.join(sorted(missing))}", hint="warpsight bench report FILE")
    return [*(one for one in answered if not models or one.unit.model in models), *right_answers(corpus, count)]


def write_outcomes(file: Path, found: Iterable[BenchOutcome]) -> None:
    file.write_text("".join(outcome.model_dump_json() + "\n" for outcome in found))


def write_page(
    page: Path,
    files: Sequence[Path],
    *,
    pairs: Iterable[str] = (),
    corpus: Path | None = None,
    trainings: Sequence[Path] = (),
    runs: Path | None = None,
) -> int:
    """One HTML file of all outcomes; its size in bytes. `pairs` are words, ONE=OTHER."""
    from warpsight.report.bench_data import read_bench
    from warpsight.report.bench_page import write_bench_report

    compared = [_pair(word) for word in pairs]
    story = read_bench(files, pairs=compared, corpus=corpus, trainings=trainings, runs=read_kept(runs))
    return write_bench_report(story, page)


def compare_conditions(files: Iterable[Path], one: str, other: str, suite: str) -> dict[str, Any]:
    """Two conditions, each MODEL:FEEDBACK, on the tasks that both have."""
    found = conditions(read_files(files))
    sides: list[list[BenchOutcome]] = []
    for wanted in (one, other):
        model, _, feedback = wanted.rpartition(":")
        if (suite, model, feedback) not in found:
            known = ", ".join(f"{key[1]}:{key[2]}" for key in found if key[0] == suite)
            raise UsageError(f"no outcomes of {wanted}", hint=f"there are {known or 'none'}")
        sides.append(found[(suite, model, feedback)])
    return comparison(sides[0], sides[1])


def choices_made(
    files: Sequence[Path],
    out: Path,
    *,
    model: str,
    adapter: Path | None,
    base_url: str | None,
    name: str | None,
    tries: str,
    seeds: int,
    temperature: float | None,
    kernel: Path | None,
    progress: Callable[[int, int], None],
) -> tuple[dict[str, object], str]:
    """Choices of parameters on recorded cards: the document, and the table of all that is in the file."""
    from warpsight.bench.choice import choices_document, choices_table, read_choices, run_choices
    from warpsight.bench.rivals import PREFIX
    from warpsight.models.open import open_model

    player = None if model.startswith(PREFIX) else open_model(model, adapter=adapter, base_url=base_url)
    found = run_choices(
        files, out, name=name or model, model=player, tries=require_tries(tries, "budget"), seeds=seeds,
        kernel=kernel.read_text() if kernel is not None else "", temperature=temperature, progress=progress,
    )  # fmt: skip
    return choices_document(found), choices_table(read_choices(out))


def _pair(word: str) -> tuple[str, str]:
    one, equals, other = word.partition("=")
    if not (one and equals and other):
        raise UsageError(f"--pair: expected ONE=OTHER, got {word!r}", hint="--pair tools:curated=text:none")
    return one, other


def _one_of(what: str, word: str, known: Sequence[Name]) -> Name:
    for name in known:
        if name == word:
            return name
    raise UsageError(f"expected a {what} of {', '.join(known)}, got {word!r}")
