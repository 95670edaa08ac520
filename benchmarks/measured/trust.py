"""Prints how far the model can be trusted, and writes the tables that the library loads."""

from __future__ import annotations

import datetime
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.measured import errors
from benchmarks.measured.errors import LEVEL, SURE, Timed
from benchmarks.measured.work import Predicted
from warpsight.vgpu.model_error import BUILT_IN, QUANTILES

Say = Callable[[str], None]


def timed_rows(done: Sequence[Predicted]) -> list[Timed]:
    """Rows whose build is like the measured one."""
    return [
        Timed(each.one.name, each.one.gpu, outcome.bound, outcome.time_us, row.measured_us)
        for each in done
        for row, outcome in each.alike()
    ]


def report_trust(rows: Sequence[Timed], say: Say) -> None:
    say(f"\nhow far the model can be trusted (log2 of measured over predicted; {len(rows)} rows whose build is alike)")
    for what, title in (("bound", "a time, by what binds"), ("gpu", "a time, by card")):
        say(f"  {title:34} {'n':>6} {'10 %':>7} {'50 %':>7} {'90 %':>7}")
        for name, (n, low, middle, high) in errors.errors_by(rows, what).items():
            say(f"  {name:34} {n:6} {low:+7.2f} {middle:+7.2f} {high:+7.2f}")
    pairs = errors.pairs_of(rows)
    say(f"  {'a ratio, by what binds and size':34} {'n':>6} {'10 %':>7} {'50 %':>7} {'90 %':>7}")
    for (both, bucket), (n, low, middle, high) in errors.spread_by_size(pairs).items():
        name = both if bucket == "any" else f"predicted 2^{bucket} or more"
        say(f"  {name:34} {n:6} {low:+7.2f} {middle:+7.2f} {high:+7.2f}")
    say(f"  {'of the pairs that we called':34} {'n':>6}  measured faster  not slower than 0.95x")
    for called in errors.reliability(pairs):
        name = f"{called.ratio:g}x or more"
        say(f"  {name:34} {called.n:6} {100 * called.faster:15.1f} % {100 * called.not_slower:20.1f} %")
    for widen in dict.fromkeys((1.0, errors.widening(rows))):
        _held_out(rows, widen, say)


def _held_out(rows: Sequence[Timed], widen: float, say: Say) -> None:
    say(f"  each set judged by the others, errors x {widen:.2f}: intervals of {LEVEL:.0%}, called faster at {SURE:.0%}")
    say(f"  {'set':34} {'pairs':>6}  covered  times covered  called  right  Brier")
    found = errors.held_out(rows, widen=widen)
    for one in found:
        say(
            f"  {one.set:34} {one.pairs:6} {100 * one.covered:6.0f} % {100 * one.times_covered:12.0f} % "
            f"{one.called:7} {100 * one.right:5.1f}% {one.brier:6.3f}"
        )
    if called := sum(one.called for one in found):
        right = sum(one.called * one.right for one in found if one.called) / called
        say(f"  {'all sets':34} {sum(one.pairs for one in found):6} {called:32} {100 * right:5.1f}%")


def write_tables(rows: Sequence[Timed], model: str, file: Path = BUILT_IN) -> None:
    """The tables as TOML; what they are of stands above them."""
    widen, sets = errors.widening(rows), sorted({row.set for row in rows})
    found = errors.model_error(rows, widen)
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    head = [
        "# Errors of the time model against published measurements, written by the bench `measured` (`write`).",
        "# Each table: log2(measured / predicted) at the quantiles of model_error.QUANTILES, stretched about their",
        "# median by `widen`, with which each set is covered by the tables of the others.",
        f"rows = {len(rows)}",
        f"sets = {[*sets]!r}".replace("'", '"'),
        f'date = "{day}"',
        f'commit = "{_commit()}"',
        f'model = "{model[:16]}"',
        f"widen = {widen:.2f}",
        f"at = {[*QUANTILES]!r}",
    ]
    body = [
        f'\n[[pairs]]\nbinding = "{both}"\nbucket = "{bucket}"\nn = {table.n}\nquantiles = {[*table.quantiles]!r}'
        for (both, bucket), table in sorted(found.pairs.items())
    ]
    body += [
        f'\n[[times]]\nbinding = "{binding}"\nn = {table.n}\nquantiles = {[*table.quantiles]!r}'
        for binding, table in sorted(found.times.items())
    ]
    file.write_text("\n".join([*head, *body, ""]), encoding="utf-8")


def _commit() -> str:
    asked = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    ran = subprocess.run(asked, capture_output=True, text=True, check=False)
    return ran.stdout.strip() or "unknown"
