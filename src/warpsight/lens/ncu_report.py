"""Reports of Nsight Compute (`.ncu-rep`), through NVIDIA's own reader, the package ncu-report; no GPU is needed.

The reader takes a foreign file for an empty report and a cut one for a shorter report, without a word. So the outline
of the file is looked at first: a mark, a header, then blocks that say their own length up to the end of the file. It is
native code that trusts the file, so it runs in a jail of its own (`ncu_worker.py`).
What must stay true: whatever is in the file, reading it gives a Profile or a UsageError.
"""

from __future__ import annotations

import importlib.util
import json
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from warpsight.errors import ToolMissing, UsageError
from warpsight.jail import JailedWorker, Limits, WorkerLost, package_files
from warpsight.lens.measured import MeasuredLaunch, choose, make_profile
from warpsight.lens.ncu_instructions import MEASURES, exact_requests
from warpsight.lens.vocabulary import Metric, tidy
from warpsight.nouns import InstructionCounters, Profile

MARK = b"NVR\0"
READER = "ncu_report"
WORKER = Path(__file__).with_name("ncu_worker.py")
LIMITS = Limits(wall_s=120, cpu_s=120, memory_bytes=4 << 30, answer_bytes=512 << 20, scratch_bytes=2 << 30)
_PAYLOAD_SIZE = 5  # the number of this field in the header of a block
_NOT_SUMS = frozenset({"memory_access_size_type", "memory_access_type", "memory_type"})
_DEVICE = "device__attribute_display_name"


def read_report(path: Path, kernel: str | int | None = None) -> Profile:
    """The profile of one kernel of a report, chosen by name or index where there are several."""
    content = _checked(path)
    folder = _reader_folder()
    argv = [sys.executable, "-I", str(WORKER), f"--folder={folder}"]
    try:
        with JailedWorker(argv, limits=LIMITS, readable=package_files(READER), name="the reader of reports") as worker:
            found = _answer(worker, content)
            kernels = [str(name) for name in found["kernels"]]
            if not kernels:
                raise UsageError(f"{path} has no kernels in it", "profile a run that launches one")
            index, notes = choose(kernels, kernel, path.name)
            rows = _answer(worker, json.dumps({"index": index, "measures": MEASURES}).encode())
        return make_profile(_launch(rows, notes))
    except WorkerLost as lost:
        raise _unreadable(path, f"the reader did not survive it ({lost.event.kind}: {lost.event.detail})") from None
    except _Damaged as damaged:
        raise _unreadable(path, str(damaged)) from None
    except (ValidationError, ValueError, TypeError, KeyError, IndexError, ArithmeticError) as wrong:
        raise _unreadable(path, f"what it says cannot be ({type(wrong).__name__}: {str(wrong)[:200]})") from None


class _Damaged(Exception):
    """The reader refused the file, in its words."""


def _answer(worker: JailedWorker, request: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(worker.ask(request, LIMITS.wall_s))
    if "problem" in found:
        raise _Damaged(f"the reader refused it: {found['problem']}")
    return found


def _reader_folder() -> Path:
    try:
        spec = importlib.util.find_spec(READER)
    except ValueError:  # a module that is there in name only
        spec = None
    if spec is None or spec.origin is None:
        hint = "pip install ncu-report, or pip install 'warpsight[nvidia]'"
        raise ToolMissing("expected the package ncu-report to read this file, it is not installed", hint)
    return Path(spec.origin).parents[1 if spec.submodule_search_locations else 0]


def _launch(rows: dict[str, Any], notes: tuple[str, ...]) -> MeasuredLaunch:
    metrics: dict[str, Metric] = {}
    for name, (value, unit) in rows["metrics"].items():
        if isinstance(value, int | float) and name not in _NOT_SUMS:
            metrics[name] = Metric(_number(value), str(unit))
    device = rows["metrics"].get(_DEVICE, [None])[0]
    grid = metrics.get("launch__grid_size")
    file, instructions = _instructions(rows["columns"], rows["places"])
    return MeasuredLaunch(
        kernel=str(rows["kernel"]),
        device=str(device or "a GPU that the report does not name"),
        metrics=metrics,
        blocks=int(grid.value) if grid else None,
        instructions=instructions,
        measured=frozenset(ours for ours, theirs in MEASURES.items() if theirs in rows["names"]),
        source=str(rows["sources"].get(file, "")).splitlines(),
        notes=notes,
    )


def _instructions(
    columns: dict[str, list[list[float]]], places: Sequence[Sequence[Any]]
) -> tuple[str, tuple[InstructionCounters, ...]]:
    """The kernel's source file and each of its instructions; lines of other files (headers) are not lines of it."""
    cells = {name: {int(address): _number(value) for address, value in column} for name, column in columns.items()}
    own = next((str(file) for _, _, file, _ in places if file is not None), "")
    rows: list[InstructionCounters] = []
    for index, (address, said, file, number) in enumerate(places):
        text, line = str(said).strip(), int(number) if file is not None and str(file) == own else None
        counted = {name: column.get(int(address), 0) for name, column in cells.items()}
        rows.append(InstructionCounters(index=index, text=text, line=line or None, counters=_counters(text, counted)))
    return own, tuple(rows)


def _number(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError(f"a metric of {value}")
    return value


def _counters(text: str, cells: dict[str, float]) -> dict[str, int | float]:
    found = {name: cells.get(name, 0) for name in ("warps", "threads", "threads_on", "wavefronts", "wavefronts_ideal")}
    found["sectors"] = cells.get("sectors", 0) + cells.get("local_sectors", 0)
    found["sectors_ideal"] = cells.get("sectors_ideal", 0)
    found["branches_divergent"] = cells.get("branches_divergent", 0)
    found["stall_samples"] = cells.get("samples", 0) - cells.get("samples_issued", 0)
    found["bytes"] = found["threads_on"] * cells.get("access_bits", 0) / 8
    found["requests"] = exact_requests(text, found) or 0
    return {name: tidy(value) for name, value in found.items() if value}


def _checked(path: Path) -> bytes:
    """The bytes of the file, whose outline is that of a report."""
    try:
        content = path.read_bytes()
    except OSError as problem:
        raise UsageError(
            f"expected a report at {path}: {problem.strerror}", "give the path of an .ncu-rep file"
        ) from None
    if not content.startswith(MARK):
        raise UsageError(
            f"{path} is not a report of Nsight Compute: it does not begin as one",
            "make one with `ncu --set full -o report PROGRAM`; CSV from `ncu --csv` needs a name that ends in .csv",
        )
    try:
        end = _end_of_blocks(content)
    except (IndexError, ValueError):
        end = -1
    if end != len(content):
        raise _unreadable(path, f"it is cut short or damaged ({len(content)} bytes)")
    return content


def _end_of_blocks(content: bytes) -> int:
    """Where the last block ends, by what the blocks say of their lengths."""
    at = len(MARK) + 4 + _length(content, len(MARK))
    while at < len(content):
        header = content[at + 4 : at + 4 + _length(content, at)]
        at += 4 + len(header) + next((value for number, value in _fields(header) if number == _PAYLOAD_SIZE), 0)
    return at


def _length(content: bytes, at: int) -> int:
    if at + 4 > len(content):
        raise ValueError("no room for a length")
    return int.from_bytes(content[at : at + 4], "little")


def _fields(message: bytes) -> Iterator[tuple[int, int]]:
    """Numbers of a protobuf message, and of its other fields the length."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        value, at = _varint(message, at)
        if key & 7 == 2:
            at += value
        elif key & 7 != 0:
            raise ValueError("a kind of field that headers do not have")
        yield key >> 3, value


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
        if byte < 128:
            return value, at


def _unreadable(path: Path, why: str) -> UsageError:
    return UsageError(f"{path} cannot be read as a report of Nsight Compute: {why}", "copy or record it again")
