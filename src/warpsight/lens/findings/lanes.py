"""The finding about lanes: parts of a warp wait while others work, because of branches, uneven loops or guards."""

from __future__ import annotations

from warpsight.lens.findings.gains import Change, at_once, busy
from warpsight.lens.findings.reading import Work, at_line, executed, hottest, lsu_cycles, whole
from warpsight.lens.findings.saying import finding
from warpsight.nouns import Build, Finding, LineCounters, Profile

FULL_LANES = 32.0
ENOUGH = 0.85
IN_MEMORY = 0.6  # how busy the load/store unit must be for lanes that sit out its accesses to matter


def divergence(profile: Profile, build: Build | None) -> Finding | None:
    """Lanes of a warp wait while others work."""
    work = executed(profile)
    lanes = profile.counters.get("lanes_per_instruction", FULL_LANES) / FULL_LANES
    at_work = _lanes_in_memory(profile, work) if busy(profile, "lsu") > IN_MEMORY else 1.0
    least = min(lanes, at_work)
    if least > ENOUGH:
        return None
    line = hottest(profile, _idle_work) or hottest(profile, "shared_load_requests")
    return finding(
        profile,
        "divergence",
        "{lanes_per_instruction} of 32 lanes of a warp are at work on average"
        if lanes <= at_work
        else "lanes sit out the memory accesses of their warps",
        [
            *whole(profile, "lanes_per_instruction", FULL_LANES),
            *whole(profile, "thread_instructions"),
            *at_line(profile, line, "lanes_per_instruction", FULL_LANES),
        ],
        change=_full(profile, lanes, least),
        suggestion="let whole warps take the same way: branch on the warp and not on the lane, sort work by length, "
        "keep working threads side by side, share serial parts out over the lanes",
        should_move={"lanes_per_instruction": "up", "branch_efficiency": "up", "instructions": "down"},
        line=line,
    )


def _full(profile: Profile, lanes: float, least: float) -> Change:
    less = dict.fromkeys(("issue", "fma", "alu", "sfu", "fp64"), lanes) | {"lsu": least}
    if at_once(profile):
        # The longest lane decides when its warp ends, and no block comes after it: only the units have less to do.
        reasons = ("selected", "wait", "branch_resolving", "long_scoreboard", "short_scoreboard", "barrier")
        return Change(less, dict.fromkeys(reasons, 1.0))
    return Change(less, dict.fromkeys(("long_scoreboard", "short_scoreboard", "barrier"), least))


def _lanes_in_memory(profile: Profile, work: list[Work]) -> float:
    """The share of lanes at work, by time in the load/store unit; in shuffles all lanes are."""
    cycles = lsu_cycles(profile, work)
    memory = [w for w in work if w.space and w.count("requests")]
    idle = sum(lsu_cycles(profile, [w]) * (1 - _lanes_on(w)) for w in memory)
    return 1 - idle / cycles if cycles else 1.0


def _lanes_on(w: Work) -> float:
    return min(1.0, w.count("threads_on") / (FULL_LANES * w.count("requests")))


def _idle_work(line: LineCounters) -> float:
    lanes = line.counters.get("lanes_per_instruction", FULL_LANES)
    return (FULL_LANES - lanes) * line.counters.get("instructions", 0)
