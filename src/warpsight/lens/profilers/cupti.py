"""CUPTI: when each launch began and ended by the GPU's own records, with no tool but a Python package of NVIDIA's.

The program runs in a process of ours that asks CUPTI for kernel records and writes them as lines of JSON. No counters,
no permission needed. What must stay true: only records that end with the closing line count. Written against
cupti-python 13's documented interface; not run on a GPU by us.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from importlib import metadata, util
from pathlib import Path
from typing import Any, cast

from warpsight.lens.profilers.availability import Availability
from warpsight.lens.profilers.failures import BrokenOutput, NothingProfiled, ProfilerError, refusal
from warpsight.lens.profilers.process import run_tool
from warpsight.lens.profilers.times import KernelTime, of_kernel, profile_of
from warpsight.nouns import Dim3, Profile

NAME = "cupti"
PACKAGE, MODULE = "cupti-python", "cupti"
HOW = f"pip install {PACKAGE}; it needs NVIDIA's driver and no toolkit"
TRACER = Path(__file__).with_name("cupti_trace.py")
AGAIN = "run it again; whole records end with a line that counts them"
NO_GPU_NAME = "an NVIDIA GPU"


def available() -> Availability:
    """Whether the package is here; whether a driver answers shows when it is used."""
    found = util.find_spec(MODULE)
    if found is None or found.origin is None:
        return Availability(NAME, reason=f"the package {PACKAGE} is not installed", how=HOW)
    try:
        return Availability(NAME, path=found.origin, version=metadata.version(PACKAGE))
    except metadata.PackageNotFoundError:
        why = f"a module {MODULE} is here and is not that of {PACKAGE}"
        return Availability(NAME, path=found.origin, reason=why, how=HOW)


def argv(program: Sequence[str], *, records: Path) -> list[str]:
    """The command that runs one of our workers under CUPTI; `records` is the file it writes.

    `program` is a Python of ours with its flags, a file and its words, as `replay_argv` of a device gives it.
    """
    at = next((n for n, word in enumerate(program) if word.endswith(".py")), None)
    if at is None:
        raise ProfilerError(NAME, f"expected a Python program, found {' '.join(program)[:200]}", "use another profiler")
    flags = list(program[:at]) or [sys.executable]
    return [*flags, str(TRACER), str(records), *program[at:]]


def parse(text: str) -> tuple[KernelTime, ...]:
    """Every kernel launch in the records."""
    lines = [_object(line, number) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
    if not lines or "end" not in lines[-1]:
        what = "it left nothing" if not lines else "its records have no closing line, so they are cut short"
        raise BrokenOutput(NAME, what, AGAIN)
    closing, launches = lines[-1], lines[:-1]
    if closing.get("records") != len(launches):
        told = f"its closing line counts {closing.get('records')} records, got {len(launches)}"
        raise BrokenOutput(NAME, told, AGAIN)
    device = str(closing.get("device") or NO_GPU_NAME)
    found = [_launch(record, device) for record in launches]
    if not found:
        raise NothingProfiled(NAME, "it ran and saw no kernel", "check that the program launches one")
    return tuple(found)


def measure(program: Sequence[str], kernel: str, *, folder: Path, deadline_s: float) -> Profile:
    """Run the program under CUPTI; its own launches' times, warm cache or cold as the program leaves it."""
    available().required()
    records = folder / f"{kernel}.cupti.jsonl"
    said = run_tool(argv(program, records=records), tool=NAME, deadline_s=deadline_s)
    if not records.exists() or said.status != 0:
        heard = said.stdout + said.stderr
        last = (heard.strip().splitlines() or ["nothing"])[-1][:300]
        raise refusal(NAME, heard) or BrokenOutput(NAME, f"ended with status {said.status}, it said: {last}", AGAIN)
    times = of_kernel(parse(records.read_text(encoding="utf-8")), kernel, NAME)
    return profile_of(times, tool=NAME, notes=("times are from the GPU's own records of each launch",))


def _object(line: str, number: int) -> dict[str, Any]:
    try:
        found: object = json.loads(line)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise BrokenOutput(NAME, f"line {number} of its records is not JSON: {line[:120]!r}", AGAIN)
    return cast("dict[str, Any]", found)


def _launch(record: dict[str, Any], device: str) -> KernelTime:
    try:
        start, end = int(record["start"]), int(record["end_ns"])
        if not 0 < start < end:  # CUPTI writes zeros where it could not take the time
            raise BrokenOutput(NAME, f"a launch of {record['name']} has no time ({start} to {end} ns)", AGAIN)
        also = {
            "registers_per_thread": int(record["registers"]),
            "static_shared_bytes": int(record["static_shared"]),
            "dynamic_shared_bytes": int(record["dynamic_shared"]),
        }
        return KernelTime(
            kernel=str(record["name"]),
            device=device,
            duration_us=(end - start) / 1000,
            grid=_three(record["grid"]),
            block=_three(record["block"]),
            also=also,
        )
    except (KeyError, TypeError, ValueError) as problem:
        raise BrokenOutput(NAME, f"a record is not in the form we write: {problem!r}", AGAIN) from None


def _three(value: Any) -> Dim3:
    x, y, z = (int(part) for part in value)
    return x, y, z
