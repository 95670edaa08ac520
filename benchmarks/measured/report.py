"""The tables that the bench prints, from rows with their outcomes."""

from __future__ import annotations

import collections
import math
from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.measured import ncu, rivals
from benchmarks.measured.predicted import Outcome, gpu_of
from benchmarks.measured.sets import Row
from benchmarks.measured.statistics import Agreement, agreement, quantiles
from benchmarks.measured.work import Predicted, like_measured

Say = Callable[[str], None]
HEADER = f"  {'':30} {'n':>4} {'tau':>6} {'rho':>6} {'median':>7} {'90 %':>6} {'MAPE':>6} {'bias':>6} {'pick':>5}  of 5"


def report_set(done: Predicted, others: Sequence[tuple[str, Sequence[Row]]], say: Say) -> None:
    """All tables of one set; `others` are sets whose measurements may say something of this one's rows."""
    told = done.told()
    one, failed = done.one, [o.failed for o in done.outcomes if o.failed]
    say(f"\n{one.name} at {one.mhz} MHz: {len(told)} of {len(done.rows)} rows predicted")
    for reason, count in collections.Counter(failed).most_common(5):
        say(f"  {count} rows: {reason}")
    if not told:
        return
    say(HEADER)
    _line(say, "the model", [(outcome.time_us, row.measured_us) for row, outcome in told])
    for name, part in builds(told).items():
        if len(part) < len(told):
            _line(say, f"  {name}", [(outcome.time_us, row.measured_us) for row, outcome in part])
    each = [rivals.rival_times(outcome, gpu_of(one)) for _, outcome in told]
    for name in rivals.NAMES:
        pairs = [(times[name], row.measured_us) for times, (row, _) in zip(each, told, strict=True)]
        _line(say, name, pairs, sizes=name not in rivals.ORDER_ONLY)
    for other, rows in others:
        times = rivals.other_card([row for row, _ in told], rows)
        if len(times) > 1:
            _line(say, f"measured: {other}", [(t, told[at][0].measured_us) for at, t in times.items()], sizes=False)
            _line(say, "  the model on those", [(told[at][1].time_us, told[at][0].measured_us) for at in times])
    _bounds(told, say)
    _counters(told, say)
    seconds = [outcome.cpu_seconds for _, outcome in told]
    low, middle, high = quantiles(seconds)
    say(f"  CPU seconds a prediction, compile apart: 10 % {low:.2f}, 50 % {middle:.2f}, 90 % {high:.2f}")


def builds(told: Sequence[tuple[Row, Outcome]]) -> dict[str, list[tuple[Row, Outcome]]]:
    """Rows by whether our build is like the measured one: registers (in the units they are given in) and spills."""
    found: dict[str, list[tuple[Row, Outcome]]] = {}
    for row, outcome in told:
        alike = like_measured(row, outcome)
        if row.registers is None:
            name = "our build does not spill" if alike else "our build spills"
        else:
            name = "same registers and spills" if alike else "other registers or spills"
        found.setdefault(name, []).append((row, outcome))
        if outcome.local_bytes:
            found.setdefault("local memory in our build", []).append((row, outcome))
    return found


def line_of(name: str, found: Agreement, *, sizes: bool = True) -> str:
    def number(value: float, form: str) -> str:
        return "-" if math.isnan(value) else format(value, form)

    blank = "" if sizes else "-"
    errors = [blank or number(v, ".3f") for v in (found.median, found.ninety)]
    mape, bias = blank or number(100 * found.mape, ".1f"), blank or number(found.bias, "+.2f")
    order = [number(v, ".3f") for v in (found.tau, found.spearman)]
    picks = [number(100 * v, ".0f") for v in (found.pick1, found.pick5)]
    return (
        f"  {name:30} {found.n:4} {order[0]:>6} {order[1]:>6} {errors[0]:>7} {errors[1]:>6} "
        f"{mape:>6} {bias:>6} {picks[0]:>5} {picks[1]:>5}"
    )


def _line(say: Say, name: str, pairs: Sequence[tuple[float, float]], *, sizes: bool = True) -> None:
    say(line_of(name, agreement([p for p, _ in pairs], [m for _, m in pairs]), sizes=sizes))


def _bounds(told: Sequence[tuple[Row, Outcome]], say: Say) -> None:
    say(f"  {'bound by':30} {'n':>4} {'median':>7} {'90 %':>6} {'bias':>6}")
    found: dict[str, list[float]] = {}
    for row, outcome in told:
        found.setdefault(outcome.bound, []).append(math.log2(outcome.time_us / row.measured_us))
    for bound, errors in sorted(found.items(), key=lambda item: -len(item[1])):
        size = np.abs(errors)
        middle, high = np.median(size), np.quantile(size, 0.9)
        say(f"  {bound:30} {len(errors):4} {middle:7.3f} {high:6.3f} {np.median(errors):+6.2f}")


def _counters(told: Sequence[tuple[Row, Outcome]], say: Say) -> None:
    found = ncu.ratios(told)
    if found:
        say(f"  {'ours over Nsight Compute':30} {'n':>4} {'10 %':>7} {'50 %':>6} {'90 %':>6}")
    for name, (n, low, middle, high) in found.items():
        say(f"  {name:30} {n:4} {low:7.2f} {middle:6.2f} {high:6.2f}")
