"""What `warpsight import` shows: one table per format, then what was refused and why, then the score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from warpsight.verbs.import_formats import Done, programs_of
from warpsight.vgpu.symbols import kernel_title

if TYPE_CHECKING:
    from rich.console import Console

    from warpsight.tasks.importers.flashinfer.read import FlashinferEntry
    from warpsight.tasks.importers.gpumode import GpuModeTask
    from warpsight.tasks.importers.kernelbench.problem import KernelBenchProblem, ProblemValue
    from warpsight.tasks.importers.kernelbench.score import CandidateScore

BUSY_SHARE = 0.1
Render = Callable[["Console"], None]


def render(done: Done) -> Render:
    """The whole answer."""

    def show(console: Console) -> None:
        count = len(done.found.items)
        console.print(f"imported {count} from {done.found.format}, refused {len(done.refused)}", style="bold")
        tables: dict[str, Callable[[Done], Table]] = {
            "kernelbench": _problems, "hecbench": _kernels, "gpumode": _gpumode, "flashinfer": _definitions,
        }  # fmt: skip
        if count and not done.attempts:
            console.print(tables[done.found.format](done))
        if done.attempts:
            _show_attempts(console, done.attempts)
        for one in done.refused:
            console.print(f"  refused {escape(one.file)}: {escape(one.reason)}", style="yellow")
        if done.found.format == "hecbench" and (count or done.refused):
            console.print("run a whole program without a GPU: [bold]warpsight run FOLDER[/] (docs/programs.md)")
        for program in programs_of(done) if done.found.format == "hecbench" else ():
            for note in program.notes:
                console.print(f"  {escape(program.name)}: {escape(note)}", style="dim")
            for one in program.refused:
                console.print(f"  kernel left out, {escape(program.name)}/{escape(one.file)}: {escape(one.reason)}")
        for path in done.written[:20]:
            console.print(f"  wrote {path}", markup=False)
        if len(done.written) > 20:
            console.print(f"  … and {len(done.written) - 20} more")

    return show


def exported(written: Sequence[str]) -> Render:
    """The files of a data set that was written."""

    def show(console: Console) -> None:
        for path in written:
            console.print(f"wrote {path}", markup=False)

    return show


def scores(attempts: Sequence[CandidateScore]) -> dict[str, Any]:
    """fast_p at the usual thresholds, and the attempts, for a JSON document; nothing where none were made."""
    if not attempts:
        return {}
    from warpsight.tasks.importers.kernelbench.score import THRESHOLDS, fast_p, geometric_mean

    listed = [{**one.model_dump(mode="json"), "speedup": one.speedup} for one in attempts]
    table = {f"{p:g}": fast_p(attempts, p) for p in THRESHOLDS}
    return {"attempts": listed, "fast_p": table, "geometric_mean_speedup": geometric_mean(attempts)}


def _show_attempts(console: Console, attempts: Sequence[CandidateScore]) -> None:
    table = Table("problem", "candidate", "written in", "verdict", "worst error", "reference", "candidate", "speed-up")
    for one in attempts:
        speed = "" if one.speedup is None else f"{one.speedup:.2f}x"
        times = [f"{ms:.3f} ms" if ms is not None else "" for ms in (one.reference_ms, one.candidate_ms)]
        worst = "" if one.worst is None else f"{one.worst:.2g}"
        table.add_row(one.problem, one.candidate, one.backend, one.verdict, worst, *times, speed)
    console.print(table)
    for one in attempts:
        if one.reason:
            console.print(f"  {escape(one.problem)}: {one.verdict}: {escape(one.reason)}")
    found = scores(attempts)
    shares = "  ".join(f"fast_{p} {share:.0%}" for p, share in found["fast_p"].items())
    console.print(f"{shares}  of {len(attempts)} problem(s)", style="bold")
    device = next((one.device for one in attempts if one.device), "")
    waited = [one.waited_share for one in attempts if one.waited_share is not None]
    if waited and max(waited) > BUSY_SHARE:
        told = f"they waited up to {max(waited):.0%} of the timed seconds for a processor"
        console.print(f"the machine was busy, so do not rely on the speed-ups: {told}", style="yellow")
    if device:
        console.print(f"measured on the {device}; lower trust (host_code): a candidate is Python with C++ in it")


def _problems(done: Done) -> Table:
    table = Table("problem", "inputs", "outputs", "weights", "shapes")
    problems: Sequence[KernelBenchProblem] = done.found.items
    for one in problems:
        table.add_row(one.name, _values(one.inputs), _values(one.outputs), str(one.weights), one.shapes)
    return table


def _values(values: Sequence[ProblemValue]) -> str:
    shown = [f"{one.dtype}{list(one.shape)}" if one.kind == "tensor" else f"{one.kind} {one.value}" for one in values]
    return escape(", ".join(shown))


def _kernels(done: Done) -> Table:
    compilers = sorted({one.compiler for program in programs_of(done) for one in program.kernels})
    table = Table(caption=f"compiled by {', '.join(compilers)}; spilled and shared in bytes")
    for name in ("program", "kernel", "unit"):
        table.add_column(name, overflow="fold")
    for name in ("regs", "spilled", "shared", "SASS", "bytes"):
        table.add_column(name, justify="right", no_wrap=True)
    for program in programs_of(done):
        for one in program.kernels:
            numbers = (one.registers, one.spill_bytes, one.shared_bytes, one.sass_instructions, one.sass_bytes)
            table.add_row(program.name, escape(_title(one.name, one.symbol)), one.unit, *map(str, numbers))
    return table


def _title(name: str, symbol: str) -> str:
    """A kernel's name, with the template arguments that its symbol has, so that instances do not look alike."""
    title = kernel_title(symbol)
    return title if title.startswith(name) else name


def _gpumode(done: Done) -> Table:
    table = Table("problem", "language", "sizes", "tests", "benchmarks", "ranked by", "GPUs")
    tasks: Sequence[GpuModeTask] = done.found.items
    for one in tasks:
        counts = (str(len(one.tests)), str(len(one.benchmarks)))
        table.add_row(one.name, one.language, ", ".join(one.axes), *counts, one.ranking, ", ".join(one.gpus))
    return table


def _definitions(done: Done) -> Table:
    table = Table("definition", "kind", "inputs", "outputs", "solutions", "workloads", "traces")
    entries: Sequence[FlashinferEntry] = done.found.items
    for one in entries:
        names = (", ".join(one.definition.inputs), ", ".join(one.definition.outputs))
        counts = (len(one.solutions), len(one.workloads), len(one.traces))
        table.add_row(one.name, one.definition.op_type, *names, *map(str, counts))
    return table
