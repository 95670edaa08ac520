"""`warpsight diagnose TASK`: why is the kernel slow? The findings of one profile, with the source lines they are about.

Simulated, like the profile it reads. With --json the counters that the findings rest on stand beside them, and under
`derived` every number of the findings as it comes from those counters again. Says nothing of whether the kernel is
right: that is `check`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from warpsight.cli.check import TASK_HELP
from warpsight.cli.options import ProfileWorkload
from warpsight.cli.output import emit
from warpsight.cli.profile import ARGUMENTS_HELP, FROM_HELP, GPU_HELP, KERNEL_NAME_HELP
from warpsight.cli.text.findings import render_findings
from warpsight.errors import UsageError

SOURCE_HELP = "With --from: the kernel's file, where the report does not carry it."
AGAINST_HELP = "With --from: what differs from this report, or from this task's kernel on the virtual GPU."
OUT_HELP = "With --against: write the differences, without source and names, to FILE."
KERNEL_HELP = "Diagnose this file instead of the task's."
WHAT_IF_HELP = "Simulate the kernel without this cause as well; `each`: without each of its findings."


def diagnose(
    task: Annotated[str | None, typer.Argument(metavar="TASK", help=TASK_HELP)] = None,
    arguments: Annotated[list[str] | None, typer.Argument(metavar="ARGUMENT", help=ARGUMENTS_HELP)] = None,
    kernel: Annotated[Path | None, typer.Option("--kernel", "--candidate", metavar="FILE", help=KERNEL_HELP)] = None,
    workload: ProfileWorkload = None,
    gpu: Annotated[str | None, typer.Option(metavar="NAME", help=GPU_HELP)] = None,
    what_if: Annotated[str | None, typer.Option("--what-if", metavar="CAUSE", help=WHAT_IF_HELP)] = None,
    report: Annotated[Path | None, typer.Option("--from", metavar="REPORT", help=FROM_HELP)] = None,
    kernel_name: Annotated[str | None, typer.Option(metavar="NAME|INDEX", help=KERNEL_NAME_HELP)] = None,
    source: Annotated[Path | None, typer.Option(metavar="FILE", help=SOURCE_HELP)] = None,
    against: Annotated[str | None, typer.Option(metavar="REPORT|TASK", help=AGAINST_HELP)] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help=OUT_HELP)] = None,
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
      warpsight diagnose transpose --what-if each
      warpsight diagnose saxpy.cu 1000000
      warpsight diagnose --from report.ncu-rep --source kernel.cu
      warpsight diagnose --from report.ncu-rep --against saxpy --out d.json
    """
    if report is not None:
        from warpsight.cli.diagnose_report import diagnose_report

        others = (task, kernel, what_if, *((gpu, workload) if against is None else ()))
        diagnose_report(
            report,
            others,
            kernel=kernel_name,
            source=source,
            against=against,
            workload=workload,
            gpu=gpu,
            out=out,
            as_json=as_json,
        )
        return
    if task is None or any(given is not None for given in (kernel_name, source, against, out)):
        raise UsageError("expected a TASK or --from REPORT", "warpsight diagnose transpose")
    from warpsight.cli.profile_program import show_if_program

    show_if_program(task, arguments, gpu=gpu, cores=cores, as_json=as_json, findings_alone=True)
    _show(task, kernel, as_json, what_if, gpu=gpu, workload=workload, seed=seed, cores=cores)


def _show(task: str, kernel: Path | None, as_json: bool, what_if: str | None, **asking: Any) -> None:
    from warpsight.cli.asked import asked, require_build
    from warpsight.cli.task_argument import document_of
    from warpsight.cli.text.diagnosis import target_document
    from warpsight.cli.text.findings import what_ifs
    from warpsight.lens import rederive

    with asked(task, kernel, device="virtual", **asking) as question:
        require_build(question, as_json, outcome="nothing to diagnose")
        session = question.session
        profile, findings = session.counters(question.kernel), session.diagnose(question.kernel)
        text = question.kernel.source
        without = [] if what_if is None else what_ifs(session, text, what_if)
    target = session.gpu
    assert target is not None
    document = {
        **question.what_ran,
        "workload": question.workload,
        "target": target_document(target),
        "source": profile.source,
        "trust": profile.trust,
        "bound": profile.bound,
        "findings": [document_of(finding) for finding in findings],
        "derived": [document_of(number) for finding in findings for number in rederive(profile, finding)],
        "counters": dict(profile.counters),
        "lines": [document_of(line) for line in profile.lines],
        "units": dict(profile.units),
        "what_if": [document_of(one) | {"gain": one.gain} for one in without],
        "notes": list(profile.notes),
        "not_measured": list(profile.not_measured),
    }
    head = f"{session.task.name}: {question.file}, workload {session.workload.name}, virtual GPU as {target.key}"
    emit(
        document,
        as_json=as_json,
        render=lambda console: render_findings(console, f"{head} ({profile.source})", profile, findings, text, without),
    )
