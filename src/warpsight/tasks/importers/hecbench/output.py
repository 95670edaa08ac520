"""What a benchmark program printed: did its own check pass, is it the output of another run?

Pure functions of text. Lines that tell times differ from run to run and are left out of a comparison; numbers are
compared with a tolerance, words exactly.
"""

from __future__ import annotations

import math
import re
from typing import Literal

_PASSED = re.compile(
    r"\b(PASS(ED)?|SUCCESS(FUL(LY)?)?)\b|\btest\s+passed\b|\bverification\s+(ok|succe\w+)\b", re.IGNORECASE
)
_FAILED = re.compile(r"\bFAIL(ED|URE)?\b|\bmismatch(es)?\b|\bincorrect\b|\bverification\s+error\b", re.IGNORECASE)
_NONE_FAILED = re.compile(
    r"\b(0|no)\s+(fail\w*|mismatch\w*|errors?)\b|\b(fail\w*|mismatch\w*|errors?)\s*[:=]\s*0\b", re.IGNORECASE
)
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_TIMING_LINE = re.compile(
    r"\b(time|elapsed|duration|bandwidth|throughput|gflop|gb/s|speed|latency|per second)\b|/s\b", re.IGNORECASE
)


def self_check(output: str) -> Literal["passed", "failed", "none"]:
    """What the program says of itself; any failure outweighs all else."""
    lines = [_NONE_FAILED.sub("", line) for line in output.splitlines()]
    if any(_FAILED.search(line) for line in lines):
        return "failed"
    return "passed" if any(_PASSED.search(line) for line in lines) else "none"


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
