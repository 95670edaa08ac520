"""What `warpsight guard` does: lists, accepts and judges the guarded kernels of a folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from warpsight.errors import UsageError
from warpsight.files import write_whole
from warpsight.guard.baseline import AcceptedKernel, read_baseline, write_baseline
from warpsight.guard.config import FILE, GuardList, new_list, read_list, share_of
from warpsight.guard.judge import GuardRow, accept, judge, questions
from warpsight.guard.reports import junit, markdown, sarif

Say = Callable[[str], None]
WRITERS = {"markdown": markdown, "junit": junit, "sarif": sarif}


def start(folder: Path) -> Path:
    """Write a list of all tasks below a folder; one that is there is not touched."""
    file = folder / FILE
    if file.exists():
        raise UsageError(f"{file} is there already", hint="`warpsight guard update` accepts its kernels")
    write_whole(file, new_list(folder))
    return file


def update(file: Path, only: str, say: Say) -> tuple[GuardList, list[AcceptedKernel], list[GuardRow]]:
    """Accept the kernels as they are now. Wrong ones are told and not kept; then nothing is written."""
    guarded = read_list(file)
    kept: list[AcceptedKernel] = []
    wrong: list[GuardRow] = []
    asked = list(questions(guarded, only))
    for at, (kernel, task, gpu) in enumerate(asked, 1):
        say(f"{at} of {len(asked)}: {task.name} on {gpu}")
        found = accept(guarded, kernel, task, gpu, say)
        (kept if isinstance(found, AcceptedKernel) else wrong).append(found)  # type: ignore[arg-type]
    if not wrong:
        places = {(one.kernel, one.gpu) for one in kept}
        others = read_baseline(guarded.baseline_file).accepted if only and guarded.baseline_file.exists() else ()
        write_baseline(guarded.baseline_file, [*kept, *(o for o in others if (o.kernel, o.gpu) not in places)])
    return guarded, kept, wrong


def check(file: Path, only: str, most: str, say: Say) -> tuple[GuardList, list[GuardRow]]:
    """Judge every guarded kernel against the baseline."""
    guarded = read_list(file)
    baseline = read_baseline(guarded.baseline_file)
    allowed = share_of(most) if most else guarded.max_regression
    asked = list(questions(guarded, only))
    rows: list[GuardRow] = []
    for at, (kernel, task, gpu) in enumerate(asked, 1):
        say(f"{at} of {len(asked)}: {task.name} on {gpu}")
        rows.append(judge(guarded, baseline, kernel, task, gpu, allowed, say))
    return guarded, rows


def write_reports(rows: list[GuardRow], strict: bool, files: dict[str, Path | None]) -> None:
    """Each report that was asked for, as the file that was named."""
    for kind, file in files.items():
        if file is None:
            continue
        try:
            write_whole(file, WRITERS[kind](rows, strict))
        except OSError as problem:
            raise UsageError(f"cannot write {file}: {problem}") from None
