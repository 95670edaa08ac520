"""Which instruction forms run, as a document and as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from warpsight.vgpu.coverage import Coverage


def totals_of(found: list[Coverage]) -> dict[str, int]:
    return {
        "forms": len(found),
        "executed": sum(c.executed for c in found),
        "lowers": sum(c.lowers for c in found),
        "core": sum(c.core for c in found),
        "definition": sum(c.definition for c in found),
        "agrees": sum(c.agrees for c in found),
    }


def coverage_document(found: list[Coverage], programs: Mapping[str, int]) -> dict[str, Any]:
    forms = [asdict(c) | {"executed": c.executed, "programs": programs.get(c.form)} for c in found]
    return {"totals": totals_of(found), "forms": forms}


def render(console: Console, found: list[Coverage], programs: Mapping[str, int]) -> None:
    from rich.table import Table
    from rich.text import Text

    totals = totals_of(found)
    bases = len({c.form.split(".")[0] for c in found})
    console.print(f"{totals['forms']} PTX forms of {bases} instructions, each tried as a kernel of one instruction")
    meanings = (
        ("lowers", "the front end turns it into bytecode"),
        ("core", "the C++ core runs that bytecode"),
        ("definition", "the NumPy definition says what it means"),
        ("executed", "all three"),
        ("agrees", "core and definition give the same bits"),
    )
    table = Table(box=None, pad_edge=False, show_header=False)
    for name, meaning in meanings:
        share = f"{100 * totals[name] / totals['forms']:.1f} %"
        table.add_row(f"  {name}", Text(str(totals[name]), justify="right"), Text(share, justify="right"), meaning)
    console.print(table)
    missing = sorted((c for c in found if not c.executed), key=lambda c: (-programs.get(c.form, 0), c.form))
    if not missing:
        return
    console.print("\nnot executed:")
    rows = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("form", "programs", "why") if programs else ("form", "why"):
        rows.add_column(title, overflow="fold")
    for c in missing:
        cells = [Text(c.form), str(programs.get(c.form, 0)), Text(c.reason)]
        rows.add_row(*(cells if programs else (cells[0], cells[2])))
    console.print(rows, soft_wrap=False)
