"""What a benchmark program printed: did its own check pass, what times did it tell, is it the output of another run?

Pure functions of text. Lines that tell times differ from run to run and are left out of a comparison; numbers are
compared with a tolerance, words exactly.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal

_PASSED = re.compile(
    r"\b(PASS(ED)?|SUCCESS(FUL(LY)?)?)\b|\btest\s+passed\b|\bverification\s+(ok|succe\w+)\b", re.IGNORECASE
)
_FAILED = re.compile(r"\bFAIL(ED|URE)?\b|\bmismatch(es)?\b|\bincorrect\b|\bverification\s+error\b", re.IGNORECASE)
_NONE_FAILED = re.compile(
    r"\b(0|no)\s+(fail\w*|mismatch\w*|errors?)\b|\b(fail\w*|mismatch\w*|errors?)\s*[:=]\s*0\b", re.IGNORECASE
)
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_TIME = re.compile(
    r"(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*[(\[]?\s*(?P<unit>ns|us|usec|ms|msec|s|sec|seconds|milliseconds|microseconds)\b"
)
_TIMING_LINE = re.compile(
    r"\b(time|elapsed|duration|bandwidth|throughput|gflop|gb/s|speed|latency|per second)\b|/s\b", re.IGNORECASE
)
_SECONDS = {
    "ns": 1e-9, "us": 1e-6, "usec": 1e-6, "microseconds": 1e-6, "ms": 1e-3, "msec": 1e-3, "milliseconds": 1e-3,
    "s": 1.0, "sec": 1.0, "seconds": 1.0,
}  # fmt: skip


@dataclass(frozen=True)
class ToldTime:
    """A time that the program printed, with what it called it."""

    label: str
    seconds: float


def self_check(output: str) -> Literal["passed", "failed", "none"]:
    """What the program says of itself; any failure outweighs all else."""
    lines = [_NONE_FAILED.sub("", line) for line in output.splitlines()]
    if any(_FAILED.search(line) for line in lines):
        return "failed"
    return "passed" if any(_PASSED.search(line) for line in lines) else "none"


def told_times(output: str) -> tuple[ToldTime, ...]:
    """Times in lines that speak of time, in seconds."""
    found: list[ToldTime] = []
    for line in output.splitlines():
        if not re.search(r"\b(time|elapsed|duration|latency)\b", line, re.IGNORECASE):
            continue
        if told := _time_in(line):
            found.append(told)
    return tuple(found)


def difference(expected: str, got: str, rtol: float = 1e-4, atol: float = 1e-6) -> str:
    """Where two outputs part, "" if they are the same but for times."""
    left, right = _said(expected), _said(got)
    for number, (one, other) in enumerate(zip(left, right, strict=False), start=1):
        if _NUMBER.sub("#", one) != _NUMBER.sub("#", other):
            return f"line {number}: expected {one!r}, found {other!r}"
        for want, have in zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True):
            if not math.isclose(float(want), float(have), rel_tol=rtol, abs_tol=atol):
                return f"line {number}: expected {want}, found {have} in {other!r}"
    return "" if len(left) == len(right) else f"expected {len(left)} lines beside times, found {len(right)}"


def _said(output: str) -> list[str]:
    return [line.strip() for line in output.splitlines() if line.strip() and not _TIMING_LINE.search(line)]


def _time_in(line: str) -> ToldTime | None:
    """`time 1.5 (ms)`, `time: 1.5 ms` and `time (ms): 1.5`."""
    if told := _TIME.search(line):
        return ToldTime(line[: told.start()].strip(" :=-"), float(told["number"]) * _SECONDS[told["unit"]])
    unit = re.search(r"[(\[]\s*(ns|us|ms|s|sec|seconds)\s*[)\]]", line)
    number = _NUMBER.search(line, unit.end()) if unit else None
    if unit and number:
        return ToldTime(line[: unit.start()].strip(" :=-"), float(number[0]) * _SECONDS[unit[1]])
    return None
