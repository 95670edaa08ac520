"""Who vouches for a certificate: this machine's Ed25519 key, made at first use, and the keys that a person trusts.

The private key is a file of 32 bytes in hex that only its user may read; it appears whole or not at all, and of several
processes that make one at once all use the same. A trusted key is a small file with its name.
Does not cover: whoever can read the file can sign in this machine's name, and so can every program of its user.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from warpsight.errors import BrokenMachine, UsageError
from warpsight.files import sync_folder
from warpsight.folders import data_folder
from warpsight.nouns.certificate import Signature

Whose = Literal["own", "trusted", "unknown", "none"]
KEY_FILE = "signing.key"
TRUSTED = "trusted"
PURPOSE = b"warpsight certificate 1\n"  # no signature made for something else can stand under a certificate
_HEX = re.compile(r"[0-9a-f]{64}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._@-]{0,63}")


@dataclass(frozen=True)
class Signer:
    """Whose key signed, as far as this user knows."""

    whose: Whose
    fingerprint: str = ""
    name: str = ""

    @property
    def known(self) -> bool:
        return self.whose in ("own", "trusted")


def keys_folder() -> Path:
    return data_folder() / "keys"


def fingerprint(public: str) -> str:
    """The short name of a public key, long enough that nobody can make another key with it."""
    return hashlib.sha256(bytes.fromhex(public)).hexdigest()[:32]


def own_public(folder: Path | None = None) -> str:
    """This machine's public key in hex; the key is made if there is none."""
    return _public_of(_own_private(folder or keys_folder()))


def sign(text: bytes, folder: Path | None = None) -> Signature:
    """The signature of this machine's key under a text."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    private = _own_private(folder or keys_folder())
    value = Ed25519PrivateKey.from_private_bytes(private).sign(PURPOSE + text)
    return Signature(key=_public_of(private), value=value.hex())


def is_valid(text: bytes, signature: Signature) -> bool:
    """Whether the key in the signature signed exactly this text."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(signature.key))
        public.verify(bytes.fromhex(signature.value), PURPOSE + text)
    except (InvalidSignature, ValueError):
        return False
    return True


def whose_key(signature: Signature | None, folder: Path | None = None) -> Signer:
    """Whom this user knows the key as. Makes no key: to read is not to sign."""
    if signature is None:
        return Signer("none")
    place, short = folder or keys_folder(), fingerprint(signature.key)
    if (place / KEY_FILE).is_file() and _public_of(_own_private(place)) == signature.key:
        return Signer("own", short)
    name = next((name for name, public in trusted_keys(place).items() if public == signature.key), None)
    return Signer("unknown", short) if name is None else Signer("trusted", short, name)


def trusted_keys(folder: Path | None = None) -> dict[str, str]:
    """Public keys by the names that this user gave them."""
    place = (folder or keys_folder()) / TRUSTED
    return {file.stem: _read_public(file) for file in sorted(place.glob("*.pub"))}


def trust(public: str, name: str, folder: Path | None = None) -> Path:
    """Remember a key under a name; a name that is taken by another key is refused."""
    if not _NAME.fullmatch(name):
        raise UsageError(f"expected a name of letters, digits and . _ @ -, got {name[:64]!r}")
    place = (folder or keys_folder()) / TRUSTED
    file = place / f"{name}.pub"
    try:
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        if file.is_file() and _read_public(file) != public:
            raise UsageError(f"another key is trusted as {name!r} already", hint=f"another --name, or remove {file}")
        _appear(file, public.encode() + b"\n")
    except OSError as problem:
        raise _no_place(place, problem) from None
    return file


def read_public(word: str) -> str:
    """A public key given as 64 hex digits, or as a file that holds them or a signed certificate."""
    if _HEX.fullmatch(word.strip().lower()):
        return _checked(word.strip().lower(), "the key")
    return _read_public(Path(word))


def _read_public(file: Path) -> str:
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError as problem:
        raise UsageError(f"expected a public key of 64 hex digits, or a file with one: {problem}") from None
    found = re.search(r'"key":\s*"([0-9a-f]{64})"', text)  # the signature of a certificate
    return _checked(found[1] if found else text.strip().lower(), str(file))


def _checked(public: str, where: str) -> str:
    if not _HEX.fullmatch(public):
        raise UsageError(f"{where}: expected a public key of 64 hex digits", hint="`warpsight keys show` prints one")
    return public


def _own_private(folder: Path) -> bytes:
    file = folder / KEY_FILE
    try:
        if not file.is_file():
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            _appear(file, secrets.token_bytes(32).hex().encode() + b"\n")
        text = file.read_text(encoding="ascii").strip()
    except (OSError, ValueError) as problem:
        raise _no_place(folder, problem) from None
    if not _HEX.fullmatch(text):
        raise BrokenMachine(
            f"{file} is no signing key", hint="move it away; a new key is made, and others must trust it"
        )
    return bytes.fromhex(text)


def _public_of(private: bytes) -> str:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw().hex()


def _appear(file: Path, content: bytes) -> None:
    """Put a file there whole, readable by its user alone, unless one is there: the first of several wins."""
    aside = file.with_name(f".{file.name}.{secrets.token_hex(8)}")
    handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        try:
            file.hardlink_to(aside)
        except FileExistsError:
            return
        sync_folder(file.parent)
    finally:
        aside.unlink(missing_ok=True)


def _no_place(folder: Path, problem: Exception) -> BrokenMachine:
    return BrokenMachine(
        f"cannot keep keys in {folder}: {problem}", hint="set WARPSIGHT_DATA to a folder that can be written"
    )
