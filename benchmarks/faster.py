"""HeCBench's programs by `warpsight optimize PROGRAM`, by the default search without a model, end to end.

`faster:PATH` with the path of a checkout takes the programs of build/captures.jsonl that a kernel was captured of, with
those arguments; `,only=NAME+NAME` takes some, `,by=4` divides the numbers of their Makefile's arguments instead,
`,n=20` stops after so many that got faster, `,cpu=150` ends one after so many processor seconds, `,seconds=60` is the
budget of the search for one kernel, `,again=OUTCOME` runs these again where the code has changed, `,for=300` begins no
other program after so many seconds, `,show` prints the table alone. Kernel and whole program are timed in simulation.
A patch is tried as a user would: `git apply` in a fresh copy of the sources, which is then built. Rows go to
build/faster.jsonl, and a second run goes on there.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from benchmarks.captures import KEPT
from benchmarks.captures import OUT as CAPTURED
from benchmarks.programs.rows import Row, Rows, commits
from benchmarks.programs.run_lines import arguments_of, reduced

OUT, FOLDERS = Path("build/faster.jsonl"), Path("build/faster")
TICKS = os.sysconf("SC_CLK_TCK")
WALL_FACTOR = 15


def main(argument: str = "") -> None:
    """Optimise what is left, then print the table."""
    first, *words = argument.split(",")
    options = {name: value for name, _, value in (word.partition("=") for word in words)}
    if not first:
        print("left out: name a checkout of HeCBench, faster:PATH")
        return
    source, most = Path(first) / "src", int(options.get("n", 20))
    again = frozenset(filter(None, options.get("again", "").split("+")))
    rows = Rows(OUT, lambda row: (row["program"],), again=again)
    until = time.monotonic() + float(options.get("for", math.inf))
    for name, arguments in programs(source, options):
        done = sum(row["outcome"] == "faster" for row in rows.found.values()) >= most
        if "show" in options or done or time.monotonic() > until:
            break
        if rows.wanted({"program": name}):
            row = apart(source / name, arguments, options)
            rows.add(row)
            print(f"{name}: {row['outcome']} {row.get('kernel_ratio', '')} {row['reason'][:200]}", flush=True)
    show(list(rows.found.values()))


def programs(source: Path, options: dict[str, str]) -> list[tuple[str, list[str]]]:
    """Names and arguments."""
    files = [path for path in (KEPT, CAPTURED) if path.is_file()]
    found: list[Row] = [json.loads(line) for path in files for line in path.read_text().splitlines()]
    known = {row["program"]: row for row in found if row["outcome"] == "captured"}
    names = options["only"].split("+") if "only" in options else list(known)
    if "by" in options:
        return [(name, reduced(arguments_of(source / name), int(options["by"]))) for name in names]
    return [(name, known[name]["arguments"]) for name in names if name in known]


def apart(folder: Path, arguments: list[str], options: dict[str, str]) -> Row:
    """The row of one program, made in a process of its own that is ended when it has used its processor time."""
    most_s = float(options.get("cpu", 150))
    asked = json.dumps([str(folder), arguments, options.get("seconds", "60")])
    row: Row = {"program": folder.name, "arguments": arguments, "outcome": "not run", "reason": ""}
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        ran = subprocess.Popen([sys.executable, "-m", "benchmarks.faster", asked], stdout=output, stderr=errors)
        used, ended = watched(ran, most_s)
        output.seek(0)
        errors.seek(0)
        row |= {"cpu_s": round(used, 1)}
        if not ended:
            return row | {"outcome": "too long", "reason": f"no end after {used:.0f} processor seconds"}
        try:
            return row | json.loads(output.read())
        except ValueError:
            return row | {"reason": errors.read().decode(errors="replace")[-300:]}


def watched(ran: subprocess.Popen[bytes], most_s: float) -> tuple[float, bool]:
    """Processor seconds of a process and all that it started, and whether it ended by itself."""
    began, used = time.monotonic(), 0.0
    while ran.poll() is None:
        used = max(used, tree_seconds(ran.pid))
        if used > most_s or time.monotonic() - began > WALL_FACTOR * most_s:
            ran.send_signal(signal.SIGTERM)
            try:
                ran.wait(30)
            except subprocess.TimeoutExpired:
                ran.kill()
                ran.wait()
            return used, False
        time.sleep(0.5)
    return used, True


def tree_seconds(root: int) -> float:
    """What a process and those below it have used, with what they waited for."""
    ticks, parents = dict[int, int](), dict[int, int]()
    for place in Path("/proc").iterdir():
        if place.name.isdecimal():
            try:
                words = (place / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(place.name)] = int(words[1])
            ticks[int(place.name)] = sum(map(int, words[11:15]))
    below = {root}
    while more := {pid for pid, parent in parents.items() if parent in below} - below:
        below |= more
    return sum(ticks.get(pid, 0) for pid in below) / TICKS


def optimized(folder: Path, arguments: list[str], seconds: str) -> Row:
    """The row of one program."""
    from warpsight.errors import WarpsightError
    from warpsight.verbs.optimize_program import ProgramJob, optimize_program
    from warpsight.verbs.run_program import ProgramQuestion

    out = FOLDERS / folder.name
    shutil.rmtree(out, ignore_errors=True)
    program = ProgramQuestion(folder, tuple(arguments), cores=1)
    job = ProgramJob(program, out, cap_bytes=16 << 20, asked={"budget": f"seconds={seconds}", "model": "guided"})
    try:
        found = optimize_program(job, lambda text: print(text, file=sys.stderr, flush=True))
    except WarpsightError as problem:
        return {"outcome": "not run", "reason": problem.message[:300]}
    left = [[name, reason[:200]] for name, reason in found.left]
    if found.speedup is None or found.kernel is None or found.task is None:
        return {"outcome": "not faster", "reason": "; ".join(f"{n}: {r}" for n, r in left)[:500], "left": left}
    told = found.speedup
    return {
        "outcome": "faster", "reason": "", "left": left, "kernel": told.kernel,
        "kernel_ratio": round(told.kernel_ratio, 3),
        "kernel_share": round(told.kernel_share, 3), "decision": told.decision, "certificate": told.certificate,
        "whole_ratio": round(told.ratio, 3), "before_us": told.before_us, "after_us": told.after_us,
        "kernels_before_us": found.first.kernel_us, "output": told.output, "own_check": told.own_check_after,
        "axes": {a.name: [a.min, a.max] for a in found.task.axes}, "changed": list(found.kernel.changed),
        "launch": [text.split("\n", 1)[0] for text in (found.task.kernel, found.kernel.text)],
        **tried_patch(folder, out),
    }  # fmt: skip


def tried_patch(folder: Path, out: Path) -> Row:
    """Whether `git apply` takes the patch in a fresh copy of the sources, and whether that builds."""
    from warpsight.capture.workspace import copied_program
    from warpsight.errors import WarpsightError
    from warpsight.programs.build import build_program

    with tempfile.TemporaryDirectory() as place:
        copy = copied_program(folder, Path(place))
        command = ["git", "apply", "-p1", str((out / "faster.patch").resolve())]
        applied = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)
        same = all(
            (copy / path.relative_to(out / "patched" / folder.name)).read_bytes() == path.read_bytes()
            for path in (out / "patched" / folder.name).rglob("*")
            if path.is_file() and not path.is_symlink()
        )
        row: Row = {"patch_applies": applied.returncode == 0 and same}
        row |= {"patch_lines": (out / "faster.patch").read_text(errors="replace").count("\n")}
        try:
            build_program(copy, "sm_80")
        except WarpsightError as problem:
            return row | {"patched_builds": False, "reason": problem.message[:300]}
        return row | {"patched_builds": True}


def show(rows: list[Row]) -> None:
    """The table: what got faster, then what did not and why."""
    faster = [row for row in rows if row["outcome"] == "faster"]
    print(f"\n{len(rows)} programs: {dict(Counter(row['outcome'] for row in rows))}; all times are simulated")
    print(f"rows were made at: {commits(rows)}\n")
    print("| program | arguments | kernel | kernel | share | whole program | decision | output | own check | patch |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for row in sorted(faster, key=lambda row: -row["kernel_ratio"]):
        patch = "applies, builds" if row["patch_applies"] and row["patched_builds"] else "does not apply or build"
        print(
            f"| {row['program'].removesuffix('-cuda')} | {' '.join(row['arguments'])} | {row['kernel']} "
            f"| {row['kernel_ratio']:.2f}x | {row['kernel_share']:.0%} | {row['whole_ratio']:.2f}x | {row['decision']} "
            f"| {row['output']} | {row['own_check']} | {patch} |"
        )
    if faster:
        print(f"\ngeometric mean of {len(faster)}: kernel {mean(faster, 'kernel_ratio'):.2f}x, "
              f"whole program {mean(faster, 'whole_ratio'):.2f}x; with a certificate: "
              f"{sum(bool(row['certificate']) for row in faster)}")  # fmt: skip
    print("\nwhat was changed:")
    for row in faster:
        print(f"  {row['program'].removesuffix('-cuda')}: {'; '.join(row['changed'])}")
    print("\nthe others:")
    for row in rows:
        if row["outcome"] != "faster":
            print(f"  {row['program'].removesuffix('-cuda')}: {row['outcome']}: {row['reason'][:300]}")


def mean(rows: list[Row], key: str) -> float:
    return math.exp(sum(math.log(row[key]) for row in rows) / len(rows))


if __name__ == "__main__":
    print(json.dumps(optimized(Path((given := json.loads(sys.argv[1]))[0]), given[1], given[2])))
