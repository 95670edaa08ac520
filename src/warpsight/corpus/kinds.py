"""The kinds of defect, as kinds.toml lists them: what a recommendation can name, and `nothing`."""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass
from importlib import resources

NOTHING = "nothing"
NOTHING_FINDINGS = ("at_roofline", "launch_overhead")
NOTHING_ADVICE = "Leave it: no single change here gives more than a few per cent."


@dataclass(frozen=True)
class Kind:
    """One kind of defect: what a person would be told to do about it, and the findings that point at it."""

    name: str
    advice: str
    findings: tuple[str, ...]


@functools.cache
def kinds() -> dict[str, Kind]:
    """All kinds by name, in the file's order."""
    text = resources.files("warpsight.corpus").joinpath("kinds.toml").read_text()
    return {name: Kind(name, entry["advice"], tuple(entry["findings"])) for name, entry in tomllib.loads(text).items()}


def advice(kind: str) -> str:
    """The recommendation in words."""
    return NOTHING_ADVICE if kind == NOTHING else kinds()[kind].advice


def answers() -> tuple[str, ...]:
    """Everything a recommendation may say."""
    return (*kinds(), NOTHING)


def pointed_at(finding: str) -> list[str]:
    """The kinds that a finding of the lens points at."""
    return [kind.name for kind in kinds().values() if finding in kind.findings]
