"""Is a profiler here: where, which version; else why not and how to get it. Asks the tool itself for its version.

Looks in PATH and in the folders the vendors install to. Does not say whether the tool may read counters: only a run
on a GPU shows that.
"""

from __future__ import annotations

import glob
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass

from warpsight.lens.profilers.failures import ProfilerError, ProfilerMissing
from warpsight.lens.profilers.process import run_tool

VERSION_S = 20.0
_VERSION = re.compile(r"\d+(?:\.\d+){1,3}")


@dataclass(frozen=True)
class Availability:
    """One tool: `path` and `version` when it is here, else `reason`; `how` is how to get it."""

    tool: str
    path: str = ""
    version: str = ""
    reason: str = ""
    how: str = ""

    @property
    def present(self) -> bool:
        return self.path != "" and self.reason == ""

    def required(self) -> str:
        """The path, or the error that says how to get the tool."""
        if not self.present:
            raise ProfilerMissing(self.tool, self.reason, self.how)
        return self.path


def look(tool: str, *, how: str, places: Sequence[str] = (), path: str | None = None) -> Availability:
    """Find the tool (`path` instead of a search, when given) and ask it for its version."""
    found = shutil.which(path or tool) or next((hit for place in places if (hit := _first(place, tool))), None)
    if found is None:
        return Availability(tool, reason=f"{path or tool} is not installed, or not in PATH", how=how)
    try:
        said = run_tool([found, "--version"], tool=tool, deadline_s=VERSION_S)
    except ProfilerError as problem:
        return Availability(tool, path=found, reason=f"it is here and does not start: {problem.message}", how=how)
    version = _VERSION.search(said.stdout + said.stderr)
    if said.status != 0 or version is None:
        first = (said.stderr or said.stdout).strip().splitlines()
        told = first[0][:200] if first else "nothing"
        why = f"it is here and does not tell its version (exit status {said.status}, it said: {told})"
        return Availability(tool, path=found, reason=why, how=how)
    return Availability(tool, path=found, version=version[0])


def _first(pattern: str, tool: str) -> str | None:
    """The newest installation that matches, by name."""
    hits = sorted(hit for hit in glob.glob(f"{pattern}/{tool}") if os.access(hit, os.X_OK))  # noqa: PTH207
    return hits[-1] if hits else None
