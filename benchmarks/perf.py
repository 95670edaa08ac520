"""How fast the project is, on one page: each number, that of the last release, and their ratio.

`perf` measures every row; `perf:check,native` some of them, and says of the others that they were not measured.
`perf:json=FILE` writes the numbers as `results/perf.json` has them, which is what a release does. Rows in CPU seconds
and ratios hardly depend on what else the machine does; rates by the clock and gains of a second core do. A ratio says
something only where both numbers are of one machine; the kept ones say of which.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from benchmarks import conversation, corpus, cpu_seconds, native, rollouts, scaling

KEPT = Path(__file__).parents[1] / "results" / "perf.json"
Numbers = dict[str, float]


class Row(NamedTuple):
    """One line of the table: its name among the numbers, what it is, and the part that measures it, if one does."""

    name: str
    what: str
    part: str


ROWS = (
    Row("profile", "profile, CPU seconds", "profile"),
    Row("check", "check, CPU seconds", "check"),
    Row("compare", "compare, CPU seconds", "compare"),
    Row("rewrite", "rewrite of all causes, CPU seconds", "rewrite"),
    Row("conversation", "conversation of the local model, tools, CPU seconds", "conversation"),
    Row("native_plain", "times native code: plain launches", "native"),
    Row("native_counted", "times native code: counted launches", "native"),
    Row("native_checked", "times native code: checked launches", "native"),
    Row("two_cores", "all cores against one, checked launches included", "scaling"),
    Row("shadow_floats", "bytes of a checked launch for a writable byte: float", "native"),
    Row("shadow_u8", "bytes of a checked launch for a writable byte: u8", "native"),
    Row("corpus", "corpus tasks a minute, cold", "corpus"),
    Row("rollouts", "rollouts an hour of a rival that tries, tools cold", "rollouts"),
)


def _command(name: str) -> Numbers:
    rows = cpu_seconds.main(name)
    return {name: statistics.fmean(row["total_s"] for row in rows)}


PARTS: Mapping[str, Callable[[], Numbers]] = {
    **{name: lambda name=name: _command(name) for name in cpu_seconds.COMMANDS},
    "conversation": conversation.main,
    "native": native.main,
    "scaling": scaling.main,
    "corpus": corpus.main,
    "rollouts": rollouts.main,
}


def table(measured: Numbers, kept: Numbers) -> list[str]:
    """The rows as text. A number that was not measured, or was not kept, says so."""
    lines = [f"{'':54} {'kept':>8} {'now':>8} {'now / kept':>10}"]
    for row in ROWS:
        before, now = kept.get(row.name), measured.get(row.name)
        shown = ["-" if number is None else f"{number:.2f}" for number in (before, now)]
        ratio = f"{now / before:.2f}" if now is not None and before else "not measured" if now is None else "-"
        lines.append(f"{row.what:54} {shown[0]:>8} {shown[1]:>8} {ratio:>10}")
    return lines


def main(argument: str = "") -> None:
    words = [word for word in argument.split(",") if word]
    named = dict(word.split("=", 1) for word in words if "=" in word)
    parts = [word for word in words if "=" not in word] or list(PARTS)
    if unknown := [part for part in parts if part not in PARTS]:
        raise SystemExit(f"expected parts among {', '.join(PARTS)}, {unknown[0]!r} came")
    measured = Numbers()
    for part in parts:
        print(f"\n-- {part}", flush=True)
        measured |= PARTS[part]()
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    print(f"\nkept: {kept['of']}; pace now {cpu_seconds.pace_s():.3f}, load average {os.getloadavg()[0]:.1f}")
    print("\n".join(table(measured, kept["numbers"])))
    if "json" in named:
        machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
        whole = {"of": f"{datetime.now(UTC):%Y-%m-%d}, {machine}", "numbers": measured}
        Path(named["json"]).write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
