"""How many small mistakes the check finds: mutants of the example kernels, killed and surviving, by operator.

A text that does not compile is no mutant, nor is one that compiles to the program it came from. What survives is listed
with the reason from `mutants_explained.toml`: a survivor that computes the same is no hole, one without a reason is.
WARPSIGHT_MUTANTS=N takes N of them (400 unless said otherwise), spread over operators and kernels; `all` takes all.
"""

from __future__ import annotations

import os
import re
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.mutations import OPERATORS, Mutant, mutants
from warpsight.devices.virtual import VirtualGpu
from warpsight.errors import TaskError
from warpsight.gate.check import build_candidate, check_candidate
from warpsight.nouns import Build, Check, Task
from warpsight.tasks import read_candidate, read_task

TASKS = Path(__file__).parents[1] / "tasks"
EXPLAINED = Path(__file__).with_name("mutants_explained.toml")
DEFAULT_COUNT = 400
SECRET_SEED = 20261116  # fixed, so that a run can be repeated
MOST_INSTRUCTIONS = 20_000_000  # a mutant that never ends is ended here


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant: `killed`, `survived`, or `none` where it was no mutant, and why."""

    task: str
    mutant: Mutant
    state: str
    why: str


def small_task(task: Task) -> Task:
    """The task without its profiled workload, which costs most and is seldom needed to see a mistake."""
    return task.model_copy(update={"workloads": tuple(w for w in task.workloads if not w.profile)})


def chosen(tasks: Sequence[Task], count: int | None) -> list[tuple[Task, Mutant]]:
    """`count` mutants, taken in turn from each operator and in it from each task, always the same ones."""
    queues: dict[str, list[tuple[Task, Mutant]]] = {name: [] for name in OPERATORS}
    by_task = {task.name: mutants(task.kernel) for task in tasks}
    for name, queue in queues.items():
        rows = [[(t, m) for m in by_task[t.name] if m.operator == name] for t in tasks]
        deepest = max((len(row) for row in rows), default=0)
        queue.extend(row[at] for at in range(deepest) for row in rows if at < len(row))
    found: list[tuple[Task, Mutant]] = []
    while any(queues.values()) and (count is None or len(found) < count):
        for queue in queues.values():
            if queue and (count is None or len(found) < count):
                found.append(queue.pop(0))
    return found


def outcome(task: Task, mutant: Mutant) -> Outcome:
    """Compile one mutant, and check it where it is another program than the task's own kernel."""
    try:
        candidate = read_candidate(mutant.text, task)
    except TaskError as bad:
        return Outcome(task.name, mutant, "none", f"no candidate: {bad.found}")
    build = build_candidate(task, candidate)
    own = read_candidate(task.kernel, task)
    if not build.ok:
        return Outcome(task.name, mutant, "none", "does not compile")
    if program_text(build) == program_text(build_candidate(task, own)) and candidate.launch == own.launch:
        return Outcome(task.name, mutant, "none", "the same program")
    device = VirtualGpu(max_instructions=MOST_INSTRUCTIONS, deadline_seconds=30)
    found = check_candidate(small_task(task), candidate, device, build=build, secret_seed=SECRET_SEED)
    if found.verdict == "right":  # the whole check, as a candidate would get it
        found = check_candidate(task, candidate, VirtualGpu(), build=build, secret_seed=SECRET_SEED)
    return Outcome(task.name, mutant, "survived" if found.verdict == "right" else "killed", why(found))


def program_text(build: Build) -> str:
    """The PTX without lines, files and comments, which differ with the text and do nothing."""
    code = build.ptx.split(".section", 1)[0]
    kept = [line for line in code.splitlines() if not re.match(r"\s*(\.loc|\.file|//)", line)]
    return "\n".join(re.sub(r"\$L__(tmp|func_\w+?)\w*:?", "", line) for line in kept)


def why(found: Check) -> str:
    """The name of the reason; a launch that is refused has none."""
    return found.named or found.verdict


def explanations() -> dict[tuple[str, str], str]:
    """(task, name of the mutant) to why it may survive."""
    entries = tomllib.loads(EXPLAINED.read_text())["survivor"] if EXPLAINED.exists() else []
    return {(e["task"], name): e["why"] for e in entries for name in e["mutants"]}


def run(count: int | None) -> Iterator[Outcome]:
    tasks = [read_task(folder) for folder in sorted(TASKS.iterdir()) if (folder / "task.toml").exists()]
    for task, mutant in chosen(tasks, count):
        yield outcome(task, mutant)


def main() -> None:
    asked = os.environ.get("WARPSIGHT_MUTANTS", str(DEFAULT_COUNT))
    start, outcomes, known = time.monotonic(), list[Outcome](), explanations()
    for done in run(None if asked == "all" else int(asked)):
        outcomes.append(done)
        if done.state == "survived" and (done.task, done.mutant.name) not in known:
            print(f"  survived, not explained: {done.task}: {done.mutant.name}", flush=True)
        if len(outcomes) % 100 == 0:
            print(f"  {len(outcomes)} tried, {time.monotonic() - start:.0f} s", flush=True)
    real = [o for o in outcomes if o.state != "none"]
    print(f"{len(outcomes)} changes; {len(outcomes) - len(real)} are no mutants (no program, or the same program)")
    print(f"{'operator':20} {'killed':>7} {'of':>5}")
    for name in OPERATORS:
        of = [o for o in real if o.mutant.operator == name]
        if of:
            print(f"{name:20} {sum(o.state == 'killed' for o in of):7} {len(of):5}")
    killed = sum(o.state == "killed" for o in real)
    survivors = [o for o in real if o.state == "survived"]
    equal = sum((o.task, o.mutant.name) in known for o in survivors)
    print(f"{'all':20} {killed:7} {len(real):5}  {killed / max(len(real), 1):.1%} killed")
    print(f"without the {equal} that compute the same: {killed / max(len(real) - equal, 1):.1%} killed")
    print(
        "killed for:",
        ", ".join(f"{n} {k}" for k, n in Counter(o.why for o in real if o.state == "killed").most_common(12)),
    )
    for o in survivors:
        print(f"survived: {o.task}: {o.mutant.name}\n    {known.get((o.task, o.mutant.name), 'NOT EXPLAINED')}")
