"""The parts of this machine, as a table and a summary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from warpsight.devices.cuda_state import STAND_IN_MARK
from warpsight.verbs.doctor_probe import Probe

if TYPE_CHECKING:
    from rich.console import Console

    from warpsight.lens.profilers.calibration import Calibration


def render(console: Console, probes: list[Probe], calibrations: tuple[Calibration, ...]) -> None:
    from rich.table import Table

    colours = {"ok": "green", "missing": "red", "broken": "red", "absent": "yellow"}
    table = Table(box=None, pad_edge=False)
    for title in ("part", "state", "what was found"):
        table.add_column(title, overflow="fold")
    for probe in probes:
        detail = probe.detail if probe.fix is None else f"{probe.detail}\n  get it: {probe.fix}"
        table.add_row(probe.name, f"[{colours[probe.state]}]{probe.state}[/]", escaped(detail))
    console.print(table)
    for line in summary(probes):
        console.print(escaped(line), highlight=False)
    if calibrations:
        from warpsight.cli.text.calibrate import render

        render(console, calibrations)


def summary(probes: Sequence[Probe]) -> list[str]:
    """What can be done here, in three lines: where kernels run, what is not there, what needs mending."""
    state = {probe.name: probe.state for probe in probes}
    places = [
        ("native core", "the virtual GPU (simulated)"),
        ("extra opencl", "this processor through OpenCL (measured)"),
        ("device cuda", "NVIDIA GPUs (measured)"),
    ]
    stands_in = any(STAND_IN_MARK in probe.detail for probe in probes if probe.name == "device cuda")
    if stands_in:
        places[-1] = ("device cuda", "the stand-in for NVIDIA's driver (simulated)")
    here = [told for part, told in places if state.get(part) == "ok"]
    lines = ["", f"kernels run on: {'; '.join(here) or 'nothing'}"]
    if optional := [probe.name for probe in probes if probe.state == "absent"]:
        lines.append(f"not here, and not needed for that: {', '.join(optional)}")
    bad = [probe.name for probe in probes if probe.state in ("missing", "broken")]
    return [*lines, f"to be mended first: {', '.join(bad)}" if bad else "all that is needed is here"]


def escaped(text: str) -> str:
    from rich.markup import escape

    return escape(text)
