"""`warpsight doctor --calibrate`: which devices are checked, and how the outcome is shown. The check is in the lens.

The virtual GPU always; an NVIDIA GPU where one answers, through the profilers of the ladder.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from warpsight.errors import DeviceError, ToolMissing

if TYPE_CHECKING:
    from rich.console import Console

    from warpsight.lens.profilers.calibration import Calibration, MicroKernel
    from warpsight.nouns import Build, Profile

VIRTUAL = "a100"
PROFILER_S = 300.0


def calibrations() -> tuple[Calibration, ...]:
    """One for each device that is here."""
    from warpsight.devices.virtual import VirtualGpu
    from warpsight.lens.profilers.calibration import calibrate, on_device
    from warpsight.vgpu.gpus import find_gpu

    virtual = calibrate(on_device(VirtualGpu(gpu=find_gpu(VIRTUAL))), f"virtual GPU ({VIRTUAL}, simulated)")
    return (virtual, *_nvidia())


def _nvidia() -> tuple[Calibration, ...]:
    """The counters of this machine's NVIDIA GPU; nothing where none answers, which doctor's own lines tell."""
    from warpsight.devices.cuda import CudaDevice
    from warpsight.lens.profilers.calibration import calibrate, remember_wrong
    from warpsight.lens.profilers.ladder import climb, nvidia_rungs

    with CudaDevice() as device, tempfile.TemporaryDirectory() as name:
        try:
            gpu = device.gpu
        except (ToolMissing, DeviceError):
            return ()

        def measure(kernel: MicroKernel, build: Build) -> Profile:
            folder = Path(name)
            program = device.replay_argv(build, kernel.entry, kernel.values, kernel.size, folder=folder, launches=1)
            return climb(nvidia_rungs(program, kernel.entry, folder=folder, deadline_s=PROFILER_S)).profile

        found = calibrate(measure, f"{gpu.name} (measured)", gpu_arch=device.gpu_arch)
        remember_wrong(gpu.uuid, found.wrong)
        return (found,)


def render(console: Console, found: tuple[Calibration, ...]) -> None:
    """A row for each kernel: what agrees, and every counter that does not, with both numbers."""
    from rich.markup import escape
    from rich.table import Table

    for calibration in found:
        counts = [c.verdict for c in calibration.comparisons]
        agree, missing = counts.count("agrees"), counts.count("not measured")
        console.print(
            f"\n[bold]counters of {escape(calibration.device)}[/]: {agree} of {len(counts)} agree with what was "
            f"computed, {len(counts) - agree - missing} wrong, {missing} not measured"
        )
        table = Table(box=None, pad_edge=False)
        for title in ("micro-kernel", "agree", "wrong or not measured"):
            table.add_column(title, overflow="fold")
        for kernel in dict.fromkeys(c.kernel for c in calibration.comparisons):
            rows = [c for c in calibration.comparisons if c.kernel == kernel]
            good = sum(c.verdict == "agrees" for c in rows)
            bad = [
                f"{c.counter}: not measured"
                if c.counted is None
                else f"{c.counter}: counted {c.counted:g}, computed {c.computed:g}"
                for c in rows
                if c.verdict != "agrees"
            ]
            table.add_row(escape(kernel), f"{good} of {len(rows)}", escape("\n".join(bad)))
        for kernel, why in calibration.failed.items():
            table.add_row(escape(kernel), "none", escape(f"could not be counted: {why}"))
        console.print(table)
        if calibration.wrong:
            console.print(f"[red]not to be believed on this device: {', '.join(calibration.wrong)}[/]")
