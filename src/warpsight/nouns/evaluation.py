"""All that is known of one candidate."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from warpsight.nouns.base import Noun, Sha256, Trust, require
from warpsight.nouns.check import Check
from warpsight.nouns.finding import Finding
from warpsight.nouns.profile import Profile
from warpsight.nouns.timing import Timing


class Evaluation(Noun):
    """All that is known of a candidate. Rewards and reports are pure functions of it.

    `certificate` is the hash of the certificate of an accepted kernel; `unsafe` says that it ran without all
    protections, by the user's wish.
    """

    candidate_sha256: Sha256
    check: Check
    timing: Timing | None = None
    profile: Profile | None = None
    findings: tuple[Finding, ...] = ()
    certificate: Sha256 | None = None
    unsafe: bool = False

    @property
    def trust(self) -> Trust:
        """An evaluation is trusted as far as the least trusted of its parts."""
        parts = [part.trust for part in (self.check, self.timing, self.profile) if part is not None]
        return "host_code" if "host_code" in parts else "kernel"

    @model_validator(mode="after")
    def _only_right_kernels_are_timed(self) -> Self:
        if self.check.verdict != "right":
            require(self.timing is None, f"a kernel whose check says {self.check.verdict} has no timing")
        if self.findings:
            require(self.profile is not None, "findings need the profile they were found in")
        if self.certificate is not None:
            faster = self.timing is not None and self.timing.decision == "FASTER"
            require(faster, "a certificate is for a kernel that is right and faster")
        return self
