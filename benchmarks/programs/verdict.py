"""What a program says of its own results: passed, own check failed, or no verdict. Pure functions of what it printed.

Careful in one direction: a failed check must not be called passed. So any sign of a failure outweighs all signs of a
success, words that a program also uses otherwise (`pass 2 of 3`, `successfully opened`) are no success, and a program
that prints NaN is told apart. What is not understood is `no verdict`.
"""

from __future__ import annotations

import re
from typing import Any

_BAD = r"(?:fail(?:ed|ure|ures|s)?|mismatch(?:e[sd])?|wrong|incorrect|errors?|discrepanc(?:y|ies)|invalid checksum)"
_NONE = re.compile(
    rf"\b(?:no|zero|0|0\.0+|without(?: any)?)\s+(?:\w+\s+)?{_BAD}\b"
    rf"|\b{_BAD}(?:\s+(?:count|rate|number|in \w+))?\s*(?:[:=]|is|are)\s*"
    r"(?:0(?:\.0*)?(?:e[+-]?0+)?|none|no)\b(?![.\d])",
    re.IGNORECASE,
)
_FAILED = re.compile(
    r"\bfail(?:ed|ure|ures|s)?\b|\bmismatch\w*|\bincorrect\w*|\bwrong\b|\bunsuccessful\w*|\binvalid checksum"
    r"|\bnot\s+(?:passed|pass|correct|ok|valid|match\w*|equal|identical|successful)\b"
    r"|\b(?:do|does|did)(?:n't|\s+not)\s+(?:match|pass|agree|equal)\b|\bdiscrepanc"
    r"|\b[1-9]\d*\s+(?:errors?|differences?|failures?)\b|\berrors? (?:found|detected)\b"
    r"|\berror (?:@|at (?:index|element|position|row|line|\(|\[|\d))"
    r"|\b(?:test|check|verification|validation|verified|valid|correct|correctness|passed|success|match(?:es)?|equal)"
    r"\s*(?:[:=?]|is)+\s*(?:no|false|0|failed)\b",
    re.IGNORECASE,
)  # fmt: skip
_SHOUTED = re.compile(r"\b(?:PASS|PASSED|SUCCESS|SUCCESSFUL|CORRECT|VERIFIED|OK)\b(?!\s*(?:\d|[=:]\s*\d))")
_SAID = re.compile(
    r"\b(?:test|tests|check|checks|checked|checking|verif\w*|validat\w*|results?|comparison|correctness|outputs?|solution|"
    r"computation|values?)\b.{0,60}?\b(?:passed|passes|success|successful|successfully|correct|correctly|ok|valid|"
    r"match|matches|matched|agree|true|yes|identical)\b"
    r"|^\W*(?:pass(?:ed)?|success(?:ful)?|correct|ok|valid|true)\W*$|^\W*pass verification\W*$|\(valid\)",
    re.IGNORECASE | re.MULTILINE,
)  # fmt: skip
_USAGE = re.compile(r"^\s*usage\b", re.IGNORECASE | re.MULTILINE)
_NAN = re.compile(r"(?<![A-Za-z])-?nan(?![A-Za-z])", re.IGNORECASE)
RUNTIME_GONE = 97
NOT_THERE = "a file that is not in the repository"
NO_DATA = re.compile(
    r"no such file|(can ?not|can't|could not|couldn't|failed to|unable to|error) (open|read|load|find)|cannot find|"
    r"(file|images?|labels|input|data)[^\n]{0,60} (not found|cannot be opened|does not exist)|`[\w:]*exists\(|"
    r"error opening|error reading|fopen|(open|opening|reading|loading)[^\n]{0,40} failed|"
    r"fail(ed)? to open", re.IGNORECASE,
)  # fmt: skip


def says(text: str) -> tuple[str, str]:
    """The program's own word on its results, and the line that it rests on."""
    left = _NONE.sub(" ", text)
    if found := _FAILED.search(left):
        return "own check failed", line_of(left, found.start())
    if found := _SHOUTED.search(left) or _SAID.search(left):
        return "passed", line_of(left, found.start())
    return "no verdict", ""


def line_of(text: str, at: int) -> str:
    """The line in which this place of a text lies."""
    return text[text.rfind("\n", 0, at) + 1 :].partition("\n")[0].strip()[:120]


def last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:120] if lines else ""


def verdict(told: dict[str, Any]) -> dict[str, Any]:
    """Of a run's account: how it came out, and why. What we say of it on stderr is no word of the program."""
    text = "\n".join(line for line in (told["output"] + told["errors"]).splitlines() if "warpsight: " not in line)
    outcome, reason = _ended(told, text) or _own_word(told, text)
    return {"outcome": outcome, "reason": reason[:200], "nan": bool(_NAN.search(told["output"])), "tail": text[-600:]}


def _ended(told: dict[str, Any], text: str) -> tuple[str, str] | None:
    """What stopped it; None where it came to its end."""
    faults = [f for f in told["faults"] if not f["warning"]]
    if faults:
        first = faults[0]["fault"]
        return "stopped", f"{first['kind']}: {first['message']}"
    if told["refused"] or told["missing"]:
        return "stopped", "; ".join([*told["refused"], *told["missing"]])
    if told["end"] == "time_limit":
        return "too long", "time_limit"
    if told["end"] == "signal" and NO_DATA.search(text):
        return "no data", NOT_THERE
    if told["end"] != "exited":
        return "stopped", f"{told['end']}: {told['detail']} {last_line(text)}"
    return None


def _own_word(told: dict[str, Any], text: str) -> tuple[str, str]:
    if told["exit_code"] == RUNTIME_GONE:
        return "stopped", last_line("\n".join(re.findall(r"warpsight: (.*)", told["errors"])))
    word, line = says(text)
    if NO_DATA.search(text) and (told["exit_code"] or not told["launches"] or word == "own check failed"):
        return "no data", NOT_THERE
    worked = told["launches"] or told.get("libraries")
    if told["exit_code"] and not worked:
        kind = "usage: its arguments are not what it wants" if _USAGE.search(text) else last_line(text)
        return "stopped", f"exit code {told['exit_code']} before any launch: {kind}"
    if word == "own check failed":
        return word, line
    if told["exit_code"]:
        return "stopped", f"exit code {told['exit_code']}: {last_line(text)}"
    if not worked:
        return "stopped", f"no launch: {last_line(text)}"
    return word, line
