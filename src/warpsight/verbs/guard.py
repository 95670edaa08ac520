"""What `warpsight guard` does: lists, accepts and judges the guarded kernels and programs of a folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from warpsight.errors import UsageError
from warpsight.files import write_whole
from warpsight.guard.baseline import (
    AcceptedKernel,
    AcceptedProgram,
    GuardBaseline,
    program_place,
    read_baseline,
    write_baseline,
)  # fmt: skip
from warpsight.guard.config import FILE, GuardedKernel, GuardedProgram, GuardList, new_list, read_list, share_of
from warpsight.guard.judge import GuardRow, Say, accept, judge, questions
from warpsight.guard.reports import junit, markdown, sarif
from warpsight.nouns import Task
from warpsight.verbs.guard_programs import accept_program, judge_program, program_questions

Accepted = AcceptedKernel | AcceptedProgram
WRITERS = {"markdown": markdown, "junit": junit, "sarif": sarif}


def start(folder: Path) -> Path:
    """Write a list of all tasks below a folder; one that is there is not touched."""
    file = folder / FILE
    if file.exists():
        raise UsageError(f"{file} is there already", hint="`warpsight guard update` accepts its kernels")
    write_whole(file, new_list(folder))
    return file


def update(file: Path, only: str, say: Say) -> tuple[GuardList, list[Accepted], list[GuardRow]]:
    """Accept what is guarded as it is now. What is wrong is told and not kept; then nothing is written."""
    guarded = read_list(file)
    kept: list[Accepted] = []
    wrong: list[GuardRow] = []
    asked = _asked(guarded, only)
    for at, one in enumerate(asked, 1):
        say(f"{at} of {len(asked)}: {one.name} on {one.gpu}")
        found = one.accept(say)
        if isinstance(found, GuardRow):
            wrong.append(found)
        else:
            kept.append(found)
    if not wrong:
        there = read_baseline(guarded.baseline_file) if only and guarded.baseline_file.exists() else None
        write_baseline(guarded.baseline_file, *_with_others(kept, there))
    return guarded, kept, wrong


def _with_others(
    kept: list[Accepted], there: GuardBaseline | None
) -> tuple[list[AcceptedKernel], list[AcceptedProgram]]:
    """What was accepted now, and what the baseline has of others."""
    kernels = [one for one in kept if isinstance(one, AcceptedKernel)]
    programs = [one for one in kept if isinstance(one, AcceptedProgram)]
    if there is not None:
        places = {(one.kernel, one.gpu) for one in kernels}
        kernels += [old for old in there.accepted if (old.kernel, old.gpu) not in places]
        named = {program_place(one.program, one.gpu) for one in programs}
        programs += [old for old in there.programs if program_place(old.program, old.gpu) not in named]
    return kernels, programs


def check(file: Path, only: str, most: str, say: Say) -> tuple[GuardList, list[GuardRow]]:
    """Judge every guarded kernel and program against the baseline."""
    guarded = read_list(file)
    baseline = read_baseline(guarded.baseline_file)
    allowed = share_of(most) if most else guarded.max_regression
    asked = _asked(guarded, only)
    rows: list[GuardRow] = []
    for at, one in enumerate(asked, 1):
        say(f"{at} of {len(asked)}: {one.name} on {one.gpu}")
        rows.append(one.judge(baseline, allowed, say))
    return guarded, rows


@dataclass(frozen=True)
class _Asked:
    """A kernel or a program on one GPU: how it is accepted, and how it is judged."""

    name: str
    gpu: str
    accept: Callable[[Say], Accepted | GuardRow]
    judge: Callable[[GuardBaseline, float, Say], GuardRow]


def _asked(guarded: GuardList, only: str) -> list[_Asked]:
    found = [_asked_kernel(guarded, *question) for question in questions(guarded, only)]
    found += [_asked_program(guarded, *question) for question in program_questions(guarded, only)]
    if not found:
        known = ", ".join([*(one.task for one in guarded.kernels), *(one.program for one in guarded.programs)])
        raise UsageError(f"nothing that is guarded is called {only!r}", f"one of {known}")
    return found


def _asked_kernel(guarded: GuardList, kernel: GuardedKernel, task: Task, gpu: str) -> _Asked:
    return _Asked(
        task.name, gpu, lambda say: accept(guarded, kernel, task, gpu, say),
        lambda baseline, most, say: judge(guarded, baseline, kernel, task, gpu, most, say),
    )  # fmt: skip


def _asked_program(guarded: GuardList, program: GuardedProgram, gpu: str) -> _Asked:
    return _Asked(
        program.label, gpu, lambda say: accept_program(guarded, program, gpu, say),
        lambda baseline, most, say: judge_program(guarded, baseline, program, gpu, most, say),
    )  # fmt: skip


def write_reports(rows: list[GuardRow], strict: bool, files: dict[str, Path | None]) -> None:
    """Each report that was asked for, as the file that was named."""
    for kind, file in files.items():
        if file is None:
            continue
        try:
            write_whole(file, WRITERS[kind](rows, strict))
        except OSError as problem:
            raise UsageError(f"cannot write {file}: {problem}") from None
