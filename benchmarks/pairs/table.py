"""Reads pairs.toml and the kernels in the folders beside it. A new pair is two kernels and one entry there.

What must stay true: a key that is not known, or a finding that is not listed, is an error and not a shrug.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from benchmarks.pairs import inputs
from benchmarks.pairs.first_line import read_kernel
from benchmarks.pairs.pair import Pair

FOLDER = Path(__file__).parent


def load_pairs() -> list[Pair]:
    """All pairs with a known better kernel, in the order of pairs.toml."""
    known = load_findings()
    return [_pair(name, dict(entry), known) for name, entry in _table()["pairs"].items()]


def load_ties() -> list[Pair]:
    """Pairs that differ in their text and not in their time, on the GPUs that each names."""
    known = load_findings()
    return [_pair(name, dict(entry), known) for name, entry in _table()["ties"].items()]


def load_findings() -> dict[str, str]:
    """What findings are called here, and what each says."""
    return _table()["findings"]


def _pair(name: str, entry: dict[str, Any], known: dict[str, str]) -> Pair:
    finding, others = entry.pop("finding"), entry.pop("axes", {})
    if finding not in known:
        raise ValueError(f"pair {name}: expected one of {sorted(known)}, found {finding!r}: list it under [findings]")
    slow, fast = (read_kernel((FOLDER / name / f"{side}.cu").read_text()) for side in ("slow", "fast"))
    return Pair(
        name=name,
        slow=slow,
        fast=fast,
        expected_finding=finding,
        build_values=getattr(inputs, entry.pop("values")),
        small={"N": entry.pop("small"), **others},
        large={"N": entry.pop("large"), **others},
        ties_on=tuple(entry.pop("on", ())),
        **entry,
    )


def _table() -> dict[str, Any]:
    return tomllib.loads((FOLDER / "pairs.toml").read_text())
