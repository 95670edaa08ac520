"""Kernels of HeCBench's programs captured as tasks: does the original pass its check, does a planted mistake fail it.

`captures:PATH` with the path of a checkout; `,n=60` stops after so many tasks, `,per=4` takes so many kernels of a
program, `,rows=FILE` takes programs that ended well in the rows of the bench `programs`, with their arguments, `,quick`
those alone that build quickly: little source, no library, no input file. `,only=NAME+NAME` takes some, `,again=refused`
runs programs with this outcome again where the code has changed since, `,for=300` begins no other program after so many
seconds, `,show` prints the table alone.
The largest launches that a check can repeat come first. Of its mutants one is planted, drawn with a fixed
seed among those that change a bit of the results on what was recorded or on three other draws. Rows go to
build/captures.jsonl, one for each program, and without the programs' own words to results/captures-rows.jsonl. A second
run goes on there.
"""

from __future__ import annotations

import json
import math
import random
import re
import resource
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.mutations import Mutant, mutants
from benchmarks.programs.outcomes import SOURCES, needs
from benchmarks.programs.rows import Row, Rows, commits
from benchmarks.programs.run_lines import arguments_of, reduced

OUT, TASKS = Path("build/captures.jsonl"), Path("build/captured")
KEPT = Path(__file__).parents[1] / "results" / "captures-rows.jsonl"
SEED = 20
MOST_RUN, MOST_LAUNCH, CAP_BYTES = 100_000_000, 800_000, 4 << 20
BLOCK_WORK = 100  # what a block costs beside its instructions
SMALLER = (64, 16, 1)  # what numbers among the arguments are divided by, until a launch is small enough
WALL_S, RUN_CPU_S = 600, 4
MOST_DRAWN = 40
MOST_KERNELS = 6
QUICK_BYTES = 24_000
SLOW_TO_BUILD = re.compile(rb"#\s*include\s*[<\"](?:thrust|cub|boost|cute|cutlass)/")


def main(argument: str = "") -> None:
    """Capture what is left, then print the table."""
    first, *words = argument.split(",")
    options = {name: value for name, _, value in (word.partition("=") for word in words)}
    if not first:
        print("left out: name a checkout of HeCBench, captures:PATH")
        return
    source, most = Path(first) / "src", int(options.get("n", 60))
    again = frozenset(filter(None, options.get("again", "").split("+")))
    rows = Rows(OUT, lambda row: (row["program"],), kept=KEPT, again=again)
    until = time.monotonic() + float(options.get("for", math.inf))
    for name, arguments in programs(source, options):
        if "show" in options or len(tasks(rows.found.values())) >= most or time.monotonic() > until:
            break
        if rows.wanted({"program": name}):
            row = apart(source / name, arguments, int(options.get("per", 4)))
            rows.add(row)
            rows.keep(without_texts)
            print(
                "\n".join(f"{name}: {told(kernel)}" for kernel in row["kernels"]) or f"{name}: {row['reason']}",
                flush=True,
            )
    show(list(rows.found.values()))


def without_texts(row: Row) -> Row:
    """A row for the repository: no lines of the programs, no paths of this machine."""

    def plain(reason: str) -> str:
        return re.sub(r" \(`.*|\S*/src/|no row: .*", "", reason, flags=re.DOTALL) or "no row"

    kernels = [{k: plain(v) if isinstance(v, str) else v for k, v in kernel.items()} for kernel in row["kernels"]]
    return row | {"reason": plain(row["reason"]) if row["reason"] else "", "kernels": kernels}


def told(kernel: Row) -> str:
    return f"{kernel['kernel']}: {kernel['outcome']} {kernel.get('reason', '')[:140]} {kernel.get('mutant_check', '')}"


def tasks(rows: Any) -> list[Row]:
    return [kernel for row in rows for kernel in row["kernels"] if "check" in kernel]


def programs(source: Path, options: dict[str, str]) -> list[tuple[str, list[str]]]:
    """Names and arguments: of those that ended well where rows are given, else of all in a fixed random order."""
    if "rows" in options:
        found = [json.loads(line) for line in Path(options["rows"]).read_text().splitlines()]
        good = [r for r in found if r["outcome"] in ("passed", "no verdict") and r["warp_instructions"] < MOST_RUN]
        return [(r["program"], r["arguments"]) for r in sorted(good, key=lambda r: r["warp_instructions"])]
    names = sorted(path.name for path in source.glob("*-cuda") if path.is_dir())
    random.Random(SEED).shuffle(names)
    if "only" in options:
        names = [name for name in names if name in options["only"].split("+")]
    return [(n, arguments_of(source / n)) for n in names if "quick" not in options or is_quick(source / n)]


def is_quick(folder: Path) -> bool:
    """Whether a program builds quickly and needs nothing but itself, by what its folder shows."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.suffix in SOURCES]
    texts = [path.read_bytes() for path in files]
    words = arguments_of(folder)
    return (
        0 < sum(map(len, texts)) <= QUICK_BYTES
        and not any(SLOW_TO_BUILD.search(text) for text in texts)
        and not needs(folder)
        and all(re.fullmatch(r"-{0,2}[\w.=]+", word) for word in words)
        and not any(re.search(r"\.[a-z]\w*$", word) for word in words)
    )


def apart(folder: Path, arguments: list[str], most: int) -> Row:
    """The row of one program, made in a process of its own."""
    asked = json.dumps([str(folder), arguments, most])
    failed = {"program": folder.name, "arguments": arguments, "outcome": "not run", "kernels": []}
    ran = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.captures", asked], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        output, errors = ran.communicate(timeout=WALL_S)
        return json.loads(output)
    except subprocess.TimeoutExpired:
        ran.terminate()
        ran.communicate()
        return {**failed, "reason": f"no end after {WALL_S} s"}
    except ValueError:
        return {**failed, "reason": f"no row: {errors[-300:]}"}


def captured(folder: Path, arguments: list[str], most: int) -> Row:
    """The row of one program, with arguments as small as it takes."""
    row: Row = {}
    for by in SMALLER:
        words = reduced(arguments, by)
        if row and words == row["arguments"]:
            continue
        row = with_arguments(folder, words, most)
        if row["outcome"] != "not run" or row["reason"].startswith(("it does not build", "time_limit")):
            break
    return row | {"cpu_s": cpu_s()}


def cpu_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return round(sum(one.ru_utime + one.ru_stime for one in used), 1)


def with_arguments(folder: Path, arguments: list[str], most: int) -> Row:
    """The same with these arguments. Kernels are tried until so many are captured."""
    from warpsight.errors import WarpsightError
    from warpsight.programs.build import BuildFailed
    from warpsight.verbs.run_program import ProgramQuestion, run_whole
    from warpsight.vgpu.faults import kernel_name

    row: Row = {"program": folder.name, "arguments": arguments, "outcome": "not run", "reason": "", "kernels": []}
    program = ProgramQuestion(folder, tuple(arguments), times=False, cores=1, limit_s=300, cpu_limit_s=RUN_CPU_S)
    try:
        run = run_whole(program, output=_quiet, errors=_quiet)
    except BuildFailed as problem:
        return row | {"reason": f"it does not build: {problem.said.strip()[-200:]}"}
    except WarpsightError as problem:
        return row | {"reason": problem.message[:300]}
    largest: dict[str, tuple[float, Any]] = {}
    for kernel in run.kernels:
        ran = kernel.launches - kernel.skipped
        work = kernel.warp_instructions / ran + math.prod(kernel.grid) * BLOCK_WORK if ran else math.inf
        name = kernel_name(kernel.kernel)  # of a template one instance
        if work <= MOST_LAUNCH and work > largest.get(name, (0.0, None))[0]:
            largest[name] = work, kernel
    if not largest:
        return row | {"reason": f"{run.end}: {len(run.kernels)} launches, none of a size for checks"}
    for _, kernel in sorted(largest.values(), key=lambda found: -found[0])[:MOST_KERNELS]:
        if len(tasks([row])) < most:
            row["kernels"].append(one(folder.name, program, kernel))
    return row | {"outcome": outcome(row["kernels"]), "reason": ""}


def outcome(kernels: list[Row]) -> str:
    """Of the program: `captured` where a kernel was, and each was right and its mutant was not."""
    took = [kernel for kernel in kernels if "check" in kernel]
    if not took:
        return "refused"
    good = all(kernel["check"] == "right" and kernel.get("mutant_check") != "right" for kernel in took)
    return "captured" if good else "missed"


def one(name: str, program: Any, kernel: Any) -> Row:
    """One kernel, launched in one size: captured, checked, and with a mistake planted."""
    from warpsight.errors import WarpsightError
    from warpsight.verbs.capture import CaptureQuestion, capture
    from warpsight.vgpu.faults import kernel_name

    row: Row = {"kernel": kernel_name(kernel.kernel)}
    folder = TASKS / f"{name}-{row['kernel']}"
    shutil.rmtree(folder, ignore_errors=True)

    def wanted(found: str, asked: Any) -> bool:
        return (found, asked.grid, asked.block) == (kernel.kernel, kernel.grid, kernel.block)

    question = CaptureQuestion(program, kernel.kernel, cap_bytes=CAP_BYTES, wanted=wanted)
    try:
        task = capture(question, folder, output=_quiet, errors=_quiet, say=lambda _: None)
    except WarpsightError as refused:
        return row | {"outcome": "refused", "reason": refused.message[:500]}
    found = verdict_of(task, task.kernel)
    row |= {"outcome": "captured", "check": found, "fills": {a.name: a.fill or a.role for a in task.arguments}}
    row |= {"axes": {a.name: [a.min, a.max] for a in task.axes}}
    planted, in_vain = drawn_mutant(task)
    row |= {"drawn_in_vain": in_vain}
    return row if planted is None else row | {"mutant": planted.name, "mutant_check": verdict_of(task, planted.text)}


def verdict_of(task: Any, text: str) -> str:
    from warpsight.devices.virtual import VirtualGpu
    from warpsight.gate.check import check_candidate
    from warpsight.tasks import read_candidate

    found = check_candidate(task, read_candidate(text, task), VirtualGpu(cores=1, deadline_seconds=60.0))
    return found.verdict if found.verdict == "right" else f"{found.verdict}: {found.reason}"[:200]


def drawn_mutant(task: Any) -> tuple[Mutant | None, int]:
    """One of the kernel's mutants that computes something else, and how many were drawn in vain."""
    from warpsight.gate.kernel import build_candidate
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
    from warpsight.gate.kernel import build_candidate
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


def show(rows: list[Row]) -> None:
    """The table, with reasons counted."""
    found = [{**kernel, "program": row["program"]} for row in rows for kernel in row["kernels"]]
    took = [kernel for kernel in found if "check" in kernel]
    right = sum(kernel["check"] == "right" for kernel in took)
    planted = [kernel for kernel in took if "mutant" in kernel]
    caught = sum(kernel["mutant_check"] != "right" for kernel in planted)
    several = len({kernel["program"] for kernel in took})
    print(f"\n{len(rows)} programs, {len(found)} kernels tried: captured {len(took)} of {several} programs, "
          f"right {right}, mutants {len(planted)}, caught {caught}")  # fmt: skip
    for kernel in planted:
        if kernel["mutant_check"] == "right":
            print(f"  missed: {kernel['program']} {kernel['kernel']}: {kernel['mutant']}")
    print(f"rows were made at: {commits(rows)}")
    for what, reasons in (
        ("kernels refused", [k["reason"] for k in found if "check" not in k]),
        ("programs not run", [row["reason"] for row in rows if row["outcome"] == "not run"]),
    ):
        print(f"{what}, {len(reasons)}:")
        for reason, times in Counter(reason[:110] for reason in reasons).most_common(40):
            print(f"  {times} x {reason}")


def _quiet(_: bytes) -> None:
    """What a program prints is not wanted here."""


if __name__ == "__main__":
    print(json.dumps(captured(Path((given := json.loads(sys.argv[1]))[0]), given[1], max(4, given[2]))))
