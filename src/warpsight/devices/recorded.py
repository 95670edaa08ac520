"""A real card as others recorded it: times of one kernel for many values of its parameters, from published files.

Reads cache files of Kernel Tuner, its T4 results, and results of KTT, plain or gzipped, wherever they lie. It runs
nothing: it can say how long a configuration took when it was recorded, that it failed then, or that nobody recorded it.
So it has no `execute` and is no place to check a kernel. What must stay true: every time is labelled `replayed`, with
the card that the file names; a configuration that failed, or is not in the file, never gets a time.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, cast

from warpsight.errors import UsageError
from warpsight.nouns.base import Source

Value = int | float | str
Settings = Mapping[str, Value]
MOST_BYTES = 1 << 30
TO_US = {
    "seconds": 1e6, "s": 1e6, "milliseconds": 1e3, "miliseconds": 1e3, "ms": 1e3, "microseconds": 1.0, "us": 1.0,
    "nanoseconds": 1e-3, "ns": 1e-3,
}  # fmt: skip
FORMS = "a cache file of Kernel Tuner, its T4 results, or results of KTT"
LFS = b"version https://git-lfs"


@dataclass(frozen=True)
class ReplayedTime:
    """One configuration as it was recorded: its time, or why there is none."""

    settings: Settings
    time_us: float | None
    reason: str = ""


@dataclass(frozen=True)
class RecordedDevice:
    """One kernel on one card, recorded. `parameters` are those that vary, with every value that was recorded."""

    card: str
    kernel: str
    parameters: Mapping[str, tuple[Value, ...]]
    fixed: Settings
    records: Mapping[tuple[Value, ...], ReplayedTime]
    sha256: str

    source: ClassVar[Source] = "replayed"

    @property
    def name(self) -> str:
        return f"recorded:{self.card}"

    def time(self, settings: Settings) -> ReplayedTime:
        """How long it took, or why nobody knows. UsageError where it is no configuration of this kernel."""
        wrong = sorted(set(settings) ^ set(self.parameters))
        if wrong:
            raise UsageError(f"expected values of {', '.join(self.parameters)}; wrong or missing: {', '.join(wrong)}")
        for name, value in settings.items():
            if value not in self.parameters[name]:
                known = ", ".join(map(str, self.parameters[name]))
                raise UsageError(f"{name}: expected one of {known}; got {value!r}")
        found = self.records.get(tuple(settings[name] for name in self.parameters))
        return found or ReplayedTime(settings, None, "not recorded: the parameters do not go together")

    @property
    def best(self) -> ReplayedTime:
        """The fastest that was recorded."""
        return min(self._timed, key=lambda one: one.time_us or math.inf)

    @property
    def median_us(self) -> float:
        times = sorted(one.time_us or 0.0 for one in self._timed)
        return times[len(times) // 2]

    @property
    def _timed(self) -> list[ReplayedTime]:
        return [one for one in self.records.values() if one.time_us is not None]


def open_recorded(file: Path) -> RecordedDevice:
    """The recorded card in a file. UsageError says what is wrong with one that cannot be read."""
    try:
        raw = file.read_bytes()
        if raw.startswith(LFS):
            raise UsageError(f"{file} is a pointer to a large file that was not fetched", hint="git lfs pull, there")
        text = _unzipped(raw) if file.suffix == ".gz" else raw
        whole = cast("dict[str, Any]", json.loads(text))
    except (OSError, ValueError, EOFError) as problem:
        raise UsageError(f"could not read {file}: {problem}", hint=f"expected {FORMS}") from None
    read = _form_of(whole)
    if read is None:
        raise UsageError(f"{file}: expected {FORMS}")
    try:
        card, kernel, rows = read(whole, file)
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise UsageError(f"{file}: a record that cannot be read: {problem}", hint=f"expected {FORMS}") from None
    if not any(one.time_us is not None for one in rows):
        raise UsageError(f"{file} has no time of any configuration")
    return _device(card, kernel, rows, hashlib.sha256(raw).hexdigest())


def _unzipped(raw: bytes) -> bytes:
    with gzip.GzipFile(fileobj=io.BytesIO(raw)) as packed:
        found = packed.read(MOST_BYTES + 1)
    if len(found) > MOST_BYTES:
        raise ValueError("more than 1 GiB unpacked")
    return found


def _form_of(whole: object) -> Any:
    if not isinstance(whole, dict):
        return None
    if "cache" in whole:
        return _cache
    if "Results" in whole:
        return _ktt
    return _t4 if "results" in whole else None


def _device(card: str, kernel: str, rows: Sequence[ReplayedTime], sha256: str) -> RecordedDevice:
    names = list(rows[0].settings)
    if any(list(row.settings) != names for row in rows):
        raise UsageError("the records do not all have the same parameters")
    values = {name: tuple(sorted({row.settings[name] for row in rows}, key=_sortable)) for name in names}
    varied = {name: some for name, some in values.items() if len(some) > 1}
    records: dict[tuple[Value, ...], ReplayedTime] = {}
    for row in rows:  # recorded twice: the faster one, as a tuner would keep it
        key = tuple(row.settings[name] for name in varied)
        own = ReplayedTime({name: row.settings[name] for name in varied}, row.time_us, row.reason)
        before = records.get(key)
        if before is None or (own.time_us or math.inf) < (before.time_us or math.inf):
            records[key] = own
    fixed = {name: some[0] for name, some in values.items() if len(some) == 1}
    return RecordedDevice(card, kernel, varied, fixed, records, sha256)


def _sortable(value: Value) -> tuple[bool, float, str]:
    return (isinstance(value, str), 0.0 if isinstance(value, str) else float(value), str(value))


def _cache(whole: dict[str, Any], _file: Path) -> tuple[str, str, list[ReplayedTime]]:
    """A cache file of Kernel Tuner: milliseconds, or the name of what went wrong."""
    names = [str(name) for name in whole["tune_params_keys"]]
    rows: list[ReplayedTime] = []
    for one in whole["cache"].values():
        settings = {name: _value(one[name]) for name in names}
        time, failed = one["time"], isinstance(one["time"], str) or not _is_time(one["time"])
        rows.append(ReplayedTime(settings, None if failed else 1e3 * float(time), f"failed: {time}" if failed else ""))
    return str(whole["device_name"]), str(whole["kernel_name"]), rows


def _t4(whole: dict[str, Any], file: Path) -> tuple[str, str, list[ReplayedTime]]:
    """Results in the T4 form. They name neither card nor kernel: the file and its folder do."""
    unit = TO_US[str(whole.get("metadata", {}).get("timeunit", "milliseconds")).lower()]
    rows: list[ReplayedTime] = []
    for one in whole["results"]:
        settings = {str(name): _value(value) for name, value in one["configuration"].items()}
        named = {m["name"]: m["value"] for m in one.get("measurements", ())}
        time = named.get("time")
        right = one.get("invalidity", "correct") == "correct" and _is_time(time)
        why = "" if right else f"failed: {one.get('invalidity')}"
        rows.append(ReplayedTime(settings, unit * float(cast(float, time)) if right else None, why))
    return file.name.partition(".")[0], file.parent.name, rows


def _ktt(whole: dict[str, Any], _file: Path) -> tuple[str, str, list[ReplayedTime]]:
    """Results of KTT."""
    about = whole["Metadata"]
    unit = TO_US[str(about.get("TimeUnit", "microseconds")).lower()]
    rows: list[ReplayedTime] = []
    for one in whole["Results"]:
        settings = {str(pair["Name"]): _value(pair["Value"]) for pair in one["Configuration"]}
        right = one["Status"] == "Ok" and _is_time(one.get("TotalDuration"))
        why = "" if right else f"failed: {one['Status']}"
        rows.append(ReplayedTime(settings, unit * float(one["TotalDuration"]) if right else None, why))
    return str(about["Device"]), str(whole["Results"][0].get("KernelName", "")), rows


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf


def _value(value: object) -> Value:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int | float | str):
        return value
    raise ValueError(f"expected a number or a text as a parameter, found {value!r}")
