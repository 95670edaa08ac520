"""The evidence for one accepted kernel, in one file that anyone can check without us."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Literal, Self

from pydantic import Field, model_validator

from warpsight.nouns.base import Count, Noun, Sha256, TaskName, require
from warpsight.nouns.check import Check
from warpsight.nouns.timing import Timing


class SourceText(Noun):
    """A kernel, whole, with its hash."""

    sha256: Sha256
    text: str

    @model_validator(mode="after")
    def _hash_is_of_the_text(self) -> Self:
        found = hashlib.sha256(self.text.encode()).hexdigest()
        require(self.sha256 == found, f"sha256 is not that of the text: given {self.sha256}, computed {found}")
        return self


class CommittedSeed(Noun):
    """The seed of inputs, order and choices: its commitment was in the ledger before the run, it is revealed here."""

    value: Count
    nonce: str = Field(min_length=32)
    commitment: Sha256


class LedgerPlace(Noun):
    """Where in the run's ledger this belongs: the lines of its commitment and its result, and the latter's hash."""

    committed_seq: Count
    result_seq: Count
    head: Sha256


class Signature(Noun):
    """Ed25519 under the canonical text of a certificate: the public key and the signature, in hex."""

    key: str = Field(pattern=r"^[0-9a-f]{64}$")
    value: str = Field(pattern=r"^[0-9a-f]{128}$")


class Certificate(Noun):
    """One accepted kernel: what it is, what was seen, where, under which protections, and its place in the ledger."""

    format: Literal["warpsight certificate 1"] = "warpsight certificate 1"
    created_at: str
    task: TaskName
    task_sha256: Sha256
    candidate: SourceText
    baseline: SourceText
    seed: CommittedSeed
    check: Check
    timing: Timing
    attempt: int = Field(
        ge=1, description="evaluations of this task in the ledger so far: the best of many is luck too"
    )
    environment: Mapping[str, str]
    protections: tuple[str, ...] = ()
    missing_protections: tuple[str, ...] = ()
    unsafe: bool = False
    ledger: LedgerPlace

    @model_validator(mode="after")
    def _only_accepted_kernels(self) -> Self:
        require(self.check.verdict == "right", f"a certificate is for a right kernel, not a {self.check.verdict} one")
        require(self.timing.decision == "FASTER", f"a certificate is for a faster kernel, not {self.timing.decision}")
        require(self.unsafe or not self.missing_protections, "protections are missing and unsafe does not say so")
        require(self.ledger.committed_seq < self.ledger.result_seq, "the seed is committed before the result")
        return self
