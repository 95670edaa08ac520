"""A program through `warpsight run`: compiled, ended, own check passed, stopped and why.

Reduced arguments: the last number of the Makefile's line (most often how many times it repeats) is at most 2; a run
that takes too long, or too much memory, comes again with the other numbers divided by 16, then by 256.
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
from benchmarks.programs.run_lines import arguments_of, reduced
from benchmarks.programs.verdict import NOT_THERE, last_line, verdict

SOURCES = frozenset({".cu", ".cuh", ".h", ".hpp", ".c", ".cpp", ".cc"})
SMALLER = (1, 16, 256)
NAMED = {"cuBLAS", "cuFFT", "cuRAND"}
_INCLUDE = re.compile(rb"^\s*#\s*include\s*[<\"]([^>\"]+)", re.MULTILINE)
LIBRARIES = {"cublas": "cuBLAS", "cusparse": "cuSPARSE", "cufft": "cuFFT", "curand.h": "cuRAND", "cusolver": "cuSOLVER",
             "mpi.h": "MPI", "nccl": "NCCL", "cudnn": "cuDNN", "nvjpeg": "nvJPEG"}  # fmt: skip


def tried(folder: Path, way: str, most_s: float) -> dict[str, Any]:
    """One program: its row."""
    arguments = arguments_of(folder, least=way == "reduced")
    row: dict[str, Any] = {}
    tries = [reduced(arguments, by) for by in SMALLER] if way == "reduced" else [arguments]
    for i, words in enumerate(tries):
        if words in tries[:i]:
            continue
        row = judged(folder, words, most_s)
        if row["reason"] != "time_limit" and cause(row) != TOO_LARGE:
            break
    return row


def asked(folder: Path, arguments: list[str], most_s: float, *options: str) -> tuple[dict[str, Any] | None, str]:
    """What `warpsight run --json` tells of a program; nothing, and why, where it did not come to a run."""
    command = [sys.executable, "-m", "warpsight.cli.app", "run", "--json", "--no-times", "--cores", "1"]
    limits = ["--cpu-limit", str(most_s), "--limit", str(most_s * 40)]
    ran = subprocess.run(
        [*command, *limits, *options, str(folder), *arguments], capture_output=True, text=True, errors="replace",
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, check=False,
    )  # fmt: skip
    try:
        told = json.loads(ran.stdout)
    except ValueError:
        return None, why_not_compiled(ran.stderr, folder)
    return (told, "") if "end" in told else (None, why_not_compiled(ran.stderr + ran.stdout, folder))


def judged(folder: Path, arguments: list[str], most_s: float) -> dict[str, Any]:
    common = {"arguments": arguments, "launches": 0, "skipped": 0, "warp_instructions": 0, "kernels": 0}
    told, said = asked(folder, arguments, most_s)
    if told is None:
        return common | {"outcome": "not compiled", "reason": said}
    common |= {
        "launches": told["launches"], "skipped": told["skipped"],
        "kernels": len({k["kernel"] for k in told["kernels"]}),
        "warp_instructions": sum(k["warp_instructions"] for k in told["kernels"]),
        "missing": told["missing"], "refused": told["refused"][:5], "exit_code": told["exit_code"],
        "host_cpu_s": told["host_cpu_s"], "run_s": told["wall_s"],
    }  # fmt: skip
    found = verdict(told)
    if (
        found["outcome"] == "stopped"
        and (not told["launches"] or told["exit_code"])
        and lacks(folder, arguments, told["launches"])
    ):
        found |= {"outcome": "no data", "reason": NOT_THERE}
    return common | found


def lacks(folder: Path, arguments: list[str], launches: int = 0) -> bool:
    """Whether an argument names a file that is not there, or nothing was launched and the data is kept elsewhere."""
    named = [word for word in arguments if re.search(r"[^\d.]/|^\./|\.[A-Za-z]\w*$", word) and not word.startswith("-")]
    return any(not (folder / word).exists() for word in named) or (not launches and any(folder.glob("*.dvc")))


def why_not_compiled(text: str, folder: Path) -> str:
    named = re.search(r"fatal error: (\S+): No such file", text)
    library = next((LIBRARIES[key] for key in LIBRARIES if named and key in named[1].lower()), None)
    if library:
        return f"needs {library}"
    if named:
        return f"lacks {named[1]}"
    if other := wants_compiler(folder, text):
        return f"needs {other}"
    text = "\n".join(line for line in text.splitlines() if "does not build" not in line and "read: " not in line)
    found = re.search(r"(?:error\s*:|error:|undefined reference to|\*\*\*|failed to create)\s*(.+)", text)
    return (found[0] if found else last_line(text))[:160]


def wants_compiler(folder: Path, said: str) -> str:
    """A compiler that its Makefile names and that was not found."""
    file = folder / "Makefile"
    words = file.read_text(errors="replace") if file.is_file() else ""
    missing = re.search(r"Error 127|not found|No such file or directory", said)
    found = re.search(r"\b(mpicc|mpiCC|mpicxx|mpic\+\+|nvc\+\+)", words) if missing else None
    return "" if found is None else f"{'MPI' if found[1].startswith('mpi') else 'the compiler'} ({found[1]})"


def needs(folder: Path) -> list[str]:
    """Libraries that the sources of a program include, beside the runtime."""
    found: set[str] = set()
    for path in sorted(p for p in folder.rglob("*") if p.suffix in SOURCES and p.is_file()):
        for header in _INCLUDE.findall(path.read_bytes()[:1_000_000]):
            name = header.decode(errors="replace").lower()
            found |= {library for key, library in LIBRARIES.items() if key in name}
    return sorted(found)


TOO_LARGE = "more memory than may be used"
CAUSES = (
    ("too many CPU seconds", r"^time_limit"),
    ("a library that is not provided", r"^needs "),
    ("a header that is not in the repository", r"^lacks "),
    ("its build wants the network", r"git-remote|clone|wget|curl|dvc"),
    ("its build makes a symbolic link", r"symbolic link"),
    ("a make rule or a tool is missing", r"No rule to make|Error 127|command not found|not installed"),
    ("undefined when it is linked", r"undefined reference|cannot find -l|relocation|collect2|nvlink"),
    ("the compiler refuses it", r"error\b|Error \d|does not build"),
    ("usage: reduced arguments do not fit", r"usage"),
    ("a function of the runtime that is missing", r"^cuda\w+(?:; cuda\w+)*$|not provided"),
    ("PTX or machine code that is not read", r"PTX|not read|cannot be read"),
    ("a fault in a launch", r"^(out_of_bounds|misaligned|assert_failed|deadlock|shuffle|barrier|endless|stack|bad_)"),
    (TOO_LARGE, r"too_much_memory|out_of_memory|OutOfMemory|out of memory|bad_alloc|too much host memory"),
    ("it crashed", r"^signal|^lost"),
    ("it ended before any launch", r"no launch|before any launch"),
    ("it says so by its exit code", r"^exit code"),
)  # fmt: skip


OF_BUILDS = ("the compiler refuses it", "a make rule or a tool is missing", "its build wants the network")
OURS = re.compile(r"^(time_limit|needs |lacks |cuda\w+(; cuda\w+)*$|a file that is not)")
KEPT = ("program", "way", "arguments", "outcome", "launches", "skipped", "warp_instructions", "kernels", "missing",
        "exit_code", "host_cpu_s", "nan", "limit_s", "wall_s", "commit")  # fmt: skip


def without_words(row: Row) -> Row:
    """A row for the repository: what it rests on of a program's own words is left out."""
    reason = row["reason"] if OURS.match(row["reason"]) else ""
    return {name: row[name] for name in KEPT if name in row} | {"reason": reason, "cause": cause(row)}


def cause(row: Row) -> str:
    """The reason of a row in a few words."""
    if not row["reason"] and "cause" in row:
        return str(row["cause"])
    if row["outcome"] in ("own check failed", "no data"):
        return row["outcome"]
    if row["outcome"] in ("passed", "no verdict"):
        return ""
    causes = CAUSES if row["outcome"] == "not compiled" else [one for one in CAUSES if one[0] not in OF_BUILDS]
    return next((name for name, words in causes if re.search(words, row["reason"], re.IGNORECASE)), "something else")


def show(found: list[Row], source: Path) -> None:
    """The table: all programs, and those that need nothing but the runtime and the named libraries."""
    ours = [row for row in found if not set(needs(source / row["program"])) - NAMED]
    _table(f"all {len(found)} programs", found)
    _table(f"the {len(ours)} of them that need the runtime, cuBLAS, cuFFT or cuRAND alone", ours)
    print(f"\nrows were made at: {commits(found)}")
    for outcome in ("not compiled", "stopped", "own check failed", "no data", "too long"):
        names = [f"{row['program'].removesuffix('-cuda')} ({row['reason'][:70] or cause(row)})" for row in found
                 if row["outcome"] == outcome]  # fmt: skip
        print(f"\n{outcome}, {len(names)}: " + "; ".join(names))


def _table(title: str, found: list[Row]) -> None:
    n, count = len(found), Counter(row["outcome"] for row in found)
    compiled = n - count["not compiled"]
    ended = count["passed"] + count["no verdict"] + count["own check failed"]
    print(f"\n{title}: compiled {compiled} ({compiled / max(n, 1):.0%}), ended {ended} ({ended / max(n, 1):.0%}): "
          f"own check passed {count['passed']}, no verdict {count['no verdict']}, "
          f"own check failed {count['own check failed']}")  # fmt: skip
    left = Counter((row["outcome"], cause(row)) for row in found if row["outcome"] not in ("passed", "no verdict"))
    for (outcome, why), times in left.most_common():
        print(f"  {times:4} {outcome}: {why}")
    nan = [row["program"] for row in found if row.get("nan") and row["outcome"] in ("passed", "no verdict")]
    if nan:
        print(f"  {len(nan):4} of those that ended print NaN: {', '.join(nan)}")
