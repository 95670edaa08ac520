"""Programs profiled by machine code: which of their kernels have counts and findings; beside a real card's numbers.

`profile=DATA.csv.gz` names launches as measured on an RTX 3080 (program, arguments, kernel, block, grid, time, DRAM
bytes, operations). Without, programs take the arguments of their Makefiles. Launches are cut off after a while, since
a profile needs no more than what stood in memory before; so kernels that follow see what the cut one left.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.programs.rows import Row, commits

GPU = "rtx-3080"
LAUNCH_S = 0.4
_FLOATS = re.compile(r"^(?:@!?U?P\w+ )?([FDH])(FMA|MUL|ADD)(2?)\b")
_INTEGERS = re.compile(
    r"^(?:@!?U?P\w+ )?(IADD3?|IMAD|IMUL|IDP\w*|IABS|IMNMX|ISETP|ISCADD|LEA|LOP3?|SHF|SHL|SHR|POPC|FLO|BREV|BMSK|SGXT|"
    r"VABSDIFF\w*|ICMP|XMAD|PRMT)\b"
)


def measured_launches(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt") as file:
        return list(csv.DictReader(file))


def wanted(launches: list[dict[str, str]]) -> list[tuple[str, str]]:
    """Programs and their arguments, each once, as they stand."""
    return list(dict.fromkeys((row["program"], row["arguments"]) for row in launches))


def profiled(folder: Path, arguments: str, most_s: float, gpu: str = GPU) -> Row:
    """One program's kernels."""
    command = [sys.executable, "-m", "warpsight.cli.app", "profile", "--json", "--cores", "1", "--gpu", gpu]
    limits = ["--cpu-limit", str(most_s), "--launch-limit", str(LAUNCH_S)]
    row: Row = {"kernels": [], "launches": 0, "cut": 0}
    words = ["--", str(folder), *shlex.split(arguments)]
    ran = subprocess.run(
        [*command, *limits, *words], capture_output=True, text=True, errors="replace",
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, check=False,
    )  # fmt: skip
    try:
        told = json.loads(ran.stdout)
    except ValueError:
        told = {}
    if "end" not in told:
        return row | {"outcome": "not compiled", "reason": _last(ran.stderr)}
    row |= {"launches": told["launches"], "cut": told["cut"], "end": told["end"]}
    row["kernels"] = [_kernel(one) for one in told["kernels"]]
    if any(one["counted"] for one in row["kernels"]):
        return row | {"outcome": "profiled", "reason": ""}
    if row["kernels"]:
        return row | {"outcome": "no machine code", "reason": row["kernels"][0]["no_time"]}
    return row | {"outcome": "no launch", "reason": f"{told['end']}: {_last(ran.stderr)}"}


def _last(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:160] if lines else ""


def _kernel(told: Mapping[str, Any]) -> Row:
    row: Row = {name: told[name] for name in ("kernel", "grid", "block", "shared_bytes", "launches", "no_time")}
    diagnosis = told["profile"]
    row["counted"] = diagnosis is not None and diagnosis["profile"]["isa"] == "sass"
    if not row["counted"]:
        return row
    profile = diagnosis["profile"]
    counters = profile["counters"]
    for name in (
        "duration_us", "duration_us_at_base_clock", "duration_us_low", "duration_us_high", "launch_overhead_us",
        "dram_bytes", "l2_bytes", "flops", "instructions", "registers_per_thread", "spilled_bytes", "occupancy",
        "l1_hit_rate", "local_sectors", "atomic_lanes",
    ):  # fmt: skip
        row[name] = counters.get(name)
    row["bound"] = profile["bound"]
    row["busy"] = {k[5:]: v for k, v in counters.items() if k.startswith("busy_") and v >= 5}
    row["after_cut"] = any("were cut off" in note for note in profile["notes"])
    row["findings"] = [[one["name"], one["estimated_gain"]] for one in diagnosis["findings"]]
    return row | operations(profile["instructions"])


def operations(instructions: list[dict[str, Any]]) -> dict[str, float]:
    """Operations of threads by kind; a multiply-add counts as two, as Nsight Compute counts them."""
    found = {"sp": 0.0, "dp": 0.0, "hp": 0.0, "integer": 0.0}
    for one in instructions:
        threads = one["counters"].get("threads_on", one["counters"].get("threads", 0))
        if "-RZ, RZ" in one["text"]:
            continue  # how a constant is written to a register
        if match := _FLOATS.match(one["text"]):
            kind = {"F": "sp", "D": "dp", "H": "hp"}[match[1]]
            found[kind] += threads * (2 if match[2] == "FMA" else 1) * (2 if match[3] else 1)
        elif _INTEGERS.match(one["text"]):
            found["integer"] += threads
    return found


def show(rows: list[Row]) -> None:
    """How many programs and kernels have counts of machine code, why others have none, and what was found."""
    count = Counter(row["outcome"] for row in rows)
    kernels = [one for row in rows for one in row["kernels"]]
    counted = [one for one in kernels if one["counted"]]
    print(f"\n{len(rows)} programs on {GPU}: " + ", ".join(f"{k} {v}" for k, v in count.most_common()))
    names = {one["kernel"] for one in kernels}
    print(f"{len(kernels)} sizes of launches of {len(names)} kernels; counted by machine code {len(counted)} "
          f"({len(counted) / max(1, len(kernels)):.0%}); rows were made at: {commits(rows)}")  # fmt: skip
    reasons = Counter(re.sub(r"0x[0-9a-f]+|\d+", "N", one["no_time"])[:90] for one in kernels if not one["counted"])
    for reason, times in reasons.most_common(20):
        print(f"  {times:4} not counted: {reason}")
    first = Counter(one["findings"][0][0] if one["findings"] else "(nothing)" for one in counted)
    print("first finding: " + ", ".join(f"{name} {times}" for name, times in first.most_common()))
    every = Counter(name for one in counted for name in {found[0] for found in one["findings"]})
    print("all findings: " + ", ".join(f"{name} {times}" for name, times in every.most_common()))
    print("bound by: " + ", ".join(f"{k} {v}" for k, v in Counter(one["bound"] for one in counted).most_common()))
