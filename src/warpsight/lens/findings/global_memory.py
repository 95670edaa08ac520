"""Findings about global and local memory: scattered, narrow, repeated, and registers or arrays that live in memory.

Traffic after a repair: what threads asked for, never more than what moved. A part of DRAM's bytes is taken for stores
(what threads gave, at most), the rest for loads.
"""

from __future__ import annotations

from warpsight.lens.findings.gains import Change, gain
from warpsight.lens.findings.loops import COUNTING, address_is_loaded, keeps_its_address, loop_around
from warpsight.lens.findings.reading import (
    Work,
    at_line,
    bytes_per_lane,
    executed,
    hottest,
    integer_work,
    lsu_cycles,
    warps_in,
    whole,
)
from warpsight.lens.findings.saying import finding
from warpsight.nouns import Build, Finding, LineCounters, Profile

SECTOR = 32
SCATTERED = 70.0


def uncoalesced_loads(profile: Profile, build: Build | None) -> Finding | None:
    """Lanes of a warp load from more sectors than their data fills."""
    asked = _ideal_bytes(profile, "global_load")
    c = profile.counters
    atomics = sum(w.count("sectors") for w in executed(profile) if w.space == "atomic")
    moved = c.get("l2_bytes", 0.0) - SECTOR * (c.get("global_store_sectors", 0) + atomics)
    dram = c.get("dram_bytes", 0.0)
    from_dram = dram - min(dram, c.get("global_store_bytes", 0))
    saved_l2, saved_dram = max(0.0, moved - asked), max(0.0, from_dram - asked)
    return _uncoalesced(profile, "load", saved_l2, saved_dram)


def uncoalesced_stores(profile: Profile, build: Build | None) -> Finding | None:
    """Lanes of a warp store to more sectors than their data fills: each goes to L2 on its own."""
    c = profile.counters
    saved = SECTOR * c.get("global_store_sectors", 0) - _ideal_bytes(profile, "global_store")
    return _uncoalesced(profile, "store", max(0.0, saved), 0.0)


def _uncoalesced(profile: Profile, kind: str, saved_l2: float, saved_dram: float) -> Finding | None:
    c = profile.counters
    name = f"global_{kind}"
    if not c.get(f"{name}_requests") or c.get(f"{name}_efficiency", 100.0) >= SCATTERED:
        return None
    work = executed(profile)
    own = [w for w in work if w.space == name]
    if own and _share_of_ideal(own) >= SCATTERED:
        return None  # few lanes are at work, and fill as few sectors as they can
    ideal = sum(max(w.count("sectors_ideal") / 4, w.count("requests")) for w in own)
    all_cycles, own_cycles = lsu_cycles(profile, work), lsu_cycles(profile, own)
    change = Change(
        {
            "l2": 1 - _part(saved_l2, c.get("l2_bytes", 0.0)),
            "dram": 1 - _part(saved_dram, c.get("dram_bytes", 0.0)),
            "lsu": 1 - _part(max(0.0, own_cycles - ideal), all_cycles),
        }
    )
    estimated = gain(profile, change)
    if kind == "load" and estimated == 1.0 and c.get("l1_hit_rate", 0.0) >= 97 - c[f"{name}_efficiency"]:
        return None  # what one load leaves of a sector, the next one finds in L1
    line = hottest(profile, lambda at: _excess(at, name))
    per_request = f"{name}_sectors_per_request"
    return finding(
        profile,
        "uncoalesced",
        f"threads use {{{name}_efficiency}} % of the bytes that global {kind}s move: neighbouring lanes touch "
        "addresses that are far apart",
        [*whole(profile, f"{name}_efficiency", 100.0), *at_line(profile, line, per_request, 4.0)],
        change=change,
        suggestion=f"let neighbouring threads {kind} neighbouring elements: swap the roles of the indices, use one "
        "array for each field, or go through a tile in shared memory",
        should_move={f"{name}_efficiency": "up", per_request: "down", f"{name}_sectors": "down"},
        line=line,
    )


def scalar_access(profile: Profile, build: Build | None) -> Finding | None:
    """Adjacent lanes move few bytes each, many times over: wider accesses need fewer instructions."""
    spaces = ("global_load", "global_store")
    work = executed(profile)
    narrow = [w for w in work if w.space in spaces and bytes_per_lane(w) <= 4 and not _broadcast(w)]
    narrow = [w for w in narrow if w.count("sectors") <= 4.4 * w.count("sectors_ideal")]
    wide = warps_in(w for w in work if w.space in spaces and w not in narrow)
    if not narrow or warps_in(narrow) < 2 * wide or warps_in(narrow) < 0.04 * warps_in(work):
        return None
    if any(w.space.startswith(("shared", "atomic", "local")) for w in work):
        return None  # the shape of tiles decides there, not the width of accesses
    kept = sum(w.warps * bytes_per_lane(w) / 16 for w in narrow)
    part = 1 - _part(warps_in(narrow) - kept, warps_in(work))
    cycles, chained = lsu_cycles(profile, narrow), any(address_is_loaded(w, work) for w in narrow)
    change = Change(
        {"issue": part, "lsu": 1 - _part(cycles * 0.5, lsu_cycles(profile, work))},
        # The same latency brings more bytes, unless in a loop each load waits for the one before.
        {"long_scoreboard": 1.0 if chained else max(0.25, kept / warps_in(narrow))},
    )
    line = hottest(profile, "global_load_requests")
    return finding(
        profile,
        "scalar_access",
        "lanes move few bytes at a time: {global_load_requests} requests for {global_load_bytes} bytes, where one "
        "could bring four times as many or more",
        [*whole(profile, "global_load_requests"), *at_line(profile, line, "global_load_requests")],
        change=change,
        suggestion="load and store float4 (or uint4) from 16-byte aligned addresses, several elements for each thread",
        should_move={"global_load_requests": "down", "global_store_requests": "down", "instructions": "down"},
        line=line,
    )


def reloads(profile: Profile, build: Build | None) -> Finding | None:
    """The same words go to memory again and again, or one word is loaded from the same place in each turn of a loop."""
    c = profile.counters
    work = executed(profile)
    loads = [w for w in work if w.space == "global_load" and _broadcast(w) and _in_loop(w, work)]
    repeated = [w for w in loads if keeps_its_address(w, work)]
    stores = [w for w in work if w.space == "global_store" and _in_loop(w, work) and keeps_its_address(w, work)]
    rewritten = bool(stores) and c.get("global_store_bytes", 0) > 2 * c.get("dram_bytes", float("inf"))
    if not rewritten and (not repeated or warps_in(repeated) < 0.05 * warps_in(work)):
        return None
    looped = repeated + [w for w in work if rewritten and w.space in ("global_load", "global_store")]
    own = [w for w in looped if _in_loop(w, work)]
    change = Change(
        {
            "l2": 1 - _part(SECTOR * sum(w.count("sectors") for w in own if rewritten), c.get("l2_bytes", 0)),
            "lsu": 1 - _part(lsu_cycles(profile, own), lsu_cycles(profile, work)),
            "issue": 1 - _part(warps_in(own), warps_in(work)),
        },
        {"long_scoreboard": 1 - _part(warps_in(own), warps_in(w for w in work if w.space.startswith("global")))},
    )
    kind = "global_store_requests" if rewritten else "global_load_requests"
    line = hottest(profile, kind if rewritten else _broadcast_requests)
    return finding(
        profile,
        "reloads",
        ("values are stored and loaded again in a loop" if rewritten else
         "a loop loads the same word for all lanes in each turn") + ": a register could keep them",
        [*whole(profile, kind), *at_line(profile, line, kind)],
        change=change,
        suggestion="load before the loop into a local variable, work on it, store once after the loop; "
        "mark pointers __restrict__ so that the compiler may do so",
        should_move={kind: "down", "l2_bytes": "down"},
        line=line,
    )  # fmt: skip


def spills(profile: Profile, build: Build | None) -> Finding | None:
    """Registers were spilled to local memory."""
    if not profile.counters.get("spilled_bytes"):
        return None
    return _local(
        profile, "spills",
        "a thread needs more than its {registers_per_thread} registers: {spilled_bytes} bytes are spilled and filled",
        "allow more registers (__launch_bounds__, --maxrregcount), or keep fewer values alive: smaller patches",
    )  # fmt: skip


def local_memory(profile: Profile, build: Build | None) -> Finding | None:
    """An array that is indexed at run time lies in local memory. Reports do not tell that from spills."""
    if profile.counters.get("spilled_bytes"):
        return None
    return _local(
        profile, "local_memory",
        "a private array is indexed at run time and lies in local memory"
        + ("" if "spilled_bytes" in profile.counters else ", or registers are spilled"),
        "unroll the loops that index it, so that every index is a constant; or put it in shared memory",
        unrolled=True,
    )  # fmt: skip


def _local(profile: Profile, name: str, message: str, suggestion: str, *, unrolled: bool = False) -> Finding | None:
    """The accesses are gone; when loops are unrolled for that, what they count and the addresses are gone too."""
    c = profile.counters
    if not c.get("local_sectors"):
        return None
    work = executed(profile)
    own = [w for w in work if w.space == "local"]
    memory = [w for w in work if w.space]
    other = SECTOR * (c.get("global_load_sectors", 0) + c.get("global_store_sectors", 0) + c.get("atomic_lanes", 0))
    left = 1 - _part(lsu_cycles(profile, own), lsu_cycles(profile, memory))
    turns, addresses = (_turns(own, work), warps_in(own)) if unrolled else (0.0, 0.0)
    change = Change(
        {
            "l2": min(1.0, other / max(1.0, c.get("l2_bytes", 0.0))),
            "dram": min(1.0, other / max(1.0, c.get("dram_bytes", 0.0))),
            "lsu": left,
            "issue": 1 - _part(warps_in(own) + addresses + COUNTING * turns, warps_in(work)),
            "alu": 1 - _part(addresses + (COUNTING - 1) * turns, integer_work(work)),
        },
        {"long_scoreboard": left, "short_scoreboard": left},
    )
    line = hottest(profile, "local_sectors")
    return finding(
        profile,
        name,
        message,
        [*whole(profile, "local_sectors", 0.0), *at_line(profile, line, "local_sectors", 0.0)],
        change=change,
        suggestion=suggestion,
        should_move={"local_sectors": "down", "l2_bytes": "down"},
        line=line,
    )


def _turns(own: list[Work], work: list[Work]) -> float:
    """How often a loop that one of these accesses stands in goes back to its beginning."""
    loops = {(inside[0].place, inside[-1].place): inside for w in own if (inside := loop_around(w, work))}
    return warps_in(inside[-1] for inside in loops.values())


def _ideal_bytes(profile: Profile, kind: str) -> float:
    own = [w for w in executed(profile) if w.space == kind]
    if own:
        return SECTOR * sum(min(w.count("sectors"), w.count("sectors_ideal")) for w in own)
    return float(profile.counters.get(f"{kind}_bytes", 0))


def _share_of_ideal(own: list[Work]) -> float:
    """The sectors that accesses need, in % of those they touch."""
    needed = sum(min(w.count("sectors"), w.count("sectors_ideal")) for w in own)
    return 100.0 * needed / max(1.0, sum(w.count("sectors") for w in own))


def _excess(line: LineCounters, name: str) -> float:
    return SECTOR * line.counters.get(f"{name}_sectors", 0) - line.counters.get(f"{name}_bytes", 0)


def _broadcast(w: Work) -> bool:
    return w.count("bytes") >= 96 * w.count("sectors") > 0


def _broadcast_requests(line: LineCounters) -> float:
    few = line.counters.get("global_load_sectors_per_request", 0) <= 3
    return line.counters.get("global_load_requests", 0) if few else 0


def _in_loop(w: Work, work: list[Work]) -> bool:
    return w.warps > 1.5 * work[0].warps


def _part(some: float, all_of_it: float) -> float:
    return min(1.0, max(0.0, some / all_of_it)) if all_of_it else 0.0
