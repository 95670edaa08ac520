"""A profile with what follows from it: findings, the roofline, occupancy: what every door shows.

Pure: a function of one profile, the build it is of and the data sheet of its GPU. A notebook shows it as a page
(`notebook.py`); a terminal as text.
"""

from __future__ import annotations

import math

from warpsight.lens.findings import find
from warpsight.lens.render import render
from warpsight.lens.roofline import Roofline, roofline
from warpsight.nouns import Build, EntryUsage, Finding, Noun, Profile
from warpsight.tasks import LaunchSize
from warpsight.vgpu.gpu import Gpu
from warpsight.vgpu.occupancy import Occupancy, occupancy

TEXT_TOKENS = 10**9


class Diagnosis(Noun):
    """What a kernel does on a GPU and why it is slow. `roofline` and `occupancy` are of GPUs with a data sheet."""

    profile: Profile
    findings: tuple[Finding, ...]
    usage: EntryUsage | None = None
    roofline: Roofline | None = None
    occupancy: Occupancy | None = None

    @property
    def time_us(self) -> float | None:
        """Simulated or measured, as `profile.source` says; None where the profile has no time."""
        found = self.profile.counters.get("duration_us")
        return None if found is None else float(found)

    @property
    def bound(self) -> str:
        return self.profile.bound

    def __str__(self) -> str:
        return render(self.profile, self.findings, "curated", TEXT_TOKENS)

    def _repr_html_(self) -> str:
        from warpsight.lens.notebook import diagnosis_html

        return diagnosis_html(self)


def diagnose(profile: Profile, build: Build, size: LaunchSize, gpu: Gpu | None = None) -> Diagnosis:
    """All that is said of one profile."""
    usage = next((use for use in build.entries if use.name == profile.kernel), None)
    fits = None
    if gpu is not None and usage is not None:
        fits = occupancy(gpu, math.prod(size.block), usage.registers, usage.shared_bytes + size.shared_bytes)
    return Diagnosis(
        profile=profile,
        findings=find(profile, build),
        usage=usage,
        roofline=None if gpu is None else roofline(profile, gpu),
        occupancy=fits,
    )
