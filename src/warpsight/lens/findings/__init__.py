"""Findings: why a kernel is slow, each from one detector, a pure function of a Profile (and its Build).

`DETECTORS` are ours; other packages add theirs by entry points `warpsight.findings`. `find` runs all of them, orders
what they say (by estimated gain, but what is vague last) and keeps what is worth saying. A kernel that is near a roof
of its GPU and has nothing else gets one finding: stop. How gains are estimated: `gains.py`.
"""

from __future__ import annotations

from collections.abc import Callable

from warpsight.causes import causes
from warpsight.lens.findings import arithmetic, global_memory, lanes, on_chip, parallelism, reuse, walking
from warpsight.lens.findings.roof import AT_ROOF, at_roofline
from warpsight.nouns import Build, Finding, Profile
from warpsight.plugins import Seam

Detector = Callable[[Profile, Build | None], Finding | None]
FINDINGS = Seam("finding", "warpsight.findings")
WORTH_SAYING = 1.05  # a smaller gain is within what the model can tell apart

DETECTORS: tuple[Detector, ...] = (
    parallelism.launch_overhead,
    parallelism.too_few_blocks,
    parallelism.tail,
    parallelism.low_occupancy,
    parallelism.idle_warps,
    lanes.divergence,
    walking.thread_per_row,
    walking.serial_loop,
    walking.overlapping_reads,
    global_memory.uncoalesced_loads,
    global_memory.uncoalesced_stores,
    global_memory.reloads,
    reuse.missing_tile,
    reuse.one_output_a_thread,
    global_memory.scalar_access,
    global_memory.spills,
    global_memory.local_memory,
    on_chip.bank_conflicts,
    on_chip.divergent_constant,
    on_chip.contended_atomics,
    on_chip.needless_barriers,
    arithmetic.accidental_double,
    arithmetic.no_tensor_cores,
    arithmetic.slow_operations,
    arithmetic.missing_unroll,
    arithmetic.issue_bound,
    parallelism.exposed_latency,
    parallelism.dependent_chain,
)


def detect(profile: Profile, build: Build | None = None) -> tuple[Finding, ...]:
    """What every detector says: first what says what to change, then what says only where time goes; each by estimated
    gain, those without one last; in the order of the registry if equal."""
    found = [finding for detector in DETECTORS if (finding := detector(profile, build)) is not None]
    found += _of_others(profile, build)
    return tuple(sorted(found, key=lambda one: (is_vague(profile, one), -(one.estimated_gain or 0.0))))


def is_vague(profile: Profile, one: Finding) -> bool:
    """Whether it says where time goes and not what to change. More blocks are a change of the launch alone where the
    kernel goes by the grid; elsewhere the work must be split in another way, which no finding can say."""
    split = one.name == "too_few_blocks" and not parallelism.goes_by_grid(profile)
    return split or (one.name in causes() and causes()[one.name].vague)


def _of_others(profile: Profile, build: Build | None) -> list[Finding]:
    """What the detectors of other packages say, each held to the form of a finding."""

    def said(detector: Detector) -> list[Finding]:
        finding = detector(profile, build)
        if finding is not None and not isinstance(finding, Finding):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"expected a Finding or None, got {type(finding).__name__}")
        return [] if finding is None else [finding]

    none: list[Finding] = []
    return [one for plugin in FINDINGS.installed() for one in plugin.tried(lambda p=plugin: said(p.value), none)]


def find(profile: Profile, build: Build | None = None) -> tuple[Finding, ...]:
    """What is worth saying, most gain first. Near a roof "stop" comes first, then what hides behind it, if anything."""
    found = detect(profile, build)
    large = tuple(f for f in found if f.estimated_gain is None or f.estimated_gain >= WORTH_SAYING)
    stop = at_roofline(profile, build)
    if stop is None or any(f.estimated_gain is not None for f in large):
        return large
    hidden = [f for f in found if f.estimated_gain is not None]
    return (stop, *hidden[:1])


__all__ = ["AT_ROOF", "DETECTORS", "FINDINGS", "WORTH_SAYING", "Detector", "at_roofline", "detect", "find", "is_vague"]
