"""Choosing parameters on real cards, as others recorded them: how near a choice comes to the best that was measured.

A unit is a file, a number of tries and a seed. Times are `replayed` and never stand beside simulated ones. Rivals:
`random` times configurations by chance, `middle` takes the middle of every parameter, `elsewhere` the best one of the
other files of the same parameters. What must stay true: a choice that failed when it was recorded, or that nobody
recorded, counts as none: a share of zero.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path

from warpsight.bench.metrics import MeanInterval, mean_of_tasks
from warpsight.bench.rivals import PREFIX
from warpsight.devices.recorded import RecordedDevice, Settings, Value, open_recorded
from warpsight.errors import UsageError
from warpsight.models.model import Model, Request
from warpsight.models.scripted import ScriptedCall, ScriptedModel, ScriptedTurn
from warpsight.nouns.base import Count, Noun
from warpsight.reason.loop import run_loop
from warpsight.runs.lines import cut_half_line, read_records
from warpsight.runs.memory import MemoryStore
from warpsight.short.ask import require_answered
from warpsight.short.choice_box import PARAMETERS, TIME, ChoiceBox, choice_job
from warpsight.tools.box import SUBMIT

CHOOSERS = ("random", "middle", "elsewhere")
Opener = Callable[[ChoiceBox, int], Model]


class Choice(Noun):
    """What came of one unit. `share` is the best recorded time over that of the choice: 1 is the best there is."""

    file: str
    sha256: str
    card: str
    kernel: str
    model: str
    tries: Count
    seed: Count
    share: float
    chosen_us: float | None
    best_us: float
    median_us: float
    timed: Count
    submitted: bool
    source: str = "replayed"
    output_tokens: Count = 0

    @property
    def key(self) -> tuple[str, str, int, int]:
        return self.sha256, self.model, self.tries, self.seed


def run_choices(
    files: Sequence[Path],
    out: Path,
    *,
    name: str,
    model: Model | None,
    tries: Sequence[int],
    seeds: int = 1,
    kernel: str = "",
    temperature: float | None = None,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> list[Choice]:
    """Every file with every number of tries; what is in `out` is not asked again. Without a model `name` is a rival."""
    devices = {file: open_recorded(file) for file in files}
    found = read_choices(out) if out.exists() else []
    known = {one.key for one in found}
    todo = [(file, k, seed) for file in files for k in tries for seed in range(seeds)]
    todo = [(file, k, seed) for file, k, seed in todo if (devices[file].sha256, name, k, seed) not in known]
    out.parent.mkdir(parents=True, exist_ok=True)
    cut_half_line(out)
    with out.open("a") as lines:
        for done, (file, k, seed) in enumerate(todo, start=1):
            box = ChoiceBox(devices[file], k, kernel)
            player = model or chooser(name, box, seed, [one for other, one in devices.items() if other != file])
            one = _chosen(box, player, file, name, seed, temperature)
            lines.write(one.model_dump_json() + "\n")
            lines.flush()
            found.append(one)
            progress(done, len(todo))
    asked = {device.sha256 for device in devices.values()}
    return [one for one in found if one.model == name and one.sha256 in asked and one.tries in tries]


def _chosen(box: ChoiceBox, model: Model, file: Path, name: str, seed: int, temperature: float | None) -> Choice:
    job = choice_job(box, run_id=f"choice-{file.stem[:40]}-{box.tries}-{seed}", model=name, seed=seed,
                     temperature=temperature)  # fmt: skip
    run = require_answered(run_loop(job, model, box, MemoryStore()))
    final, device = box.submitted or box.best_timed, box.device
    best = device.best.time_us or 0.0
    chosen = final.time_us if final is not None else None
    return Choice(
        file=file.name, sha256=device.sha256, card=device.card, kernel=device.kernel, model=name, tries=box.tries,
        seed=seed, share=best / chosen if chosen else 0.0, chosen_us=chosen, best_us=best, median_us=device.median_us,
        timed=len(box.timed), submitted=box.submitted is not None, output_tokens=run.spent.output_tokens,
    )  # fmt: skip


def chooser(name: str, box: ChoiceBox, seed: int, others: Sequence[RecordedDevice]) -> Model:
    """The rival of that name."""
    kind = name.removeprefix(PREFIX)
    if kind not in CHOOSERS:
        raise UsageError(f"expected a rival of {', '.join(CHOOSERS)}, got {name!r}")
    order = _order(kind, box.device, seed, others)

    def play(_request: Request) -> ScriptedTurn:
        if box.left and len(box.timed) < len(order):
            return _call(TIME, order[len(box.timed)])
        best = box.best_timed
        return _call(SUBMIT, best.settings if best is not None else order[0])

    return ScriptedModel(play, name=name)


def _order(kind: str, device: RecordedDevice, seed: int, others: Sequence[RecordedDevice]) -> list[Settings]:
    """What a rival times, in turn."""
    draw = random.Random(f"{kind} {seed} {device.sha256}")
    drawn: list[Settings] = [one.settings for one in device.records.values()]
    draw.shuffle(drawn)
    if kind == "middle":
        middle: dict[str, Value] = {name: some[len(some) // 2] for name, some in device.parameters.items()}
        return [middle, *(one for one in drawn if one != middle)]
    if kind == "elsewhere":
        same = [one for one in others if set(one.parameters) == set(device.parameters)]
        if not same:
            raise UsageError("rival:elsewhere needs another file of the same parameters", hint="give several files")
        first = [one.best.settings for one in same]
        known = [one for one in first if all(value in device.parameters[name] for name, value in one.items())]
        return [*known, *(one for one in drawn if one not in known)]
    return drawn


def _call(tool: str, settings: Settings) -> ScriptedTurn:
    return ScriptedTurn(calls=(ScriptedCall(name=tool, arguments={PARAMETERS: dict(settings)}),))


def read_choices(file: Path) -> list[Choice]:
    return read_records(file, Choice, "a choice of `bench choose`")


def share_interval(found: Sequence[Choice]) -> MeanInterval:
    """The mean share over files; seeds of one file are averaged first."""
    by_file: dict[str, list[float]] = {}
    for one in found:
        by_file.setdefault(one.sha256, []).append(one.share)
    return mean_of_tasks([sum(some) / len(some) for some in by_file.values()])


def choices_table(found: Sequence[Choice]) -> str:
    """A row for each model and number of tries."""
    lines = [
        "| model | tries | files | of the best recorded speed (95 % interval) | no valid choice | times |",
        "|---|---|---|---|---|---|",
    ]
    for model, tries in sorted({(one.model, one.tries) for one in found}):
        some = [one for one in found if (one.model, one.tries) == (model, tries)]
        mean = share_interval(some)
        said = f"{100 * mean.value:.1f} % ({100 * mean.low:.1f} to {100 * mean.high:.1f})"
        none = sum(one.chosen_us is None for one in some) / len(some)
        lines.append(f"| {model} | {tries} | {mean.tasks} | {said} | {none:.0%} | replayed |")
    return "\n".join(lines)


def choices_document(found: Sequence[Choice]) -> dict[str, object]:
    return {"choices": [json.loads(one.model_dump_json()) for one in found]}
