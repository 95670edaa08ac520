"""Reads pairs.toml and fresh.toml, and the kernels in the folders beside them. A new pair is two kernels and one entry.

What must stay true: a key that is not known, or a finding that causes.toml does not have, is an error and not a shrug.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.pairs import inputs, inputs_fresh
from benchmarks.pairs.first_line import read_kernel
from benchmarks.pairs.pair import Pair
from warpsight.causes import causes

FOLDER = Path(__file__).parent
SOURCES: tuple[ModuleType, ...] = (inputs, inputs_fresh)


def load_pairs() -> list[Pair]:
    """All pairs with a known better kernel, in the order of the tables."""
    return [*_pairs(_table("pairs.toml")["pairs"]), *load_fresh()]


def load_fresh() -> list[Pair]:
    """The pairs whose expected finding was written down before the first run, and stays."""
    return _pairs(_table("fresh.toml")["pairs"])


def load_ties() -> list[Pair]:
    """Pairs that differ in their text and not in their time, on the GPUs that each names."""
    return _pairs(_table("pairs.toml")["ties"])


def _pairs(entries: dict[str, Any]) -> list[Pair]:
    return [_pair(name, dict(entry)) for name, entry in entries.items()]


def _pair(name: str, entry: dict[str, Any]) -> Pair:
    finding, others, values = entry.pop("finding"), entry.pop("axes", {}), entry.pop("values")
    if finding not in causes():
        raise ValueError(f"pair {name}: expected a cause of causes.toml, found {finding!r}")
    slow, fast = (read_kernel((FOLDER / name / f"{side}.cu").read_text()) for side in ("slow", "fast"))
    return Pair(
        name=name,
        slow=slow,
        fast=fast,
        expected_finding=finding,
        build_values=next(getattr(module, values) for module in SOURCES if hasattr(module, values)),
        small={"N": entry.pop("small"), **others},
        large={"N": entry.pop("large"), **others},
        ties_on=tuple(entry.pop("on", ())),
        **entry,
    )


def _table(file: str) -> dict[str, Any]:
    return tomllib.loads((FOLDER / file).read_text())
