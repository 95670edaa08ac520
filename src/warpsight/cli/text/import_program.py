"""The comparison of a whole program as text."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console


def render(document: dict[str, Any]) -> Callable[[Console], None]:
    """The comparison as text."""

    def show(console: Console) -> None:
        told = document["comparison"]
        console.print(f"{told['verdict']} {told['reason']}".strip(), style="bold", markup=False)
        if told["speedup"] is not None:
            times = f"{told['before_s']:.3f} s -> {told['after_s']:.3f} s"
            console.print(f"whole program {times}, {told['speedup']:.2f}x (measured)")
        for row in document["hot_kernels"]:
            share = row["program_share"]
            part = "" if share is None else f", {share:.1%} of the program: at most {row['program_limit']}x in all"
            console.print(f"  {row['name']}: {row['gpu_share']:.1%} of the GPU's time{part}", markup=False)
        if document["not_measured"]:
            console.print(f"  {document['not_measured']}", markup=False)
        without = ", ".join(document["ran_without"])
        console.print(f"it ran without these protections: {without}", style="bold red", markup=False)

    return show
