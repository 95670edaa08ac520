"""How a check is shown to a person: the table of workloads, then everything that is wrong with its source line.

Draws only. Kernel text and compiler messages are never read as markup.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from warpsight.cli.task_argument import origin_lines, sizes_text
from warpsight.cli.text.source import marked_line
from warpsight.nouns import (
    HOST_CODE_NOTE,
    Build,
    Check,
    Diagnostic,
    Dim3,
    Fault,
    Task,
    Workload,
    WorkloadResult,
    WorstElement,
)
from warpsight.tasks import kernel_name

MOST_FAULTS = 10
MOST_DIAGNOSTICS = 20
_COLOURS = {"right": "green", "wrong": "red", "fault": "red", "does_not_compile": "red", "refused": "yellow"}
_SEVERITIES = {"error": "bold red", "warning": "yellow", "note": "dim"}


@dataclass(frozen=True)
class ShownCheck:
    """What was checked."""

    task: Task
    file: str
    source: str
    workloads: Sequence[Workload]
    build: Build
    seed: int


def render(console: Console, result: Check, shown: ShownCheck) -> None:
    """Everything about one check, the verdict last, where the eye ends."""
    task = shown.task
    where = "OpenCL" if shown.build.language == "opencl" else f"{task.gpu_arch}, virtual GPU"
    console.print(Text(f"{task.name}: {shown.file}, {task.entry}, {where}, seed {shown.seed}"))
    for line in origin_lines(task):
        console.print(Text(line))
    if result.workloads:
        console.print()
        console.print(_table(result.workloads, [*shown.workloads, *result.generated]), soft_wrap=False)
    wrong = [_wrong_text(found, found.worst) for found in result.workloads if not found.ok and found.worst is not None]
    if wrong:
        console.print()
        console.print(Text("\n".join(wrong)))
    faults = merged(result.faults)
    for fault in faults[:MOST_FAULTS]:
        console.print()
        console.print(_fault_text(fault, shown))
    if len(faults) > MOST_FAULTS:
        console.print(f"\nand {len(faults) - MOST_FAULTS} more faults: see --json")
    render_diagnostics(console, result.diagnostics, shown)
    if result.trust == "host_code":
        console.print(Text(f"\n{HOST_CODE_NOTE}", style="yellow"))
    for warning in result.warnings:
        console.print(Text(f"\nnote: {warning}", style="yellow"))
    console.print()
    console.print(_verdict_text(result))


def merged(faults: Sequence[Fault]) -> list[Fault]:
    """One fault for each kind, line and array: an unrolled loop has many instructions for one line of the source."""
    found: dict[tuple[str, int | None, str | None], Fault] = {}
    for fault in faults:
        key = (fault.kind, fault.line, fault.array)
        first = found.get(key)
        found[key] = fault if first is None else first.model_copy(update={"count": first.count + fault.count})
    return list(found.values())


def render_diagnostics(console: Console, diagnostics: Sequence[Diagnostic], shown: ShownCheck) -> None:
    """Compiler messages, each with its source line and a caret."""
    for diagnostic in diagnostics[:MOST_DIAGNOSTICS]:
        console.print()
        console.print(_diagnostic_text(diagnostic, shown))
    if len(diagnostics) > MOST_DIAGNOSTICS:
        console.print(f"\nand {len(diagnostics) - MOST_DIAGNOSTICS} more messages of the compiler: see --json")


def _table(results: Sequence[WorkloadResult], workloads: Sequence[Workload]) -> Table:
    """One row for each workload; what failed is shown of those with several families of inputs."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("workload", no_wrap=True)
    table.add_column("sizes", overflow="fold")
    table.add_column("verdict", overflow="fold")
    table.add_column("wrong elements", justify="right", no_wrap=True)
    table.add_column("worst error", justify="right", no_wrap=True)
    table.add_column("inputs", overflow="fold")
    by_name = {workload.name: workload for workload in workloads}
    for name in dict.fromkeys(result.workload for result in results):
        ran = [result for result in results if result.workload == name]
        result = next((r for r in ran if not r.ok), ran[0])
        shown = f"{name} (hidden)" if result.hidden else name
        verdict = Text("right", style="green") if result.ok else Text(result.reason, style="red")
        wrong = f"{result.wrong_elements} of {result.total_elements}" if result.total_elements else "-"
        error = f"{result.worst.error:.3g}" if result.worst is not None else "-"
        inputs = result.family if not result.ok or len(ran) == 1 else f"{len(ran)} families"
        table.add_row(Text(shown), Text(sizes_text(by_name[name])), verdict, wrong, error, inputs)
    return table


def _wrong_text(result: WorkloadResult, worst: WorstElement) -> str:
    place = f"{worst.output}[{', '.join(map(str, worst.index))}]"
    inputs = "" if result.family == "declared" else f", {result.family} inputs"
    return f"{result.workload}{inputs}: worst at {place}: got {worst.got:.9g}, expected {worst.expected:.9g}"


def _fault_text(fault: Fault, shown: ShownCheck) -> Text:
    times = "once" if fault.count == 1 else f"{fault.count} times"
    place = shown.file if fault.line is None else f"{shown.file}:{fault.line}"
    text = Text.assemble((f"{fault.kind}", "bold red"), f" at {place}, {times}")
    if fault.thread is not None and fault.block is not None:
        text.append(f", first by thread {_dim(fault.thread)} of block {_dim(fault.block)}")
    if fault.array is not None:
        text.append(f", array {fault.array}")
    if fault.line is not None and (line := marked_line(shown.source, fault.line, word=fault.array)):
        text.append(f"\n{line}")
    return text.append(f"\n  {fault.message}")


def _dim(value: Dim3) -> str:
    return f"({', '.join(map(str, value))})"


def _diagnostic_text(diagnostic: Diagnostic, shown: ShownCheck) -> Text:
    names = (kernel_name(shown.task, shown.build.language), shown.task.opencl_file or "kernel.cl")
    own = diagnostic.file in names  # the name it was compiled by; in a header the line is not ours
    where = [str(part) for part in (diagnostic.line, diagnostic.column) if part is not None]
    text = Text.assemble((diagnostic.severity, _SEVERITIES[diagnostic.severity]))
    text.append(f": {':'.join([shown.file if own else diagnostic.file, *where])}: {diagnostic.message}")
    if own and diagnostic.line is not None:
        text.append(f"\n{marked_line(shown.source, diagnostic.line, diagnostic.column)}")
    return text


def _verdict_text(result: Check) -> Text:
    text = Text.assemble((result.verdict.replace("_", " "), f"bold {_COLOURS[result.verdict]}"))
    if result.verdict == "right":
        count = len({found.workload for found in result.workloads})
        families = len({found.family for found in result.workloads})
        ran = f"{count} workload{'s' if count != 1 else ''}, {families} families of inputs"
        return text.append(f": {ran}, every element within the tolerance, no faults")
    if result.verdict == "fault":
        bad = len({found.workload for found in result.workloads if not found.ok})
        ran = len({found.workload for found in result.workloads})
        kinds = ", ".join(sorted({fault.kind for fault in result.faults}))
        return text.append(f": {kinds} in {bad} of {ran} workloads")
    return text.append(f": {result.reason}")
