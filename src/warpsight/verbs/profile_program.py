"""Profile a whole CUDA program: its kernels by simulated time, and what each finding would bring the whole of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from warpsight.lens.diagnosis import Diagnosis, diagnose
from warpsight.nouns import Build, Finding, KernelLaunches, Noun, Profile, WholeRun
from warpsight.programs.jailed import Sink
from warpsight.tasks import LaunchSize
from warpsight.verbs.run_program import ProgramQuestion, run_whole
from warpsight.vgpu.gpus import find_gpu

_Size = tuple[str, tuple[int, int, int], tuple[int, int, int], int]
BUILDS = ("Makefile", "makefile", "GNUmakefile", "CMakeLists.txt")


class ProgramFinding(Noun):
    """A finding of one kernel. `share` of the program's simulated time is spent there, `gain` is on all of it."""

    kernel: str
    share: float
    gain: float | None
    finding: Finding


@dataclass(frozen=True)
class ProgramProfile:
    """A run, with what is known of each size of launches that has a profile."""

    run: WholeRun
    diagnoses: dict[_Size, Diagnosis]
    builds: dict[_Size, Build]

    def of(self, row: KernelLaunches) -> Diagnosis | None:
        return self.diagnoses.get((row.kernel, row.grid, row.block, row.shared_bytes))

    @property
    def whole_us(self) -> float:
        """Kernels and copies one after the other, as the virtual GPU does them."""
        return self.run.kernel_us + self.run.copy_us

    def findings(self) -> tuple[ProgramFinding, ...]:
        """By what they would bring the whole program, those without a number last."""
        found = list(self._findings())
        return tuple(sorted(found, key=lambda one: (-(one.gain or 0.0), -one.share)))

    def _findings(self) -> Iterator[ProgramFinding]:
        for row in self.run.kernels:
            diagnosis = self.of(row)
            if diagnosis is None or not self.whole_us:
                continue
            share = (row.time_us or 0.0) / self.whole_us
            for finding in diagnosis.findings:
                gain = finding.estimated_gain
                whole = None if gain is None else 1.0 / (1.0 - share + share / gain)
                yield ProgramFinding(kernel=row.kernel, share=share, gain=whole, finding=finding)


def is_program(word: str | None) -> bool:
    """Whether it names a program rather than a task: a .cu file with a main, a folder that is built, a binary."""
    path = Path(word or "")
    if not word or not path.exists():
        return False
    if path.is_dir():
        return not (path / "task.toml").exists() and any((path / name).is_file() for name in BUILDS)
    if path.suffix == ".cu":
        return "main" in path.read_text(errors="replace")
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def profile_whole(question: ProgramQuestion, *, output: Sink, errors: Sink) -> ProgramProfile:
    """Run the program once, and profile each size of launches when it comes first."""
    gpu = find_gpu(question.gpu)
    diagnoses: dict[_Size, Diagnosis] = {}
    builds: dict[_Size, Build] = {}

    def keep(profile: Profile, build: Build, size: LaunchSize) -> None:
        key = (profile.kernel, size.grid, size.block, size.shared_bytes)
        diagnoses[key], builds[key] = diagnose(profile, build, size, gpu), build

    run = run_whole(replace(question, on_profile=keep), output=output, errors=errors)
    return ProgramProfile(run, diagnoses, builds)
