"""Reports of Nsight Compute (`.ncu-rep`), through NVIDIA's own reader, the package ncu-report; no GPU is needed.

The reader takes a foreign file for an empty report and a cut one for a shorter report, without a word. So the outline
of the file is looked at first: a mark, a header, then blocks that say their own length up to the end of the file.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from warpsight.errors import ToolMissing, UsageError
from warpsight.lens.measured import Launch, choose, make_profile
from warpsight.lens.ncu_instructions import MEASURES, exact_requests
from warpsight.lens.vocabulary import Metric, tidy
from warpsight.nouns import InstructionCounters, Profile

MARK = b"NVR\0"
_PAYLOAD_SIZE = 5  # the number of this field in the header of a block
_NOT_SUMS = frozenset({"memory_access_size_type", "memory_access_type", "memory_type"})


def read_report(path: Path, kernel: str | int | None = None) -> Profile:
    """The profile of one kernel of a report, chosen by name or index where there are several."""
    _check_outline(path)
    _context, actions = _load(path)  # the context owns what the actions look at, so it is kept until the end
    index, notes = choose([str(action.name()) for action in actions], kernel, path.name)
    return make_profile(_launch(actions[index], notes))


def _load(path: Path) -> tuple[Any, list[Any]]:
    try:
        reader: Any = importlib.import_module("ncu_report")
    except ImportError:
        hint = "pip install ncu-report, or pip install 'warpsight[nvidia]'"
        raise ToolMissing("expected the package ncu-report to read this file, it is not installed", hint) from None
    try:
        context = reader.load_report(str(path))
        found = [part.action_by_idx(k) for part in context for k in range(part.num_actions())]
    except Exception as refused:
        raise _unreadable(path, f"the reader refused it: {refused}") from refused
    if not found:
        raise UsageError(f"{path} has no kernels in it", "profile a run that launches one")
    return context, found


def _launch(action: Any, notes: tuple[str, ...]) -> Launch:
    names = [str(name) for name in action.metric_names()]
    metrics: dict[str, Metric] = {}
    for name in names:
        value, unit = action[name].value(), str(action[name].unit())
        if isinstance(value, int | float) and name not in _NOT_SUMS:
            metrics[name] = Metric(float(value), unit)
    device = action["device__attribute_display_name"].value() if "device__attribute_display_name" in names else None
    grid = metrics.get("launch__grid_size")
    file, instructions = _instructions(action, frozenset(names))
    return Launch(
        kernel=str(action.name()),
        device=str(device or "a GPU that the report does not name"),
        metrics=metrics,
        blocks=int(grid.value) if grid else None,
        instructions=instructions,
        measured=frozenset(ours for ours, theirs in MEASURES.items() if theirs in names),
        source=str(dict(action.source_files()).get(file, "")).splitlines(),
        notes=notes,
    )


def _instructions(action: Any, names: frozenset[str]) -> tuple[str, tuple[InstructionCounters, ...]]:
    """The kernel's source file and each of its instructions; lines of other files (headers) are not lines of it."""
    columns = {ours: _by_address(action[theirs]) for ours, theirs in MEASURES.items() if theirs in names}
    addresses = sorted(columns.get("warps", {}))
    places = {address: action.source_info(address) for address in addresses}
    files = [str(place.file_name()) for place in places.values() if place is not None]
    own = files[0] if files else ""
    rows: list[InstructionCounters] = []
    for index, address in enumerate(addresses):
        text, place = str(action.sass_by_pc(address)).strip(), places[address]
        line = int(place.line()) if place is not None and str(place.file_name()) == own else None
        cells = {name: column.get(address, 0) for name, column in columns.items()}
        rows.append(InstructionCounters(index=index, text=text, line=line or None, counters=_counters(text, cells)))
    return own, tuple(rows)


def _by_address(metric: Any) -> dict[int, float]:
    if not metric.num_instances() or not metric.has_correlation_ids():
        return {}
    ids = metric.correlation_ids()
    return {int(ids.value(k)): metric.value(k) for k in range(metric.num_instances())}


def _counters(text: str, cells: dict[str, float]) -> dict[str, int | float]:
    found = {name: cells.get(name, 0) for name in ("warps", "threads", "threads_on", "wavefronts", "wavefronts_ideal")}
    found["sectors"] = cells.get("sectors", 0) + cells.get("local_sectors", 0)
    found["sectors_ideal"] = cells.get("sectors_ideal", 0)
    found["branches_divergent"] = cells.get("branches_divergent", 0)
    found["stall_samples"] = cells.get("samples", 0) - cells.get("samples_issued", 0)
    found["bytes"] = found["threads_on"] * cells.get("access_bits", 0) / 8
    found["requests"] = exact_requests(text, found) or 0
    return {name: tidy(value) for name, value in found.items() if value}


def _check_outline(path: Path) -> None:
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
