"""Guarded programs: run one as it is now, keep it, or judge it against the accepted sources, both by today's tools.

A program may come from a stranger's pull request: it runs in the jail, and nothing outside of the list's folder is
shown to it. The accepted sources are put into a copy of the folder, so data files and what lies beside are today's.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from warpsight.capture.workspace import copied_program
from warpsight.errors import UsageError
from warpsight.guard.baseline import AcceptedProgram, GuardBaseline
from warpsight.guard.config import GuardedProgram, GuardList
from warpsight.guard.judge import GuardRow, Say
from warpsight.guard.programs import (
    MOST_OUTPUT,
    ProgramSeen,
    facts_of_kernels,
    facts_of_program,
    judge_runs,
    paths_of_findings,
)  # fmt: skip
from warpsight.programs.build import BuildFailed
from warpsight.programs.sources import SOURCES, near, require_inside
from warpsight.verbs.profile_program import profile_whole
from warpsight.verbs.run_program import ProgramQuestion
from warpsight.vgpu.gpus import find_gpu

CPU_LIMIT_S = 600.0
MOST_SOURCE_BYTES, MOST_SOURCES_BYTES = 1 << 18, 1 << 21


def program_questions(guarded: GuardList, only: str) -> Iterator[tuple[GuardedProgram, str]]:
    """Every program of the list, once for each GPU."""
    for program in guarded.programs:
        if not only or only in (program.program, Path(program.program).stem):
            for gpu in program.gpus:
                yield program, find_gpu(gpu).key


def accept_program(guarded: GuardList, program: GuardedProgram, gpu: str, say: Say) -> AcceptedProgram | GuardRow:
    """The program as it is now, to be kept; a wrong one is told as a row and never kept."""
    target = _target(guarded, program)
    row = _row(program, target, guarded, gpu)
    try:
        seen = _seen(target, program, gpu, say)
    except BuildFailed as failed:
        return row.model_copy(update={"status": "wrong", "detail": _build_words(failed)})
    if seen.wrong:
        return row.model_copy(update={"status": "wrong", "detail": seen.wrong})
    return AcceptedProgram(
        program=program, gpu=gpu, sources=sources_of(target), exit_code=seen.profile.run.exit_code,
        output=seen.output[:MOST_OUTPUT], facts=facts_of_program(seen.profile), kernels=facts_of_kernels(seen.profile),
    )  # fmt: skip


def judge_program(
    guarded: GuardList, baseline: GuardBaseline, program: GuardedProgram, gpu: str, most: float, say: Say
) -> GuardRow:
    """What became of one program since it was accepted."""
    target = _target(guarded, program)
    row, accepted = _row(program, target, guarded, gpu), baseline.of_program(program, gpu)
    if accepted is None:
        return row.model_copy(update={"status": "new", "detail": "not in the baseline: `warpsight guard update`"})
    row = row.model_copy(update={"before": accepted.facts})
    mine = sources_of(target)
    if mine == accepted.sources:
        return row.model_copy(update={"status": "unchanged", "after": accepted.facts})
    try:
        after = _seen(target, program, gpu, say)
    except BuildFailed as failed:
        return row.model_copy(update={"status": "wrong", "detail": _build_words(failed)})
    found = judge_runs(row, accepted, _accepted_run(target, accepted, say), after, most)
    folder = (target if target.is_dir() else target.parent).relative_to(guarded.folder)
    paths = paths_of_findings(after.profile, {(folder / name).as_posix(): text for name, text in mine.items()})
    return found.model_copy(update={"finding_paths": paths})


def sources_of(target: Path) -> dict[str, str]:
    """The texts that the program is made of, by their path in its folder."""
    folder = target if target.is_dir() else target.parent
    files = sorted(p for p in folder.rglob("*") if p.suffix in SOURCES) if target.is_dir() else near(target)
    found: dict[str, str] = {}
    for path in files:
        if path.is_file() and path.stat().st_size <= MOST_SOURCE_BYTES and "/.git/" not in f"{path}/":
            data = path.read_bytes()
            try:
                text = data.decode()
            except UnicodeDecodeError:
                continue  # data under a source's name: today's is used
            if "\0" not in text:
                found[path.relative_to(folder).as_posix()] = text
    if sum(map(len, found.values())) > MOST_SOURCES_BYTES:
        hint = "guard a smaller program, or its kernel as a task: `warpsight capture`"
        raise UsageError(f"the sources of {target.name} have more than {MOST_SOURCES_BYTES >> 20} MB", hint=hint)
    return found


def _target(guarded: GuardList, program: GuardedProgram) -> Path:
    target, root = guarded.folder / program.program, guarded.folder.resolve()
    if not (target.is_dir() or (target.is_file() and target.suffix in (".cu", ".cpp"))):
        raise UsageError(f"expected a .cu file or a folder that is built, found {program.program}", "see docs/guard.md")
    require_inside(target, lambda path: path.is_relative_to(root))
    return target


def _row(program: GuardedProgram, target: Path, guarded: GuardList, gpu: str) -> GuardRow:
    main = target if target.is_file() else next(iter(sorted(target.glob("*.cu"))), target)
    path = main.relative_to(guarded.folder).as_posix()
    return GuardRow(kind="program", task=program.label, file=main.name, path=path, gpu=gpu, status="same")


def _accepted_run(target: Path, accepted: AcceptedProgram, say: Say) -> ProgramSeen:
    """The accepted sources once more, by the tools of today."""
    with tempfile.TemporaryDirectory(prefix="warpsight-guard-") as name:
        copy = copied_program(target, Path(name))
        folder = copy if copy.is_dir() else copy.parent
        for path in sources_of(copy):
            (folder / path).unlink()
        for path, text in accepted.sources.items():
            place = folder / path
            if not place.resolve().is_relative_to(folder.resolve()):
                raise UsageError(f"the baseline names {path}, which is outside of the program's folder")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
        try:
            return _seen(copy, accepted.program, accepted.gpu, say)
        except BuildFailed as failed:
            raise UsageError(
                f"the accepted {accepted.program.program} no longer builds: {_build_words(failed)}",
                hint="`warpsight guard update` accepts the program as it is now",
            ) from None


def _seen(target: Path, program: GuardedProgram, gpu: str, say: Say) -> ProgramSeen:
    output, errors = bytearray(), bytearray()
    question = ProgramQuestion(target, program.arguments, gpu=gpu, make=program.make, cpu_limit_s=CPU_LIMIT_S, tell=say)
    profile = profile_whole(question, output=output.extend, errors=errors.extend)
    return ProgramSeen(profile, output.decode(errors="replace"))


def _build_words(failed: BuildFailed) -> str:
    """The first error of the compiler, or what is known."""
    lines = [line.strip() for line in failed.said.splitlines() if "error" in line.lower()]
    return ": ".join(filter(None, ("it does not build", lines[0][:300] if lines else failed.message)))
