"""`warpsight diagnose TASK`: why is the kernel slow? The findings of one profile, with the source lines they are about.

Simulated, like the profile it reads. With --json the counters that the findings rest on stand beside them, and under
`derived` every number of the findings as it comes from those counters again. Says nothing of whether the kernel is
right: that is `check`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from warpsight.cli.check import TASK_HELP
from warpsight.cli.output import emit
from warpsight.cli.profile import GPU_HELP, does_not_compile, launch_size, target_document, target_gpu, what_ran

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from warpsight.nouns import Finding, Profile


def diagnose(
    task: Annotated[str, typer.Argument(metavar="TASK", help=TASK_HELP)],
    kernel: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Diagnose this file instead of the task's.")
    ] = None,
    workload: Annotated[
        str | None, typer.Option(metavar="NAME", help="By default the task's profile workload.")
    ] = None,
    gpu: Annotated[str | None, typer.Option(metavar="NAME", help=GPU_HELP)] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the generated inputs.")] = 0,
    cores: Annotated[int | None, typer.Option(min=1, help="CPU cores to use; all by default.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Say why a kernel is slow: findings with evidence, source line, estimated gain and what to try, most gain first.

    \b
    Examples:
      warpsight diagnose transpose
      warpsight diagnose matmul_naive --gpu rtx-a6000
      warpsight diagnose tasks/transpose --kernel mine.cu --json
    """
    from warpsight.cli.progress import progress_on_stderr
    from warpsight.cli.task_argument import document_of, find_task, profiled_workload, read_kernel
    from warpsight.devices.virtual import VirtualGpu
    from warpsight.gate.check import build_candidate, kernel_values
    from warpsight.lens import find_findings, rederive
    from warpsight.tasks import launch_of

    found = find_task(task)
    target = target_gpu(found, gpu)
    file, candidate = read_kernel(found, kernel)
    chosen = profiled_workload(found, workload)
    size = launch_size(candidate, chosen, file)
    with progress_on_stderr() as say:
        say("compiling")
        build = build_candidate(found, candidate, gpu_arch=target.arch)
        if not build.ok:
            does_not_compile(found, file, candidate, build, as_json, outcome="nothing to diagnose")
        say(f"counting and timing workload {chosen.name}")
        values = kernel_values(found, chosen, seed)[1]
        profile = VirtualGpu(cores=cores, gpu=target).profile(
            build, found.entry, values, launch_of(build, size), source_text=candidate.source
        )
    findings = find_findings(profile, build)
    document = {
        **what_ran(found, file, candidate, build),
        "workload": {"name": chosen.name, "axes": dict(chosen.axes), "seed": seed},
        "target": target_document(target),
        "source": profile.source,
        "trust": profile.trust,
        "bound": profile.bound,
        "findings": [document_of(finding) for finding in findings],
        "derived": [document_of(number) for finding in findings for number in rederive(profile, finding)],
        "counters": dict(profile.counters),
        "lines": [document_of(line) for line in profile.lines],
        "units": dict(profile.units),
        "notes": list(profile.notes),
        "not_measured": list(profile.not_measured),
    }
    head = f"{found.name}: {file}, workload {chosen.name}, virtual GPU as {target.key} ({profile.source})"
    emit(
        document,
        as_json=as_json,
        render=lambda console: render_findings(console, head, profile, findings, candidate.source),
    )


def render_findings(console: Console, head: str, profile: Profile, findings: Sequence[Finding], source: str) -> None:
    """The findings as text, each with the source lines of its evidence."""
    from rich.markup import escape

    from warpsight.cli.source_text import marked_line
    from warpsight.lens.render import NOTHING, evidence_text, gain_note, likely_words, number

    time = profile.counters.get("duration_us")
    spent = "no time: the machine code was not read"
    if time is not None:
        spent = f"{number(time)} us{likely_words(profile)}; bound by {profile.bound}"
    console.print(f"[bold]{escape(head)}[/]\n{escape(spent)}")
    for note in profile.notes:
        console.print(f"[dim]note: {escape(note)}[/]")
    if note := gain_note(profile, findings):
        console.print(f"[dim]gains are estimated: {note}[/]")
    if not findings:
        console.print(f"\n{NOTHING}")
    for index, finding in enumerate(findings, start=1):
        gained = "" if finding.estimated_gain is None else f" (about {finding.estimated_gain:.2f}x, estimated)"
        console.print(f"\n[bold]{index}. {finding.name}[/]{gained}\n  {escape(finding.message)}")
        for evidence in finding.evidence:
            console.print(f"  [dim]because[/] {escape(evidence_text(evidence))}")
        for line in dict.fromkeys(e.line for e in finding.evidence if e.line is not None):
            console.print(escape(marked_line(source, line)))
        console.print(f"  [dim]try[/] {escape(finding.suggestion)}")
        if finding.should_move:
            moves = ", ".join(f"{name} {way}" for name, way in finding.should_move.items())
            console.print(f"  [dim]then[/] {escape(moves)}")
