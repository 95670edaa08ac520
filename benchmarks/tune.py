"""`warpsight tune` against `warpsight optimize` on the example tasks: what plain autotuning gives, and what it cannot.

For each task: the best of a search over launch and named constants (through the gate, certified); then `optimize` with
a script in the model's place that submits the task's known rewrite (`faster/`, where there is one); then a search over
that rewrite, which is what the two give together. All times are simulated, on the task's own GPU. `tune:TASK,TASK`
takes some tasks, `tune:model=local` adds a column for `optimize` with that model. Rows that are done are kept in
build/tune-bench and a search that was cut off goes on, so it can be done in pieces.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from warpsight.errors import UsageError
from warpsight.models.model import Model
from warpsight.models.open import open_model
from warpsight.models.scripted import ScriptedCall, ScriptedModel, ScriptedTurn
from warpsight.nouns import Evaluation, Task
from warpsight.reason.budget import Budget
from warpsight.reason.optimize import open_tools, opened_box, outcome_of, plan
from warpsight.reason.resume import run_job
from warpsight.runs.memory import MemoryStore
from warpsight.tasks import read_candidate, read_task
from warpsight.tuning import run as tuning
from warpsight.tuning.declared import space_of
from warpsight.tuning.journal import ASKED, TuningJournal

TASKS = Path(__file__).parents[1] / "tasks"
WORK = Path(__file__).parents[1] / "build" / "tune-bench"  # tunings that were cut off go on from here
TRIES = 20
CAUSE = "the known rewrite of this task, handed in by a script"
MODEL_BUDGET = Budget(tool_calls=8)  # no seconds: what is found must not depend on how busy the machine is


@dataclass(frozen=True)
class Searched:
    """One search: how much there was, how much was tried, and what came of it (1 where nothing was faster)."""

    configurations: int
    tried: int
    ratio: float
    config: str


@dataclass(frozen=True)
class Row:
    """One task. `scripted` and `both` are None where no rewrite is known."""

    task: str
    configurations: int
    tried: int
    tuned: float
    scripted: float | None
    both: float | None
    config: str


def main(asked: str = "") -> None:
    words = [word for word in asked.split(",") if word]
    model = next((word.removeprefix("model=") for word in words if word.startswith("model=")), "")
    chosen = [word for word in words if not word.startswith("model=")]
    folders = [file.parent for file in sorted(TASKS.glob("*/kernel.cu")) if not chosen or file.parent.name in chosen]
    titles = ["space", "tried", "tune", "optimize, scripted", "both", *([f"optimize, {model}"] if model else [])]
    print(f"speed of the given kernel = 1; simulated; at most {TRIES} configurations a search")
    print(f"{'task':24}" + "".join(f"{title:>20}" for title in titles) + "  best configuration", flush=True)
    rows, by_model = list[Row](), list[float]()
    for folder in folders:
        rows.append(row := kept_row(folder))
        by_model += [with_model(folder, model)] if model else []
        ratios = [row.tuned, row.scripted, row.both, *by_model[len(rows) - 1 :]]
        cells = [str(row.configurations), str(row.tried), *map(_times, ratios)]
        print(f"{row.task:24}" + "".join(f"{cell:>20}" for cell in cells) + f"  {row.config}", flush=True)
    _means("tune", [row.tuned for row in rows])
    known = [row for row in rows if row.scripted is not None]
    _means("  of which on tasks with a known rewrite", [row.tuned for row in known])
    _means("optimize, scripted", [row.scripted or 1.0 for row in known])
    _means("both", [row.both or 1.0 for row in known])
    _means(f"optimize, {model}", by_model)


def _means(name: str, ratios: list[float]) -> None:
    if ratios:
        mean = math.exp(sum(math.log(ratio) for ratio in ratios) / len(ratios))
        faster = sum(ratio > 1.02 for ratio in ratios)
        print(f"{name}: geometric mean {mean:.3f} over {len(ratios)} tasks, {faster} of them faster")


def kept_row(folder: Path) -> Row:
    """The row of a task, from before where its kernels are still the same."""
    task = read_task(folder)
    rewrite = next(iter(sorted(folder.glob("faster/*.cu"))), None)
    text = None if rewrite is None else rewrite.read_text(encoding="utf-8")
    digest = hashlib.sha256(f"{task.kernel}\0{text}\0{TRIES}".encode()).hexdigest()[:12]
    file = WORK / f"{task.name}-{digest}.json"
    if file.exists():
        return Row(**json.loads(file.read_text(encoding="utf-8")))
    mine = searched(task, task.kernel)
    scripted = None if text is None else optimized(task, scripted_with(text))
    both = None if text is None or scripted is None else scripted * searched(task, text).ratio
    row = Row(task.name, mine.configurations, mine.tried, mine.ratio, scripted, both, mine.config)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(asdict(row)), encoding="utf-8")
    return row


def with_model(folder: Path, word: str) -> float:
    model = open_model(word)
    try:
        return optimized(read_task(folder), model, word)
    finally:
        model.close()


def searched(task: Task, text: str) -> Searched:
    """A tuning of this text; a kernel in which nothing varies is as fast as it is."""
    given = read_candidate(text, task, task.kernel_file)
    folder = WORK / f"{task.name}-{given.sha256[:12]}-{TRIES}"
    try:
        asked = tuning.plan(task, given, space_of(task, given, None, {}), tries=TRIES, secret_seed=1)
    except UsageError:
        return Searched(0, 0, 1.0, "nothing varies")
    journal = TuningJournal(folder)
    if not (folder / ASKED).exists():
        journal = TuningJournal.create(asked.model_copy(update={"id": folder.name}), WORK)
    found = tuning.tune(journal, WORK / "ledger")
    ratio = _ratio(found.final)
    config = "the given one" if found.final is None or found.best is None else _config(found.best.config)
    return Searched(found.configurations, len(found.trials), ratio, config)


def optimized(task: Task, model: Model, word: str = "scripted") -> float:
    """The speed that `optimize` hands over with this model."""
    store = MemoryStore()
    with tempfile.TemporaryDirectory() as place:
        job = plan(task, word, budget=MODEL_BUDGET, secret_seed=1)
        box = open_tools(job, store, Path(place))
        try:
            run = run_job(job, model, opened_box(job, box), store)
            return _ratio(outcome_of(run, box, store).final)
        finally:
            box.close()


def scripted_with(text: str) -> ScriptedModel:
    """A model that looks, checks and hands in this kernel."""
    return ScriptedModel(
        [
            ScriptedTurn(text="Where does the time go?", calls=(ScriptedCall(name="profile"),)),
            ScriptedTurn(text="Is it right?", calls=(ScriptedCall(name="check", arguments={"kernel": text}),)),
            ScriptedTurn(
                text="It is.", calls=(ScriptedCall(name="submit", arguments={"kernel": text, "cause": CAUSE}),)
            ),
        ]
    )


def _ratio(found: Evaluation | None) -> float:
    return 1.0 if found is None or found.timing is None or found.timing.ratio is None else found.timing.ratio


def _times(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.3f}"


def _config(config: dict[str, int]) -> str:
    return " ".join(f"{name}={value}" for name, value in config.items())


if __name__ == "__main__":
    os.nice(5)
    main()
