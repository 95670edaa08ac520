"""The baseline: each guarded kernel and program as it was accepted, text and numbers: a JSON file to commit.

The text is there so that a change is judged against the kernel itself, timed anew by the tools of today. So a new
version of the compiler or of the time model never looks like a regression. The numbers are for people who read the
difference of the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from warpsight import __version__
from warpsight.errors import UsageError
from warpsight.files import write_whole
from warpsight.guard.config import GuardedKernel, GuardedProgram
from warpsight.lens.diagnosis import Diagnosis
from warpsight.nouns import Noun, Sha256


class KernelFacts(Noun):
    """What a profile says of a kernel, in the few numbers that a change is shown by."""

    time_us: float | None = None
    bound: str = ""
    registers: int = 0
    spill_bytes: int = 0
    shared_bytes: int = 0
    occupancy: float | None = None
    findings: tuple[str, ...] = ()


class AcceptedKernel(Noun):
    """One kernel on one GPU as it was accepted. `question` is the hash of the task without its kernel."""

    kernel: GuardedKernel
    gpu: str
    question: Sha256
    sha256: Sha256
    text: str
    facts: KernelFacts


class AcceptedProgram(Noun):
    """One program on one GPU as it was accepted: its sources by path, what it printed, and what its kernels take."""

    program: GuardedProgram
    gpu: str
    sources: dict[str, str]
    exit_code: int
    output: str
    facts: KernelFacts
    kernels: dict[str, KernelFacts]


class GuardBaseline(Noun):
    """All that was accepted."""

    format: Literal[1] = 1
    made_with: str = f"warpsight {__version__}"
    accepted: tuple[AcceptedKernel, ...]
    programs: tuple[AcceptedProgram, ...] = ()

    def of(self, kernel: GuardedKernel, gpu: str) -> AcceptedKernel | None:
        asked = _place(kernel, gpu)
        return next((one for one in self.accepted if _place(one.kernel, one.gpu) == asked), None)

    def of_program(self, program: GuardedProgram, gpu: str) -> AcceptedProgram | None:
        asked = program_place(program, gpu)
        return next((one for one in self.programs if program_place(one.program, one.gpu) == asked), None)


def program_place(program: GuardedProgram, gpu: str) -> tuple[str, tuple[str, ...], tuple[str, ...], str]:
    """What a program is found by: with other arguments it is another question."""
    return program.program, program.arguments, program.make, gpu


def _place(kernel: GuardedKernel, gpu: str) -> tuple[str, str, str, str]:
    """What a kernel is found by, whichever other GPUs it is listed for."""
    return kernel.task, kernel.file, kernel.workload, gpu


def facts_of(found: Diagnosis) -> KernelFacts:
    usage = found.usage
    return KernelFacts(
        time_us=found.time_us,
        bound=found.bound,
        registers=usage.registers if usage else 0,
        spill_bytes=usage.spill_store_bytes + usage.spill_load_bytes if usage else 0,
        shared_bytes=usage.shared_bytes if usage else 0,
        occupancy=found.occupancy.fraction if found.occupancy else None,
        findings=tuple(one.name for one in found.findings),
    )


def read_baseline(file: Path) -> GuardBaseline:
    """The baseline in this file; one that is damaged is an error, never an empty one."""
    try:
        return GuardBaseline.model_validate_json(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"there is no baseline {file}", hint="`warpsight guard update` writes it; commit it") from None
    except (OSError, UnicodeDecodeError, ValidationError) as problem:
        told = problem.errors()[0]["msg"] if isinstance(problem, ValidationError) else problem
        raise UsageError(f"{file} is no baseline: {told}", hint="`warpsight guard update` writes it anew") from None


def write_baseline(file: Path, accepted: Iterable[AcceptedKernel], programs: Iterable[AcceptedProgram] = ()) -> None:
    made = GuardBaseline(
        accepted=tuple(sorted(accepted, key=lambda one: _place(one.kernel, one.gpu))),
        programs=tuple(sorted(programs, key=lambda one: program_place(one.program, one.gpu))),
    )
    document = made.model_dump(mode="json", exclude=None if made.programs else {"programs"})
    write_whole(file, json.dumps(document, indent=1, ensure_ascii=False) + "\n", durable=True)
