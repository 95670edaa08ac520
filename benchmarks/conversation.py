"""CPU seconds of the tools in conversations of the local model, caches empty; the model itself is left out.

What the model that ships called on held-out tasks is kept in results/conversation.jsonl, which `conversation:record`
writes: it asks the model, so it takes the local engine and minutes. Each conversation is played back to the tools in a
process of its own with an empty cache. CPU seconds are those of that process and of all below it, as in `cpu_seconds`.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from benchmarks import cpu_seconds
from warpsight.corpus.build import CorpusRow, read_rows
from warpsight.corpus.specs import plain_of, task_of
from warpsight.short.ask import ask
from warpsight.short.box import SmallBox
from warpsight.short.shipped import Shipped, find_shipped
from warpsight.tools.box import ToolResult

RESULTS = Path(__file__).parents[1] / "results"
KEPT = RESULTS / "conversation.jsonl"
ROWS = (0, 1, 2)  # of results/test.jsonl


class RecordedBox(SmallBox):
    """The tools, and what was asked of them."""

    calls: list[list[Any]]

    def call(self, name: str, arguments: Mapping[str, JsonValue]) -> ToolResult:
        self.calls.append([name, dict(arguments)])
        return super().call(name, arguments)


def box_of(row: CorpusRow, shipped: Shipped) -> RecordedBox:
    box = RecordedBox(
        task_of(row.spec), shipped.suite, "curated", listed=shipped.listed, plain=plain_of(row.spec),
        first_words=shipped.first_words,
    )  # fmt: skip
    box.calls = []
    return box


def rows_and_model() -> tuple[dict[int, CorpusRow], Shipped]:
    shipped = find_shipped()
    if shipped is None:
        raise SystemExit("expected a model that ships: there is none")
    return {number: row for number, row in enumerate(read_rows(RESULTS / "test.jsonl")) if number in ROWS}, shipped


def record() -> None:
    """Ask the model and write what it called."""
    from benchmarks.rollouts import open_shipped

    rows, shipped = rows_and_model()
    model = open_shipped(shipped)
    if model is None:
        raise SystemExit("expected the weights of the local model: see docs/models.md")
    made = list[dict[str, Any]]()
    for number, row in rows.items():
        box = box_of(row, shipped)
        run = ask(box, model, run_id=f"conversation-{number}", seed=0)
        made.append({"row": number, "model": model.name, "ended": run.outcome, "calls": box.calls})
        print(f"  row {number}: {[name for name, _ in box.calls]}", flush=True)
        KEPT.write_text("".join(json.dumps(one) + "\n" for one in made), encoding="utf-8")


def play(number: int) -> None:
    """One conversation, by the tools alone, in this process; what it took is written where CPU_STAGES says."""
    from benchmarks import cpu_stages

    atexit.register(cpu_stages.report)
    rows, shipped = rows_and_model()
    cpu_stages.watch_workers()
    kept = next(one for one in map(json.loads, KEPT.read_text().splitlines()) if one["row"] == number)
    box = box_of(rows[number], shipped)
    results = [box.call(name, arguments) for name, arguments in kept["calls"]]
    print(json.dumps([name for (name, _), result in zip(kept["calls"], results, strict=True) if not result.is_error]))


def main(argument: str = "") -> dict[str, float]:
    if argument == "record":
        record()
        return {}
    if not KEPT.is_file():
        print(f"left out: no conversation is kept in {KEPT.name}; conversation:record asks the model")
        return {}
    kept = [json.loads(line)["row"] for line in KEPT.read_text(encoding="utf-8").splitlines()]
    taken = list[float]()
    with tempfile.TemporaryDirectory(prefix="conversation-") as folder:
        scratch = Path(folder)
        for number in kept:
            shutil.rmtree(scratch / "cache", ignore_errors=True)
            report = scratch / "stages.json"
            environment = {**os.environ, "CPU_STAGES": str(report), "WARPSIGHT_CACHE": str(scratch / "cache")}
            environment.pop("PYTHONDONTWRITEBYTECODE", None)
            words = [sys.executable, "-c", f"import benchmarks.conversation as c; c.play({number})"]
            done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False, timeout=1800)
            if done.returncode:
                raise SystemExit(done.stderr[-2000:])
            taken.append(json.loads(report.read_text())["total_s"])
            print(f"  row {number} of test.jsonl {taken[-1]:6.2f} s  {done.stdout.strip()}", flush=True)
    mean = sum(taken) / len(taken)
    print(f"tools of a conversation: {mean:.2f} CPU seconds, the mean of {len(taken)}; pace {cpu_seconds.pace_s():.3f}")
    return {"conversation": mean}
