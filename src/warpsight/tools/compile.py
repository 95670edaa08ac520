"""`compile`: does a kernel compile, what does it need of the machine, and how many blocks of it fit."""

from __future__ import annotations

import math

from warpsight.errors import TaskError, UsageError
from warpsight.nouns import Build, Candidate, EntryUsage, Noun, kernel_id
from warpsight.session.session import Session
from warpsight.tools.answer import Answer, Kernel, KernelId
from warpsight.vgpu.occupancy import Occupancy, occupancy

MOST_DIAGNOSTICS = 40


class Message(Noun):
    """One message of the compiler."""

    severity: str
    line: int | None
    message: str


class Compiled(Noun):
    """What the compiler made of a kernel. Without a program there are no resources."""

    kernel: KernelId
    ok: bool
    target: str
    registers: int | None = None
    spilled_bytes: int | None = None
    shared_bytes: int | None = None
    local_bytes: int | None = None
    launch: str = ""
    blocks_per_sm: int | None = None
    occupancy_percent: float | None = None
    limited_by: tuple[str, ...] = ()
    diagnostics: tuple[Message, ...] = ()


def compile(session: Session, kernel: Kernel) -> Answer[Compiled]:
    """Does the kernel compile? Errors and warnings with their source lines; or registers per thread, spilled bytes,
    shared memory, the launch, its occupancy and what limits it."""
    candidate = session.candidate(kernel)
    build = session.build(candidate)
    usage = next((use for use in build.entries if use.name == session.task.entry), None)
    target = build.gpu_arch or "OpenCL on this machine"
    messages = tuple(
        Message(severity=d.severity, line=d.line, message=d.message) for d in build.diagnostics[:MOST_DIAGNOSTICS]
    )
    name = kernel_id(kernel)
    data = Compiled(kernel=name, ok=build.ok, target=target, diagnostics=messages)
    head = f"{name}: compiles for {target}" if build.ok else f"{name}: does not compile for {target}"
    if build.ok and usage is not None:
        data = _with_usage(session, candidate, usage, data)
        spills = f"{data.spilled_bytes} bytes spilled" if data.spilled_bytes else "no spills"
        head += f": {usage.registers} registers a thread, {usage.shared_bytes} bytes static shared, {spills}"
    lines = [head, *([data.launch] if data.launch else []), *diagnostic_lines(build, kernel)]
    return Answer("\n".join(lines), data)


def _with_usage(session: Session, candidate: Candidate, usage: EntryUsage, data: Compiled) -> Compiled:
    told, fits = launch_line(session, candidate, usage)
    found = {
        "registers": usage.registers,
        "spilled_bytes": usage.spill_store_bytes + usage.spill_load_bytes,
        "shared_bytes": usage.shared_bytes,
        "local_bytes": usage.local_bytes,
        "launch": told,
    }
    if fits is not None:
        found |= {"blocks_per_sm": fits.blocks_per_sm, "occupancy_percent": round(100 * fits.fraction, 1)}
        found |= {"limited_by": fits.limited_by}
    return data.model_copy(update=found)


def launch_line(session: Session, candidate: Candidate, usage: EntryUsage) -> tuple[str, Occupancy | None]:
    """The launch on the timed workload in words, with its occupancy where the GPU is of a known kind."""
    try:
        size = session.launch(candidate)
        shared = usage.shared_bytes + size.shared_bytes
        gpu = session.gpu
        fits = None if gpu is None else occupancy(gpu, math.prod(size.block), usage.registers, shared)
    except (TaskError, UsageError) as impossible:
        return f"the launch is not possible: {impossible.message}", None
    told = f"launch on workload {session.workload.name}: grid {size.grid}, block {size.block}, {shared} bytes shared"
    if fits is None:
        return told, None
    limit = f", limited by {' and '.join(fits.limited_by)}" if fits.limited_by else ""
    return f"{told}; {fits.blocks_per_sm} blocks fit on an SM, occupancy {100 * fits.fraction:.0f} %{limit}", fits


def diagnostic_lines(build: Build, source: str) -> list[str]:
    """Messages of the compiler, each with the source line it is about."""
    text = source.splitlines()
    made: list[str] = []
    for found in build.diagnostics[:MOST_DIAGNOSTICS]:
        where = "" if found.line is None else f" at line {found.line}"
        made.append(f"{found.severity}{where}: {found.message}")
        if found.line is not None and 1 <= found.line <= len(text):
            made.append(f"  {found.line} | {text[found.line - 1].strip()}")
    if len(build.diagnostics) > MOST_DIAGNOSTICS:
        made.append(f"and {len(build.diagnostics) - MOST_DIAGNOSTICS} more messages")
    return made
