"""Where the ledger of a certificate lies."""

from __future__ import annotations

from pathlib import Path

from warpsight.errors import UsageError


def ledger_of(certificate: Path, given: Path | None) -> Path | None:
    from warpsight.gate.ledger import FILE_NAME

    if given is not None:
        path = given / FILE_NAME if given.is_dir() else given
        if not path.is_file():
            raise UsageError(f"expected a ledger at {path}, found none")
        return path
    beside = certificate.resolve().parent.parent / FILE_NAME
    return beside if beside.is_file() else None
