"""How many small mistakes the check finds: mutants of the example kernels, killed and surviving, by operator.

A text that does not compile is no mutant, nor is one that compiles to the program it came from, nor one that gives the
same bits in every one of many other launches (`same_bits.py`; those are listed, so that a reader can doubt it). What
survives of the rest is a mistake that the check did not find: listed, with the reason from `mutants_explained.toml`.
WARPSIGHT_MUTANTS=N takes N of them (420 unless said otherwise), spread over operators and kernels; `all` takes all.
WARPSIGHT_MUTANTS_SEED=S takes others, in an order drawn from S, and draws the secret sizes from S too.
"""

from __future__ import annotations

import os
import random
import re
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.mutations import OPERATORS, Mutant, mutants
from benchmarks.same_bits import LAUNCHES, same_bits
from warpsight.devices.virtual import VirtualGpu
from warpsight.errors import TaskError
from warpsight.gate.check import check_candidate
from warpsight.gate.kernel import build_candidate
from warpsight.nouns import Build, Check, Task
from warpsight.tasks import read_candidate, read_task

TASKS = Path(__file__).parents[1] / "tasks"
EXPLAINED = Path(__file__).with_name("mutants_explained.toml")
DEFAULT_COUNT = 420
SECRET_SEED = 20261116  # fixed, so that a run can be repeated
SAME_BITS = "the same bits"
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


def chosen(tasks: Sequence[Task], count: int | None, seed: int | None = None) -> list[tuple[Task, Mutant]]:
    """`count` mutants, taken in turn from each operator and in it from each task; the same ones for the same seed."""
    queues: dict[str, list[tuple[Task, Mutant]]] = {name: [] for name in OPERATORS}
    by_task = {task.name: mutants(task.kernel) for task in tasks}
    for name, queue in queues.items():
        rows = [[(t, m) for m in by_task[t.name] if m.operator == name] for t in tasks]
        if seed is not None:
            for row in rows:
                random.Random(f"{seed} {name} {row[0][0].name if row else ''}").shuffle(row)
        deepest = max((len(row) for row in rows), default=0)
        queue.extend(row[at] for at in range(deepest) for row in rows if at < len(row))
    found: list[tuple[Task, Mutant]] = []
    while any(queues.values()) and (count is None or len(found) < count):
        for queue in queues.values():
            if queue and (count is None or len(found) < count):
                found.append(queue.pop(0))
    return found


def outcome(task: Task, mutant: Mutant, secret_seed: int = SECRET_SEED) -> Outcome:
    """Compile one mutant, and check it where it is another program than the task's own kernel."""
    try:
        candidate = read_candidate(mutant.text, task)
    except TaskError as bad:
        return Outcome(task.name, mutant, "none", f"no candidate: {bad.found}")
    build = build_candidate(task, candidate)
    own = read_candidate(task.kernel, task)
    if not build.ok:
        return Outcome(task.name, mutant, "none", "does not compile")
    own_build = build_candidate(task, own)
    if program_text(build) == program_text(own_build) and candidate.launch == own.launch:
        return Outcome(task.name, mutant, "none", "the same program")
    device = VirtualGpu(max_instructions=MOST_INSTRUCTIONS, deadline_seconds=30)
    found = check_candidate(small_task(task), candidate, device, build=build, secret_seed=secret_seed)
    if found.verdict == "right":  # the whole check, as a candidate would get it
        found = check_candidate(task, candidate, VirtualGpu(), build=build, secret_seed=secret_seed)
    if found.verdict != "right":
        return Outcome(task.name, mutant, "killed", why(found))
    if same_bits(task, (own, own_build), (candidate, build)):
        return Outcome(task.name, mutant, "none", SAME_BITS)
    return Outcome(task.name, mutant, "survived", "right")


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


def cuda_tasks() -> list[Path]:
    """The example tasks whose kernel is CUDA C++: the mistakes are made in its tokens."""
    return sorted(folder for folder in TASKS.iterdir() if (folder / "kernel.cu").exists())


def run(count: int | None, seed: int | None) -> Iterator[Outcome]:
    for task, mutant in chosen([read_task(folder) for folder in cuda_tasks()], count, seed):
        yield outcome(task, mutant, SECRET_SEED if seed is None else seed)


def main() -> None:
    asked = os.environ.get("WARPSIGHT_MUTANTS", str(DEFAULT_COUNT))
    drawn = os.environ.get("WARPSIGHT_MUTANTS_SEED", "")
    start, outcomes = time.monotonic(), list[Outcome]()
    for done in run(None if asked == "all" else int(asked), int(drawn) if drawn else None):
        outcomes.append(done)
        if done.state == "survived":
            print(f"  survived: {done.task}: {done.mutant.name}", flush=True)
        if len(outcomes) % 50 == 0:
            print(f"  {len(outcomes)} tried, {time.monotonic() - start:.0f} s", flush=True)
    report(outcomes)


def report(outcomes: Sequence[Outcome]) -> None:
    """The rates, then everything that was not killed, by name."""
    real, known = [o for o in outcomes if o.state != "none"], explanations()
    same = [o for o in outcomes if o.why == SAME_BITS]
    others = len(outcomes) - len(real) - len(same)
    print(f"{len(outcomes)} changes; no mutants: {others} are no program or the same program,")
    print(f"    {len(same)} give the same bits as the kernel they came from in {LAUNCHES} other launches")
    print(f"{'operator':20} {'killed':>7} {'of':>5}")
    for name in OPERATORS:
        of = [o for o in real if o.mutant.operator == name]
        if of:
            print(f"{name:20} {sum(o.state == 'killed' for o in of):7} {len(of):5}")
    killed = sum(o.state == "killed" for o in real)
    print(f"{'all':20} {killed:7} {len(real):5}  {killed / max(len(real), 1):.1%} killed")
    print(f"counting those with the same bits as mutants too: {killed / max(len(real) + len(same), 1):.1%}")
    names = Counter(o.why for o in real if o.state == "killed").most_common(12)
    print("killed for:", ", ".join(f"{n} {k}" for k, n in names))
    for o in (*(o for o in real if o.state == "survived"), *same):
        print(f"{'survived' if o.state == 'survived' else 'same bits'}: {o.task}: {o.mutant.name}")
        print(f"    {known.get((o.task, o.mutant.name), 'NOT EXPLAINED')}")
