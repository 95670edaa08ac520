"""What a tuning is doing and what came of it, for a person and as a document. Draws only.

What must stay true: "simulated" or "measured" stands beside every ratio, and a tuning that found nothing says so.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from warpsight.cli.text.timing import certificate_line, decision_text, micros, time_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

    from warpsight.nouns import Task
    from warpsight.tuning.records import SearchSpace, TuneRequest, TuningTrial
    from warpsight.tuning.run import Tuned
    from warpsight.tuning.shortlist import Shortlisted

SHOWN_TRIALS = 8
STOPPED = {
    "all_tried": "everything was tried",
    "search_ended": "the strategy has nothing more to ask",
    "tries_spent": "the tries are used up",
    "time_spent": "the time is used up",
    "interrupted": "interrupted",
}


class TuneView:
    """Progress on stderr: one moving line on a terminal, else a line for each try. Never touches stdout."""

    def __init__(self, asked: TuneRequest, *, quiet: bool = False) -> None:
        self._asked, self._quiet = asked, quiet
        self._status: Status | None = None
        self._done = "starting"

    def __enter__(self) -> TuneView:
        if not self._quiet and sys.stderr.isatty():
            from rich.console import Console

            self._status = Console(stderr=True, highlight=False).status(self._done)
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()

    def watch(self, trial: TuningTrial, best: TuningTrial | None) -> None:
        """A try has ended."""
        best_so_far = "none yet" if best is None else _ratio(best)
        most = min(self._asked.tries, self._asked.configurations or self._asked.tries)
        told = f"{trial.number + 1:>3} of {most}  {_config(trial.config)}: {_outcome(trial)}"
        self._done = f"{told}; best so far: {best_so_far}"
        if self._status is not None:
            self._status.update(Text(self._done))
        elif not self._quiet:
            print(self._done, file=sys.stderr, flush=True)

    def say(self, text: str) -> None:
        """The gate tells what it is at."""
        if self._status is not None:
            self._status.update(Text(f"{self._done}; now: {text}"))


def document_of(found: Tuned, kernel_file: Path | None, top_files: Sequence[Path | None] = ()) -> dict[str, Any]:
    """The outcome as one JSON document, every try in it."""
    timing = None if found.final is None else found.final.timing
    return {
        "tuning": found.asked.id,
        "folder": str(found.folder),
        "task": found.asked.task,
        "device": found.asked.device if timing is None else timing.device,
        "strategy": found.asked.strategy,
        "stopped": found.stopped,
        "configurations": found.configurations,
        "tries": len(found.trials),
        "faster": found.final is not None,
        "config": None if found.best is None else found.best.config,
        "ratio": None if timing is None else timing.ratio,
        "interval": None if timing is None else timing.interval,
        "probability_faster": timing.likelihood.probability_faster if timing and timing.likelihood else None,
        "source": None if timing is None else timing.source,
        "decision": None if timing is None else timing.decision,
        "kernel_file": None if kernel_file is None else str(kernel_file),
        "kernel_sha256": None if found.final is None else found.final.candidate_sha256,
        "certificate": None if found.final is None else found.final.certificate,
        "certificate_file": None if found.certificate_file is None else str(found.certificate_file),
        "unsafe": found.asked.unsafe,
        "space": json.loads(found.asked.space.model_dump_json()),
        "top": [
            json.loads(one.model_dump_json(exclude={"kernel"})) | {"kernel_file": None if path is None else str(path)}
            for one, path in zip(found.top, top_files, strict=True)
        ],
        "trials": [json.loads(trial.model_dump_json()) for trial in found.trials],
    }


def render(console: Console, found: Tuned, kernel_file: Path | None, top_files: Sequence[Path | None] = ()) -> None:
    """The best tries, why others fell out, and the winner with its evidence."""
    tried = f"{len(found.trials)} of {found.configurations} configurations tried ({found.asked.strategy})"
    console.print(Text(f"{found.asked.task}: {STOPPED[found.stopped]}; {tried}"))
    _render_trials(console, found.trials)
    for note in found.asked.space.notes:
        console.print(Text(f"note: {note}", style="dim"))
    console.print()
    _render_result(console, found, kernel_file)
    if found.top:
        _render_top(console, found.top, top_files)
    if found.stopped in ("interrupted", "tries_spent", "time_spent") and len(found.trials) < found.configurations:
        more = f" --tries {2 * len(found.trials)}" if found.stopped == "tries_spent" else ""
        console.print(Text(f"go on with: warpsight tune --resume {shlex.quote(found.asked.id)}{more}"))


def render_space(console: Console, task: Task, space: SearchSpace, count: int) -> None:
    """What would be searched."""
    console.print(Text(f"{task.name}: {count} configurations, {space.origin}"))
    table = Table(box=None, pad_edge=False)
    for title in ("parameter", "now", "values", "what it is"):
        table.add_column(title, overflow="fold")
    for one in space.parameters:
        now = "?" if one.given is None else str(one.given)
        table.add_row(one.name, now, " ".join(map(str, one.values)), one.about)
    console.print(table)
    from warpsight.tuning.launches import launch_line

    console.print(Text(launch_line(space.launch).removeprefix("// ")))
    for rule in space.rules:
        console.print(Text(f"rule: {rule}"))
    for note in space.notes:
        console.print(Text(f"note: {note}", style="yellow"))


def _render_trials(console: Console, trials: Sequence[TuningTrial]) -> None:
    timed = sorted((trial for trial in trials if trial.counts), key=lambda trial: -(trial.ratio or 0.0))
    if timed:
        table = Table(box=None, pad_edge=False)
        for title in ("configuration", "speed", "time", "decision"):
            table.add_column(title, overflow="fold")
        for trial in timed[:SHOWN_TRIALS]:
            us = "" if trial.time_us is None else micros(trial.time_us)
            table.add_row(_config(trial.config), _ratio(trial), us, trial.decision or "")
        console.print(table)
    out = Counter(_fell_out(trial) for trial in trials if not trial.counts)
    if out:
        console.print(Text("not timed: " + "; ".join(f"{count} {why}" for why, count in out.most_common())))


def _render_top(console: Console, top: Sequence[Shortlisted], files: Sequence[Path | None]) -> None:
    console.print(Text("\nto measure on the card, the fastest first; 90 % of measured times lie in the likely range"))
    table = Table(box=None, pad_edge=False)
    for title in ("", "configuration", "launch", "time", "likely range", "speed"):
        table.add_column(title, overflow="fold")
    for number, one in enumerate(top, start=1):
        likely = "" if one.likely_us is None else " to ".join(micros(end) for end in one.likely_us)
        time = f"{micros(one.time_us)} {one.source}"
        table.add_row(str(number), _config(one.config), one.launch, time, likely, f"{one.ratio:.3f}x")
    console.print(table)
    if files and files[0] is not None:
        console.print(Text(f"kernels: {files[0].parent}"))


def _render_result(console: Console, found: Tuned, kernel_file: Path | None) -> None:
    timing = None if found.final is None else found.final.timing
    if found.final is None or timing is None or found.best is None:
        if found.best is None:
            told = "no configuration was found that is right and faster"
        elif found.stopped == "interrupted":
            told = f"the best so far, not certified yet: {_config(found.best.config)}, {_ratio(found.best)}"
        else:
            told = "the best of the search was not accepted by the whole gate: no kernel is handed over"
        console.print(Text(told, style="bold yellow"))
        return
    console.print(Text(f"best: {_config(found.best.config)}"))
    console.print(Text.assemble("the gate: right, ", decision_text(timing)))
    if timing.samples_us and timing.baseline_us:
        console.print(Text(time_line("given", timing, timing.baseline_us)))
        console.print(Text(time_line("new", timing, timing.samples_us)))
    if found.final.unsafe:
        console.print(Text("unsafe: it ran without all protections", style="bold red"))
    console.print(Text(f"kernel: {kernel_file}"))
    console.print(Text(certificate_line(timing, found.certificate_file)))


def _config(config: Mapping[str, int]) -> str:
    return " ".join(f"{name}={value}" for name, value in config.items())


def _ratio(trial: TuningTrial) -> str:
    return f"{trial.ratio:.3f}x {trial.source}" if trial.ratio is not None else "no time"


def _outcome(trial: TuningTrial) -> str:
    return f"{trial.decision} {_ratio(trial)}" if trial.counts else _fell_out(trial)


def _fell_out(trial: TuningTrial) -> str:
    if trial.verdict == "not_checked":
        return f"not checked ({trial.reason})"
    if trial.verdict != "right":
        return trial.verdict.replace("_", " ")
    return f"{(trial.decision or 'no time').lower()}{f' ({trial.reason})' if trial.reason else ''}"
