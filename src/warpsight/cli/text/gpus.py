"""GPUs and how many blocks fit on them, as documents and as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from warpsight.vgpu.gpu import Gpu
    from warpsight.vgpu.occupancy import Occupancy


SHOWN_BLOCKS = (32, 64, 128, 192, 256, 384, 512, 768, 1024)


ANSWER_TITLES = (
    "occupancy", "blocks/SM", "warps/SM", "limited by", "warps", "blocks", "registers", "shared", "L1 left",
)  # fmt: skip


ALL_TITLES = (
    "name", "arch", "SMs", "MHz", "FP32 TFLOP/s", "FP16 tensor", "DRAM GB/s", "L2 MiB", "ridge FLOP/B",
)  # fmt: skip
SHOWN_TITLES = (  # by how many columns the terminal has
    (96, ALL_TITLES),
    (72, ("name", "arch", "SMs", "FP32 TFLOP/s", "DRAM GB/s", "L2 MiB", "ridge FLOP/B")),
    (0, ("name", "arch", "SMs", "DRAM GB/s", "L2 MiB")),
)
LEFT_TITLES = ("name", "arch")


NOT_NUMBERS = frozenset({"key", "name", "aliases", "note", "sources"})


def peaks(gpu: Gpu) -> dict[str, dict[str, float]]:
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


def document(gpu: Gpu) -> dict[str, Any]:
    derived = {
        "peak_gflops": peaks(gpu),
        "threads_per_sm": gpu.threads_per_sm,
        "dram_bytes_per_clock": {
            "at_base": gpu.dram_bytes_per_clock(gpu.base_mhz),
            "at_boost": gpu.dram_bytes_per_clock(),
        },
        "l2_gb_per_s": {"at_base": gpu.l2_gb_per_s(gpu.base_mhz), "at_boost": gpu.l2_gb_per_s()},
    }
    return {**gpu.model_dump(mode="json"), "derived": derived}


def render_all(console: Console, chosen: list[Gpu]) -> None:
    from rich.table import Table

    titles = next(titles for room, titles in SHOWN_TITLES if console.width >= room)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in titles:
        table.add_column(title, justify="left" if title in LEFT_TITLES else "right", no_wrap=True)
    for gpu in chosen:
        cells: dict[str, str] = dict(zip(ALL_TITLES, _cells(gpu), strict=True))
        table.add_row(*(cells[title] for title in titles))
    console.print(table)
    console.print("\nfrom base to boost clock; `warpsight gpus NAME` has every number and where it is from")


def _cells(gpu: Gpu) -> tuple[str, ...]:
    return (
        gpu.key, gpu.arch, str(gpu.sms), f"{gpu.base_mhz}-{gpu.boost_mhz}",
        f"{gpu.peak_gflops('f32', gpu.base_mhz) / 1000:.1f}-{gpu.peak_gflops('f32') / 1000:.1f}",
        f"{gpu.peak_gflops('tensor_f16') / 1000:.0f}", f"{gpu.dram_gb_per_s:.0f}", f"{gpu.l2_bytes / 2**20:g}",
        f"{gpu.ridge_flops_per_byte():.1f}",
    )  # fmt: skip


def render_one(console: Console, gpu: Gpu) -> None:
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
    for kind, peak in peaks(gpu).items():
        ridge = f"ridge {peak['ridge_flops_per_byte']:.1f} per byte of DRAM"
        console.print(f"  peak {kind:17} {peak['at_base'] / 1000:8.2f} to {peak['at_boost'] / 1000:8.2f} T/s, {ridge}")
    console.print(f"  DRAM {gpu.dram_bytes_per_clock():.0f} bytes per clock, L2 {gpu.l2_gb_per_s():.0f} GB/s, at boost")


def render_answers(console: Console, answers: list[tuple[str, Occupancy]], first: str = "gpu") -> None:
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
