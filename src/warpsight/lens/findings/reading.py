"""Reading a profile: evidence from its counters, the line that has most of something, and kinds of instructions.

Pure. What must stay true: the value of an evidence is the counter of that name, of the kernel or of the line it names,
so a program can look it up again.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from warpsight.lens.findings.gains import gpu_of
from warpsight.nouns import Evidence, InstructionCounters, LineCounters, Profile
from warpsight.vgpu.schedule import mnemonic

_ADDRESS_CYCLES = 2
_SPACES = {
    "LDG": "global_load", "LD": "global_load", "STG": "global_store", "ST": "global_store",
    "LDL": "local", "STL": "local", "LDS": "shared_load", "LDSM": "shared_load", "STS": "shared_store",
    "ATOMS": "atomic_shared", "ATOM": "atomic", "ATOMG": "atomic", "RED": "atomic", "REDG": "atomic",
    "LDC": "constant", "SHFL": "shuffle", "LDGSTS": "copy",
}  # fmt: skip


@dataclass(frozen=True)
class Work:
    """One machine instruction that ran: its mnemonic, where it reads or writes, how often, and its counters.

    `place` counts machine instructions, as the targets of branches do; the index in `at` may count more than those.
    """

    base: str
    modifiers: tuple[str, ...]
    space: str
    warps: float
    at: InstructionCounters
    place: int

    def count(self, name: str) -> float:
        return self.at.counters.get(name, 0)


@functools.lru_cache(maxsize=1 << 14)
def _parsed(text: str) -> tuple[str, tuple[str, ...]]:
    return mnemonic(text)  # kept: every detector reads the same instructions


def executed(profile: Profile) -> list[Work]:
    """The instructions that ran; none for a profile that has no machine code."""
    if profile.isa != "sass":
        return []
    found: list[Work] = []
    for place, at in enumerate(profile.instructions):
        if warps := at.counters.get("warps", 0):
            base, modifiers = _parsed(at.text)
            found.append(Work(base, modifiers, _SPACES.get(base, ""), warps, at, place))
    return found


def warps_in(work: Iterable[Work]) -> float:
    return sum(w.warps for w in work)


def integer_work(work: Iterable[Work]) -> float:
    """What goes to the integer pipe: sums, comparisons, logic, moves."""
    kinds = ("IADD3", "ISETP", "LOP3", "SHF", "LEA", "MOV", "SEL", "PRMT", "IMNMX", "FSETP", "FSEL")
    return warps_in(w for w in work if w.base in kinds)


def address_cycles(profile: Profile) -> int:
    gpu = gpu_of(profile)
    return _ADDRESS_CYCLES if gpu is None else max(1, 32 // gpu.load_store_units)


def lsu_cycles(profile: Profile, work: Iterable[Work]) -> float:
    """Clocks in the load/store unit, about: addresses, tags of 128-byte lines, passes through shared memory."""
    address = address_cycles(profile)
    return sum(_lsu(w, address) for w in work)


def _lsu(w: Work, address: int) -> float:
    least = address * w.count("requests")
    if w.space in ("shared_load", "shared_store", "constant"):
        return max(least, w.count("wavefronts"))
    if w.space == "atomic_shared":
        return max(least, w.count("wavefronts"), w.count("atomic_passes"))
    if w.space == "shuffle":
        return address * w.warps
    return max(least, w.count("lines"), w.count("sectors") / 4) if w.space else 0.0


def whole(profile: Profile, counter: str, limit: float | None = None) -> list[Evidence]:
    """The counter of the kernel; nothing when it was not measured."""
    if counter not in profile.counters:
        return []
    value = float(profile.counters[counter])
    return [Evidence(counter=counter, value=value, unit=profile.units[counter], limit=limit)]


def at_line(profile: Profile, line: LineCounters | None, counter: str, limit: float | None = None) -> list[Evidence]:
    """The counter of that line; nothing when the profile has no such line or the line no such counter."""
    if line is None or counter not in line.counters:
        return []
    value = float(line.counters[counter])
    return [Evidence(counter=counter, value=value, unit=profile.units[counter], limit=limit, line=line.line)]


def hottest(profile: Profile, weight: str | Callable[[LineCounters], float]) -> LineCounters | None:
    """The line with most of a counter, or of what a function makes of a line; the first of equals."""

    def score(line: LineCounters) -> float:
        return line.counters.get(weight, 0) if isinstance(weight, str) else weight(line)

    best = max(profile.lines, key=score, default=None)
    return best if best is not None and score(best) > 0 else None


def bytes_per_lane(w: Work) -> float:
    return w.count("bytes") / max(1.0, w.count("threads_on"))


def is_conversion_to_double(w: Work) -> bool:
    return w.base == "F2F" and {"F64", "F32"} <= set(w.modifiers)


def is_conversion_of_integers(w: Work) -> bool:
    """Whether an integer becomes a double, or a double an integer."""
    return w.base in ("I2F", "F2I") and "F64" in w.modifiers


def is_constant(w: Work) -> bool:
    """How the compiler writes a constant to a register: a product with nothing."""
    return "-RZ, RZ" in w.at.text
