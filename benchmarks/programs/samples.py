"""NVIDIA's cuda-samples, unmodified, by their names: which are right, and by what they say themselves.

Sources of a folder are compiled together, with the headers of `Common`; arguments make a few of them smaller. A sample
is right where it ends with exit code 0, no launch faulted, nothing was missing and its own check says so. One that has
no check is told apart: nobody has compared what it prints.
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

from benchmarks.programs.rows import Row, commits
from benchmarks.programs.verdict import verdict

NAMES = {
    "0_Introduction": (
        "vectorAdd", "asyncAPI", "matrixMul", "mergeSort", "simpleAtomicIntrinsics", "simpleCooperativeGroups",
        "simpleOccupancy", "simpleTemplates", "simpleVoteIntrinsics", "simpleMultiCopy", "simpleZeroCopy",
        "simpleCallback", "fp16ScalarProduct", "systemWideAtomics", "template", "clock", "simpleAssert", "simplePrintf",
        "simpleStreams", "simpleAWBarrier",
    ),
    "2_Concepts_and_Techniques": (
        "scalarProd", "histogram", "shfl_scan", "sortingNetworks", "reduction", "reductionMultiBlockCG",
        "threadFenceReduction", "convolutionSeparable", "inlinePTX", "streamOrderedAllocation", "eigenvalues", "scan",
    ),
    "3_CUDA_Features": ("simpleCudaGraphs", "warpAggregatedAtomicsCG", "binaryPartitionCG", "newdelete"),
    "5_Domain_Specific": ("BlackScholes", "fastWalshTransform", "dwtHaar1D", "quasirandomGenerator", "FDTD3d"),
    "6_Performance": ("transpose", "alignedTypes"),
}  # fmt: skip
BY_EXIT = ("asyncAPI", "simpleMultiCopy", "simpleZeroCopy", "template", "simpleStreams", "shfl_scan")
"""Read by a person: they compare their results and say by their exit code alone whether they were right."""
PRINTS = {
    "simplePrintf": (r"^\[[0-3], [0-7]\]:\t\tValue is:10$", 32),
    "simpleCooperativeGroups": (r"\b(\d+) \(expected \1\)", 5),
    "simpleAssert": (r"^Device assert failed as expected", 1),
}  # fmt: skip
"""What these print on a GPU, and how often; they have no check, or are meant to fail in their launch."""
ARGUMENTS = {
    "matrixMul": ("-wA=64", "-hA=64", "-wB=64", "-hB=64"), "reduction": ("--n=65536",),
    "FDTD3d": ("--dimx=32", "--dimy=32", "--dimz=32", "--radius=4", "--timesteps=1"),
    "transpose": ("-dimX=128", "-dimY=128"), "eigenvalues": ("-matrix-size=128",),
}  # fmt: skip


def wanted() -> list[Row]:
    return [{"program": name, "group": group} for group, names in NAMES.items() for name in names]


def tried(root: Path, row: Row, most_s: float) -> Row:
    """One sample."""
    name, common = row["program"], root / "Common"
    folder = root / "Samples" / row["group"] / name
    sources = sorted([*folder.glob("*.cu"), *folder.glob("*.cpp")], key=lambda path: path.stem != name)
    if not sources:
        return {"outcome": "not there", "reason": ""}
    words = [f"-I{common}", *map(str, sources[1:])]
    command = [sys.executable, "-m", "warpsight.cli.app", "run", "--json", "--no-times", "--cores", "1"]
    limits = ["--cpu-limit", str(most_s), "--show", str(common), *(w for word in words for w in ("--make", word))]
    arguments = (str(sources[0]), *ARGUMENTS.get(name, ()))
    ran = subprocess.run(
        [*command, *limits, *arguments], capture_output=True, text=True, errors="replace",
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, check=False,
    )  # fmt: skip
    try:
        told = json.loads(ran.stdout)
    except ValueError:
        told = {}
    if "end" not in told:
        errors = [line for line in ran.stderr.splitlines() if "error" in line] or ["?"]
        return {"outcome": "not compiled", "reason": errors[0][:160]}
    row = {"launches": told["launches"], "exit_code": told["exit_code"], **verdict(told)}
    return row | _printed(name, told) if name in PRINTS else row


def _printed(name: str, told: dict[str, Any]) -> Row:
    pattern, times = PRINTS[name]
    found = len(re.findall(pattern, told["output"], re.MULTILINE))
    right = found == times and told["exit_code"] == 0 and told["end"] == "exited"
    return {"outcome": "passed" if right else "own check failed", "reason": f"{found} of {times} lines as on a GPU"}


def show(rows: list[Row]) -> None:
    count = Counter(row["outcome"] for row in rows)
    print(f"\n{len(rows)} samples: " + ", ".join(f"{k} {v}" for k, v in count.most_common()))
    print(f"rows were made at: {commits(rows)}")
    by_exit = [row["program"] for row in rows if row["outcome"] == "no verdict" and row["program"] in BY_EXIT]
    right = count["passed"] + len(by_exit)
    print(f"right: {right}, of which {len(by_exit)} say so by their exit code: {', '.join(by_exit)}")
    for row in rows:
        print(f"  {row['program']}: {row['outcome']}: {row['reason'][:100]}")
