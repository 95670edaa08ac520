"""What every importer gives back: the items that were read, and those that were refused with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Literal, TypeVar

from warpsight.errors import UsageError
from warpsight.nouns.base import Noun

Format = Literal["kernelbench", "hecbench", "gpumode", "flashinfer"]
MAX_TEXT_BYTES = 4 << 20

Item = TypeVar("Item")


class NotImported(Noun):
    """One thing that was found and could not be imported."""

    file: str
    reason: str


class CannotImport(Exception):
    """This one file is not what its format allows; becomes a `NotImported` and never ends a whole import."""


@dataclass(frozen=True)
class Import(Generic[Item]):
    """All that came of one path. `format` is the name it was asked for by."""

    format: Format
    items: tuple[Item, ...]
    refused: tuple[NotImported, ...]


def import_all(kind: Format, root: Path, files: Iterable[Path], read: Callable[[Path], Item]) -> Import[Item]:
    """Read each of the files; one that cannot be imported is listed and the others go on."""
    items: list[Item] = []
    refused: list[NotImported] = []
    for file in files:
        try:
            items.append(read(file))
        except CannotImport as problem:
            refused.append(NotImported(file=shown_path(file, root), reason=str(problem)))
    return Import(kind, tuple(items), tuple(refused))


def shown_path(file: Path, root: Path) -> str:
    """The file as seen from what was asked for, so that a record is the same on every machine."""
    return file.name if file == root or not file.is_relative_to(root) else str(file.relative_to(root))


def existing(path: Path, wanted: str) -> Path:
    """The path, or an error that says what was expected there."""
    if not path.exists():
        raise UsageError(
            f"expected {wanted} at {path}, found nothing there", hint="give the path of a file or a folder"
        )
    return path


def read_source(path: Path) -> str:
    """Source code of bounded size. Old sources name their authors in Latin-1, and compilers take any bytes."""
    return _decoded(path, _read(path), latin_too=True)


def read_text(path: Path) -> str:
    """A text of bounded size, or the reason why not."""
    return _decoded(path, _read(path), latin_too=False)


def _decoded(path: Path, content: bytes, *, latin_too: bool) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as problem:
        if latin_too and b"\0" not in content:
            return content.decode("latin-1")
        where = f"byte {problem.start} of {path.name}"
        raise CannotImport(f"expected UTF-8 text, found {problem.reason} at {where}") from None


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            content = stream.read(MAX_TEXT_BYTES + 1)
    except OSError as problem:
        raise CannotImport(f"expected a readable file, found: {problem.strerror}") from None
    if len(content) > MAX_TEXT_BYTES:
        raise CannotImport(f"expected at most {MAX_TEXT_BYTES} bytes, found more")
    return content
