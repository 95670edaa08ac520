"""A program through `warpsight run`: compiled, ended, own check passed, stopped and why.

Reduced arguments: the last number of the Makefile's line (most often how many times it repeats) is at most 2; a run
that takes too long comes again with the other numbers divided by 16 as well.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

PASSED = re.compile(r"\bPASS(ED)?\b|\bSUCCESS(FUL)?\b|\bpassed\b|\bcorrect\b", re.IGNORECASE)
FAILED = re.compile(r"\bFAIL(ED|URE)?\b|\bmismatch|\bincorrect\b|\bwrong\b", re.IGNORECASE)
NO_DATA = re.compile(
    r"no such file|(can ?not|could not|couldn't|failed to|unable to|error) (open|read|load|find)|cannot find|not found|"
    r"error opening|error reading|fopen", re.IGNORECASE,
)  # fmt: skip
LIBRARIES = {"cublas": "cuBLAS", "cusparse": "cuSPARSE", "cufft": "cuFFT", "curand.h": "cuRAND", "cusolver": "cuSOLVER",
             "mpi.h": "MPI", "nccl": "NCCL", "cudnn": "cuDNN", "nvjpeg": "nvJPEG"}  # fmt: skip


def arguments_of(folder: Path) -> list[str]:
    """What `make run` passes to the program."""
    text = (folder / "Makefile").read_text(errors="replace") if (folder / "Makefile").is_file() else ""
    rule = re.search(r"^run:.*\n((?:\t.*\n?)*)", text, re.MULTILINE)
    lines = re.findall(r"\./\S+(.*)$", rule[1], re.MULTILINE) if rule else []
    return lines[-1].split() if lines else []


def reduced(arguments: list[str], by: int) -> list[str]:
    numbers = [i for i, word in enumerate(arguments) if re.fullmatch(r"\d+", word)]
    small = list(arguments)
    for i in numbers[:-1] if by > 1 else []:
        value = int(arguments[i])
        small[i] = str(max(32, value // by)) if value >= 256 else arguments[i]
    if numbers:
        small[numbers[-1]] = str(min(2, int(arguments[numbers[-1]])))
    return small


def tried(folder: Path, way: str, most_s: float) -> dict[str, Any]:
    """One program: its row."""
    arguments = arguments_of(folder)
    row: dict[str, Any] = {}
    for by in (1, 16) if way == "reduced" else (0,):
        words = reduced(arguments, by) if by else arguments
        row = judged(folder, words, most_s)
        if row["reason"] != "time_limit":
            break
    return row


def judged(folder: Path, arguments: list[str], most_s: float) -> dict[str, Any]:
    command = [sys.executable, "-m", "warpsight.cli.app", "run", "--json", "--no-times", "--cores", "1"]
    limits = ["--cpu-limit", str(most_s), "--limit", str(most_s * 15)]
    ran = subprocess.run(
        [*command, *limits, str(folder), *arguments], capture_output=True, text=True, errors="replace",
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, check=False,
    )  # fmt: skip
    common = {"arguments": arguments, "launches": 0, "skipped": 0, "warp_instructions": 0, "kernels": 0}
    try:
        told = json.loads(ran.stdout)
    except ValueError:
        return common | {"outcome": "not compiled", "reason": why_not_compiled(ran.stderr, folder)}
    if "end" not in told:
        return common | {"outcome": "not compiled", "reason": why_not_compiled(ran.stderr + ran.stdout, folder)}
    common |= {
        "launches": told["launches"], "skipped": told["skipped"],
        "kernels": len({k["kernel"] for k in told["kernels"]}),
        "warp_instructions": sum(k["warp_instructions"] for k in told["kernels"]),
        "missing": told["missing"], "refused": told["refused"][:5], "exit_code": told["exit_code"],
        "host_cpu_s": told["host_cpu_s"], "run_s": told["wall_s"],
    }  # fmt: skip
    return common | verdict(told)


def verdict(told: dict[str, Any]) -> dict[str, Any]:
    text = told["output"] + told["errors"]
    faults = [f for f in told["faults"] if not f["warning"]]
    if faults:
        first = faults[0]["fault"]
        return {"outcome": "stopped", "reason": f"{first['kind']}: {first['message']}"[:200]}
    if told["refused"] or told["missing"]:
        return {"outcome": "stopped", "reason": "; ".join([*told["refused"], *told["missing"]])[:200]}
    if told["end"] == "time_limit":
        return {"outcome": "too long", "reason": "time_limit"}
    if told["end"] == "signal" and NO_DATA.search(text):
        return {"outcome": "no data", "reason": "a file that is not in the repository"}
    if told["end"] != "exited":
        return {"outcome": "stopped", "reason": f"{told['end']}: {told['detail']} {last_line(text)}"[:200]}
    if NO_DATA.search(text) and (told["exit_code"] or not told["launches"] or FAILED.search(text)):
        return {"outcome": "no data", "reason": "a file that is not in the repository"}
    if FAILED.search(text) and not re.search(r"\b0 (fail|mismatch|wrong)", text, re.IGNORECASE):
        return {"outcome": "own check failed", "reason": next(iter(FAILED.finditer(text)))[0] + ": " + last_line(text)}
    if told["exit_code"] != 0:
        return {"outcome": "stopped", "reason": f"exit code {told['exit_code']}: {last_line(text)}"[:200]}
    if not told["launches"]:
        return {"outcome": "stopped", "reason": f"no launch: {last_line(text)}"[:200]}
    return {"outcome": "passed" if PASSED.search(text) else "no verdict", "reason": ""}


def last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:120] if lines else ""


def why_not_compiled(text: str, folder: Path) -> str:
    named = re.search(r"fatal error: (\S+): No such file", text)
    library = next((LIBRARIES[key] for key in LIBRARIES if named and key in named[1].lower()), None)
    if library:
        return f"needs {library}"
    if named:
        return f"lacks {named[1]}"
    text = "\n".join(line for line in text.splitlines() if "does not build" not in line and "read: " not in line)
    found = re.search(r"(?:error\s*:|error:|undefined reference to|\*\*\*|failed to create)\s*(.+)", text)
    return (found[0] if found else last_line(text))[:160]


def show(found: list[dict[str, Any]]) -> None:
    """The table, with reasons counted."""
    n = len(found)
    count = Counter(row["outcome"] for row in found)
    compiled = n - count["not compiled"]
    ended = count["passed"] + count["no verdict"] + count["own check failed"]
    print(f"\nn = {n}: compiled {compiled}, ended {ended}, " + ", ".join(f"{k} {v}" for k, v in count.most_common()))
    for outcome in ("not compiled", "stopped", "own check failed", "too long"):
        reasons = Counter(
            re.sub(r"0x[0-9a-f]+|\d+", "N", row["reason"])[:80] for row in found if row["outcome"] == outcome
        )
        for reason, times in reasons.most_common(12):
            print(f"  {outcome}: {times} x {reason}")
