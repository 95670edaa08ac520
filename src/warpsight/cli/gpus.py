"""`warpsight gpus`: the GPUs that are known, the data sheet of one with its sources, and how many blocks fit on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from warpsight.cli.output import emit
from warpsight.cli.text.gpus import SHOWN_BLOCKS, document, render_all, render_answers, render_one
from warpsight.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from warpsight.vgpu.gpu import Gpu


def gpus(
    name: Annotated[str | None, typer.Argument(help="A GPU: a100, 'RTX A6000', 3090. Left out: all of them.")] = None,
    threads: Annotated[int | None, typer.Option(help="Threads of a block: say how many blocks fit.")] = None,
    registers: Annotated[int | None, typer.Option(help="Registers of a thread, with --threads.")] = None,
    shared: Annotated[int, typer.Option(help="Shared bytes of a block, static and dynamic.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """The GPUs that are known, their data sheets, and how many blocks fit on them.

    Add your own in gpus.toml of the configuration folder, or in the file that WARPSIGHT_GPUS names.

    \b
    Examples:
      warpsight gpus
      warpsight gpus "RTX A6000"
      warpsight gpus a100 --threads 256 --registers 64 --shared 16384
    """
    from warpsight.vgpu.gpus import find_gpu, known_gpus

    if (threads is None) != (registers is None) or (threads is None and shared):
        raise UsageError("expected --threads and --registers together", "add --threads 256 --registers 64")
    chosen = list(known_gpus().values()) if name is None else [find_gpu(name)]
    if threads is not None and registers is not None:
        _occupancy(chosen, threads, registers, shared, as_json=as_json, one=name is not None)
    elif name is None:
        emit({"gpus": [document(gpu) for gpu in chosen]}, as_json=as_json, render=lambda c: render_all(c, chosen))
    else:
        emit(document(chosen[0]), as_json=as_json, render=lambda c: render_one(c, chosen[0]))


def _occupancy(chosen: list[Gpu], threads: int, registers: int, shared: int, *, as_json: bool, one: bool) -> None:
    from warpsight.vgpu.occupancy import occupancy

    found = [(gpu, occupancy(gpu, threads, registers, shared)) for gpu in chosen]
    documents = [
        {"gpu": gpu.key, **answer.model_dump(mode="json"), "occupancy": answer.fraction} for gpu, answer in found
    ]

    def render(console: Console) -> None:
        render_answers(console, [(gpu.key, answer) for gpu, answer in found])
        if one:
            console.print(f"\nother block sizes with {registers} registers and {shared} shared bytes:")
            sizes = sorted({*SHOWN_BLOCKS, threads})
            render_answers(console, [(str(n), occupancy(chosen[0], n, registers, shared)) for n in sizes], "threads")

    emit(documents[0] if one else {"gpus": documents}, as_json=as_json, render=render)
