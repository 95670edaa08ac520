"""The ladder: sources of a profile in order of what they tell, tried until one answers, with an honest account.

A source that is missing, forbidden or too slow costs nothing but a line: the Profile says which source was used, which
were not and why, and how to enable them. Other packages add sources by entry points `warpsight.profilers`
(`AddedProfiler`); they are asked before ours. What must stay true: a fallback is never silent, and when no source
answers that is an error with every reason in it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from warpsight.devices.device import CannotProfile
from warpsight.errors import DeviceError, WarpsightError
from warpsight.lens.profilers import cupti, ncu, nsys, nvprof, rocprofv3
from warpsight.lens.profilers.availability import Availability
from warpsight.lens.profilers.failures import NoSource, ProfilerError
from warpsight.nouns import Profile
from warpsight.plugins import Plugin, Seam

PROFILERS = Seam("profiler", "warpsight.profilers")


class Measure(Protocol):
    """How each profiler's module measures one kernel of a program."""

    def __call__(self, program: Sequence[str], kernel: str, *, folder: Path, deadline_s: float) -> Profile: ...


class AddedProfiler(Protocol):
    """What an entry point `warpsight.profilers` names: a module or an object. `ladder` is that of the devices it is for
    (`nvidia`, `amd`, or the `ladder` of a device of another package)."""

    ladder: str
    tells: str
    measure: Measure

    def available(self) -> Availability: ...


@dataclass(frozen=True)
class Rung:
    """One source: its name, what it tells, and how to ask it."""

    name: str
    tells: str
    measure: Callable[[], Profile]


@dataclass(frozen=True)
class Missed:
    """A source that did not answer: why, and how to enable it."""

    source: str
    tells: str
    why: str
    how: str
    seconds: float


@dataclass(frozen=True)
class LadderResult:
    """What came of it: the profile, with the account in its notes; the source used; those that did not answer."""

    profile: Profile
    used: str
    missed: tuple[Missed, ...]


def climb(rungs: Sequence[Rung]) -> LadderResult:
    """The profile of the first source that answers."""
    missed: list[Missed] = []
    for rung in rungs:
        started = time.monotonic()
        try:
            profile = rung.measure()
        except (ProfilerError, CannotProfile, DeviceError) as problem:
            elapsed = time.monotonic() - started
            missed.append(Missed(rung.name, rung.tells, problem.message, problem.hint or "", elapsed))
            continue
        account = (f"measured by {rung.name}: {rung.tells}", *(_line(miss) for miss in missed))
        with_account = profile.model_copy(update={"notes": (*account, *profile.notes)})
        return LadderResult(with_account, rung.name, tuple(missed))
    reasons = "; ".join(miss.why for miss in missed) or "no source was given"
    hints = "; ".join(f"{miss.source}: {miss.how}" for miss in missed if miss.how)
    raise NoSource(f"no profiler could measure this kernel: {reasons}", hints or None)


def rungs_for(
    ladder: str | None, program: Sequence[str], kernel: str, *, folder: Path, deadline_s: float
) -> tuple[Rung, ...]:
    """The sources for a device of that ladder: those that other packages add, then ours; none where nobody has any."""
    ours = OURS.get(ladder or "", lambda *_, **__: ())
    added = [plugin for plugin in PROFILERS.installed() if ladder is not None and _ladder_of(plugin) == ladder]
    theirs = tuple(_added_rung(plugin, program, kernel, folder, deadline_s) for plugin in added)
    return (*theirs, *ours(program, kernel, folder=folder, deadline_s=deadline_s))


def has_ladder(ladder: str | None) -> bool:
    """Whether a profiler of ours, or of another package, is for such devices."""
    return ladder in OURS or any(
        ladder is not None and _ladder_of(plugin) == ladder for plugin in PROFILERS.installed()
    )


def _ladder_of(plugin: Plugin) -> str | None:
    return plugin.tried(lambda: str(plugin.value.ladder), None)


def _added_rung(plugin: Plugin, program: Sequence[str], kernel: str, folder: Path, deadline_s: float) -> Rung:
    def measure() -> Profile:
        try:
            found = plugin.value.measure(program, kernel, folder=folder, deadline_s=deadline_s)
        except WarpsightError:
            raise
        except Exception as problem:  # a broken profiler is one that did not answer
            raise CannotProfile(
                f"{plugin.name} of {plugin.package} failed: {type(problem).__name__}: {problem}"
            ) from None
        if not isinstance(found, Profile):
            raise CannotProfile(f"{plugin.name} of {plugin.package} gave a {type(found).__name__}, not a Profile")
        return found

    return Rung(plugin.name, plugin.tried(lambda: str(plugin.value.tells), ""), measure)


def nvidia_rungs(program: Sequence[str], kernel: str, *, folder: Path, deadline_s: float) -> tuple[Rung, ...]:
    """The sources on an NVIDIA GPU, for a program that launches the kernel."""

    def asked(measure: Measure) -> Callable[[], Profile]:
        return lambda: measure(program, kernel, folder=folder, deadline_s=deadline_s)

    return (
        Rung("ncu", "counters of every kind, by source line", asked(ncu.measure)),
        Rung("nvprof", "time and launch before compute capability 8.0, counters before 7.5", asked(nvprof.measure)),
        Rung("nsys", "time and launch, no counters", asked(nsys.measure)),
        Rung("cupti", "time and launch by the GPU's own records, no counters", asked(cupti.measure)),
    )


def amd_rungs(program: Sequence[str], kernel: str, *, folder: Path, deadline_s: float) -> tuple[Rung, ...]:
    """The sources on an AMD GPU, for a program that launches the kernel."""
    tells = "some counters of the whole kernel, time and launch"
    new, old = rocprofv3.measure, rocprofv3.measure_old
    return (
        Rung("rocprofv3", tells, lambda: new(program, kernel, folder=folder, deadline_s=deadline_s)),
        Rung("rocprof", tells, lambda: old(program, kernel, folder=folder, deadline_s=deadline_s)),
    )


OURS: dict[str, Callable[..., tuple[Rung, ...]]] = {"nvidia": nvidia_rungs, "amd": amd_rungs}


def device_rung(measure: Callable[[], Profile]) -> Rung:
    """The last rung: the device's own events, which need no profiler; `measure` is a Device's `profile`."""
    return Rung("the device's events", "time alone", measure)


def _line(miss: Missed) -> str:
    enable = f"; to enable it: {miss.how}" if miss.how else ""
    return f"not measured by {miss.source} ({miss.tells}): {miss.why}{enable}"
