"""Profile a whole CUDA program: its kernels by simulated time, and what each finding would bring the whole of it."""

from __future__ import annotations

from dataclasses import replace

from warpsight.lens.diagnosis import Diagnosis, diagnose
from warpsight.lens.whole_program import ProfiledSize, ProgramFinding, ProgramProfile
from warpsight.nouns import Build, Profile
from warpsight.programs.jailed import Sink
from warpsight.programs.timeline import Timeline
from warpsight.tasks import LaunchSize
from warpsight.verbs.run_program import ProgramQuestion, run_whole
from warpsight.vgpu.gpus import find_gpu


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


__all__ = ["ProgramFinding", "ProgramProfile", "profile_whole"]
