"""`warpsight gpus`: the GPUs that are known, the data sheet of one with its sources, and how many blocks fit on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from warpsight.cli.output import emit
from warpsight.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from warpsight.vgpu.gpu import Gpu
    from warpsight.vgpu.occupancy import Occupancy

SHOWN_BLOCKS = (32, 64, 128, 192, 256, 384, 512, 768, 1024)
ANSWER_TITLES = (
    "occupancy", "blocks/SM", "warps/SM", "limited by", "warps", "blocks", "registers", "shared", "L1 left",
)  # fmt: skip
NOT_NUMBERS = frozenset({"key", "name", "aliases", "note", "sources"})


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
        emit({"gpus": [_document(gpu) for gpu in chosen]}, as_json=as_json, render=lambda c: _render_all(c, chosen))
    else:
        emit(_document(chosen[0]), as_json=as_json, render=lambda c: _render_one(c, chosen[0]))


def _peaks(gpu: Gpu) -> dict[str, dict[str, float]]:
    from warpsight.vgpu.gpu import ARITHMETIC

    return {
        kind: {
            "at_base": gpu.peak_gflops(kind, gpu.base_mhz),
            "at_boost": gpu.peak_gflops(kind),
            "ridge_flops_per_byte": gpu.ridge_flops_per_byte(kind),
        }
        for kind in ARITHMETIC
        if gpu.fma_per_clock(kind)
    }


def _document(gpu: Gpu) -> dict[str, Any]:
    derived = {
        "peak_gflops": _peaks(gpu),
        "threads_per_sm": gpu.threads_per_sm,
        "dram_bytes_per_clock": {
            "at_base": gpu.dram_bytes_per_clock(gpu.base_mhz),
            "at_boost": gpu.dram_bytes_per_clock(),
        },
        "l2_gb_per_s": {"at_base": gpu.l2_gb_per_s(gpu.base_mhz), "at_boost": gpu.l2_gb_per_s()},
    }
    return {**gpu.model_dump(mode="json"), "derived": derived}


def _render_all(console: Console, chosen: list[Gpu]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("name")
    table.add_column("arch")
    for title in ("SMs", "MHz", "FP32 TFLOP/s", "FP16 tensor", "DRAM GB/s", "L2 MiB", "ridge FLOP/B"):
        table.add_column(title, justify="right")
    for gpu in chosen:
        table.add_row(
            gpu.key, gpu.arch, str(gpu.sms), f"{gpu.base_mhz}-{gpu.boost_mhz}",
            f"{gpu.peak_gflops('f32', gpu.base_mhz) / 1000:.1f}-{gpu.peak_gflops('f32') / 1000:.1f}",
            f"{gpu.peak_gflops('tensor_f16') / 1000:.0f}", f"{gpu.dram_gb_per_s:.0f}", f"{gpu.l2_bytes / 2**20:g}",
            f"{gpu.ridge_flops_per_byte():.1f}",
        )  # fmt: skip
    console.print(table)
    console.print("\nfrom base to boost clock; `warpsight gpus NAME` has every number and where it is from")


def _render_one(console: Console, gpu: Gpu) -> None:
    from rich.table import Table
    from rich.text import Text

    console.print(f"[bold]{gpu.key}[/]: {gpu.name}")
    if gpu.note:
        console.print(f"note: {gpu.note}", markup=False)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("key", "value", "meaning", "source"):
        table.add_column(title, overflow="fold", justify="right" if title == "value" else "left")
    for key, field in type(gpu).model_fields.items():
        value = getattr(gpu, key)
        if key in NOT_NUMBERS or value is None:
            continue
        shown = " ".join(map(str, value)) if isinstance(value, tuple) else str(value)  # type: ignore[reportUnknownArgumentType]
        table.add_row(Text(key), Text(shown), Text(field.description or ""), Text(gpu.sources.get(key, "")))
    console.print(table, soft_wrap=False)
    console.print("\n[bold]follows from these[/]")
    for kind, peak in _peaks(gpu).items():
        ridge = f"ridge {peak['ridge_flops_per_byte']:.1f} per byte of DRAM"
        console.print(f"  peak {kind:17} {peak['at_base'] / 1000:8.2f} to {peak['at_boost'] / 1000:8.2f} T/s, {ridge}")
    console.print(f"  DRAM {gpu.dram_bytes_per_clock():.0f} bytes per clock, L2 {gpu.l2_gb_per_s():.0f} GB/s, at boost")


def _occupancy(chosen: list[Gpu], threads: int, registers: int, shared: int, *, as_json: bool, one: bool) -> None:
    from warpsight.vgpu.occupancy import occupancy

    found = [(gpu, occupancy(gpu, threads, registers, shared)) for gpu in chosen]
    documents = [
        {"gpu": gpu.key, **answer.model_dump(mode="json"), "occupancy": answer.fraction} for gpu, answer in found
    ]

    def render(console: Console) -> None:
        _render_answers(console, [(gpu.key, answer) for gpu, answer in found])
        if one:
            console.print(f"\nother block sizes with {registers} registers and {shared} shared bytes:")
            sizes = sorted({*SHOWN_BLOCKS, threads})
            _render_answers(console, [(str(n), occupancy(chosen[0], n, registers, shared)) for n in sizes], "threads")

    emit(documents[0] if one else {"gpus": documents}, as_json=as_json, render=render)


def _render_answers(console: Console, answers: list[tuple[str, Occupancy]], first: str = "gpu") -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in (first, *ANSWER_TITLES):
        table.add_column(title, justify="left" if title in (first, "limited by") else "right")
    for label, answer in answers:
        each = (answer.limit_warps, answer.limit_blocks, answer.limit_registers, answer.limit_shared)
        warps = f"{answer.warps_per_sm}/{answer.warps_possible}"
        limits = ("-" if limit is None else str(limit) for limit in each)
        table.add_row(
            label, f"{100 * answer.fraction:.1f} %", str(answer.blocks_per_sm), warps, ", ".join(answer.limited_by),
            *limits, f"{answer.l1_bytes // 1024} KiB",
        )  # fmt: skip
    console.print(table)
