"""Findings about how threads walk through memory: a row for each thread, a long axis for few, windows that overlap.

Each looks at what lanes of a warp touch at once, and at how far an address goes from one turn of a loop to the next
(`steps.py`). Lanes far apart with turns side by side: each thread walks a row. Lanes side by side with turns side by
side: neighbours read the same. What must stay true: an access whose step is not known is not said to walk.
"""

from __future__ import annotations

from warpsight.lens.findings.gains import Change, busy, gpu_of
from warpsight.lens.findings.loops import has_turns
from warpsight.lens.findings.parallelism import goes_by_grid
from warpsight.lens.findings.reading import Work, at_line, executed, lsu_cycles, warps_in, whole
from warpsight.lens.findings.saying import finding
from warpsight.lens.findings.steps import SECTOR, neighbours, step_of, walks
from warpsight.nouns import Build, Finding, LineCounters, Profile

LANES = 32
APART = 0.6  # sectors for each lane of a request: nearly each touches one of its own
MOST = 0.6  # of the loads; of a product of matrices it is half, whose other half all lanes share
MUCH = 0.3  # of what a kernel loads, or does
MANY_TURNS = 16
FEW = 0.25  # of the threads that a GPU holds
REUSE = 4.0  # a window from which each value is used four times is modest
WINDOW = 3  # values of one lane side by side


def thread_per_row(profile: Profile, build: Build | None) -> Finding | None:
    """Each lane walks a row of its own, element by element, so a warp is in as many rows as it has lanes."""
    work = executed(profile)
    own = [w for w in work if w.space == "global_load" and _apart(w) and walks(w, work)]
    sectors = sum(w.count("sectors") for w in work if w.space == "global_load")
    moved = sum(w.count("sectors") for w in own)
    if not own or moved < MUCH * sectors or _turns(own, work) < MANY_TURNS:
        return None
    line = _line_of(profile, own)
    per_request = "global_load_sectors_per_request"
    return finding(
        profile,
        "thread_per_row",
        "each thread walks a row by itself: its lane goes on to the next element while the lanes beside it are in "
        "other rows, so threads use {global_load_efficiency} % of the bytes that global loads move",
        [*whole(profile, "global_load_efficiency", 100.0), *at_line(profile, line, per_request, 4.0)],
        change=_by_warps(profile, [*own, *_stores_beside(work)], work),
        suggestion="give each row a warp (or a block, where rows are long): lane l takes elements l, l + 32, ..., and "
        "__shfl_xor_sync combines what they gathered; where each element needs the one before, bring a tile of rows "
        "into shared memory with neighbouring lanes on neighbouring elements, and walk it there",
        should_move={"global_load_efficiency": "up", per_request: "down", "global_load_sectors": "down"},
        line=line,
    )


def serial_loop(profile: Profile, build: Build | None) -> Finding | None:
    """Few threads, and each has many turns of a loop to do."""
    work, held = executed(profile), share_of_gpu(profile)
    if held is None or held >= FEW or not has_turns(work) or goes_by_grid(profile):
        return None
    looped = [w for w in work if w.warps >= MANY_TURNS * work[0].warps]
    if warps_in(looped) < 0.5 * warps_in(work) or any(w.base == "BAR" for w in looped):
        return None
    if thread_per_row(profile, build) is not None:
        return None  # a warp for each row is the split
    samples = {w.at.line for w in looped}
    lines = [at for at in profile.lines if at.line in samples]
    line = max(lines, key=lambda at: at.counters.get("stall_samples", 0), default=None)
    return finding(
        profile,
        "serial_loop",
        "{blocks} blocks of {threads_per_block} threads walk a long loop, on {multiprocessors} multiprocessors that "
        "could hold many more",
        [*whole(profile, "blocks"), *at_line(profile, line, "stall_samples")],
        change=_spread(profile, held, {}),
        suggestion="split the loop: let several threads, warps or blocks walk a slice each, and combine what they "
        "gathered by shuffles, in shared memory, or with one atomicAdd for each block",
        should_move={"blocks": "up", "duration_us": "down"},
        line=line,
    )


def overlapping_reads(profile: Profile, build: Build | None) -> Finding | None:
    """Neighbouring lanes read neighbouring windows: most of what one loads, the next one loads again."""
    c, work = profile.counters, executed(profile)
    again = c.get("global_load_bytes", 0) > REUSE * max(1.0, c.get("dram_bytes", float("inf")))
    if not again or max(busy(profile, "lsu"), busy(profile, "issue")) < 0.4:
        return None
    loads = [w for w in work if w.space == "global_load" and w.count("requests")]
    if not loads:
        return None
    beside = [w for w in loads if _side_by_side(w)]
    own = [w for w in beside if walks(w, work) or neighbours(w, work) >= WINDOW]
    if warps_in(own) < MUCH * warps_in(loads):  # a window whose places are clamped one by one has no step that is known
        own = [w for w in beside if step_of(w, work) is None]
        if warps_in(own) < MOST * warps_in(loads):
            return None
    line = _line_of(profile, own)
    left = 1 - 1 / REUSE
    lsu = 1 - left * lsu_cycles(profile, own) / max(1.0, lsu_cycles(profile, work))
    issue = 1 - left * warps_in(own) / max(1.0, warps_in(work))
    waits = 1 - left * warps_in(own) / max(1.0, warps_in(loads))
    return finding(
        profile,
        "overlapping_reads",
        "{global_load_bytes} bytes are loaded where DRAM moves {dram_bytes}: each lane reads a window, and the lane "
        "beside it reads the same but for its edge",
        [*whole(profile, "global_load_requests"), *at_line(profile, line, "global_load_requests")],
        change=Change({"lsu": lsu, "issue": issue}, dict.fromkeys(("long_scoreboard", "short_scoreboard"), waits)),
        suggestion="let each thread make several neighbouring outputs and keep the window in registers as it slides; "
        "or load the block's stretch with its edge into shared memory once, and read it there",
        should_move={"global_load_requests": "down", "busy_lsu": "down"},
        line=line,
    )


def _apart(w: Work) -> bool:
    """Whether nearly each lane of a request is in a sector of its own, where lanes side by side would share them."""
    lanes, requests = w.count("threads_on"), w.count("requests")
    return lanes >= 4 * requests > 0 and w.count("sectors") >= max(APART * lanes, 2 * w.count("sectors_ideal"))


def _stores_beside(work: list[Work]) -> list[Work]:
    """What is stored in such a walk: a warp for each row sets that right too."""
    return [w for w in work if w.space == "global_store" and _apart(w) and walks(w, work)]


def _side_by_side(w: Work) -> bool:
    """Whether lanes touch neighbouring elements, each its own."""
    lanes, requests = w.count("threads_on"), w.count("requests")
    return lanes >= max(4 * w.count("sectors"), 8 * requests) and w.count("bytes") < 1.6 * SECTOR * w.count("sectors")


def _turns(own: list[Work], work: list[Work]) -> float:
    """How often the walk goes on, for each warp that begins it; unrolled turns count one by one."""
    total = sum(w.warps for w in own)
    return total / max(1.0, min(work[0].warps, max(w.warps for w in own)))


def _line_of(profile: Profile, own: list[Work]) -> LineCounters | None:
    """The line where most of these sectors are moved."""
    moved: dict[int | None, float] = {}
    for w in own:
        moved[w.at.line] = moved.get(w.at.line, 0.0) + w.count("sectors")
    best = max(moved, key=lambda line: moved[line])
    return next((line for line in profile.lines if line.line == best), None)


def share_of_gpu(profile: Profile) -> float | None:
    """The threads of a launch as a share of what the GPU holds at once; None where either is not known."""
    c, gpu = profile.counters, gpu_of(profile)
    if gpu is None or not c.get("blocks") or not c.get("threads_per_block") or "duration_us" not in c:
        return None
    warps = c["blocks"] * -(-c["threads_per_block"] // LANES)
    return float(warps / (gpu.sms * gpu.warps_per_sm))


def _by_warps(profile: Profile, own: list[Work], work: list[Work]) -> Change:
    """A warp for each row: requests touch as few sectors as they can, and there are 32 times as many warps."""
    c = profile.counters
    ideal = sum(max(w.count("sectors_ideal") / 4, w.count("requests")) for w in own)
    saved = SECTOR * sum(max(0.0, w.count("sectors") - w.count("bytes") / SECTOR) for w in own)
    over = max(0.0, c.get("l2_bytes", 0.0) - SECTOR * sum(w.count("bytes") for w in own) / SECTOR)
    resources = {
        "lsu": 1 - max(0.0, lsu_cycles(profile, own) - ideal) / max(1.0, lsu_cycles(profile, work)),
        "l2": 1 - min(saved, over) / max(1.0, c.get("l2_bytes", 0.0)),
    }
    return _spread(profile, share_of_gpu(profile) or 1.0, resources)


def _spread(profile: Profile, held: float, resources: dict[str, float]) -> Change:
    """Up to 32 times as many threads, until the GPU is full: other multiprocessors take their part of the work, and
    warps that wait do so side by side."""
    c = profile.counters
    least = max(1 / LANES, min(1.0, held))
    sms = c.get("multiprocessors", 0)
    sm = max(least, min(1.0, c.get("blocks", sms) / sms)) if sms else 1.0
    return Change(resources, waits=min(1.0, least / sm), sm=sm)
