"""`warpsight doctor`: what is here, what is missing, how to get it. Looks and tries, changes nothing but the cache.

Required parts are really used (a kernel is compiled and disassembled, the native core is loaded, a worker tries the
walls of the jail), not only looked up.
Optional parts are looked up without importing them. With `--calibrate`, counters are checked too.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from warpsight import __version__
from warpsight.cli.output import ExitCode, emit
from warpsight.cli.text.doctor import render
from warpsight.verbs.doctor import every_probe
from warpsight.verbs.doctor_probe import Probe

if TYPE_CHECKING:
    from warpsight.lens.profilers.calibration import Calibration


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="Also count micro-kernels and compare with what was computed.")
    ] = False,
) -> None:
    """Say what is here, what is missing and how to get it.

    \b
    Examples:
      warpsight doctor
      warpsight doctor --calibrate
    """
    probes = list(every_probe())
    calibrations = _calibrations() if calibrate else ()
    bad = bool(calibrations) and not all(calibration.good for calibration in calibrations)
    code = _exit_code(probes) or (int(ExitCode.BROKEN) if bad else 0)
    document = {"warpsight": __version__, "fine": code == 0, "probes": [asdict(p) for p in probes]}
    if calibrate:
        document["calibrations"] = [{**asdict(c), "wrong": c.wrong, "good": c.good} for c in calibrations]
    emit(document, as_json=as_json, render=lambda console: render(console, probes, calibrations))
    raise typer.Exit(code)


def _calibrations() -> tuple[Calibration, ...]:
    from warpsight.verbs.calibrate import calibrations

    return calibrations()


def _exit_code(probes: list[Probe]) -> int:
    states = {probe.state for probe in probes}
    if "broken" in states:
        return int(ExitCode.BROKEN)
    return int(ExitCode.TOOL_MISSING if "missing" in states else ExitCode.FINE)
