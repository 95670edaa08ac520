"""Counters of a kernel or a source line from what a report of Nsight Compute says of each instruction.

Only what follows exactly: a count that would need a guess (requests of an instruction that some lanes sat out,
operations of tensor instructions) is left out. Knows the opcodes of SASS by name, nothing of reports or files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from warpsight.lens.vocabulary import tidy
from warpsight.nouns import InstructionCounters

_OPCODE = re.compile(r"^\s*(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_]*)")
GLOBAL_LOADS = frozenset({"LDG", "LD", "LDGSTS"})
GLOBAL_STORES = frozenset({"STG", "ST"})
SHARED_LOADS = frozenset({"LDS", "LDSM"})
SHARED_STORES = frozenset({"STS", "LDGSTS"})
LOCAL = frozenset({"LDL", "STL"})
ATOMICS = frozenset({"ATOM", "ATOMG", "ATOMS", "RED", "REDG"})
MEMORY = GLOBAL_LOADS | GLOBAL_STORES | SHARED_LOADS | SHARED_STORES | LOCAL | ATOMICS
BRANCHES = frozenset({"BRA", "BRX", "BRXU"})
_TENSOR = frozenset({"HMMA", "DMMA", "IMMA", "BMMA", "QMMA", "HGMMA", "IGMMA", "QGMMA", "UTCHMMA", "UTCQMMA"})
_FLOPS = {
    **{f"{kind}{op}": flops for kind in "FD" for op, flops in (("ADD", 1), ("MUL", 1), ("FMA", 2))},
    "FADD32I": 1,
    "FMUL32I": 1,
    "FFMA32I": 2,
    "HADD2": 2,
    "HMUL2": 2,
    "HFMA2": 4,
}

_NEEDS: Mapping[str, tuple[str, ...]] = {
    "thread_instructions": ("threads_on",),
    "lanes_per_instruction": ("threads",),
    "flops": ("threads_on",),
    "atomic_lanes": ("threads_on",),
    "local_sectors": ("local_sectors",),
    "shared_wavefronts": ("wavefronts",),
    "shared_bank_conflicts": ("wavefronts", "wavefronts_ideal"),
    "branches_divergent": ("branches_divergent",),
    "stall_samples": ("samples", "samples_issued"),
    **{f"{kind}_requests": ("threads", "threads_on") for kind in ("shared_load", "shared_store", "atomic")},
    **{
        f"{kind}_{what}": needs
        for kind in ("global_load", "global_store")
        for what, needs in {
            "requests": ("threads", "threads_on"),
            "sectors": ("sectors",),
            "bytes": ("threads_on", "access_bits"),
            "efficiency": ("threads_on", "access_bits", "sectors"),
            "sectors_per_request": ("threads", "threads_on", "sectors"),
        }.items()
    },
}
"""What a report must say of instructions for each total, by the names of `MEASURES`; all need `warps`."""
MEASURES: Mapping[str, str] = {
    "warps": "inst_executed",
    "threads": "thread_inst_executed",
    "threads_on": "thread_inst_executed_true",
    "sectors": "memory_l2_theoretical_sectors_global",
    "sectors_ideal": "memory_l2_theoretical_sectors_global_ideal",
    "local_sectors": "memory_l2_theoretical_sectors_local",
    "wavefronts": "memory_l1_wavefronts_shared",
    "wavefronts_ideal": "memory_l1_wavefronts_shared_ideal",
    "branches_divergent": "smsp__branch_targets_threads_divergent",
    "samples": "smsp__pcsamp_sample_count",
    "samples_issued": "smsp__pcsamp_warps_issue_stalled_selected",
    "access_bits": "memory_access_size_type",
}
"""What a report can say of each instruction, and the metric that says it."""

Counters = Mapping[str, int | float]


def opcode(text: str) -> str:
    """LDG of `@P0 LDG.E.64 R2, [R2.64]`."""
    found = _OPCODE.match(text)
    return found[1] if found else ""


def exact_requests(text: str, counters: Counters) -> int | float | None:
    """Warps that made a memory request here; None when some lanes sat it out, as whole warps may be among them."""
    if opcode(text) not in MEMORY:
        return None
    on = counters.get("threads_on", 0)
    if on == 0:
        return 0
    return counters.get("warps", 0) if on == counters.get("threads", 0) else None


def totals(instructions: Sequence[InstructionCounters], measured: frozenset[str]) -> dict[str, int | float]:
    """Kernel counters over these instructions, those that can be told from what was measured of each."""
    found = _totals(instructions)
    return {name: value for name, value in found.items() if measured.issuperset(_NEEDS.get(name, ()))}


def _totals(instructions: Sequence[InstructionCounters]) -> dict[str, int | float]:
    ops = [(opcode(i.text), i) for i in instructions]
    found: dict[str, int | float] = {
        "instructions": _sum(instructions, "warps"),
        "thread_instructions": _sum(instructions, "threads_on"),
        "branches": _sum((i for op, i in ops if op in BRANCHES), "warps"),
        "branches_divergent": _sum((i for op, i in ops if op in BRANCHES), "branches_divergent"),
        "barriers": _sum((i for op, i in ops if op == "BAR"), "warps"),
        "atomic_lanes": _sum((i for op, i in ops if op in ATOMICS), "threads_on"),
        "local_sectors": _sum((i for op, i in ops if op in LOCAL), "sectors"),
        "shared_wavefronts": _sum(instructions, "wavefronts"),
        "shared_bank_conflicts": _sum(instructions, "wavefronts") - _sum(instructions, "wavefronts_ideal"),
        "stall_samples": _sum(instructions, "stall_samples"),
    }
    found["lanes_per_instruction"] = _ratio(_sum(instructions, "threads"), found["instructions"])
    found |= _global("global_load", [i for op, i in ops if op in GLOBAL_LOADS])
    found |= _global("global_store", [i for op, i in ops if op in GLOBAL_STORES])
    kinds = {"shared_load": SHARED_LOADS, "shared_store": SHARED_STORES, "atomic": ATOMICS}
    for kind, names in kinds.items():
        found |= _requests(kind, [i for op, i in ops if op in names])
    if not any(op in _TENSOR for op, _ in ops):
        found["flops"] = sum(_flops(op, i) for op, i in ops)
    return found


def _global(kind: str, chosen: Sequence[InstructionCounters]) -> dict[str, int | float]:
    sectors = _sum(chosen, "sectors")
    found = {f"{kind}_sectors": sectors, **_requests(kind, chosen)}
    if all("bytes" in i.counters or not i.counters.get("threads_on") for i in chosen):
        found[f"{kind}_bytes"] = _sum(chosen, "bytes")
        found[f"{kind}_efficiency"] = _ratio(100 * found[f"{kind}_bytes"], 32 * sectors)
    if f"{kind}_requests" in found:
        found[f"{kind}_sectors_per_request"] = _ratio(sectors, found[f"{kind}_requests"])
    return found


def _requests(kind: str, chosen: Sequence[InstructionCounters]) -> dict[str, int | float]:
    each = [exact_requests(i.text, i.counters) for i in chosen]
    known = [count for count in each if count is not None]
    return {f"{kind}_requests": sum(known)} if len(known) == len(each) else {}


def _flops(op: str, instruction: InstructionCounters) -> int | float:
    if op == "HFMA2" and "-RZ, RZ" in instruction.text:
        return 0  # how the compiler writes a constant to a register
    return _FLOPS.get(op, 0) * instruction.counters.get("threads_on", 0)


def _sum(chosen: Iterable[InstructionCounters], counter: str) -> int | float:
    return sum(i.counters.get(counter, 0) for i in chosen)


def _ratio(top: int | float, bottom: int | float) -> int | float:
    return tidy(top / bottom) if bottom else 0.0
