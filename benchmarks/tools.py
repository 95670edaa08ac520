"""The tools' own cost: overhead of a call without its work, a kept result, a first profile, tokens raw and curated.

Overhead is measured with a tool that does nothing, so that only reading arguments, resolving the kernel, hashing,
cutting and keeping are left; then the same through the loop, from one tool call to the next, with a store in memory and
with one on disk, each turn with a kernel of its own. Neither the model nor the tool takes time here, so flushing has
nothing to hide behind. Wall times on a shared machine: medians, with the tenth and ninetieth percentile, and beside
them the processor time, which other work on the machine changes less. `tools:tokens` prints what tools take of a
model's context and nothing else.
"""

from __future__ import annotations

import itertools
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import JsonValue

from warpsight.lens import render, tokens
from warpsight.models.scripted import ScriptedCall, ScriptedModel, ScriptedTurn
from warpsight.models.tool_list import tool_lines
from warpsight.nouns import Task
from warpsight.reason.budget import Budget
from warpsight.reason.job import Job
from warpsight.reason.loop import run_loop
from warpsight.reason.opening import opening_of
from warpsight.runs.memory import MemoryStore
from warpsight.runs.sqlite import SqliteStore
from warpsight.runs.store import Store
from warpsight.serve.listing import few_listing, listing, token_cost
from warpsight.session.session import Session
from warpsight.short.few import few_specs, names_for
from warpsight.tasks import read_task
from warpsight.tools import check as check_tool
from warpsight.tools.answer import Answer
from warpsight.tools.box import ToolSpec
from warpsight.tools.describe import describe
from warpsight.tools.open import open_box
from warpsight.tools.task_box import TaskBox, specs, tools

TASKS = Path(__file__).parents[1] / "tasks"
CALLS = 200
TURNS, RUNS = 24, 8  # as many turns as a run has by default
UNLIMITED = 10**9


began: list[float] = []  # when the tool that does nothing was called


def check(session: Session, kernel: check_tool.Kernel) -> Answer[check_tool.Checked]:
    """Does nothing."""
    began.append(time.perf_counter())
    return Answer("c000000: right", check_tool.Checked(kernel="c000000", verdict="right"))


def idle_box(task: Task) -> TaskBox:
    """A box whose `check` does no work; everything around it is the real one."""
    return TaskBox(open_box(task, seed=1).session, only={**tools(), "check": describe(check)})


def spread(samples_s: list[float]) -> str:
    low, *_, high = statistics.quantiles(samples_s, n=10)
    return f"{1e3 * statistics.median(samples_s):.2f} ms ({1e3 * low:.2f} to {1e3 * high:.2f})"


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def overhead(task: Task) -> None:
    box, kernels = idle_box(task), [f"{task.kernel}// {n}\n" for n in range(CALLS)]
    found = [timed(lambda text=text: box.call("check", {"kernel": text})) for text in kernels]
    print(f"  overhead of a call in the box:             {spread(found)}, {CALLS} calls")
    print(f"  a whole turn of the loop, store in memory: {through_the_loop(task, MemoryStore())}")
    with tempfile.TemporaryDirectory() as folder, SqliteStore(Path(folder)) as on_disk:
        print(f"  a whole turn, stored on disk:              {through_the_loop(task, on_disk)}")
    print(f"  one flush of a file of 16 KiB:             {spread(flushes())}")


def through_the_loop(task: Task, store: Store) -> str:
    """The time of a turn with one call: the model is a script, the tool does nothing, the kernel is a new one."""
    turns = list[float]()
    processor = 0.0
    for number in range(RUNS):
        box, model = idle_box(task), ScriptedModel(_turns(number))
        job = Job(
            id=f"overhead-{number}", task=task.name, model="scripted", device="virtual", tools=specs(),
            opening=opening_of(task, specs(), kernel=f"{task.kernel}// 0\n"), budget=Budget(tool_calls=TURNS),
        )  # fmt: skip
        began.clear()
        before = time.process_time()
        run = run_loop(job, model, box, store)
        processor += time.process_time() - before
        assert run.spent.tool_calls == TURNS and len(began) == TURNS, run.reason
        turns += [after - before for before, after in itertools.pairwise(began)]
    return f"{spread(turns)}, processor {1e3 * processor / RUNS / TURNS:.2f} ms"


def _turns(run: int) -> list[ScriptedTurn | str]:
    def turn(number: int) -> ScriptedTurn:
        edits: list[JsonValue] = [{"search": "// 0\n", "replace": f"// 0\n// {run} {number}\n"}]
        call = ScriptedCall(name="check", arguments={"edits": edits, "base": "given"})
        return ScriptedTurn(text="again", calls=(call,))

    return [turn(number) for number in range(TURNS + 1)]


def flushes(count: int = 50) -> list[float]:
    """Seconds that this machine's disk takes for what a turn has to flush."""
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "file").open("wb") as file:

        def write() -> None:
            file.write(bytes(16 << 10))
            file.flush()
            os.fdatasync(file.fileno())

        return [timed(write) for _ in range(count)]


def kept(task: Task) -> None:
    box = open_box(task, seed=1)
    for name in ("compile", "check", "profile", "time", "compare"):
        first = timed(lambda name=name: box.call(name, {"base": "given"}))
        again = [timed(lambda name=name: box.call(name, {"base": "given"})) for _ in range(CALLS)]
        print(f"  {name:8} first {1e3 * first:7.0f} ms, kept {spread(again)}")


def examples() -> None:
    print("first `profile` of each example, its compile kept, and its tokens, raw against curated (shown at once):")
    totals = [0, 0]
    found: list[float] = []
    for file in sorted(TASKS.glob("*/task.toml")):
        task = read_task(file.parent)
        box = open_box(task, seed=1)
        box.call("compile", {"base": "given"})
        found.append(timed(lambda box=box: box.call("profile", {"base": "given"})))
        whole = sizes(box)
        totals = [total + size for total, size in zip(totals, whole, strict=True)]
        shown = tokens(box.call("profile", {"base": "given"}).text)
        print(
            f"  {task.name:24} {1e3 * found[-1]:7.0f} ms, raw {whole[0]:4}, curated {whole[1]:4} ({shown:3})",
            flush=True,
        )
    print(f"  median {1e3 * statistics.median(found):.0f} ms, most {1e3 * max(found):.0f} ms")
    print(f"  raw {totals[0]} tokens in all, curated {totals[1]}: {totals[0] / totals[1]:.2f} times as many")


def sizes(box: TaskBox) -> tuple[int, int]:
    session = box.session
    profile, findings = session.counters(session.given), session.diagnose(session.given)
    return tokens(render(profile, findings, "raw", UNLIMITED)), tokens(render(profile, findings, "curated", UNLIMITED))


def told_of() -> None:
    """What tools take of a model's context before anything is asked."""

    def schemas(shown: Sequence[ToolSpec]) -> int:
        return sum(tokens(spec.model_dump_json(exclude={"listed"})) for spec in shown)

    few = few_specs(names_for(""))
    print("tokens that a model is told of its tools, estimated high:")
    whole = specs()
    print(f"  full prompt:  {schemas(whole)} as schemas of {len(whole)} tools, {tokens(tool_lines(whole))} as a list")
    print(f"  small prompt: {schemas(few)} as schemas of {len(few)} tools")
    for name, offered in (("MCP", listing()), ("MCP --few", few_listing())):
        print(f"  {name + ':':13} {sum(map(token_cost, offered))} as schemas of {len(offered)} tools")


def main(argument: str = "") -> None:
    told_of()
    if argument == "tokens":
        return
    task = read_task(TASKS / "transpose")
    print("overhead, without the tool's work (aim 2 ms or less):")
    overhead(task)
    print("the same call again (aim 5 ms or less):")
    kept(task)
    examples()
