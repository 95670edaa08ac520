"""Kernels of HeCBench's programs captured as tasks: does the original pass its check, does a planted mistake fail it.

`captures:PATH` with the path of a checkout; `,n=60` stops after so many tasks, `,per=1` takes so many kernels of a
program, `,rows=FILE` takes programs that ended well in the rows of the bench `programs`, with their arguments.
The kernel with the most work that a check can repeat comes first. Of its mutants one is planted, drawn with a fixed
seed among those that change a bit of the results on what was recorded or on three other draws. Rows go to
build/captures.jsonl, and a second run goes on there.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.mutations import Mutant, mutants
from benchmarks.programs import arguments_of, reduced

OUT, TASKS = Path("build/captures.jsonl"), Path("build/captured")
SEED = 20
MOST_RUN, MOST_LAUNCH, CAP_BYTES = 100_000_000, 300_000, 4 << 20
SMALLER = (64, 16, 1)  # what numbers among the arguments are divided by, until a launch is small enough
WALL_S = 600
MOST_DRAWN = 40
MOST_KERNELS = 3


def main(argument: str = "") -> None:
    """Capture what is left, then print the table."""
    words = argument.split(",")
    options = dict(word.split("=", 1) for word in words[1:])
    if not words[0]:
        print("left out: name a checkout of HeCBench, captures:PATH")
        return
    source = Path(words[0]) / "src"
    OUT.parent.mkdir(exist_ok=True)
    tried = {row["program"] for row in rows()}
    for name, arguments in programs(source, options.get("rows")):
        if sum(row["outcome"] == "captured" for row in rows()) >= int(options.get("n", 60)):
            break
        if name in tried:
            continue
        for row in apart(source / name, arguments, int(options.get("per", 1))):
            with OUT.open("a") as file:
                file.write(json.dumps(row) + "\n")
            told = f"{row['program']}: {row['kernel']}: {row['outcome']} {row.get('reason', '')[:140]}"
            print(f"{told} {row.get('check', '')} mutant {row.get('mutant_check', '')}", flush=True)
    show(rows())


def rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in OUT.read_text().splitlines()] if OUT.is_file() else []


def programs(source: Path, known: str | None) -> list[tuple[str, list[str]]]:
    """Names and arguments: of those that ended well where rows are given, else of all in a fixed random order."""
    if known is not None:
        found = [json.loads(line) for line in Path(known).read_text().splitlines()]
        good = [r for r in found if r["outcome"] in ("passed", "no verdict") and r["warp_instructions"] < MOST_RUN]
        return [(r["program"], r["arguments"]) for r in sorted(good, key=lambda r: r["warp_instructions"])]
    names = sorted(path.name for path in source.glob("*-cuda") if path.is_dir())
    random.Random(SEED).shuffle(names)
    return [(name, reduced(arguments_of(source / name), 16)) for name in names]


def apart(folder: Path, arguments: list[str], most: int) -> list[dict[str, Any]]:
    """The rows of one program, made in a process of its own."""
    asked = json.dumps([str(folder), arguments, most])
    common = {"program": folder.name, "arguments": arguments, "kernel": "", "outcome": "not run"}
    try:
        ran = subprocess.run(
            [sys.executable, "-m", "benchmarks.captures", asked], capture_output=True, text=True, timeout=WALL_S,
            check=False,
        )  # fmt: skip
        return json.loads(ran.stdout)
    except subprocess.TimeoutExpired:
        return [{**common, "reason": f"no end after {WALL_S} s"}]
    except ValueError:
        return [{**common, "reason": f"no rows: {ran.stderr[-300:]}"}]


def captured(folder: Path, arguments: list[str], most: int) -> list[dict[str, Any]]:
    """A row for each kernel of a program that was tried."""

    found = [{"program": folder.name, "arguments": arguments, "kernel": "", "outcome": "not run", "reason": ""}]
    for by in SMALLER:
        words = reduced(arguments, by)
        if by != SMALLER[0] and words == found[0]["arguments"]:
            continue
        found = with_arguments(folder, words, most)
        if any(row["outcome"] == "captured" for row in found):
            break
    return found


def with_arguments(folder: Path, arguments: list[str], most: int) -> list[dict[str, Any]]:
    """The same with these arguments. Kernels are tried until so many are captured."""
    from warpsight.errors import WarpsightError
    from warpsight.verbs.run_program import ProgramQuestion, run_whole
    from warpsight.vgpu.faults import kernel_name

    common = {"program": folder.name, "arguments": arguments}
    program = ProgramQuestion(folder, tuple(arguments), times=False, cores=1, limit_s=300, cpu_limit_s=20)
    try:
        run = run_whole(program, output=_quiet, errors=_quiet)
    except WarpsightError as problem:
        return [{**common, "kernel": "", "outcome": "not run", "reason": problem.message[:300]}]
    work: Counter[str] = Counter()
    for row in run.kernels:
        ran = row.launches - row.skipped
        if ran and row.warp_instructions / ran <= MOST_LAUNCH:
            work[row.kernel] += row.warp_instructions
    if not work:
        return [{**common, "kernel": "", "outcome": "not run", "reason": f"{run.end}: no launch of a size for checks"}]
    found: list[dict[str, Any]] = []
    for kernel, _ in work.most_common(MOST_KERNELS):
        if sum(row["outcome"] == "captured" for row in found) < most:
            found.append(one({**common, "kernel": kernel_name(kernel)}, program, kernel))
    return found


def one(row: dict[str, Any], program: Any, kernel: str) -> dict[str, Any]:
    """One kernel: captured, checked, and with a mistake planted."""
    from warpsight.errors import WarpsightError
    from warpsight.verbs.capture import CaptureQuestion, capture

    folder = TASKS / f"{row['program']}-{row['kernel']}"
    shutil.rmtree(folder, ignore_errors=True)
    began = time.process_time()
    try:
        task = capture(
            CaptureQuestion(program, kernel, cap_bytes=CAP_BYTES),
            folder,
            output=_quiet,
            errors=_quiet,
            say=lambda _: None,
        )
    except WarpsightError as refused:
        return row | {"outcome": "refused", "reason": refused.message[:500]}
    found = verdict_of(task, task.kernel)
    row |= {"outcome": "captured", "check": found, "fills": {a.name: a.fill or a.role for a in task.arguments}}
    planted, in_vain = drawn_mutant(task)
    if planted is not None:
        row |= {"drawn_in_vain": in_vain, "mutant": planted.name, "mutant_check": verdict_of(task, planted.text)}
    return row | {"cpu_s": round(time.process_time() - began, 1)}


def verdict_of(task: Any, text: str) -> str:
    from warpsight.devices.virtual import VirtualGpu
    from warpsight.gate.check import check_candidate
    from warpsight.tasks import read_candidate

    found = check_candidate(task, read_candidate(text, task), VirtualGpu(cores=1, deadline_seconds=60.0))
    return found.verdict if found.verdict == "right" else f"{found.verdict}: {found.reason}"[:200]


def drawn_mutant(task: Any) -> tuple[Mutant | None, int]:
    """One of the kernel's mutants that computes something else, and how many were drawn in vain."""
    from warpsight.gate.check import build_candidate
    from warpsight.tasks import read_candidate

    own = build_candidate(task, read_candidate(task.kernel, task))
    right = results(task, task.kernel)
    made = [m for m in mutants(task.kernel) if m.line > 1]
    random.Random(f"{SEED} {task.name}").shuffle(made)
    for count, mutant in enumerate(made[:MOST_DRAWN]):
        build = build_candidate(task, read_candidate(mutant.text, task))
        if build.ok and code_of(build.ptx) != code_of(own.ptx) and results(task, mutant.text) != right:
            return mutant, count
    return None, min(len(made), MOST_DRAWN)


def results(task: Any, text: str) -> list[bytes]:
    """What a kernel writes on the recorded contents, and on draws that no check makes."""
    from warpsight.devices.virtual import VirtualGpu
    from warpsight.gate.check import build_candidate
    from warpsight.gate.values import fresh_values
    from warpsight.tasks import evaluate_launch, launch_of, read_candidate

    candidate = read_candidate(text, task)
    build, found = build_candidate(task, candidate), list[bytes]()
    for workload, seed in zip(
        (*task.workloads, task.workloads[-1], task.workloads[-1]), (7, 701, 702, 703), strict=False
    ):
        values = fresh_values(task, workload, seed)[1]
        size = launch_of(build, evaluate_launch(candidate, workload.axes))
        done = VirtualGpu(cores=1, deadline_seconds=30.0).execute(build, task.entry, values, size, check=False)
        found += [repr(done.faults[:1] and done.faults[0].kind).encode(), *(a.tobytes() for a in done.arrays.values())]
    return found


def code_of(ptx: str) -> str:
    """Its instructions, without where they stood in the source."""
    return "\n".join(line for line in ptx.splitlines() if not line.lstrip().startswith((".loc", ".file", "//")))


def show(found: list[dict[str, Any]]) -> None:
    """The table, with reasons counted."""
    took = [row for row in found if row["outcome"] == "captured"]
    right = sum(row["check"] == "right" for row in took)
    planted = [row for row in took if "mutant" in row]
    caught = sum(row["mutant_check"] != "right" for row in planted)
    print(f"\nn = {len(found)} kernels: captured {len(took)}, right {right}, mutants {len(planted)}, caught {caught}")
    for row in planted:
        if row["mutant_check"] == "right":
            print(f"  missed: {row['program']} {row['kernel']}: {row['mutant']}")
    for reason, times in Counter(r["reason"][:90] for r in found if r["outcome"] != "captured").most_common(30):
        print(f"  {times} x {reason}")


def _quiet(_: bytes) -> None:
    """What a program prints is not wanted here."""


if __name__ == "__main__":
    print(json.dumps(captured(Path((given := json.loads(sys.argv[1]))[0]), given[1], given[2])))
