"""A profile in words for a language model, within a budget of tokens: `raw` (counters) and `curated` (findings).

A token here is an estimate that is meant to be high: the text's length over 3.5, rounded up (common tokenizers make 3.5
to 4.5 characters a token of English and fewer of digits), or the count of words, digit groups of three and signs,
whichever is more. What must stay true: the same profile gives the same text, a text is never over its budget, and every
number in it is a counter of the profile or belongs to a finding that names its counter.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Literal

from warpsight.errors import UsageError
from warpsight.nouns import Evidence, Finding, Profile
from warpsight.vgpu import model_error

DEFAULT_TOKENS = 600
Mode = Literal["raw", "curated"]
MODES: tuple[Mode, ...] = ("raw", "curated")
CHARACTERS = 3.5
_PIECES = re.compile(r"[A-Za-z]+|\d{1,3}|[^\sA-Za-z\d]")
NOTHING = "nothing worth changing was found"
NO_COUNTERS = "only the time was measured here: without counters there is nothing to say why"


def tokens(text: str) -> int:
    """How many tokens a text may take: a high estimate."""
    return max(math.ceil(len(text) / CHARACTERS), len(_PIECES.findall(text)))


def render(profile: Profile, findings: Sequence[Finding], mode: Mode, budget_tokens: int = DEFAULT_TOKENS) -> str:
    """The profile in one of two ways: its counters (`raw`, findings are left aside) or its findings (`curated`)."""
    return raw(profile, budget_tokens) if mode == "raw" else curated(profile, findings, budget_tokens)


def raw(profile: Profile, budget_tokens: int = DEFAULT_TOKENS) -> str:
    """The counters as a profiler lists them: name, unit, value, those that are not zero, time first."""
    order = sorted(profile.counters, key=lambda name: (not name.startswith(("duration", "cycles")), _section(name)))
    rows = [
        f"{name} {profile.units[name]} {number(profile.counters[name])}" for name in order if profile.counters[name]
    ]
    lines = sorted(profile.lines, key=lambda line: -line.counters.get("stall_samples", 0))
    hot = [
        f"line {line.line}: stall_samples {number(line.counters['stall_samples'])} | {line.text}"
        for line in lines[:5]
        if line.counters.get("stall_samples")
    ]
    return _within(budget_tokens, [_head(profile)], [[row] for row in (*rows, *hot)])


def curated(profile: Profile, findings: Sequence[Finding], budget_tokens: int = DEFAULT_TOKENS) -> str:
    """The findings in their order, each with its evidence, the source line and what to try; whole ones only."""
    shown = [_finding(profile, index + 1, finding) for index, finding in enumerate(findings)]
    note = gain_note(profile, findings)
    head = [_head(profile), *([f"gains are estimated: {note}"] if note else [])]
    return _within(budget_tokens, head, shown or [[nothing_found(profile)]])


def nothing_found(profile: Profile) -> str:
    """What is said where there are no findings: a profile that counted nothing cannot say that all is well."""
    blind = all(name.startswith("duration") for name in profile.counters)
    return NO_COUNTERS if blind else NOTHING


def number(value: float) -> str:
    """A counter's value as it is, without needless digits."""
    if float(value).is_integer() and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.6g}"


def evidence_text(evidence: Evidence) -> str:
    limit = "" if evidence.limit is None else f" (limit {number(evidence.limit)})"
    where = "" if evidence.line is None else f" at line {evidence.line}"
    return f"{evidence.counter} = {number(evidence.value)} {evidence.unit}{limit}{where}"


def _finding(profile: Profile, index: int, finding: Finding) -> list[str]:
    about = "" if finding.estimated_gain is None else f" [about {finding.estimated_gain:.2f}x faster without it]"
    texts = {line.line: line.text for line in profile.lines}
    places = dict.fromkeys(e.line for e in finding.evidence if e.line is not None)
    moves = ", ".join(f"{name} {way}" for name, way in finding.should_move.items())
    return [
        f"{index}. {finding.name}{about}: {finding.message}",
        "   evidence: " + "; ".join(evidence_text(e) for e in finding.evidence),
        *(f"   line {line}: {texts[line]}" for line in places if texts.get(line)),
        f"   try: {finding.suggestion}",
        *([f"   should move: {moves}"] if moves else []),
    ]


def _head(profile: Profile) -> str:
    where = f" on {profile.gpu}" if profile.gpu else ""
    time = profile.counters.get("duration_us")
    parts = [f"{profile.kernel}{where}, {profile.source}"]
    parts += [f"duration_us {number(time)}{likely_words(profile)}"] if time else []
    parts += [f"bound by {profile.bound}"] if profile.bound else []
    return "; ".join(parts)


def likely_words(profile: Profile) -> str:
    """Where the measured time likely lies, to follow a simulated one; nothing where the profile does not say."""
    low, high = (profile.counters.get(f"duration_us_{end}") for end in ("low", "high"))
    return f", likely {low:.3g} to {high:.3g} when measured" if low and high else ""


def gain_note(profile: Profile, findings: Sequence[Finding]) -> str:
    """How far the estimated gains of a simulated profile can be trusted, said once, by the largest; or nothing."""
    most = max((finding.estimated_gain or 1.0 for finding in findings), default=1.0)
    if profile.source != "simulated" or most <= 1.0:
        return ""
    right = model_error.ratio_interval(most, profile.bound, profile.bound).probability_faster
    return f"of kernels simulated {most:.2f}x apart, {min(99.0, 100 * right):.0f} % were measured in that order"


def _section(name: str) -> tuple[str, str]:
    return name.split("_", 1)[0], name


def _within(budget: int, head: Iterable[str], groups: Sequence[Sequence[str]]) -> str:
    """The head and as many whole groups as fit; what was left out is said, where the budget has room for that."""
    if budget < 1:
        raise UsageError(f"expected a budget of at least 1 token, found {budget}")
    text = "\n".join(head)
    for done, group in enumerate(groups):
        left = len(groups) - done
        longer = "\n".join((text, *group))
        note = f"\n({left - 1} more left out)" if left > 1 else ""
        if tokens(longer + note) > budget:
            return _cut(f"{text}\n({left} more left out)", text, budget)
        text = longer
    return _cut(text, text, budget)


def _cut(best: str, text: str, budget: int) -> str:
    if tokens(best) <= budget:
        return best
    while text and tokens(text) > budget:
        text = text[: max(0, len(text) - 1 - (tokens(text) - budget))]
    return text
