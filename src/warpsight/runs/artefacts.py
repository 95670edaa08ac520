"""Files by the sha256 of their content, `artefacts/ab/abcd...`: kernels, full profiles, anything too large for a step.

An artefact is either absent or whole: it is written aside, flushed to the disk, then renamed. A store that flushes in
its own thread gets the files that are to be flushed instead; then a power cut may leave a damaged one, which storing it
again mends. What is read is hashed again, so a damaged file is an error and never a wrong result. Nothing is ever
changed or removed here.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from pathlib import Path

from warpsight.errors import BrokenMachine, UsageError
from warpsight.files import write_whole
from warpsight.runs.flush import flush

_SHA256 = re.compile(r"[0-9a-f]{64}")


class Artefacts:
    """The artefacts under one folder. Several processes may use it at once."""

    def __init__(self, folder: Path, later: Callable[..., None] | None = None) -> None:
        self.folder = folder
        self._later = later

    def put(self, content: bytes) -> str:
        """Keep the bytes and return their hash."""
        name = hashlib.sha256(content).hexdigest()
        path = self._path(name)
        if self._is_whole(path, content):
            return name
        try:
            folders = (path.parent,)
            try:
                self._write(path, content)
            except FileNotFoundError:  # the first one in its folder
                path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                folders = (path.parent, self.folder)
                self._write(path, content)
            self._flush_names(path, *folders)
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

    def _write(self, path: Path, content: bytes) -> None:
        write_whole(path, content, durable=self._later is None, mode=0o600)

    def _flush_names(self, file: Path, *folders: Path) -> None:
        """Make the rename durable, and without a flush before it the content."""
        if self._later is not None:
            self._later(file, *folders)
            return
        for folder in folders:
            flush(folder)

    def _is_whole(self, path: Path, content: bytes) -> bool:
        try:
            return path.read_bytes() == content
        except OSError:
            return False
