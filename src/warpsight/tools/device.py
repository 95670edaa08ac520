"""`device`: the machine that kernels run on, its limits, and how many blocks of a launch fit."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import Field

from warpsight.errors import TaskError, WarpsightError
from warpsight.lens.render import number
from warpsight.nouns import Noun
from warpsight.session.session import Session
from warpsight.tools.answer import Answer, Kernel
from warpsight.vgpu.gpu import Gpu
from warpsight.vgpu.occupancy import occupancy

Threads = Annotated[int | None, Field(ge=1, le=1024, description="of a block")]
Registers = Annotated[int | None, Field(ge=1, le=255, description="of a thread")]
Shared = Annotated[int | None, Field(ge=0, le=1 << 20, description="of a block")]


class Fit(Noun):
    """How many blocks fit on one multiprocessor, and what limits that."""

    threads: int
    registers: int
    shared_bytes: int
    blocks_per_sm: int
    occupancy_percent: float
    limited_by: tuple[str, ...]


class DeviceSheet(Noun):
    """A device: numbers of its data sheet, and the launch that was asked about."""

    device: str
    source: str
    gpu: str = ""
    sheet: dict[str, float | str] = Field(default_factory=dict[str, float | str])
    fit: Fit | None = None


def device(
    session: Session,
    kernel: Kernel,
    threads: Threads = None,
    registers: Registers = None,
    shared_bytes: Shared = None,
) -> Answer[DeviceSheet]:
    """The GPU: multiprocessors, clocks, bandwidths, peak arithmetic, limits, and the occupancy of the kernel's launch.
    Give `threads`, `registers` or `shared_bytes` to see what another launch would allow."""
    gpu = session.gpu
    if gpu is None:
        data = DeviceSheet(device=session.device.name, source=session.device.source)
        return Answer(f"device {session.device.name} ({session.device.source}): it has no data sheet", data)
    sheet = sheet_of(gpu)
    fit, why = _fit(session, gpu, kernel, threads, registers, shared_bytes)
    lines = [f"{gpu.name} ({gpu.key}, {gpu.arch}), {session.device.source}"]
    lines += [
        f"{name}: {number(value)}" if isinstance(value, float) else f"{name}: {value}" for name, value in sheet.items()
    ]
    if fit is not None:
        limit = " and ".join(fit.limited_by) or "nothing"
        lines.append(
            f"a block of {fit.threads} threads, {fit.registers} registers each, {fit.shared_bytes} shared bytes:"
            f" {fit.blocks_per_sm} fit on an SM, occupancy {fit.occupancy_percent:g} %, limited by {limit}"
        )
    elif why:
        lines.append(f"occupancy: {why}")
    data = DeviceSheet(device=session.device.name, source=session.device.source, gpu=gpu.key, sheet=sheet, fit=fit)
    return Answer("\n".join(lines), data)


def sheet_of(gpu: Gpu) -> dict[str, float | str]:
    """The numbers that matter when a kernel is written."""
    return {
        "multiprocessors": float(gpu.sms),
        "clock_mhz": f"{gpu.base_mhz} to {gpu.boost_mhz}",
        "dram_gb_per_s": float(gpu.dram_gb_per_s),
        "l2_gb_per_s_at_boost": round(gpu.l2_gb_per_s(), 1),
        "l2_bytes": float(gpu.l2_bytes),
        "peak_f32_gflops_at_boost": round(gpu.peak_gflops("f32"), 1),
        "ridge_flops_per_dram_byte": round(gpu.ridge_flops_per_byte(), 2),
        "warps_per_sm": float(gpu.warps_per_sm),
        "blocks_per_sm": float(gpu.blocks_per_sm),
        "threads_per_block": float(gpu.threads_per_block),
        "registers_per_sm": float(gpu.registers_per_sm),
        "registers_per_thread": float(gpu.registers_per_thread),
        "shared_per_sm_bytes": float(gpu.shared_per_sm_bytes),
        "shared_per_block_bytes": float(gpu.shared_per_block_optin_bytes),
    }


def _fit(
    session: Session, gpu: Gpu, kernel: str, threads: int | None, registers: int | None, shared: int | None
) -> tuple[Fit | None, str]:
    """The launch of the kernel, with what is asked for put in its place."""
    if threads is None or registers is None or shared is None:
        candidate = session.candidate(kernel)
        build = session.build(candidate)
        usage = next((use for use in build.entries if use.name == session.task.entry), None)
        if usage is None:
            return None, "the kernel does not compile"
        try:
            size = session.launch(candidate)
        except TaskError as impossible:
            return None, impossible.message
        threads = math.prod(size.block) if threads is None else threads
        registers = usage.registers if registers is None else registers
        shared = usage.shared_bytes + size.shared_bytes if shared is None else shared
    try:
        fits = occupancy(gpu, threads, registers, shared)
    except WarpsightError as impossible:
        return None, impossible.message
    return Fit(
        threads=threads,
        registers=registers,
        shared_bytes=shared,
        blocks_per_sm=fits.blocks_per_sm,
        occupancy_percent=round(100 * fits.fraction, 1),
        limited_by=fits.limited_by,
    ), ""
