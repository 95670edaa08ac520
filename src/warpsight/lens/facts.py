"""The plain facts of a launch in few words: what a reader needs beside the findings to judge them. For models.

How the launch is made, what an SM holds, where time goes, what instructions and accesses are like. Every number is a
counter of the profile, or follows from the launch line. What must stay true: a fact that the profile does not have is
left out, never guessed; the same profile gives the same words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from warpsight.lens.findings.reading import executed
from warpsight.nouns import Build, Profile
from warpsight.vgpu.gpu import Gpu
from warpsight.vgpu.occupancy import occupancy

UNITS = "busy_"
STALLS = "stall_"
NO_STALL = ("stall_samples", "stall_selected")
LEAST_SHARE = 1.0  # per cent of double precision that is said
_GRID = re.compile(r"//\s*launch:.*?grid=\((.*?)\)\s*block=", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_]\w*")


def plain_facts(profile: Profile, build: Build | None, gpu: Gpu | None, kernel: str) -> tuple[str, ...]:
    """The facts, each a few words, in a fixed order."""
    told = (_launch(profile, kernel), _held(profile, build, gpu), _units(profile), _stalls(profile), *_work(profile))
    return tuple(one for one in told if one)


def grid_by_size(kernel: str) -> bool | None:
    """Whether the grid follows from the size of the task; None where no launch line says it."""
    found = _GRID.search(kernel)
    return None if found is None else bool(set(_NAME.findall(found[1])) - {"ceil", "min", "max"})


def _launch(profile: Profile, kernel: str) -> str:
    c = profile.counters
    if not c.get("threads_per_block") or not c.get("blocks"):
        return ""
    by_size = grid_by_size(kernel)
    how = "" if by_size is None else " by size" if by_size else " fixed"
    sms = f" on {c['multiprocessors']:.0f} SMs" if c.get("multiprocessors") else ""
    share = _launch_share(c)
    own = f", launch {share:.0f} % of the time" if share >= 10 else ""
    return f"{c['threads_per_block']:.0f} threads a block, {c['blocks']:.0f} blocks{how}{sms}{own}"


def _launch_share(c: Mapping[str, float]) -> float:
    return 100 * c.get("launch_overhead_us", 0.0) / c["duration_us"] if c.get("duration_us") else 0.0


def _held(profile: Profile, build: Build | None, gpu: Gpu | None) -> str:
    """Blocks that an SM holds, and what stops it from holding more."""
    use = next((u for u in build.entries if u.name == profile.kernel), None) if build is not None else None
    threads = profile.counters.get("threads_per_block", 0)
    if use is None or gpu is None or not threads:
        return ""
    shared = use.shared_bytes + round(profile.counters.get("dynamic_shared_bytes", 0))
    found = occupancy(gpu, round(threads), use.registers, shared)
    limits = " and ".join(found.limited_by)
    return f"{found.blocks_per_sm} blocks an SM by {limits}, {100 * found.fraction:.0f} % of warps"


def _units(profile: Profile) -> str:
    found = _largest(profile, UNITS)
    return f"busy: {found}" if found else ""


def _stalls(profile: Profile) -> str:
    found = _largest(profile, STALLS)
    return f"waits: {found}" if found else ""


def _largest(profile: Profile, prefix: str) -> str:
    """The two largest, in per cent: units as they are, stalls of all samples of the kind."""
    some = {n: float(v) for n, v in profile.counters.items() if n.startswith(prefix) and n not in NO_STALL and v}
    if not some:
        return ""
    if prefix == STALLS and max(some.values()) > 100:  # samples, not shares
        every = sum(some.values())
        some = {name: 100 * value / every for name, value in some.items()}
    first = sorted(some.items(), key=lambda item: (-item[1], item[0]))[:2]
    return ", ".join(f"{name.removeprefix(prefix)} {value:.0f} %" for name, value in first)


def _work(profile: Profile) -> tuple[str, ...]:
    c = profile.counters
    found: list[str] = []
    for kind in ("load", "store"):
        if c.get(f"global_{kind}_requests"):
            found.append(f"{kind}s {c[f'global_{kind}_sectors'] / c[f'global_{kind}_requests']:.1f} sectors a request")
    if (double := float(c.get("mix_double", 0.0))) and c.get("instructions"):
        share = double if profile.units.get("mix_double") == "%" else 100 * double / c["instructions"]
        found += [f"double {share:.0f} % of instructions"] if share >= LEAST_SHARE else []
    if (divisions := integer_divisions(profile)) >= 0.5:
        found.append(f"{divisions:.0f} integer divisions a thread" if divisions >= 1 else "an integer division")
    return (", ".join(found),) if found else ()


def integer_divisions(profile: Profile) -> float:
    """How many each thread does: every one goes by a reciprocal of the divisor, which is turned to float rounded up."""
    work = executed(profile)
    ways = sum(w.warps for w in work if w.base in ("I2F", "I2FP") and "RP" in w.modifiers)
    return ways / work[0].warps if work else 0.0
