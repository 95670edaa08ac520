"""compute-sanitizer: memcheck, racecheck, initcheck and synccheck on a real GPU, as named faults of a check.

Reads the report that it prints. What must stay true: only a report with its closing summary counts, and a summary with
errors is never "no fault". It finds what happened in this run, not what could happen. Written from NVIDIA's manual
and tried on its samples, re-created; not run on a GPU by us.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from warpsight.lens.profilers.availability import Availability, look
from warpsight.lens.profilers.failures import BrokenOutput, refusal
from warpsight.lens.profilers.process import run_tool
from warpsight.nouns import Dim3, Fault

Check = Literal["memcheck", "racecheck", "initcheck", "synccheck"]
CHECKS: tuple[Check, ...] = get_args(Check)
NAME = "compute-sanitizer"
HOW = "install the CUDA toolkit (package cuda-sanitizer); it is free"
PLACES = ("/usr/local/cuda/bin", "/usr/local/cuda-*/bin", "/usr/local/cuda/compute-sanitizer")
AGAIN = "run it again; a whole report ends with an ERROR SUMMARY or RACECHECK SUMMARY"
PRINT_LIMIT = 100

_MARK = "========="
_SUMMARY = re.compile(r"(ERROR|RACECHECK|INITCHECK|SYNCCHECK) SUMMARY: ([\d,.]+) (error|hazard)")
_NOT_PRINTED = re.compile(r"SUMMARY: [\d,.]+ errors? were not printed")
_PLACE = re.compile(r"\bin \S*?([^/\s:]+):(\d+)(?::\S.*)?(?: \[|$)|\bat \S+ in \S*?([^/\s:]+):(\d+):")
_THREAD = re.compile(r"by thread \((\d+),(\d+),(\d+)\) in block \((\d+),(\d+),(\d+)\)")
_ADDRESS = re.compile(r"(?:Address|Access (?:at|to)) (0x[0-9a-fA-F]+)")
_HAZARDS = re.compile(r"\[([\d,]+) hazards?\]")
_KINDS: tuple[tuple[str, str], ...] = (
    (r"is misaligned|Misaligned", "misaligned"),
    (r"^Invalid __\w+__ (read|write|atomic)|is out of bounds|Out-of-range", "out_of_bounds"),
    (r"^Uninitialized", "uninitialised_read"),
    (r"Race reported between|hazard detected|^Potential \w+ hazard", "shared_race"),
    (r"Barrier error detected.*[\s\S]*__syncwarp", "warp_sync_divergence"),
    (r"^Barrier error detected", "barrier_divergence"),
    (r"Stack overflow", "stack_overflow"),
    (r"Assert|assert", "assert_failed"),
    (r"Illegal Instruction|Warp Illegal", "trap"),
    (r"^Program hit|^Fatal|^Internal|Unknown Error", "crash"),
)
_STARTS = re.compile(
    r"(?:Error: |Warning: )?(Invalid|Uninitialized|Race reported|Potential|Barrier error|Program hit|Stack overflow"
    r"|Warp |Fatal|Out-of-range|Misaligned|Assert|Unknown Error|Malloc/Free error|Internal)"
)


@dataclass(frozen=True)
class SanitizerReport:
    """The faults of one run and how many errors the tool counted; faults at the same place are one, with a count."""

    check: Check
    faults: tuple[Fault, ...]
    errors: int
    not_printed: bool = False


def available() -> Availability:
    return look(NAME, how=HOW, places=PLACES)


def argv(program: Sequence[str], check: Check, *, path: str = NAME, kernel: str | None = None) -> list[str]:
    """The command for one of the four checks. Its own exit status 86 tells errors from those of the program."""
    words = [path, "--tool", check, "--print-limit", str(PRINT_LIMIT), "--error-exitcode", "86"]
    if check == "memcheck":
        words += ["--report-api-errors", "no"]  # the packages that launch ask the driver things that it may refuse
    if kernel is not None:
        words += ["--kernel-name", f"kernel_name={kernel}"]
    return [*words, *program]


def parse(text: str, check: Check) -> SanitizerReport:
    """The report as faults. A report without its summary is BrokenOutput, however clean it looks."""
    summary = [
        found for line in text.splitlines() if (found := _SUMMARY.search(line)) and not _NOT_PRINTED.search(line)
    ]
    if not summary:
        what = "it left nothing" if not text.strip() else "its report has no summary, so it is cut short"
        raise refusal(NAME, text) or BrokenOutput(NAME, what, AGAIN)
    errors = int(re.sub(r"[,.]", "", summary[-1][2]))
    faults = _merged([_fault(block, check) for block in _blocks(text)])
    if errors and not faults:
        told = f"{check} counted {errors} errors and described none in a form we know"
        faults = (Fault(kind="fault", message=told, count=errors),)
    return SanitizerReport(check, faults, errors, _NOT_PRINTED.search(text) is not None)


def measure(program: Sequence[str], check: Check, *, deadline_s: float, kernel: str | None = None) -> SanitizerReport:
    """Run one check on a program that launches the kernel."""
    path = available().required()
    said = run_tool(argv(program, check, path=path, kernel=kernel), tool=NAME, deadline_s=deadline_s)
    return parse(said.stdout + said.stderr, check)


def _blocks(text: str) -> list[list[str]]:
    """The lines of each error, without the mark; what the program printed lies between and is passed over."""
    blocks: list[list[str]] = []
    open_block = False
    for line in text.splitlines():
        if not line.startswith(_MARK):
            continue
        words = line.removeprefix(_MARK).strip()
        if _STARTS.match(words):
            blocks.append([words])
            open_block = True
        elif not words or "SUMMARY" in words or "host backtrace" in words:
            open_block = False
        elif open_block:
            blocks[-1].append(words)
    return blocks


def _fault(block: Sequence[str], check: Check) -> Fault:
    title = re.sub(r"^(Error|Warning): ", "", block[0])
    whole = "\n".join((title, *block[1:]))
    kind = next((kind for pattern, kind in _KINDS if re.search(pattern, whole)), "fault")
    place = next((found for line in reversed(block) if "Device Frame" in line and (found := _PLACE.search(line))), None)
    place = place or next((found for line in block if (found := _PLACE.search(line))), None)
    thread, address = _THREAD.search(whole), _ADDRESS.search(whole)
    hazards = [int(found.replace(",", "")) for found in _HAZARDS.findall(whole)]
    ids = tuple(int(n) for n in thread.groups()) if thread else ()
    return Fault(
        kind=kind,
        message=f"{check}: " + "; ".join((title, *block[1:4]))[:600],
        line=int(place[2] or place[4]) if place else None,
        thread=_dim(ids[:3]),
        block=_dim(ids[3:]),
        address=int(address[1], 16) if address else None,
        count=max(1, sum(hazards)),
    )


def _dim(ids: tuple[int, ...]) -> Dim3 | None:
    return (ids[0], ids[1], ids[2]) if len(ids) == 3 else None


def _merged(faults: Sequence[Fault]) -> tuple[Fault, ...]:
    """One fault for each kind and line, its first place kept. A crash that follows a named fault is its consequence."""
    named = [fault for fault in faults if fault.kind != "crash"] or list(faults)
    found: dict[tuple[str, int | None], Fault] = {}
    for fault in named:
        key = (fault.kind, fault.line)
        first = found.get(key)
        found[key] = fault if first is None else first.model_copy(update={"count": first.count + fault.count})
    return tuple(found.values())
