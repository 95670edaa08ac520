"""What looking at a certificate has shown, and what it has not, in words that claim no more. Pure.

Numbers that follow from one another, and a ledger whose chain is whole, can be written by anybody. A signature of a key
that the reader knows says who wrote them; a rerun shows that they come out again. Without either nothing "holds".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from warpsight.gate.keys import Signer
from warpsight.gate.verify import CertificateChecks, Verified, judges_errors

Kind = Literal["holds", "reproduced", "unproven", "broken"]
MAKER, ONLY, TAKEN = "who made it", "whether it was the only attempt", "that the samples were really taken"
OTHER_TABLES = "its likely range, which is from other error tables than this version's"
NO_TABLES = "how far the measured ratio may be from the simulated one"


@dataclass(frozen=True)
class Verdict:
    """How it ends: the kind, what was shown and what was not, and the one line that says it."""

    kind: Kind
    shown: tuple[str, ...]
    not_shown: tuple[str, ...]

    @property
    def line(self) -> str:
        opening = {
            "holds": "the certificate holds",
            "reproduced": "reproduced on this machine",
            "unproven": "nothing contradicts the certificate, and nobody you know vouches for it",
            "broken": "the certificate does not hold",
        }[self.kind]
        shown = f": {'; '.join(self.shown)}" if self.shown else ""
        return f"{opening}{shown}" + (f"; not shown: {', '.join(self.not_shown)}" if self.not_shown else "")


def signer_words(signer: Signer) -> str:
    """Whose signature it is."""
    key = f"(key {signer.fingerprint})"
    return {
        "own": f"signed by this machine's key {key}",
        "trusted": f"signed by a key you trust, {signer.name} {key}",
        "unknown": f"signed by an unknown key {key}",
        "none": "not signed",
    }[signer.whose]


def verdict_of(looked: CertificateChecks, *, with_ledger: bool, rerun: Verified | None = None) -> Verdict:
    """The verdict of everything that was looked at. `with_ledger`: its lines were among that."""
    wrong = [one.name for one in (*looked.findings, *([rerun] if rerun else [])) if not one.ok]
    if wrong or looked.certificate is None:
        return Verdict("broken", (f"wrong: {', '.join(wrong)}",), ())
    signer, attempt = looked.signer, looked.certificate.attempt
    shown = [signer_words(signer), "its numbers follow from its samples"]
    missing = [] if signer.known else [MAKER]
    if with_ledger:
        shown.append(f"attempt {attempt} in this ledger" + ("" if signer.known else ", which anybody can write"))
    if not (with_ledger and signer.known):
        missing.append(ONLY)
    if rerun is not None:
        shown.append("the same came out again here")
    elif not signer.known:
        missing.append(TAKEN)
    timing = looked.certificate.timing
    if timing.source == "simulated" and not judges_errors(timing):
        missing.append(NO_TABLES if timing.likelihood is None else OTHER_TABLES)
    kind: Kind = "holds" if signer.known else "reproduced" if rerun is not None else "unproven"
    return Verdict(kind, tuple(shown), tuple(missing))
