"""Files by the sha256 of their content, `artefacts/ab/abcd...`: kernels, full profiles, anything too large for a step.

An artefact is either absent or whole: it is written aside, flushed to the disk, then renamed. What is read is hashed
again, so a damaged file is an error and never a wrong result. Nothing is ever changed or removed here.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from pathlib import Path

from warpsight.errors import BrokenMachine, UsageError

_SHA256 = re.compile(r"[0-9a-f]{64}")


class Artefacts:
    """The artefacts under one folder. Several processes may use it at once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, content: bytes) -> str:
        """Keep the bytes, durably, and return their hash."""
        name = hashlib.sha256(content).hexdigest()
        path = self._path(name)
        if self._is_whole(path, content):
            return name
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle, aside = tempfile.mkstemp(dir=path.parent, prefix=".new-")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                Path(aside).replace(path)
            except BaseException:
                Path(aside).unlink(missing_ok=True)
                raise
            _sync_folder(path.parent)
            _sync_folder(self.folder)
        except OSError as problem:
            raise BrokenMachine(
                f"cannot write the artefact {path}: {problem}",
                hint="free some space, or set WARPSIGHT_DATA to a folder that can be written",
            ) from problem
        return name

    def get(self, sha256: str) -> bytes:
        """The bytes with this hash."""
        if not _SHA256.fullmatch(sha256):
            raise UsageError(f"expected the sha256 of an artefact (64 hex digits), found {sha256[:80]!r}")
        try:
            content = self._path(sha256).read_bytes()
        except FileNotFoundError:
            raise UsageError(f"no artefact {sha256} under {self.folder}") from None
        except OSError as problem:
            raise BrokenMachine(f"cannot read the artefact {sha256}: {problem}") from problem
        if hashlib.sha256(content).hexdigest() != sha256:
            raise BrokenMachine(
                f"the artefact {sha256} is damaged: its content has another hash",
                hint="restore the file from a copy, or remove it and make the run again",
            )
        return content

    def _path(self, name: str) -> Path:
        return self.folder / name[:2] / name

    def _is_whole(self, path: Path, content: bytes) -> bool:
        try:
            return path.read_bytes() == content
        except OSError:
            return False


def _sync_folder(folder: Path) -> None:
    """Make a rename in this folder durable."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
