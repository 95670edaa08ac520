"""`warpsight sass TASK`: the machine code that the GPU would run, with its schedule and, after a run, what it cost.

Every instruction of the kernel with the source line it comes from. Counts and stall samples are simulated; with
--no-run, or where the code has a form that the virtual GPU does not read, there are none and the output says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from warpsight.cli.check import TASK_HELP
from warpsight.cli.output import emit
from warpsight.cli.profile import GPU_HELP
from warpsight.errors import UsageError

if TYPE_CHECKING:
    from warpsight.cli.show.sass import Row
    from warpsight.nouns import Build, Profile, Task

LINES_HELP = "Only the code of these source lines: 12, or 12:20."
NO_RUN_HELP = "Only the code, without running it."
Counters = Mapping[int, Mapping[str, int | float]]


def sass(
    task: Annotated[str, typer.Argument(metavar="TASK", help=TASK_HELP)],
    kernel: Annotated[Path | None, typer.Option(metavar="FILE", help="Show this file instead of the task's.")] = None,
    gpu: Annotated[str | None, typer.Option(metavar="NAME", help=GPU_HELP)] = None,
    workload: Annotated[
        str | None, typer.Option(metavar="NAME", help="By default the task's profile workload.")
    ] = None,
    lines: Annotated[str | None, typer.Option(metavar="A:B", help=LINES_HELP)] = None,
    no_run: Annotated[bool, typer.Option("--no-run", help=NO_RUN_HELP)] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the generated inputs.")] = 0,
    cores: Annotated[int | None, typer.Option(min=1, help="CPU cores to use; all by default.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Show the machine code of a kernel: its schedule, how often each instruction ran, where warps waited (simulated).

    \b
    Examples:
      warpsight sass saxpy
      warpsight sass matmul_tiled --lines 12:20 --gpu rtx-a6000
      warpsight sass tasks/transpose --kernel mine.cu --no-run
    """
    from warpsight.cli.asked import asked, require_build
    from warpsight.cli.show import sass as sass_text
    from warpsight.cli.show.diagnosis import target_document

    wanted = None if lines is None else line_range(lines)
    with asked(task, kernel, device="virtual", gpu=gpu, workload=workload, seed=seed, cores=cores) as question:
        session = question.session
        build = require_build(question, as_json, "nothing to show")
        profile = None if no_run else session.counters(question.kernel)
    target = session.gpu
    assert target is not None
    rows = _rows(session.task, build, profile)
    kept = rows if wanted is None else _of_lines(rows, wanted)
    document = {
        **question.what_ran,
        "target": target_document(target),
        "workload": None if profile is None else question.workload,
        **_outcome(profile),
        "instructions": [row.document() for row in kept],
    }
    ran = None if profile is None else session.workload
    source = question.kernel.source
    shown = sass_text.Shown(session.task.name, question.file, source, target, ran, profile, rows, kept)
    emit(document, as_json=as_json, render=lambda console: sass_text.render(console, shown))


def line_range(text: str) -> range:
    """`12` or `12:20`, both ends included."""
    form = re.fullmatch(r"(\d+)(?::(\d+))?", text.strip())
    first, last = (int(form[1]), int(form[2] or form[1])) if form else (0, 0)
    if first < 1 or last < first:
        raise UsageError(f"--lines: expected a line or two that rise, found {text!r}", "write 12, or 12:20")
    return range(first, last + 1)


def _of_lines(rows: Sequence[Row], wanted: range) -> tuple[Row, ...]:
    kept = tuple(row for row in rows if row.line in wanted)
    if not kept:
        there = ", ".join(str(n) for n in sorted({row.line for row in rows if row.line is not None})) or "none"
        raise UsageError(f"--lines: no machine code comes from lines {wanted[0]} to {wanted[-1]}", f"one of {there}")
    return kept


def _rows(task: Task, build: Build, profile: Profile | None) -> tuple[Row, ...]:
    """Every instruction of the kernel; the padding behind the last one left out."""
    from warpsight.cli.show.sass import Row
    from warpsight.tasks import kernel_name
    from warpsight.toolchain.sass import disassemble
    from warpsight.vgpu.sass.read import schedule

    name = kernel_name(task, build.language)
    raws = [raw for raw in disassemble(build.cubin, name=name) if raw.function == task.entry]
    while raws and raws[-1].text == "NOP":
        raws.pop()
    counted: Counters = {} if profile is None else _by_address(build, task.entry, profile)
    none: Mapping[str, int | float] = {}
    return tuple(
        Row(
            address=raw.address,
            text=raw.text,
            line=raw.line,
            stall=int(bits["stall"]),
            write_barrier=_barrier(int(bits["write_bar"])),
            read_barrier=_barrier(int(bits["read_bar"])),
            waits=tuple(k for k in range(6) if int(bits["wait_mask"]) >> k & 1),
            counters=counted.get(raw.address, none),
        )
        for raw, bits in zip(raws, schedule(raws), strict=True)
    )


def _barrier(number: int) -> int | None:
    return None if number == 7 else number


def _by_address(build: Build, entry: str, profile: Profile) -> Counters:
    """The counters of each machine instruction; nothing when the profile is of the PTX."""
    from warpsight.devices.machine_code import machine_code

    program = machine_code(build.cubin, entry).program
    if profile.isa != "sass" or program is None or program.sched is None:
        return {}
    addresses = program.sched["address"]
    return {int(addresses[row.index]): row.counters for row in profile.instructions}


def _outcome(profile: Profile | None) -> dict[str, Any]:
    if profile is None:
        return {"source": None, "isa": "sass", "duration_us": None, "bound": "", "notes": []}
    time = profile.counters.get("duration_us")
    notes = list(profile.notes)
    return {"source": profile.source, "isa": profile.isa, "duration_us": time, "bound": profile.bound, "notes": notes}
