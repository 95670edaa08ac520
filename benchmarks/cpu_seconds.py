"""CPU seconds of profile, check, compare and rewrite on six tasks, caches empty, and where they go.

Each command is a process of its own with an empty cache folder; CPU seconds are those of it and of all processes below
it, so they hardly depend on what else the machine does. `cpu_seconds:profile,check` takes some commands,
`cpu_seconds:task=transpose` one task, `cpu_seconds:json=FILE` adds the rows to a file. `cpu_seconds:before=TREE` runs
each command with another checkout too, which is set up, turn by turn, and gives the ratio. The stages are measured
inside the command (`cpu_stages.py`), which itself costs a few hundredths of a second.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
HELD_OUT = (30, 40, 90)  # rows of results/test.jsonl
OWN = ("transpose", "matmul_tiled", "softmax")
REWRITTEN = ("held-out-30", "held-out-90", "transpose", "softmax")  # the whole gate for every cause is long
COMMANDS = ("profile", "check", "compare", "rewrite")
STAGES = Path(__file__).with_name("cpu_stages.py")


def task_folders(into: Path) -> dict[str, Path]:
    """The six tasks by name; held-out ones are written as folders."""
    found = dict[str, Path]()
    command = Path(sys.executable).parent / "warpsight"
    for row in HELD_OUT:
        folder = into / f"held-out-{row}"
        words = [command, "corpus", "show", ROOT / "results" / "test.jsonl", str(row), "--out", folder, "--json"]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        found[folder.name] = folder
    return found | {name: ROOT / "tasks" / name for name in OWN}


def words_of(command: str, task: Path, scratch: Path) -> list[str]:
    kernel = next(str(file) for file in sorted(task.glob("kernel.*")))
    if command == "compare":  # with itself: all of the gate, and no winner
        return [command, str(task), "--candidate", kernel, "--seed", "7", "--json"]
    if command == "rewrite":
        return [command, str(task), "--out", str(scratch / "best.cu"), "--json"]
    return [command, str(task), "--json"]


def measure(command: str, task: Path, scratch: Path, python: str = sys.executable) -> dict[str, Any]:
    """One command with empty caches: its CPU seconds in all, by stage, and what it printed. `python` is a tree's."""
    shutil.rmtree(scratch / "cache", ignore_errors=True)
    report = scratch / "stages.json"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {
        "WARPSIGHT_CACHE": str(scratch / "cache"), "WARPSIGHT_DATA": str(scratch / "data"), "CPU_STAGES": str(report),
    }  # fmt: skip
    words = [python, str(STAGES), *words_of(command, task, scratch)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=scratch, env=environment)
    said, told = process.communicate()
    if process.returncode not in (0, 1):
        raise SystemExit(f"{words} ended with {process.returncode}: {told.decode()[-2000:]}")
    stages = json.loads(report.read_text())
    return {**stages, "answer": json.loads(said)}


def summary(command: str, answer: dict[str, Any]) -> Any:
    """What must not change: verdicts, and the best rewrite with its ratio."""
    if command == "rewrite":
        causes = answer["causes"]
        best = answer["best"]
        return {"best": best, "ratio": causes[best]["ratio"] if best else None}
    if command == "profile":
        return {"duration_us": answer.get("profile", answer).get("counters", {}).get("duration_us")}
    return {"verdict": answer.get("verdict") or answer.get("check", {}).get("verdict")}


def pace_s() -> float:
    """CPU seconds of a fixed piece of Python: what a second is worth here and now, with whatever else runs."""
    began = time.process_time()
    total = 0
    for number in range(2_000_000):
        total += number * number % 7
    return time.process_time() - began


def main(argument: str = "") -> list[dict[str, Any]]:
    asked = [word for word in argument.split(",") if word]
    named = dict(word.split("=", 1) for word in asked if "=" in word)
    commands = [word for word in asked if "=" not in word] or COMMANDS
    trees = {"now": sys.executable}
    if "before" in named:
        trees = {"before": str(Path(named["before"]) / ".venv/bin/python"), **trees}
    rows = list[dict[str, Any]]()
    paces = list[float]()
    with tempfile.TemporaryDirectory(prefix="cpu-seconds-") as folder:
        scratch = Path(folder)
        tasks = task_folders(scratch)
        if "task" in named:
            tasks = {name: path for name, path in tasks.items() if name == named["task"]}
        for command in commands:
            for name, task in tasks.items():
                if command == "rewrite" and name not in REWRITTEN and "task" not in named:
                    continue
                paces.append(pace_s())
                for tree, python in trees.items():
                    found = measure(command, task, scratch, python)
                    told = summary(command, found.pop("answer"))
                    rows.append({"command": command, "task": name, "tree": tree, **found, "told": told})
                    shown = f"{tree:6} {found['total_s']:6.2f} s" if len(trees) > 1 else f"{found['total_s']:6.2f} s"
                    print(f"  {command:8} {name:14} {shown}  {json.dumps(told)}", flush=True)
            means = [table([r for r in rows if r["command"] == command and r["tree"] == tree], tree) for tree in trees]
            if len(means) > 1:
                print(f"{command}: {means[1] / means[0]:.2f} times the CPU seconds of before", flush=True)
    print(f"pace: a fixed loop took {statistics.median(paces):.3f} CPU seconds, {min(paces):.3f} to {max(paces):.3f}")
    if "json" in named:
        with Path(named["json"]).open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    return rows


def table(rows: list[dict[str, Any]], tree: str) -> float:
    """The mean over the tasks, which is returned, and by stage."""
    sums: dict[str, float] = defaultdict(float)
    counts: dict[str, int] = defaultdict(int)
    for row in rows:
        for stage, (seconds, count) in row["stages"].items():
            sums[stage] += seconds
            counts[stage] += count
    total = sum(row["total_s"] for row in rows)
    n = len(rows)
    print(f"{rows[0]['command']}, {tree}: {total / n:.2f} CPU seconds, the mean of {n} tasks")
    for stage, seconds in sorted(sums.items(), key=lambda one: -one[1]):
        print(f"    {stage:24} {seconds / n:6.2f} s {seconds / total:5.0%}   x {counts[stage] / n:.1f}")
    rest = total - sum(sums.values())
    print(f"    {'the rest':24} {rest / n:6.2f} s {rest / total:5.0%}", flush=True)
    return total / n
