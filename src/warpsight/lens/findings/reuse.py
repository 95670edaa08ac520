"""Findings about data that is read again and again: from global memory, or from shared memory.

Both say that loads keep the load/store unit busy while the arithmetic waits. A tile helps the first, a patch of results
in registers the second. What must stay true: a kernel that reads from a tile is not told to make one.
"""

from __future__ import annotations

from warpsight.lens.findings.gains import Change, busy
from warpsight.lens.findings.reading import Work, at_line, executed, hottest, lsu_cycles, warps_in, whole
from warpsight.lens.findings.saying import finding
from warpsight.nouns import Build, Finding, Profile

REUSE = 4.0  # a tile or a patch from which each value is used four times is modest


def missing_tile(profile: Profile, build: Build | None) -> Finding | None:
    """Loads from global memory keep the unit busy although much of what they bring was brought before."""
    c = profile.counters
    again = c.get("global_load_bytes", 0) > REUSE * max(1.0, c.get("dram_bytes", 0)) and c.get("l1_hit_rate", 0) > 50
    if not again or _from_tiles(profile) or not _loads_bind(profile):
        return None
    line = hottest(profile, "global_load_requests")
    return finding(
        profile,
        "missing_tile",
        "{global_load_bytes} bytes are loaded where DRAM moves {dram_bytes}, and the load/store unit is {busy_lsu} % "
        "busy: the same data is read again and again",
        [*whole(profile, "global_load_requests"), *at_line(profile, line, "global_load_requests")],
        change=_reused(profile),
        suggestion="bring a tile into shared memory once and let the block read it there, and keep values in registers",
        should_move={"global_load_requests": "down", "busy_lsu": "down"},
        line=line,
    )


def one_output_a_thread(profile: Profile, build: Build | None) -> Finding | None:
    """Loads from a tile in shared memory keep the unit busy: each value serves one result only."""
    if not _from_tiles(profile) or not _loads_bind(profile):
        return None
    line = hottest(profile, "shared_load_requests")
    return finding(
        profile,
        "one_output_a_thread",
        "{shared_load_requests} loads from shared memory keep the load/store unit {busy_lsu} % busy: each value serves "
        "too few results",
        [*whole(profile, "busy_lsu", 100.0), *at_line(profile, line, "shared_load_requests")],
        change=_reused(profile),
        suggestion="keep a patch of results in registers (4 x 4 for each thread), so that each value from shared "
        "memory serves several; load float4",
        should_move={"shared_load_requests": "down", "busy_lsu": "down"},
        line=line,
    )


def _from_tiles(profile: Profile) -> bool:
    c = profile.counters
    return c.get("shared_load_requests", 0) > REUSE * max(1, c.get("shared_store_requests", 0))


def _loads_bind(profile: Profile) -> bool:
    c, loads = profile.counters, warps_in(_loads(executed(profile)))
    arithmetic = c.get("mix_float", 0) + c.get("mix_half", 0)
    if busy(profile, "lsu") < 0.6 or c.get("mix_tensor", 0) or not arithmetic:
        return False
    return loads >= 0.15 * arithmetic and arithmetic >= 0.1 * c.get("instructions", 0)


def _loads(work: list[Work]) -> list[Work]:
    return [w for w in work if w.space in ("global_load", "shared_load")]


def _reused(profile: Profile) -> Change:
    """All but one of REUSE loads are gone, and with them the waits for them."""
    work = executed(profile)
    loads, gone = _loads(work), 1 - 1 / REUSE
    left = 1 - gone * lsu_cycles(profile, loads) / max(1.0, lsu_cycles(profile, work))
    less = {"lsu": left, "issue": 1 - gone * warps_in(loads) / max(1.0, warps_in(work))}
    return Change(less, dict.fromkeys(("barrier", "long_scoreboard", "short_scoreboard"), 1 / REUSE))
