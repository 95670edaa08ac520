"""What a run knows of its kernels so far: the current one, the best one, what the roofline leaves.

Reads evaluations only: no text has a part in what is best or when it is enough. A kernel is better when the gate said
FASTER or LIKELY_FASTER and its ratio to the baseline is greater; ratios of two sources are never compared.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from warpsight.errors import UsageError
from warpsight.nouns import Evaluation, Profile, kernel_id
from warpsight.nouns.run import Spent, Submission
from warpsight.tools.box import ToolResult


@dataclass
class Progress:
    """The state of one run between two steps. It follows from the records, and is never stored."""

    original: str
    current: str = ""
    best_kernel: str = ""
    best: Evaluation | None = None
    spent: Spent = field(default_factory=Spent)
    problems: int = 0  # replies in a row that could not be used
    seen: dict[str, str] = field(default_factory=dict[str, str])  # every kernel that came by, by its id
    profiles: dict[str, Profile] = field(default_factory=dict[str, Profile])
    submission: Submission | None = None
    submitted: Evaluation | None = None

    def __post_init__(self) -> None:
        self.current = self.best_kernel = self.original
        self.seen[kernel_id(self.original)] = self.original

    def kernels(self) -> dict[str, str]:
        """The kernels that the model may name."""
        named = {"current": self.current, "best": self.best_kernel, "given": self.original}
        return {**named, "original": self.original, **self.seen}

    def saw(self, result: ToolResult, kernel: str | None) -> None:
        """Take in what a tool gave."""
        if kernel is not None and not result.is_error:
            self.seen[kernel_id(kernel)] = kernel
        self.profiles.update(result.profiled)
        for evaluation in (result.baseline, result.evaluation):
            if evaluation is not None and evaluation.profile is not None:
                self.profiles[evaluation.candidate_sha256] = evaluation.profile
        found = result.evaluation
        if found is None or kernel is None or found.candidate_sha256 != sha256_of(kernel):
            return
        if better(found, self.best):
            self.best, self.best_kernel = found, kernel

    def profile_before(self) -> Profile | None:
        """The profile of the kernel that the run began with, if any tool gave it."""
        return self.profiles.get(sha256_of(self.original))


def sha256_of(kernel: str) -> str:
    return hashlib.sha256(kernel.encode()).hexdigest()


def speed_of(evaluation: Evaluation | None) -> float | None:
    """The ratio of a kernel that is right and was found to be faster, if only likely so; None for all others."""
    if evaluation is None or evaluation.check.verdict != "right" or evaluation.timing is None:
        return None
    return evaluation.timing.ratio if evaluation.timing.improves else None


def better(one: Evaluation | None, other: Evaluation | None) -> bool:
    """Whether one is faster than the other, by their ratios to the same baseline."""
    first, second = speed_of(one), speed_of(other)
    if first is None or second is None:
        return first is not None
    sources = {e.timing.source for e in (one, other) if e is not None and e.timing is not None}
    if len(sources) > 1:
        raise UsageError(f"ratios of {' and '.join(sorted(sources))} times cannot be compared")
    return first > second


def best_of(evaluations: Sequence[Evaluation | None]) -> Evaluation | None:
    """The fastest; the first of equals."""
    found: Evaluation | None = None
    for evaluation in evaluations:
        if better(evaluation, found):
            found = evaluation
    return found


def roofline_left(evaluation: Evaluation | None) -> float | None:
    """The most that could still be gained, as a factor, where a roof is known to be near; None where it is not.

    Two roofs count: the time that moving the task's data once takes, and a unit that the lens found taken nearly all
    of the time, if no other finding promises more.
    """
    if evaluation is None:
        return None
    left: list[float] = []
    timing = evaluation.timing
    if timing is not None and timing.roof is not None and timing.samples_us:
        left.append(max(1.0, min(timing.samples_us) / timing.roof.floor_us))
    if any(finding.name == "at_roofline" for finding in evaluation.findings):
        left.append(max(finding.estimated_gain or 1.0 for finding in evaluation.findings))
    return min(left, default=None)
