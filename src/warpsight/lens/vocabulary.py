"""The one vocabulary of counters, read from `vocabulary.toml`: what each means and what other tools call it.

Evaluates the formulas over Nsight Compute's metric names; does not read reports. What must stay true: a formula with
any metric missing has no value, so nothing is ever guessed from half of its parts.
"""

from __future__ import annotations

import difflib
import functools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Literal

from warpsight.errors import UsageError
from warpsight.nouns import Noun

_TERM = re.compile(r"([+-])?\s*(?:(\d+)\s*\*\s*)?([A-Za-z_][\w.]*)\s*")
_TIMES_US = {"n": 1e-3, "u": 1.0, "m": 1e3, "": 1e6}
_PREFIXES = {"K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


CHECKED = frozenset(
    (
        "branch_efficiency",
        "gld_efficiency",
        "gld_transactions",
        "gst_transactions",
        "warp_execution_efficiency",
        "inst_executed",
        "not_predicated_off_thread_inst_executed",
        "inst_executed_shared_loads",
        "inst_executed_shared_stores",
        "elapsed_cycles_sm",
        "shared_ld_bank_conflict",
        "shared_st_bank_conflict",
        "VALUUtilization",
        "VALUBusy",
        "SQ_INSTS_BRANCH",
        "SQ_INSTS_MFMA",
        "SQ_INSTS_LDS",
        "SQ_LDS_BANK_CONFLICT",
        "MfmaUtil",
    )
)
"""Names of nvprof and rocprof that were found in those tools' documentation or output; never tried in the tools."""


class Entry(Noun):
    """One counter: see the head of vocabulary.toml for what each field means."""

    name: str
    unit: str
    meaning: str
    scope: Literal["kernel", "line", "instruction"] = "kernel"
    ncu: tuple[str, ...] = ()
    ncu_per_instruction: str | None = None
    nvprof: str | None = None
    rocprof: str | None = None
    vgpu: str
    label: str | None = None


@dataclass(frozen=True)
class Metric:
    """A number of a report, with the unit the report gives it."""

    value: float
    unit: str = ""


@functools.cache
def vocabulary() -> Mapping[str, Entry]:
    """Every counter by its short name, in the order of the file."""
    text = (resources.files("warpsight.lens") / "vocabulary.toml").read_text(encoding="utf-8")
    return {name: Entry(name=name, **fields) for name, fields in tomllib.loads(text).items()}


def find_entry(name: str) -> Entry:
    """The counter of this short name, or the one that another tool calls so; else an error with near names."""
    known = vocabulary()
    if name in known:
        return known[name]
    elsewhere = [entry for entry in known.values() if name in foreign_names(entry)]
    if elsewhere:
        return min(elsewhere, key=lambda entry: len(foreign_names(entry)))  # the one that is mostly this
    near = difflib.get_close_matches(name.lower(), known, n=5, cutoff=0.5)
    near += [other for other in known if name.lower() in other and other not in near][:5]
    hint = f"near names: {', '.join(near)}" if near else "`warpsight explain` without a name lists all"
    raise UsageError(f"expected the name of a counter, `{name}` is none", hint)


def foreign_names(entry: Entry) -> frozenset[str]:
    """Every name that the other tools have for this counter or its parts."""
    texts = (*entry.ncu, entry.nvprof or "", entry.rocprof or "")
    return frozenset(word for text in texts for word in re.findall(r"[A-Za-z]\w*_[\w.]*\w|[A-Z]\w+", text))


def unchecked_names(entry: Entry) -> tuple[str, ...]:
    """Names of nvprof and rocprof that stand here from general knowledge alone."""
    texts = f"{entry.nvprof or ''}\n{entry.rocprof or ''}"
    words = re.findall(r"[A-Za-z]\w*_\w+|[A-Z]\w+|^branch$", texts, re.MULTILINE)
    return tuple(word for word in dict.fromkeys(words) if word not in CHECKED and word not in ("GPU",))


def terms(formula: str) -> tuple[tuple[tuple[float, str], ...], tuple[tuple[float, str], ...]]:
    """The weighted metric names above and below the line of a formula."""
    above, _, below = formula.partition(" / ")
    return _sum(above, formula), _sum(below, formula) if below else ()


def _sum(text: str, formula: str) -> tuple[tuple[float, str], ...]:
    found, at, text = list[tuple[float, str]](), 0, text.strip()
    while at < len(text):
        term = _TERM.match(text, at)
        if term is None or (found and not term[1]):
            raise ValueError(f"expected terms like `a + 2 * b`, found {formula!r}")
        found.append(((-1 if term[1] == "-" else 1) * float(term[2] or 1), term[3]))
        at = term.end()
    return tuple(found)


def from_metrics(entry: Entry, metrics: Mapping[str, Metric]) -> int | float | None:
    """The value of a counter from the metrics of a report; None when they do not say."""
    for formula in entry.ncu:
        above, below = terms(formula)
        if not all(name in metrics for _, name in (*above, *below)):
            continue
        value = sum(weight * _converted(metrics[name], entry.unit) for weight, name in above)
        if below:
            whole = sum(weight * _converted(metrics[name], entry.unit) for weight, name in below)
            if not whole:
                continue
            value = value / whole * (100 if entry.unit == "%" else 1)
        return tidy(value)
    return None


def _converted(metric: Metric, wanted: str) -> float:
    """The number in the wanted unit: times in us, kilo and mega taken out of counts."""
    if wanted == "us":
        time = re.fullmatch(r"([num]?)(?:s|second)", metric.unit)
        return metric.value * _TIMES_US[time[1]] if time else metric.value
    scaled = re.fullmatch(r"([KMGT])[a-z].*", metric.unit)
    return metric.value * _PREFIXES[scaled[1]] if scaled else metric.value


def tidy(value: float) -> int | float:
    """A whole number where it is one, else four digits after the point."""
    rounded = round(value, 4)
    return int(rounded) if float(rounded).is_integer() else rounded
