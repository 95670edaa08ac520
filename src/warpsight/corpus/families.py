"""Kernel families: each folder is a whole task with a fast kernel, plus the defects that can be planted in it.

    families/<name>/task.toml, kernel.cu, reference.py   a task like any other; `warpsight check` runs it
    families/<name>/family.toml                          split, sizes, and what may vary in the text
    families/<name>/defects/<kind>.edit                  search/replace blocks that plant one defect in the fast kernel

What must stay true: every defect can be planted alone, and a planted kernel computes the same. Two defects that change
the same lines cannot be planted together; that is found by trying, not declared.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from warpsight.causes import defects as known_defects
from warpsight.corpus.edit_file import parse_edits
from warpsight.errors import TaskError, UsageError
from warpsight.nouns import Noun, Task
from warpsight.tasks import read_task
from warpsight.tools.edits import EditBlock

FAMILIES = Path(__file__).with_name("families")
Split = Literal["train", "test", "fresh"]  # fresh: test families that are run once, at the end of a training


class VariedNumber(Noun):
    """A number in the kernel's text (and launch) that may be another one: the meaning stays."""

    find: str
    use: tuple[str, ...] = Field(min_length=1)


class FamilyFile(Noun):
    """family.toml as it is written."""

    split: Split
    sizes: tuple[Mapping[str, int], ...] = Field(min_length=2)
    constants: tuple[VariedNumber, ...] = ()
    names: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)


@dataclass(frozen=True)
class Family:
    """A fast kernel, its task, and the defects that can be planted in it."""

    name: str
    split: Split
    task: Task
    sizes: tuple[Mapping[str, int], ...]
    constants: tuple[VariedNumber, ...]
    names: Mapping[str, tuple[str, ...]]
    defects: Mapping[str, tuple[EditBlock, ...]]


def read_family(folder: Path) -> Family:
    """One family, checked: its files, and that each defect has a kind we know."""
    file = folder / "family.toml"
    try:
        written = FamilyFile.model_validate(tomllib.loads(file.read_text()))
    except (OSError, tomllib.TOMLDecodeError, ValidationError) as problem:
        raise TaskError(file=str(file), key="(file)", expected="a family", found=str(problem)) from None
    defects = {
        path.stem: parse_edits(path.read_text(), str(path)) for path in sorted((folder / "defects").glob("*.edit"))
    }
    unknown = sorted(set(defects) - set(known_defects()))
    if unknown or not defects:
        found = ", ".join(unknown) or "none"
        raise TaskError(file=str(folder / "defects"), key="(names)", expected="defects of causes.toml", found=found)
    return Family(
        folder.name, written.split, read_task(folder), written.sizes, written.constants, written.names, defects
    )


@functools.cache
def families() -> dict[str, Family]:
    """All families that ship with the package, by name."""
    return {path.parent.name: read_family(path.parent) for path in sorted(FAMILIES.glob("*/family.toml"))}


def find_family(name: str) -> Family:
    """The family of this name."""
    known = families()
    if name not in known:
        raise UsageError(f"expected a family: {', '.join(known)}; got {name}")
    return known[name]
