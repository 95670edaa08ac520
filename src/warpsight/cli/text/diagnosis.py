"""A profile of a task's kernel as text or JSON, simulated or measured: what ran, facts, tables, findings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpsight.cli.asked import AskedKernel
from warpsight.cli.output import emit
from warpsight.cli.task_argument import document_of, origin_lines, sizes_text, usage_of
from warpsight.lens.diagnosis import Diagnosis
from warpsight.tasks import LaunchSize
from warpsight.vgpu.gpu import Gpu

if TYPE_CHECKING:
    from rich.console import Console

REPORTS = (".ncu-rep", ".nsys-rep", ".nvvp", ".csv")


def show(
    asked: AskedKernel, found: Diagnosis, began: float, *, lines: int | None, everything: bool, as_json: bool
) -> None:
    """Print it; `lines` None: all of them, in the order of the source. `began`: reports since then are named."""
    session, profile, gpu = asked.session, found.profile, asked.session.gpu
    build, size = session.build(asked.kernel), session.launch(asked.kernel)
    document: dict[str, Any] = {
        **document_of(profile),
        **asked.what_ran,
        "workload": asked.workload,
        "launch": size._asdict(),
        "findings": [document_of(finding) for finding in found.findings],
    }
    what = f"{session.task.name}: {asked.file}, kernel {profile.kernel}, workload {session.workload.name}"
    head = [f"{what} ({sizes_text(session.workload)})", *origin_lines(session.task)]
    if gpu is None:
        from warpsight.lens.profilers.on_gpu import reports_folder  # here: a simulation loads no profilers

        kept = reports_since(reports_folder(build), began) if session.keep_reports else []
        document["reports"] = [str(path) for path in kept]
        head += [f"device     {profile.device}, measured", *(f"report     {path}" for path in kept)]
    else:
        fits, roof = found.occupancy, found.roofline
        assert fits is not None
        document |= {
            "usage": usage_of(build, session.task.entry),
            "target": target_document(gpu),
            "occupancy": {**document_of(fits), "percent": round(100 * fits.fraction, 1)},
            "roofline": None if roof is None else document_of(roof),
        }
        head += _head(found, size, build.gpu_arch, gpu)

    def render(console: Console) -> None:
        from warpsight.cli.text import profile as profile_text  # here: JSON needs no rich
        from warpsight.cli.text.time import measured_facts, simulated_facts

        fits, roof = found.occupancy, found.roofline
        facts = measured_facts(profile) if gpu is None or fits is None else simulated_facts(profile, gpu, fits, roof)
        shown = profile_text.ShownProfile(tuple(head), tuple(facts), found.findings, lines, everything)
        profile_text.render(console, profile, shown)

    emit(document, as_json=as_json, render=render)


def target_document(gpu: Gpu) -> dict[str, Any]:
    clocks = {"boost_mhz": gpu.boost_mhz, "base_mhz": gpu.base_mhz}
    return {"gpu": gpu.key, "name": gpu.name, "arch": gpu.arch, "sms": gpu.sms, **clocks}


def reports_since(folder: Path, began: float) -> list[Path]:
    """What the profilers left for their own viewers in this run; files of earlier ones are older."""
    found = [path for path in folder.rglob("*") if path.suffix in REPORTS]
    return sorted(path for path in found if path.stat().st_mtime >= began)


def _head(found: Diagnosis, size: LaunchSize, arch: str, gpu: Gpu) -> Iterator[str]:
    """What ran on the virtual GPU, in words."""
    profile, use = found.profile, found.usage
    assert use is not None
    yield f"launch     grid {_dim(size.grid)}, block {_dim(size.block)}, dynamic shared {size.shared_bytes} bytes"
    counted = "counters and time, machine code" if "duration_us" in profile.counters else "counters, PTX"
    yield f"device     virtual GPU as {gpu.key} (simulated {counted})"
    if profile.sampled_blocks == profile.total_blocks:
        yield f"counted    all {profile.total_blocks} blocks"
    else:
        yield f"counted    {profile.sampled_blocks} of {profile.total_blocks} blocks, scaled to the whole launch"
    spills = use.spill_store_bytes + use.spill_load_bytes
    memory = f"{use.shared_bytes} bytes static shared, {f'{spills} bytes of spills' if spills else 'no spills'}"
    yield f"build      {arch}: {use.registers} registers a thread, {memory}"


def _dim(value: tuple[int, int, int]) -> str:
    return f"({', '.join(map(str, value))})"
