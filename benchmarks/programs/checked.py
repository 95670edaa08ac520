"""Programs with `--check lenient` in every launch: the races, uninitialised reads and bad accesses that it reports.

A program comes with the arguments with which it ended without a check; one that is not known to end comes with reduced
ones. What was seen before a run was over its time counts; how many came to their end is told.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.programs.outcomes import asked
from benchmarks.programs.rows import Row, commits
from benchmarks.programs.verdict import verdict

MOST_INSTRUCTIONS = 150_000_000  # a checked warp instruction takes several times as long as a plain one


def fits(row: Row) -> bool:
    """Whether a run without a check ended, with launches, soon enough."""
    return row["outcome"] in ("passed", "no verdict") and 0 < row["warp_instructions"] < MOST_INSTRUCTIONS


def checked(folder: Path, arguments: list[str], most_s: float) -> Row:
    told, said = asked(folder, arguments, most_s, "--check", "lenient")
    if told is None:
        return {"outcome": "not compiled", "reason": said, "faults": []}
    faults = [_fault(folder, one) for one in told["faults"]]
    ended = verdict(told)
    outcome = "reported" if faults else ended["outcome"] if ended["outcome"] in ("too long", "stopped") else "clean"
    reason = ", ".join(f"{kind} {n}" for kind, n in Counter(one["kind"] for one in faults).items())
    return {
        "outcome": outcome, "reason": reason or ended["reason"], "ended": ended["outcome"], "faults": faults,
        "launches": told["launches"],
    }  # fmt: skip


def _fault(folder: Path, one: dict[str, Any]) -> Row:
    fault = one["fault"]
    file = Path(one["file"] or "").name
    return {
        "kernel": one["kernel"], "kind": fault["kind"], "file": file, "line": fault["line"], "launch": one["launch"],
        "warning": one["warning"], "message": fault["message"], "count": fault["count"], "block": fault["block"],
        "thread": fault["thread"], "instruction": fault["instruction"],
    }  # fmt: skip


def show(rows: list[Row]) -> None:
    """Outcomes, then each place once."""
    count = Counter(row["outcome"] for row in rows)
    launched = [row for row in rows if row.get("launches")]
    ended = sum(row["ended"] in ("passed", "no verdict", "own check failed") for row in launched)
    print(f"\nn = {len(rows)} programs with a check: " + ", ".join(f"{k} {v}" for k, v in count.most_common()))
    print(f"with launches {len(launched)}, came to their end {ended}; rows were made at: {commits(rows)}")
    for row in rows:
        for place in dict.fromkeys((one["kind"], one["file"], one["line"]) for one in row["faults"]):
            print(f"  {row['program']}: {place[0]} at {place[1]}:{place[2]}")
