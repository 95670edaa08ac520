"""The certificate of a kernel, looked for beside the runs. Reads only; whether it holds is `warpsight verify`'s matter.

A run that ended without a submission has its best kernel evaluated by the whole gate afterwards: only the certificate
knows of that.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from warpsight.nouns import Evaluation
from warpsight.nouns.certificate import Certificate
from warpsight.reason.optimize import LEDGER

MOST_FILES = 500


@dataclass(frozen=True)
class FoundCertificate:
    """A certificate and its own hash, which is also the name of its file."""

    sha256: str
    content: Certificate


def find_certificate(folder: Path | None, final: Evaluation, baseline_sha256: str) -> FoundCertificate | None:
    """The one that the evaluation names, or the newest for this kernel against this baseline."""
    if folder is None:
        return None
    place = folder / LEDGER / "certificates"
    if final.certificate is not None:
        return _read(place / f"{final.certificate}.json")
    files = sorted(place.glob("*.json"), key=lambda file: file.stat().st_mtime, reverse=True)
    for file in files[:MOST_FILES]:
        if final.candidate_sha256.encode() in file.read_bytes():
            found = _read(file)
            if found is not None and _is_for(found.content, final, baseline_sha256):
                return found
    return None


def accepted_by(final: Evaluation, certificate: Certificate) -> Evaluation:
    """The evaluation with the check and the time of the gate that gave the certificate."""
    return final.model_copy(update={"check": certificate.check, "timing": certificate.timing})


def _is_for(found: Certificate, final: Evaluation, baseline_sha256: str) -> bool:
    return found.candidate.sha256 == final.candidate_sha256 and found.baseline.sha256 == baseline_sha256


def _read(file: Path) -> FoundCertificate | None:
    """None for a file that is gone or is no certificate of this version: the page then says that there is none."""
    try:
        fields = json.loads(file.read_bytes())
        sha256 = str(fields.pop("sha256"))
        fields.pop("signature", None)
        return FoundCertificate(sha256, Certificate.model_validate_json(json.dumps(fields)))
    except (OSError, ValueError, KeyError, AttributeError, ValidationError):
        return None
