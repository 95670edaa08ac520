"""How long the report of a run takes and how large it is: runs of a few steps up to 500, made by the real loop.

The runs are of a tool box that answers at once, with long words and kernels, so that the page has much to show. Times
are processor seconds of reading the store and writing the page, the best of three.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from pydantic import JsonValue

from warpsight.models.scripted import ScriptedCall, ScriptedModel, ScriptedTurn
from warpsight.nouns.run import Run
from warpsight.reason.budget import Budget
from warpsight.reason.job import Job, Opening
from warpsight.reason.loop import run_loop
from warpsight.report.write import write_report
from warpsight.runs.sqlite import SqliteStore
from warpsight.tools.box import SUBMIT, ToolResult, ToolSpec

STEPS = (20, 100, 500)
WORDS = "The stores lie a row apart, so each request touches 32 sectors where 4 would do. " * 40
LINES = "".join(f"float value_{i} = x[row * {i + 1} + column];  // a line of a long kernel\n" for i in range(60))
PARAMETERS: dict[str, JsonValue] = {"type": "object", "properties": {"kernel": {"type": "string"}}}


class Talker:
    """A tool box whose answers are long and cost nothing."""

    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(ToolSpec(name=name, description=name, parameters=PARAMETERS) for name in ("look", SUBMIT))

    def call(self, name: str, arguments: Mapping[str, JsonValue]) -> ToolResult:
        return ToolResult(text=WORDS)


def made(folder: Path, steps: int) -> Run:
    """A run of so many steps, each third of them with a new kernel."""
    calls = steps // 3
    texts = [LINES.replace("value_7 ", f"value_7_{i} ") for i in range(calls)]
    turns = [ScriptedTurn(text=WORDS, calls=(ScriptedCall(name="look", arguments={"kernel": k}),)) for k in texts]
    job = Job(
        id=f"long-{steps}", task="long", model="scripted", device="none", tools=Talker().specs(), enough_gain=None,
        opening=Opening(system=WORDS, user=LINES, kernel=LINES), budget=Budget(tool_calls=calls),
    )  # fmt: skip
    with SqliteStore(folder) as store:
        return run_loop(job, ScriptedModel(turns), Talker(), store)


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        for steps in STEPS:
            run, best, size = made(Path(place), steps), float("inf"), 0
            for _ in range(3):
                with SqliteStore(Path(place)) as store:
                    start = time.process_time()
                    size = write_report(store, run.id, Path(place) / "report.html")
                    best = min(best, time.process_time() - start)
            print(f"{len(run.steps):4d} steps: {best:.2f} s, {size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
