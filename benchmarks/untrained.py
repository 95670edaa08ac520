"""`python -m benchmarks untrained:model=qwen2.5-coder-0.5b,arms=small+full,n=12`: untrained models with the tools.

24 tasks by one rule: example tasks, tasks of the test corpus and kernels as written first, eight of each, in turn; in
the order of their files, without those at the roofline and corpus tasks above 100 us, whose checks take long. One line
a unit goes to results/untrained.jsonl; what is there is not asked again. `feedback=time`, `until=07:40` or `for=300`
seconds, `table` for the tables alone (untrained_table.py), `plan` for the whole experiment in stages (pull both models
first). Tools' results are kept by content, so all arms and models share them. Times are simulated; a reply is usable
when it has a call of a known tool whose arguments fit.
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import JsonValue

from benchmarks.untrained_arms import NO_MODEL, begun, job_of, script_of, switched
from benchmarks.untrained_table import print_tables
from warpsight.bench.tasks import BenchTask, read_bench_tasks
from warpsight.causes import STOP
from warpsight.corpus.build import read_rows
from warpsight.models.errors import ModelError
from warpsight.models.local import LocalModel
from warpsight.models.model import Model, OnText, Reply, Request
from warpsight.models.open import open_model
from warpsight.nouns import Evaluation, Task
from warpsight.nouns.run import Run
from warpsight.reason.calls import read_reply
from warpsight.reason.job import Job
from warpsight.reason.loop import run_loop
from warpsight.reason.progress import better
from warpsight.runs.memory import MemoryStore
from warpsight.session.parts import parts_digest
from warpsight.short.box import GATE_PARTS
from warpsight.tasks import written_in
from warpsight.toolchain.cache import Cache, cache_folder, content_key
from warpsight.toolchain.packages import compiler_identity
from warpsight.tools.box import SUBMIT, ToolResult
from warpsight.tools.edits import KERNEL
from warpsight.tools.open import open_box
from warpsight.tools.task_box import TaskBox

ROOT = Path(__file__).parents[1]
FILE = ROOT / "results" / "untrained.jsonl"
OF_EACH, LONGEST_US, SEED = 8, 100.0, 1
SHOWN = 240  # characters of a step that are kept
LARGER, SMALLER = {"model": "qwen2.5-coder-1.5b"}, {"model": "qwen2.5-coder-0.5b"}
OFF = "unconstrained+only-tags+no-profile+long-results+hashes+fixed-example+named-example+no-next+same-turn+full"
PLAN: tuple[dict[str, str], ...] = (
    {**LARGER, "arms": "small", "n": "24"},
    {"arms": "guided+script", "n": "24"},
    {**LARGER, "arms": "small", "feedback": "time+none", "n": "24"},
    {**LARGER, "arms": OFF, "n": "9"},
    {**LARGER, "arms": "own-edits", "n": "9"},
    {**SMALLER, "arms": "skill+no-skill", "n": "10"},
    {**SMALLER, "arms": "small", "n": "24"},
)


class Unit(NamedTuple):
    model: str
    arm: str
    feedback: str
    task: str

    @property
    def key(self) -> str:
        return "|".join(self)


class KeptBox(TaskBox):
    """The tools of a task, whose results are kept by content: the same call of another arm runs nothing."""

    kept = Cache(folder / "untrained" if (folder := cache_folder()) else None)

    def call(self, name: str, arguments: Mapping[str, JsonValue]) -> ToolResult:
        session = self.session
        if name == "more":
            return super().call(name, arguments)
        sizes = json.dumps([dict(w.axes) for w in session.task.workloads])
        key = content_key(
            name, json.dumps(arguments, sort_keys=True), session.given.source, session.task.name, session.task.gpu,
            sizes, session.feedback, str(SEED), compiler_identity(), parts_digest(*GATE_PARTS),
        )  # fmt: skip
        found = self.kept.get(key)
        if found is not None:
            return ToolResult.model_validate_json(found)
        result = super().call(name, arguments)
        if not result.is_error:
            bare = result.model_copy(update={"artefacts": (), "profiled": {}})
            self.kept.put(key, bare.model_dump_json().encode())
        return result


class Listener:
    """A model whose replies are counted: how many have a call that fits, and the processor time they took."""

    def __init__(self, model: Model, job: Job) -> None:
        self.name, self._model, self._job = model.name, model, job
        self.replies = self.usable = 0
        self.seconds = 0.0

    def reply(self, request: Request, on_text: OnText | None = None) -> Reply:
        self.replies += 1
        began = time.process_time()
        try:
            found = self._model.reply(request, on_text)
        finally:
            self.seconds += time.process_time() - began
        reading = read_reply(found, self._job.tools, most=self._job.calls_a_reply)
        self.usable += any(call.arguments is not None for call in reading.calls)
        return found

    def close(self) -> None:
        """The model is the caller's."""


def opened(task: Task, feedback: str) -> KeptBox:
    box = open_box(task, feedback=feedback, seed=SEED, cores=1)
    return KeptBox(box.session)


def chosen() -> Iterator[BenchTask]:
    """The tasks, by the rule above; examples, corpus and first tries in turn, so that fewer are of all three. Each is
    looked at when it is asked for."""
    rows = {row.number for row in read_rows(ROOT / "results" / "test.jsonl") if row.truth.time_us <= LONGEST_US}
    corpus = [one for one in read_bench_tasks(ROOT / "results" / "test.jsonl") if one.number in rows]
    sets = (read_bench_tasks(ROOT / "tasks"), corpus, read_bench_tasks(ROOT / "examples" / "kernels"))
    taken = [itertools.islice(filter(_leaves_something, some), OF_EACH) for some in sets]
    yield from itertools.chain.from_iterable(zip(*taken, strict=True))


def _leaves_something(one: BenchTask) -> bool:
    if written_in(one.task.kernel) != "cuda":
        return False
    box = opened(one.task, "curated")
    found = box.call("profile", {KERNEL: box.session.given.source}).data
    box.close()
    findings: Any = found.get("findings") or []
    return bool(findings) and findings[0]["name"] not in STOP


def run_unit(unit: Unit, task: Task, model: Model) -> dict[str, Any]:
    """One unit, as the line that is kept."""
    box = opened(task, unit.feedback)
    try:
        with switched(unit.arm):
            job, tools = begun(job_of(task, unit.model, unit.arm, unit.feedback), task, box, unit.arm)
            heard = Listener(model, job)
            store = MemoryStore()
            run = run_loop(job, heard, tools, store)
        final = _final(run, box, store)
    finally:
        box.close()
    timing = None if final is None else final.timing
    return {
        **unit._asdict(), "ended": run.outcome, "reason": run.reason[:SHOWN], "replies": heard.replies,
        "usable": heard.usable, "tool_calls": run.spent.tool_calls, "input_tokens": run.spent.input_tokens,
        "output_tokens": run.spent.output_tokens, "model_seconds": round(heard.seconds, 2),
        "verdict": "" if final is None else final.check.verdict,
        "decision": "" if timing is None else timing.decision or "",
        "ratio": None if timing is None else timing.ratio, "source": "" if timing is None else timing.source,
        "steps": [[step.kind, step.tool or "", step.content[:SHOWN]] for step in run.steps[2:]],
    }  # fmt: skip


def _final(run: Run, box: KeptBox, store: MemoryStore) -> Evaluation | None:
    """What the run ends with: the submitted kernel, or a faster one that was never submitted, by the whole gate."""
    if run.best is None or not better(run.best, run.submitted):
        return run.submitted
    if run.submitted is not None and run.submitted.candidate_sha256 == run.best.candidate_sha256:
        return run.submitted
    text = store.get(run.best.candidate_sha256).decode()
    found = box.call(SUBMIT, {KERNEL: text, "cause": "not said", "against": box.session.given.source}).evaluation
    return found if better(found, run.submitted) else run.submitted


def planned(words: Mapping[str, str]) -> Iterator[tuple[Unit, BenchTask]]:
    """One stage, or with `plan` all of them, the one that says most first."""
    if "plan" not in words:
        return todo(words)
    return itertools.chain.from_iterable(todo({**words, **stage}) for stage in PLAN)


def todo(words: Mapping[str, str]) -> Iterator[tuple[Unit, BenchTask]]:
    """Task after task, all arms of one beside each other: openings that begin alike are read once."""
    done = {Unit(*(row[name] for name in Unit._fields)).key for row in read_lines()}
    arms = words.get("arms", "small").split("+")
    for one in itertools.islice(chosen(), int(words.get("from", "0")), int(words.get("n", "24"))):
        for arm, feedback in itertools.product(arms, words.get("feedback", "curated").split("+")):
            model = "none" if arm in NO_MODEL else words.get("model", "qwen2.5-coder-0.5b")
            unit = Unit(model, arm, feedback, one.key)
            if unit.key not in done:
                yield unit, one


def read_lines(file: Path = FILE) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def main(argument: str = "") -> None:
    cut = [word.partition("=") for word in argument.split(",") if word]
    words = {name: value for name, _, value in cut}
    models: dict[str, Model] = {}
    ends = time.monotonic() + float(words.get("for", "inf"))
    for unit, one in () if "table" in words else planned(words):
        if time.strftime("%H:%M") >= words.get("until", "99:99") or time.monotonic() >= ends:
            print("stopped at its time; the same command goes on")
            break
        if unit.arm not in NO_MODEL and unit.model not in models:
            models[unit.model] = open_model(f"local:{unit.model}")
        model = script_of(unit.arm) if unit.arm in NO_MODEL else models[unit.model]
        if isinstance(model, LocalModel):
            model.results_inside = unit.arm == "same-turn"
        began = time.process_time()
        try:
            row = run_unit(unit, one.task, model)
        except ModelError as problem:
            print(f"{unit.key}: {problem.message}")
            continue
        with FILE.open("a") as out:
            out.write(json.dumps(row) + "\n")
        print(
            f"{time.strftime('%H:%M:%S')} {unit.model} {unit.arm} {unit.feedback} {one.task.name}: {row['decision']} "
            f"{row['ratio'] or 1.0:.2f}x, {row['usable']}/{row['replies']} usable, {row['ended']}, model "
            f"{row['model_seconds']:.1f} s of {time.process_time() - began:.1f} CPU s",
            flush=True,
        )
    print_tables(read_lines())
