"""Findings about what the instructions are: double by accident, long sequences, loops, matrix units left unused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from warpsight.lens.findings.gains import Change, busy, gpu_of
from warpsight.lens.findings.loops import COUNTING, is_backward_branch
from warpsight.lens.findings.reading import (
    Work,
    at_line,
    bytes_per_lane,
    executed,
    hottest,
    integer_work,
    is_constant,
    is_conversion_of_integers,
    is_conversion_to_double,
    lsu_cycles,
    warps_in,
    whole,
)
from warpsight.lens.findings.saying import finding
from warpsight.nouns import Build, Finding, Profile

SIMPLE = 5  # instructions that replace a division or a function, about
HEAVY = 0.3  # of the time that a pipe is taken
KEPT_IN_PLACE = ("BRA", "EXIT", "BAR", "BSSY", "BSYNC", "CALL", "RET", "ISETP", "S2R")
LONG = 15  # instructions of one call that are worth a word


def accidental_double(profile: Profile, build: Build | None) -> Finding | None:
    """Single-precision values are turned into double and back: a literal without f, or a double function."""
    work = executed(profile)
    own = [w for w in work if is_conversion_to_double(w)]
    if busy(profile, "fp64") >= HEAVY and not _keeps_doubles(work):  # few conversions, and much between them
        own += [w for w in work if is_conversion_of_integers(w)]
        return _double(profile, work, own) if own else None
    if not own or warps_in(own) < 0.02 * warps_in(work):
        return None
    return _double(profile, work, own)


def _keeps_doubles(work: Sequence[Work]) -> bool:
    """Whether anything of eight bytes or more is loaded or stored: the data may be double then."""
    return any(w.space.startswith("global") and bytes_per_lane(w) >= 8 for w in work)


def _double(profile: Profile, work: list[Work], own: list[Work]) -> Finding | None:
    left = 1 - warps_in(own) / warps_in(work)
    line = hottest(profile, "mix_double")
    floats = any(is_conversion_to_double(w) for w in own)
    return finding(
        profile,
        "accidental_double",
        f"{'float values' if floats else 'integers'} are turned into double, computed with and turned back",
        [
            *whole(profile, "mix_double", 0.0),
            *whole(profile, "mix_convert"),
            *whole(profile, "busy_fp64"),
            *at_line(profile, line, "mix_double", 0.0),
        ],
        change=Change({"fp64": 0.0, "sfu": 0.1, "issue": left}, {"short_scoreboard": 0.1, "wait": left}),
        suggestion="write literals with f (0.5f) and call float functions (sinf, sqrtf), if single precision is enough",
        should_move={"mix_double": "down", "mix_convert": "down", "busy_fp64": "down"},
        line=line,
    )


def slow_operations(profile: Profile, build: Build | None) -> Finding | None:
    """Divisions or functions that take tens of instructions, executed often."""
    work = executed(profile)
    calls = _calls(work)
    lines = {w.at.line for w in calls}
    own = [w for w in work if w.at.line in lines]
    done = _times(calls)
    if not done or done < 1.5 * work[0].warps or warps_in(own) < 0.3 * warps_in(work) or warps_in(own) < LONG * done:
        return None
    left = 1 - (warps_in(own) - SIMPLE * done) / warps_in(work)
    line = hottest(profile, lambda at: at.counters.get("instructions", 0) if at.line in lines else 0)
    name, operation, advice = _operation(own)
    place = "" if line is None or line.text != "}" else _called(work)
    return finding(
        profile,
        name,
        f"{operation} takes many of the {{instructions}} instructions{place}",
        [*whole(profile, "mix_convert"), *whole(profile, "mix_special"), *at_line(profile, line, "instructions")],
        change=Change(
            dict.fromkeys(("issue", "fma", "alu"), left) | {"sfu": 0.2},
            {"short_scoreboard": 0.2},
        ),
        suggestion=advice,
        should_move={"instructions": "down", "mix_convert": "down", "busy_issue": "down"},
        line=line,
    )


def _calls(work: Sequence[Work]) -> list[Work]:
    return [w for w in work if w.base in ("MUFU", "F2I", "I2F", "I2FP") and not is_conversion_to_double(w)]


def routine_work(work: Sequence[Work]) -> list[Work]:
    """What would be gone if each division or function took about SIMPLE instructions: of each line that has such an
    operation its arithmetic, but for the first instructions."""
    found: list[Work] = []
    for line in {w.at.line for w in _calls(work)}:
        own = [w for w in work if w.at.line == line and not w.space and w.base not in KEPT_IN_PLACE]
        found += own[SIMPLE:]
    return found


def _operation(own: list[Work]) -> tuple[str, str, str]:
    """Whether it is an integer division, which is computed by way of a float reciprocal and truncated back, or a
    function: the cause, in words, and what to do about it."""
    ways = [w for w in own if w.base in ("F2I", "I2F") and {"TRUNC", "RP"} & set(w.modifiers)]
    functions = [w for w in own if w.base == "MUFU" and not {"RCP", "RCP64H"} & set(w.modifiers)]
    if warps_in(ways) > warps_in(functions):
        return (
            "division_in_loop", "a division or modulo of integers",
            "take it out of the loop: a counter that wraps, a power of two, or a product with the reciprocal",
        )  # fmt: skip
    return (
        "slow_math", "a function or a division of floats",
        "use a cheaper one: multiplication instead of pow, the fast intrinsics (__sinf, __fdividef), or a table",
    )  # fmt: skip


def _times(calls: list[Work]) -> float:
    """How often such an operation was done: on each line, the instruction it has most of, copies of it added up."""
    each: Counter[tuple[int | None, str]] = Counter()
    for w in calls:
        each[w.at.line, ".".join((w.base, *w.modifiers))] += round(w.warps)
    lines = {line for line, _ in each}
    return float(sum(max(count for (at, _), count in each.items() if at == line) for line in lines))


def _called(work: list[Work]) -> str:
    """A routine of the compiler has the line of the closing brace: say that it is called."""
    return ", in a routine that the compiler calls" if any(w.base == "CALL" for w in work) else ""


def missing_unroll(profile: Profile, build: Build | None) -> Finding | None:
    """Many of the instructions only count and branch."""
    work = executed(profile)
    turns = warps_in(w for w in work if is_backward_branch(w))
    total = warps_in(work)
    efficient = profile.counters.get("branch_efficiency", 100.0) >= 90
    if busy(profile, "issue") < 0.6 or not total or COUNTING * turns < 0.25 * total or not efficient:
        return None
    left = max(0.3, 1 - COUNTING * turns * (1 - 1 / 8) / total)
    line = hottest(profile, "branches")
    return finding(
        profile,
        "missing_unroll",
        "of {instructions} instructions {branches} are branches, mostly of a short loop, with as many that only count "
        "and compare",
        [*whole(profile, "busy_issue", 100.0), *at_line(profile, line, "branches")],
        change=Change(
            {"issue": left, "alu": max(0.2, 1 - 2.0 * turns / max(1.0, integer_work(work)))},
            {"branch_resolving": 1 / 8},
        ),
        suggestion="unroll the loop (#pragma unroll 8), with a bound that is known at compile time where possible",
        should_move={"branches": "down", "instructions": "down", "stall_branch_resolving": "down"},
        line=line,
    )


def issue_bound(profile: Profile, build: Build | None) -> Finding | None:
    """The schedulers issue nearly all the time: only fewer instructions help. How many fewer, counters do not say."""
    if busy(profile, "issue") < 0.8:
        return None
    line = hottest(profile, "instructions")
    return finding(
        profile,
        "issue_bound",
        "the schedulers issue {busy_issue} % of the time",
        [*whole(profile, "busy_issue", 100.0), *at_line(profile, line, "instructions")],
        change=None,
        suggestion="do the same with fewer instructions: wider loads, more results in a thread, index arithmetic "
        "out of the loop; if most of them are the multiply-adds that the problem needs, stop",
        should_move={"instructions": "down"},
        line=line,
    )


def no_tensor_cores(profile: Profile, build: Build | None) -> Finding | None:
    """Products of half-precision values by ordinary multiply-adds, with enough arithmetic for matrix instructions."""
    c, gpu, work = profile.counters, gpu_of(profile), executed(profile)
    products = warps_in(w for w in work if w.base in ("FFMA", "HFMA2") and not is_constant(w))
    halves = warps_in(w for w in work if w.base in ("HADD2", "HFMA2") and not is_constant(w))
    intense = c.get("flops", 0) > 50 * max(1.0, c.get("dram_bytes", float("inf")))
    fits = intense and gpu is not None and gpu.tensor_f16
    if not fits or not products or c.get("mix_tensor") or products < 0.2 * warps_in(work) or halves < 0.05 * products:
        return None
    shared = [w for w in work if w.space == "shared_load"]
    line = hottest(profile, "flops")
    return finding(
        profile,
        "no_tensor_cores",
        "{flops} operations on half-precision data for {dram_bytes} bytes of DRAM, none of them on the tensor units",
        [*whole(profile, "mix_tensor"), *at_line(profile, line, "flops")],
        change=Change(
            {
                "fma": 0.1,
                "issue": 1 - (products + halves) / warps_in(work),
                "lsu": 1 - 0.6 * lsu_cycles(profile, shared) / max(1.0, lsu_cycles(profile, work)),
            }
        ),
        suggestion="use nvcuda::wmma fragments of 16 x 16 x 16, or mma.sync with ldmatrix",
        should_move={"mix_tensor": "up", "busy_tensor": "up", "instructions": "down"},
        line=line,
    )
