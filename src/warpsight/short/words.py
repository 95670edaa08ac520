"""What a tool found, in few words, for a small model: pure functions from the tools' own records to short texts.

The numbers are those that the tools gave, rounded to what is compared: the arithmetic is done before the model reads.
Nothing is added that the tool did not say. Source lines are quoted, not numbered: a small model cannot count lines.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from warpsight.causes import NOTHING, TIE, first_word
from warpsight.tools.profile import Found, Profiled
from warpsight.tools.rewrite import Rewritten
from warpsight.tools.submit import Submitted
from warpsight.tools.time import Timed

MOST_FINDINGS = 5
MOST_QUOTED = 2
QUOTE_CHARACTERS = 44
RAW_COUNTERS = (
    "duration_us", "blocks", "threads_per_block", "occupancy", "global_load_efficiency", "global_store_efficiency",
    "shared_bank_conflicts", "branch_efficiency", "barriers", "atomic_passes", "spilled_bytes", "mix_double",
    "busy_issue", "busy_fma", "busy_alu", "busy_sfu", "busy_fp64", "busy_lsu", "busy_l2", "busy_dram", "busy_atomics",
    "stall_long_scoreboard", "stall_barrier",
)  # fmt: skip
HELPS = TIE  # what is called a gain is what the truth of the corpus calls one
SAME = 1.01  # gains that are as good as equal
BEST = "best:"
NO_REWRITE = "no rewrite is known"
SAID_BEST = re.compile(BEST + r" (\w+) (\d+\.\d+)x")
_UNKNOWN = re.compile(NO_REWRITE + r": ([\w, ]+)")
_ASIDE = re.compile(r" \([^)]*\)")


def profile_words(
    found: Profiled, kernel: str, *, smaller: bool = False, first_words: bool = False, facts: bool = False
) -> str:
    """A profile: findings in a curated run, counters in a raw one, the reason where there is neither. `first_words`
    calls findings what a model that was trained before there was one dictionary knows them as; `facts` are the plain
    ones of the launch, before the findings."""
    if not found.profiled:
        return f"not profiled: {found.reason}"
    if found.counters:
        shown = [f"{name} {found.counters[name]:.4g}" for name in RAW_COUNTERS if name in found.counters]
        return "\n".join(shown)
    lines = kernel.splitlines()
    found = _in_first_words(found) if first_words else found
    told = [f"bound by {found.bound}" if found.bound else "bound unknown"]
    told += found.facts if facts else ()
    for number, finding in enumerate(findings_said(found, smaller=smaller)):
        gain = "" if finding.estimated_gain is None else f" {finding.estimated_gain:.2f}x"
        what = _ASIDE.sub("", finding.message).split(":")[0]
        told.append(f"{finding.name}{gain}: {what}")
        if number < MOST_QUOTED and finding.line is not None and 1 <= finding.line <= len(lines):
            told.append(f"  at {lines[finding.line - 1].strip()[:QUOTE_CHARACTERS]}")
    none = not findings_said(found, smaller=smaller)
    return "\n".join([*told, "no findings"] if none else told)


def _in_first_words(found: Profiled) -> Profiled:
    """A profile as models that were trained before there was one dictionary know it: with the names of that time, and
    in its order, which was by gain alone."""

    def as_then(findings: Sequence[Found]) -> tuple[Found, ...]:
        ordered = sorted(findings, key=lambda one: (one.name != "at_roofline", -(one.estimated_gain or 0.0)))
        return tuple(one.model_copy(update={"name": first_word(one.name)}) for one in ordered)

    return found.model_copy(update={"findings": as_then(found.findings), "smaller": as_then(found.smaller)})


def findings_said(found: Profiled, *, smaller: bool) -> tuple[Found, ...]:
    """The findings of a profile in few words. The smaller ones are those that are estimated to gain little: worth a
    word where what is named is tried, since an estimate may be wrong."""
    return (*found.findings, *(found.smaller if smaller else ()))[:MOST_FINDINGS]


def time_words(found: Timed) -> str:
    """A time against the kernel that was given."""
    if not found.timed:
        return f"not timed: {found.reason}"
    if found.ratio_to_given is None:
        return f"{found.decision}: {found.reason}"
    return f"{found.decision} {found.ratio_to_given:.2f}x ({found.source})"


def rewrite_words(found: Rewritten) -> str:
    """What came of the rewrites for one cause."""
    if not found.found:
        return "no rewrite helps" if found.tried else NO_REWRITE
    if found.ratio is None:
        return f"{found.rewrite}: right"
    return f"{found.ratio:.2f}x ({found.source})"


def tries_words(alone: Sequence[Rewritten], steps: Sequence[Rewritten]) -> str:
    """What came of the causes that were named: which gave most by itself, the others, and all that helped together.
    `steps` are the rewrites that were put on top of one another."""
    together = steps[-1] if steps else None
    if together is not None and together.ratio is None:
        return f"{together.cause}: right"
    gains = {one.cause: one.ratio for one in alone if one.ratio is not None and one.ratio >= HELPS}
    best = best_cause(gains)
    told = [f"{BEST} {best} {gains[best]:.2f}x" if best else "nothing helps"]
    if len(gains) > 1:
        told.append("also: " + ", ".join(f"{cause} {gain:.2f}x" for cause, gain in gains.items() if cause != best))
    unknown = [one.cause for one in alone if not one.found and not one.tried]
    if unknown:
        told.append(f"{NO_REWRITE}: {', '.join(unknown)}")
    if best and together is not None:
        more = ", ".join(dict.fromkeys(step.cause for step in steps[1:]))
        told.append(f"{together.ratio_to_given:.2f}x in all{f' with {more}' if more else ''} ({together.source})")
    return "\n".join(told)


def best_cause(gains: Mapping[str, float]) -> str:
    """The one that gives most; of those that give the same, the one that was named first."""
    return next((cause for cause, gain in gains.items() if gain >= max(gains.values()) / SAME), "")


def submit_words(found: Submitted) -> str:
    """How the gate decided."""
    if found.ratio_to_given is None:
        return f"{found.verdict}: {found.reason}" if found.reason else found.verdict
    return f"{found.verdict}, {found.decision} {found.ratio_to_given:.2f}x ({found.source})"


def most_of(results: Sequence[str], seen: Collection[str] = ()) -> tuple[str, str]:
    """What gave most in the first call that helped, and how that is said. Where none did: what was seen in the text and
    no rewrite is known for, else nothing."""
    for text in results:
        if found := SAID_BEST.match(text):
            return found[1], f"{found[1]} gave most, {found[2]}x."
    for text in results:
        for cause in found[1].split(", ") if (found := _UNKNOWN.search(text)) else ():
            if cause in seen:
                return cause, f"{cause} is left."
    return NOTHING, "Nothing helps."
