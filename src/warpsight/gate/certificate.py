"""Certificates: the file that is written for an accepted kernel, and what is said of the machine in it.

The file is canonical JSON with two keys more than the record: `sha256`, the hash of the canonical text of the record,
and `signature`, under the canonical text of the record with that hash. Its ledger holds the same hash, and the
certificate holds the head of the ledger: so a signature vouches for all lines of the ledger up to the result too.
A hash alone proves nothing: who changes the text can change it as well.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import platform
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple, cast

from pydantic import ValidationError

from warpsight import __version__
from warpsight.errors import BrokenMachine, WarpsightError
from warpsight.files import write_whole
from warpsight.gate import keys
from warpsight.gate.identity import canonical, plain
from warpsight.nouns.certificate import Certificate, Signature

PACKAGES = ("numpy", "cuda-bindings", "nvidia-cuda-nvrtc", "pyopencl", "pocl-binary-distribution")


class BrokenCertificate(WarpsightError):
    """A certificate that is not what was written, or never was one."""


class ReadCertificate(NamedTuple):
    """A certificate as its file holds it. `signature` is None for a file without; it is not yet looked at."""

    certificate: Certificate
    sha256: str
    signature: Signature | None


def text_of(certificate: Certificate, signer: Callable[[bytes], Signature] | None = None) -> tuple[bytes, str]:
    """The bytes of the file and the hash that stands in it."""
    document = plain(certificate)
    found = hashlib.sha256(canonical(document)).hexdigest()
    unsigned = {**document, "sha256": found}
    if signer is None:
        return canonical(unsigned), found
    return canonical({**unsigned, "signature": plain(signer(canonical(unsigned)))}), found


def signed_text(certificate: Certificate) -> bytes:
    """What a signature is under."""
    return text_of(certificate)[0]


def read_certificate(raw: bytes) -> ReadCertificate:
    """What is in these bytes; any byte that differs from what was written is found, unless the hash was made anew."""
    try:
        found: Any = json.loads(raw)
    except (ValueError, RecursionError):
        raise BrokenCertificate("expected a certificate in JSON") from None
    if not isinstance(found, dict) or "sha256" not in found:
        raise BrokenCertificate("expected a certificate with its sha256")
    document = cast(dict[str, Any], found)
    if _canonical_or_nothing(document) != raw:
        raise BrokenCertificate("the text is not in the form it was written in")
    signature = document.pop("signature", None)
    stated = document.pop("sha256")
    computed = hashlib.sha256(canonical(document)).hexdigest()
    if stated != computed:
        raise BrokenCertificate(f"its sha256 is not that of its text: stated {stated}, computed {computed}")
    try:
        signed = None if signature is None else Signature.model_validate(signature)
        return ReadCertificate(Certificate.model_validate_json(canonical(document)), computed, signed)
    except ValidationError as wrong:
        first = wrong.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise BrokenCertificate(f"no certificate could say so: {where}: {first['msg']}") from None


def _canonical_or_nothing(document: Any) -> bytes:
    try:
        return canonical(document)
    except (ValueError, RecursionError):  # NaN and infinities are not JSON, though Python reads them
        return b""


def write_certificate(certificate: Certificate, folder: Path) -> tuple[Path, str]:
    """The file, signed by this machine's key and named by its hash; it is on disk, whole, when this returns."""
    raw, found = text_of(certificate, keys.sign)
    path = folder / f"{found}.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(path, raw, durable=True, mode=0o600)
    except OSError as problem:
        raise BrokenMachine(f"could not write the certificate {path}: {problem}", "free space, or rights") from None
    return path, found


def environment(device: str, compiler: str, gpu: str = "") -> dict[str, str]:
    """Where it ran: machine, system, versions, device."""
    return {**_machine(), "device": device, "compiler": compiler, **({"gpu": gpu} if gpu else {})}


@functools.cache
def _machine() -> dict[str, str]:
    found = {
        "machine": platform.machine(),
        "system": f"{platform.system()} {platform.release()}",
        "cpu": _cpu_name(),
        "cores": str(os.cpu_count()),
        "python": platform.python_version(),
        "warpsight": __version__,
    }
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor())
