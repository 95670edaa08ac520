"""What a change did to a whole program: its output, its simulated time, its kernels. Pure: it compares two runs.

Both runs are of today's tools, so only the sources differ. The time is that of kernels and copies together. A kernel
whose machine code stayed the same adds no doubt. Of each other one the measured ratio lies where the time model errs
to; for the whole all of them are taken at their ends at once, which is wider than it need be.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from warpsight.capture.same_output import compare_outputs, own_check
from warpsight.cubin.elf import Elf
from warpsight.errors import WarpsightError
from warpsight.gate.compare_pair import LEAST_SPREAD
from warpsight.guard.baseline import AcceptedProgram, KernelFacts, facts_of
from warpsight.guard.judge import GuardRow, Status
from warpsight.lens.whole_program import ProgramProfile
from warpsight.nouns import Finding
from warpsight.vgpu.faults import kernel_name
from warpsight.vgpu.model_error import ratio_interval

MOST_OUTPUT = 1 << 16
LEVEL = 0.9
Times = Mapping[str, tuple[float, str]]


@dataclass(frozen=True)
class ProgramSeen:
    """One run with its profiles, and what it printed."""

    profile: ProgramProfile
    output: str

    @property
    def wrong(self) -> str:
        """Why this run is none that is right; empty where it is."""
        run = self.profile.run
        if run.end != "exited":
            return f"it ended: {run.end} {run.detail}".rstrip()
        if run.faulted:
            fault = next(one for one in run.faults if not one.warning)
            return f"fault in {kernel_name(fault.kernel)}, line {fault.fault.line}: {fault.fault.message}"
        if own_check(self.output) == "failed":
            return "its own check fails"
        return ""


def facts_of_kernels(found: ProgramProfile) -> dict[str, KernelFacts]:
    """Each kernel by its name in the machine code: the time of all its launches, the rest of the longest."""
    facts: dict[str, KernelFacts] = {}
    for row in sorted(found.run.kernels, key=lambda one: one.time_us or 0.0):  # the longest comes last and stays
        before, diagnosis = facts.get(row.kernel), found.of(row)
        here = KernelFacts(bound=row.bound) if diagnosis is None else facts_of(diagnosis)
        known = () if before is None else before.findings
        total = None if row.time_us is None else row.time_us + ((before.time_us or 0.0) if before else 0.0)
        names = (*here.findings, *(name for name in known if name not in here.findings))
        facts[row.kernel] = here.model_copy(update={"time_us": total, "findings": names})
    return facts


def facts_of_program(found: ProgramProfile) -> KernelFacts:
    """The whole program in the same words: its time, what binds its longest kernel, every finding once."""
    longest = max(found.run.kernels, key=lambda one: one.time_us or 0.0, default=None)
    names = dict.fromkeys(one.finding.name for one in found.findings())
    return KernelFacts(time_us=found.whole_us, bound=longest.bound if longest else "", findings=tuple(names))


def judge_runs(
    row: GuardRow, accepted: AcceptedProgram, before: ProgramSeen, after: ProgramSeen, most: float
) -> GuardRow:
    """The verdict from the accepted program's run of today and the changed one's."""
    if why := wrong_words(accepted, before, after):
        return row.model_copy(update={"status": "wrong", "detail": why})
    old, new = before.profile, after.profile
    status, change, likely, detail = _times(old, new, most)
    return row.model_copy(
        update={
            "status": status, "detail": detail, "change": change, "likely": likely,
            "before": facts_of_program(old), "after": facts_of_program(new),
            "findings": all_findings(new),
            "moves": (*_digits(before, after), *_moves(facts_of_kernels(old), facts_of_kernels(new))),
        }
    )  # fmt: skip


def wrong_words(accepted: AcceptedProgram, before: ProgramSeen, after: ProgramSeen) -> str:
    """Why the changed program is wrong. What prints something else at each run is not judged by what it prints."""
    if after.wrong:
        return after.wrong
    if after.profile.run.exit_code != accepted.exit_code:
        return f"exit code {after.profile.run.exit_code}, accepted was {accepted.exit_code}"
    repeats = compare_outputs(accepted.output, before.output[:MOST_OUTPUT]).same != "different"
    compared = compare_outputs(before.output, after.output)
    if repeats and compared.same == "different":
        return f"it prints something else: {compared.first}"
    return ""


def _digits(before: ProgramSeen, after: ProgramSeen) -> tuple[str, ...]:
    close = compare_outputs(before.output, after.output).same == "close"
    return ("the numbers that it prints differ in their last digits",) if close else ()


def _times(old: ProgramProfile, new: ProgramProfile, most: float) -> tuple[Status, float | None, Any, str]:
    before, after = _timed(old), _timed(new)
    untimed = sorted({kernel_name(name) for name in before[1] ^ after[1]})
    if untimed or not old.whole_us or not new.whole_us:
        return "unclear", None, None, f"no simulated time: {', '.join(untimed) or 'nothing was timed'}"
    change = new.whole_us / old.whole_us - 1
    low, high = _likely(old, new, before[0], after[0])
    likely = (min(low, change - LEAST_SPREAD), max(high, change + LEAST_SPREAD))
    detail = "within the time model's own error for such kernels"
    if change > max(most, LEAST_SPREAD):
        return ("slower", change, likely, "") if likely[0] > 0 else ("likely_slower", change, likely, detail)
    if change < -LEAST_SPREAD:
        return ("faster" if likely[1] < 0 else "likely_faster"), change, likely, ""
    return "same", change, likely, ""


def _timed(found: ProgramProfile) -> tuple[Times, set[str]]:
    """Time and bound by kernel, and the kernels of which some launch has no time."""
    facts = facts_of_kernels(found)
    without = {row.kernel for row in found.run.kernels if row.time_us is None}
    return {name: (one.time_us or 0.0, one.bound) for name, one in facts.items()}, without


def _likely(
    old: ProgramProfile,
    new: ProgramProfile,
    before: Mapping[str, tuple[float, str]],
    after: Mapping[str, tuple[float, str]],
) -> tuple[float, float]:
    """Where the measured change of the whole lies."""
    both = [name for name in before if name in after]
    pairs = [(before[name], after[name]) for name in both if not _same_code(old, new, name)]
    low = high = old.whole_us + (new.run.copy_us - old.run.copy_us)
    low += sum(after[name][0] - before[name][0] for name in both if _same_code(old, new, name))
    high = low
    gone, come = (_rest(times, both) for times in (before, after))
    if gone[0] and come[0]:
        pairs.append((gone, come))
    else:  # nothing stands against it: as simulated
        low, high = low + come[0] - gone[0], high + come[0] - gone[0]
    for (was, was_bound), (now, now_bound) in pairs:
        if not was or not now:
            low, high = low + now - was, high + now - was
            continue
        ends = ratio_interval(was / now, was_bound, now_bound, LEVEL)
        low, high = low + was / ends.high - was, high + was / ends.low - was
    return low / old.whole_us - 1, high / old.whole_us - 1


def _rest(times: Times, both: list[str]) -> tuple[float, str]:
    """All kernels that only one of the programs has, as one: a kernel may have another name, or be two."""
    alone = [value for name, value in times.items() if name not in both]
    return sum(time for time, _ in alone), max(alone, default=(0.0, ""))[1]


def _same_code(old: ProgramProfile, new: ProgramProfile, kernel: str) -> bool:
    mine, theirs = _code_of(old, kernel), _code_of(new, kernel)
    return bool(mine) and mine == theirs


def _code_of(found: ProgramProfile, kernel: str) -> str:
    """A hash of a kernel's own part of its machine code; empty where it is not known."""
    build = next((build for key, build in found.builds.items() if key[0] == kernel and build.cubin), None)
    if build is None:
        return ""
    try:
        parts = [one for one in Elf(build.cubin).sections if one.name.endswith(f".{kernel}")]
    except WarpsightError:
        return ""
    code = [one for one in parts if one.name.startswith((".text.", ".nv.constant", ".nv.shared."))]
    if not any(one.name == f".text.{kernel}" for one in code):
        return ""
    digest = hashlib.sha256()
    for one in code:
        digest.update(f"{one.name} {one.size}\n".encode() + one.data)
    return digest.hexdigest()


def _moves(before: Mapping[str, KernelFacts], after: Mapping[str, KernelFacts]) -> list[str]:
    """Kernels that changed, in words: time, registers, spills, occupancy."""
    told: list[str] = []
    for name in dict.fromkeys((*before, *after)):
        old, new, title = before.get(name), after.get(name), kernel_name(name)
        if old is None or new is None:
            told.append(f"{title} is {'new' if old is None else 'gone'}")
            continue
        words: list[str] = []
        if old.time_us and new.time_us and abs(new.time_us / old.time_us - 1) > LEAST_SPREAD:
            words.append(f"{old.time_us:.4g} -> {new.time_us:.4g} us")
        pairs = (("registers", old.registers, new.registers), ("spill bytes", old.spill_bytes, new.spill_bytes),
                 ("shared bytes", old.shared_bytes, new.shared_bytes))  # fmt: skip
        words += [f"{what} {was} -> {now}" for what, was, now in pairs if was != now]
        if old.occupancy is not None and new.occupancy is not None and old.occupancy != new.occupancy:
            words.append(f"occupancy {100 * old.occupancy:.0f} -> {100 * new.occupancy:.0f} %")
        if words:
            told.append(f"{title}: {', '.join(words)}")
    return told


def paths_of_findings(found: ProgramProfile, sources: Mapping[str, str]) -> dict[str, str]:
    """The file that each finding's line is in, where it is one of the program's own."""
    by_text = {text: path for path, text in sources.items()}
    known: dict[str, str] = {}
    for one in found.findings():
        path = by_text.get(found.sources.get(one.kernel, ""))
        if path is not None:
            known.setdefault(one.finding.name, path)
    return known


def all_findings(found: ProgramProfile) -> tuple[Finding, ...]:
    """Every finding once, the one that would bring most first."""
    kept: dict[str, Finding] = {}
    for one in found.findings():
        kept.setdefault(one.finding.name, one.finding)
    return tuple(kept.values())
