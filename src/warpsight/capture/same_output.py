"""Whether two runs of a program print the same, lines about time aside, and what its own check says.

A program that prints what it computes prints it again when a kernel is faster; its times are others. Numbers may differ
in their last digits, as sums made in another order do, and that is told.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

ABOUT_TIME = re.compile(
    r"\btimes?\b|timing|elapsed|seconds|\bsecs?\b|\b[mun]?s\b|\(?[mun]?s\)|\bmsec|usec|bandwidth|[GMK]i?B/s|[GTM]?FLOPS?|"
    r"throughput|speed|per second|/s(?:ec)?\b|\brate\b|duration|latency|\d\s*[mun]?s\b|clock|performance",
    re.IGNORECASE,
)
PASSED = re.compile(r"\bPASS(?:ED)?\b|\bSUCCESS(?:FUL(?:LY)?)?\b|\bcorrect\b|\bverified\b", re.IGNORECASE)
FAILED = re.compile(r"\bFAIL(?:ED|URE)?\b|\bmismatch|\bincorrect\b|\bwrong\b|\berror:", re.IGNORECASE)
NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?")
CLOSE = 1e-3
OwnCheck = Literal["passed", "failed", "none"]


@dataclass(frozen=True)
class OutputCompared:
    """`same`: exact, close (numbers differ in the last digits) or different; `first` is the first line that differs."""

    same: Literal["exact", "close", "different"]
    lines: int
    left_out: int
    first: str = ""


def own_check(output: str) -> OwnCheck:
    """What a program says of its own results, by the words that such programs use."""
    failed = [m for m in FAILED.finditer(output) if not _of_none(output, m.start())]
    return "failed" if failed else "passed" if PASSED.search(output) else "none"


def _of_none(output: str, at: int) -> bool:
    """Whether it counts them and there are none: `0 mismatches`."""
    return re.search(r"(?:\b0|\bno)\s+$", output[:at], re.IGNORECASE) is not None


def compare_outputs(before: str, after: str) -> OutputCompared:
    """Line by line, without the lines about time."""
    one, two = (_lines(text) for text in (before, after))
    left_out = before.count("\n") - len(one)
    if len(one) != len(two):
        return OutputCompared("different", len(one), left_out, f"{len(one)} lines, then {len(two)}")
    exact = True
    for a, b in zip(one, two, strict=True):
        if a == b:
            continue
        exact = False
        if not _close(a, b):
            return OutputCompared("different", len(one), left_out, f"{a!r}, then {b!r}"[:300])
    return OutputCompared("exact" if exact else "close", len(one), left_out)


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip() and not ABOUT_TIME.search(line)]


def _close(a: str, b: str) -> bool:
    if NUMBER.sub("#", a) != NUMBER.sub("#", b):
        return False
    for x, y in zip(NUMBER.findall(a), NUMBER.findall(b), strict=True):
        if x == y:
            continue
        whole = x.lstrip("+-").isdecimal() and y.lstrip("+-").isdecimal()
        if whole or abs(float(x) - float(y)) > CLOSE * max(abs(float(x)), abs(float(y))):
            return False
    return True
