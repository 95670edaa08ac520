"""Runs of a bench that are kept to be read later: one JSON file a run, named after its unit. Only failures are kept.

The outcome of a unit never depends on this; a file that cannot be read is left out.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from warpsight.bench.units import BenchOutcome, BenchUnit
from warpsight.causes import NOTHING
from warpsight.files import write_whole
from warpsight.nouns.run import Run
from warpsight.short.prompting import ANSWERS_ALONE


def run_name(unit: BenchUnit) -> str:
    """The id of a unit's run: the same for the same question."""
    return f"bench-{hashlib.sha256(unit.key.encode()).hexdigest()[:16]}"


def keep_failure(folder: Path | None, outcome: BenchOutcome, run: Run) -> None:
    """Keep the run where the outcome is not what it should be."""
    faster = outcome.unit.suite in ANSWERS_ALONE or outcome.speed > 1 or NOTHING in outcome.right_answers
    fine = faster and (outcome.diagnosed or not outcome.right_answers)
    if folder is None or fine:
        return
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / f"{run.id}.json", run.model_dump_json(exclude={"job"}))


def read_kept(folder: Path | None) -> dict[str, Run]:
    """All runs of a folder by name; none where there is no folder."""
    found: dict[str, Run] = {}
    for file in sorted(folder.glob("bench-*.json")) if folder is not None else ():
        try:
            found[file.stem] = Run.model_validate_json(file.read_bytes())
        except (OSError, ValueError):
            continue
    return found
