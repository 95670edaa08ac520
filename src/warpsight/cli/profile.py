"""`warpsight profile TASK`: what does the kernel do, how long does it take, and where? One workload on one GPU.

With `--from REPORT` the same of a measured report (see `profile_report`).

Counts and time are simulated, of the machine code for that GPU; where it has a form that is not read, counts are of the
PTX and there is no time. Says nothing of whether the kernel is right: that is `check`.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from warpsight.cli.check import TASK_HELP
from warpsight.cli.device_argument import DEVICE_HELP, DeviceName
from warpsight.cli.output import ExitCode, emit
from warpsight.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from warpsight.nouns import Build, Candidate, Profile, Task, Workload
    from warpsight.tasks import LaunchSize
    from warpsight.vgpu.gpu import Gpu
    from warpsight.vgpu.occupancy import Occupancy

GPU_HELP = (
    "Compile for this GPU and tell its time; by default the task's. `warpsight gpus` lists them. With --device cuda or "
    "hip: which of this machine's GPUs, by number, name or UUID."
)
FROM_HELP = "Show a measured report, not a task: .ncu-rep, .sqlite of nsys, or .csv of ncu, nsys, nvprof or rocprof."
KERNEL_NAME_HELP = "Which kernel of the report, with --from."
BLOCKS_HELP = "Count this many blocks and scale; by default all, or as many as the budget allows."


def profile(
    task: Annotated[str | None, typer.Argument(metavar="TASK", help=TASK_HELP)] = None,
    report: Annotated[Path | None, typer.Option("--from", metavar="REPORT", help=FROM_HELP)] = None,
    kernel_name: Annotated[str | None, typer.Option(metavar="NAME|INDEX", help=KERNEL_NAME_HELP)] = None,
    kernel: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Profile this file instead of the task's.")
    ] = None,
    workload: Annotated[
        str | None, typer.Option(metavar="NAME", help="By default the task's profile workload.")
    ] = None,
    device: Annotated[DeviceName | None, typer.Option(help=DEVICE_HELP)] = None,
    gpu: Annotated[str | None, typer.Option(metavar="NAME", help=GPU_HELP)] = None,
    lines: Annotated[int, typer.Option(min=0, help="How many source lines to show, costliest first.")] = 10,
    all_lines: Annotated[bool, typer.Option("--all-lines", help="Show every source line, in order.")] = False,
    all_counters: Annotated[bool, typer.Option("--all", help="Show the counters that are zero too.")] = False,
    blocks: Annotated[int | None, typer.Option(min=1, help=BLOCKS_HELP)] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the generated inputs.")] = 0,
    deadline: Annotated[float, typer.Option(min=0.1, help="Seconds that one launch may take.")] = 120.0,
    cores: Annotated[int | None, typer.Option(min=1, help="CPU cores to use; all by default.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Profile a kernel: its time, what binds it, where warps wait, what each source line does, and findings.

    \b
    Examples:
      warpsight profile matmul_tiled
      warpsight profile matmul_tiled --gpu rtx-a6000
      warpsight profile tasks/transpose --kernel mine.cu --lines 5
      warpsight profile saxpy --device opencl
      warpsight profile --from report.ncu-rep --kernel-name daxpy
    """
    if report is not None:
        from warpsight.cli.profile_report import show_report

        if task is not None or any(given is not None for given in (kernel, workload, device, gpu, blocks)):
            raise UsageError("expected --from alone: a report is of no task, and was run already", "leave out the rest")
        show_report(report, kernel_name, None if all_lines else lines, everything=all_counters, as_json=as_json)
        return
    if task is None or kernel_name is not None:
        missing = "a TASK or --from REPORT" if task is None else "--from REPORT with --kernel-name"
        raise UsageError(f"expected {missing}", "warpsight profile matmul_tiled")
    from warpsight.cli import profile_text
    from warpsight.cli.device_argument import device_for, language_for
    from warpsight.cli.progress import progress_on_stderr
    from warpsight.cli.roofline import roofline
    from warpsight.cli.task_argument import document_of, find_task, profiled_workload, read_kernel, usage_of
    from warpsight.cli.time_text import simulated_facts
    from warpsight.devices.virtual import VirtualGpu, spread_blocks
    from warpsight.gate.check import build_candidate, kernel_values
    from warpsight.lens import find_findings
    from warpsight.tasks import launch_of

    found = find_task(task)
    file, candidate = read_kernel(found, kernel, language_for(device))
    where = device_for(device, candidate, file)
    if where != DeviceName.VIRTUAL:
        from warpsight.cli.profile_device import show_device

        if blocks is not None:
            raise UsageError("expected --blocks on the virtual GPU: elsewhere all blocks run", "leave out --blocks")
        show_device(
            found, candidate, file, where, workload=workload, gpu=gpu, lines=None if all_lines else lines,
            everything=all_counters, seed=seed, deadline_s=deadline, cores=cores, as_json=as_json,
        )  # fmt: skip
        return
    target = target_gpu(found, gpu)  # a name that means no GPU is refused before anything is compiled
    chosen = profiled_workload(found, workload)
    size = launch_size(candidate, chosen, file)
    with progress_on_stderr() as say:
        say("compiling")
        build = build_candidate(found, candidate, gpu_arch=target.arch)
        if not build.ok:
            does_not_compile(found, file, candidate, build, as_json)
        size = launch_of(build, size)
        say(f"counting and timing workload {chosen.name}")
        picked = None if blocks is None else spread_blocks(math.prod(size.grid), blocks)
        values = kernel_values(found, chosen, seed)[1]
        result = VirtualGpu(cores=cores, gpu=target, deadline_seconds=deadline).profile(
            build, found.entry, values, size, source_text=candidate.source, blocks=picked
        )
    fits, roof = _occupancy(target, build, found.entry, size), roofline(result, target)
    findings = find_findings(result, build)
    document = {
        **document_of(result),
        **what_ran(found, file, candidate, build),
        "workload": {"name": chosen.name, "axes": dict(chosen.axes), "seed": seed},
        "launch": size._asdict(),
        "usage": usage_of(build, found.entry),
        "target": target_document(target),
        "occupancy": {**document_of(fits), "percent": round(100 * fits.fraction, 1)},
        "roofline": None if roof is None else document_of(roof),
        "findings": [document_of(finding) for finding in findings],
    }
    head = _head(result, f"{found.name}: {file}", chosen, size, build, target)
    facts = tuple(simulated_facts(result, target, fits, roof))
    shown = profile_text.Shown(tuple(head), facts, findings, None if all_lines else lines, all_counters)
    emit(document, as_json=as_json, render=lambda console: profile_text.render(console, result, shown))


def _head(profile: Profile, what: str, workload: Workload, size: LaunchSize, build: Build, gpu: Gpu) -> Iterator[str]:
    """What ran, in words."""
    from warpsight.cli.task_argument import sizes_text

    use = next(use for use in build.entries if use.name == profile.kernel)
    yield f"{what}, kernel {profile.kernel}, workload {workload.name} ({sizes_text(workload)})"
    yield f"launch     grid {_dim(size.grid)}, block {_dim(size.block)}, dynamic shared {size.shared_bytes} bytes"
    counted = "counters and time, machine code" if "duration_us" in profile.counters else "counters, PTX"
    yield f"device     virtual GPU as {gpu.key} (simulated {counted})"
    if profile.sampled_blocks == profile.total_blocks:
        yield f"counted    all {profile.total_blocks} blocks"
    else:
        yield f"counted    {profile.sampled_blocks} of {profile.total_blocks} blocks, scaled to the whole launch"
    spills = use.spill_store_bytes + use.spill_load_bytes
    memory = f"{use.shared_bytes} bytes static shared, {f'{spills} bytes of spills' if spills else 'no spills'}"
    yield f"build      {build.gpu_arch}: {use.registers} registers a thread, {memory}"


def _dim(value: tuple[int, int, int]) -> str:
    return f"({', '.join(map(str, value))})"


def target_gpu(task: Task, name: str | None) -> Gpu:
    """The GPU of this name, by default the task's."""
    from warpsight.cli.task_argument import gpu_of
    from warpsight.vgpu.gpus import find_gpu, known_gpus

    if name is None:
        return gpu_of(task)
    known_gpus()  # first, so that what is wrong in the user's own file of GPUs is not blamed on the option
    try:
        return find_gpu(name)
    except UsageError as unknown:
        raise UsageError(f"--gpu: {unknown.message}", unknown.hint) from None


def target_document(gpu: Gpu) -> dict[str, Any]:
    clocks = {"boost_mhz": gpu.boost_mhz, "base_mhz": gpu.base_mhz}
    return {"gpu": gpu.key, "name": gpu.name, "arch": gpu.arch, "sms": gpu.sms, **clocks}


def launch_size(candidate: Candidate, workload: Workload, file: str) -> LaunchSize:
    from warpsight.devices.device import CannotProfile
    from warpsight.errors import TaskError
    from warpsight.tasks import evaluate_launch

    try:
        return evaluate_launch(candidate, workload.axes, file)
    except TaskError as impossible:  # a launch that no GPU takes is the kernel's fault, as it is for `check`
        raise CannotProfile(f"the launch is not possible: {impossible.message}") from None


def _occupancy(gpu: Gpu, build: Build, entry: str, size: LaunchSize) -> Occupancy:
    from warpsight.vgpu.occupancy import occupancy

    use = next(use for use in build.entries if use.name == entry)
    return occupancy(gpu, math.prod(size.block), use.registers, use.shared_bytes + size.shared_bytes)


def what_ran(task: Task, file: str, candidate: Candidate, build: Build) -> dict[str, Any]:
    kernel = {"file": file, "entry": task.entry, "sha256": candidate.sha256}
    return {"task": task.name, "kernel": kernel, "gpu_arch": build.gpu_arch, "compiler": build.compiler}


def does_not_compile(
    task: Task, file: str, candidate: Candidate, build: Build, as_json: bool, outcome: str = "nothing to profile"
) -> NoReturn:
    """There is no program: the compiler's messages are the result."""
    from warpsight.cli import check_text
    from warpsight.cli.task_argument import document_of

    shown = check_text.Shown(task, file, candidate.source, (), build, 0)
    diagnostics = [document_of(diagnostic) for diagnostic in build.diagnostics]
    document = {**what_ran(task, file, candidate, build), "verdict": "does_not_compile", "diagnostics": diagnostics}

    def render(console: Console) -> None:
        check_text.render_diagnostics(console, build.diagnostics, shown)
        console.print(f"\n[bold red]does not compile[/]: there is {outcome}")

    emit(document, as_json=as_json, render=render)
    raise typer.Exit(int(ExitCode.WRONG))
