"""Profile a whole CUDA program: its kernels by simulated time, and what each finding would bring the whole of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from warpsight.lens.diagnosis import Diagnosis, diagnose
from warpsight.lens.whole_program import ProfiledSize, ProgramFinding, ProgramProfile
from warpsight.nouns import Build, Profile
from warpsight.programs.jailed import Sink
from warpsight.programs.timeline import Timeline
from warpsight.tasks import LaunchSize
from warpsight.verbs.run_program import ProgramQuestion, run_whole
from warpsight.vgpu.gpus import find_gpu

BUILDS = ("Makefile", "makefile", "GNUmakefile", "CMakeLists.txt")


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
    diagnoses: dict[ProfiledSize, Diagnosis] = {}
    builds: dict[ProfiledSize, Build] = {}
    sources: dict[str, str] = {}

    def keep(profile: Profile, build: Build, size: LaunchSize, text: str) -> None:
        sources.setdefault(profile.kernel, text)
        key = (profile.kernel, size.grid, size.block, size.shared_bytes)
        diagnoses[key], builds[key] = diagnose(profile, build, size, gpu), build

    timeline = Timeline()
    run = run_whole(replace(question, on_profile=keep, timeline=timeline), output=output, errors=errors)
    return ProgramProfile(run, diagnoses, builds, sources, tuple(timeline.events), timeline.left_out)


__all__ = ["ProgramFinding", "ProgramProfile", "is_program", "profile_whole"]
