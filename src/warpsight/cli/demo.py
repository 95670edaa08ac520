"""`warpsight demo`: an example kernel made faster by a script that plays the model; what `optimize` gives, at once.

Exit code 0 when a right and faster kernel was found, as `optimize`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

OUT_HELP = "Where to write the new kernel; by default into the folder with the runs."


def demo(
    out: Annotated[Path | None, typer.Option(metavar="FILE", help=OUT_HELP)] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Make a slow matrix transpose faster on the virtual GPU: a script plays the model, everything else is real.

    It profiles, edits, checks, times and submits. Then the gate judges the new kernel, with sizes nobody was shown.

    \b
    Examples:
      warpsight demo
      warpsight demo --out faster.cu
    """
    from warpsight.cli.optimize import run_and_report
    from warpsight.verbs.demo import demo_job, kernel_place

    run_and_report(demo_job(), out or kernel_place(), quiet=quiet, as_json=as_json)
