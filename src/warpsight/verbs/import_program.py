"""`warpsight import hecbench FOLDER --run FILE`: a whole program on a GPU, as it is and with one file changed.

Builds both with nvcc, runs them in turn, compares their outputs and their own checks, finds the hot kernels through
Nsight Systems where it is, and says what Amdahl's law leaves to gain. The profiler runs the program outside of the
jail, so it is asked only with --unsafe. What must stay true: every wall that the program ran without is named in the
result. Not run on a GPU by us.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpsight.errors import ToolMissing, UsageError

if TYPE_CHECKING:
    from warpsight.devices.cuda_state import GpuHere
    from warpsight.tasks.importers.hecbench.run import BuiltProgram
    from warpsight.tasks.importers.hecbench.whole_program import HotKernel

Say = Callable[[str], None]
NO_JAIL = "all walls of the jail, for the profile"
VISIBLE = "CUDA_VISIBLE_DEVICES"


def compare_changed(
    folder: Path, changed: Path, gpu_arch: str | None, runs: int, deadline_s: float, say: Say
) -> dict[str, Any]:
    """The comparison and the hot kernels, for a JSON document. Without `gpu_arch` it is that of the GPU it runs on."""
    from warpsight.devices.cuda_lane import ADDRESS_SPACE, LEFT_OUT
    from warpsight.devices.cuda_state import arch_for, choose, gpus_here, visible
    from warpsight.tasks.importers.hecbench.nvcc import find_nvcc
    from warpsight.tasks.importers.hecbench.run import build_program, runner
    from warpsight.tasks.importers.hecbench.whole_program import compare_programs
    from warpsight.tasks.importers.records import CannotImport

    setting, order = (os.environ.get(name) for name in (VISIBLE, "CUDA_DEVICE_ORDER"))
    gpu = choose(visible(gpus_here(), setting, order))  # without one it says so, before anything is built
    arch = gpu_arch or arch_for(gpu.capability)
    nvcc = find_nvcc()
    if nvcc is None:
        raise ToolMissing("a whole program is built by nvcc, and no CUDA toolkit is installed", hint="warpsight doctor")
    if not changed.is_file():
        raise UsageError(f"expected a changed file of the program at {changed}, found none")
    try:
        say("building the program twice")
        before = build_program(nvcc, folder, gpu_arch=arch)
        replaced = {changed.name: changed.read_text(encoding="utf-8")}
        after = build_program(nvcc, folder, replaced=replaced, gpu_arch=arch)
    except CannotImport as problem:
        raise UsageError(str(problem)) from None
    say("running both in turn")
    both = [
        runner(
            one, deadline_s=deadline_s, memory_bytes=ADDRESS_SPACE, without=LEFT_OUT,
            environment={VISIBLE: f"GPU-{gpu.uuid}"},
        )
        for one in (before, after)
    ]  # fmt: skip
    found = compare_programs(both[0], both[1], runs=runs)
    hot, why, unjailed = _hot(before, gpu, found.before_s, deadline_s)
    return {
        "comparison": {**found.model_dump(mode="json"), "speedup": found.speedup},
        "hot_kernels": hot_rows(hot),
        "not_measured": why,
        "gpu": gpu.name,
        "gpu_arch": arch,
        "ran_without": [*LEFT_OUT, *([NO_JAIL] if unjailed else [])],
    }


def hot_rows(hot: tuple[HotKernel, ...]) -> list[dict[str, Any]]:
    """Each kernel with what a faster one can bring to the whole program."""
    from warpsight.tasks.importers.hecbench.whole_program import amdahl, amdahl_limit

    rows: list[dict[str, Any]] = []
    for one in hot:
        share = one.program_share
        row: dict[str, Any] = one.model_dump(mode="json")
        if share is not None:
            row |= {"program_if_twice_as_fast": amdahl(share, 2), "program_limit": _finite(amdahl_limit(share))}
        rows.append(row)
    return rows


def _hot(
    program: BuiltProgram, gpu: GpuHere, program_s: float | None, deadline_s: float
) -> tuple[tuple[HotKernel, ...], str, bool]:
    """The kernels of one run by their time, or why they could not be had; and whether it ran with no jail for that."""
    from warpsight.jail.worker import told_unsafe
    from warpsight.lens.profilers import nsys
    from warpsight.lens.profilers.failures import ProfilerError
    from warpsight.lens.profilers.process import run_tool
    from warpsight.tasks.importers.hecbench.whole_program import hot_kernels

    if not told_unsafe():
        why = "the profiler runs the program outside of the jail, which needs --unsafe"
        return (), f"the hot kernels were not looked for: {why}", False
    started = False
    with tempfile.TemporaryDirectory(prefix="warpsight-") as place:
        folder = Path(place)
        for name, content in {"program": program.executable, **program.data}.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        (folder / "program").chmod(0o700)
        report = folder / "program.nsys-rep"
        try:
            path = nsys.available().required()
            on_gpu = ["/usr/bin/env", f"{VISIBLE}=GPU-{gpu.uuid}", str(folder / "program"), *program.arguments]
            words = nsys.argv(on_gpu, report=report, path=path)
            started = True
            run_tool(words, tool=nsys.NAME, deadline_s=deadline_s, folder=folder)
            shown = run_tool(nsys.stats_argv(report, path=path), tool=nsys.NAME, deadline_s=deadline_s, folder=folder)
            launches = nsys.parse(shown.stdout)
        except ProfilerError as problem:
            return (), f"the hot kernels were not found: {problem}", started
    return hot_kernels([(one.kernel, one.duration_us) for one in launches], program_s), "", started


def _finite(value: float) -> float | str:
    return round(value, 3) if value != float("inf") else "inf"
