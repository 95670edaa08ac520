"""`warpsight import hecbench --run` over stand-ins for the GPU, its compiler and its profiler: what it is run with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from warpsight.cli.text.import_program import render
from warpsight.devices import cuda_state
from warpsight.devices.cuda_lane import LEFT_OUT
from warpsight.devices.cuda_state import GpuHere
from warpsight.lens.profilers import nsys, process
from warpsight.tasks.importers.hecbench import nvcc, run
from warpsight.tasks.importers.hecbench.run import BuiltProgram
from warpsight.tasks.importers.hecbench.whole_program import ProgramRun
from warpsight.verbs.import_program import NO_JAIL, compare_changed

GPUS = (GpuHere(0, "aaaa", "A100", (8, 0)), GpuHere(1, "bbbb", "H100", (9, 0)))


class Seen:
    """What the stand-ins were asked for."""

    def __init__(self) -> None:
        self.archs: list[str] = []
        self.environments: list[dict[str, str]] = []
        self.tools: list[list[str]] = []

    def compare(self, folder: Path, arch: str | None = None) -> dict[str, Any]:
        changed = folder / "main.cu"
        changed.write_text("")
        return compare_changed(folder, changed, arch, 1, 10.0, lambda _: None)


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Seen:
    seen = Seen()

    def build(*_: object, gpu_arch: str, **__: object) -> BuiltProgram:
        seen.archs.append(gpu_arch)
        return BuiltProgram(b"", {}, ("3",))

    def runner(_: BuiltProgram, *, environment: dict[str, str], **__: object) -> Callable[[], ProgramRun]:
        seen.environments.append(environment)
        return lambda: ProgramRun("PASS\n", 0, 1.0)

    def run_tool(argv: list[str], **_: object) -> process.ToolOutput:
        seen.tools.append(argv)
        return process.ToolOutput("", "", 0)

    launch = SimpleNamespace(kernel="adam", duration_us=5e5)
    monkeypatch.setattr(cuda_state, "gpus_here", lambda: GPUS)
    monkeypatch.setattr(nvcc, "find_nvcc", lambda: Path("/cuda/bin/nvcc"))
    monkeypatch.setattr(run, "build_program", build)
    monkeypatch.setattr(run, "runner", runner)
    monkeypatch.setattr(process, "run_tool", run_tool)
    monkeypatch.setattr(nsys, "available", lambda: SimpleNamespace(required=lambda: "/cuda/bin/nsys"))
    monkeypatch.setattr(nsys, "parse", lambda _: (launch,))
    monkeypatch.delenv("WARPSIGHT_UNSAFE", raising=False)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return seen


def test_the_program_is_built_for_the_gpu_that_it_runs_on(
    seen: Seen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert seen.compare(tmp_path)["gpu_arch"] == "sm_80"
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    monkeypatch.setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID")
    told = seen.compare(tmp_path)
    assert (told["gpu"], told["gpu_arch"]) == ("H100", "sm_90")
    assert seen.archs == ["sm_80", "sm_80", "sm_90", "sm_90"]
    visible = [one["CUDA_VISIBLE_DEVICES"] for one in seen.environments]
    assert visible == ["GPU-aaaa", "GPU-aaaa", "GPU-bbbb", "GPU-bbbb"]
    assert seen.compare(tmp_path, "sm_75")["gpu_arch"] == "sm_75"


def test_without_a_word_no_program_leaves_the_jail(seen: Seen, tmp_path: Path) -> None:
    told = seen.compare(tmp_path)
    assert seen.tools == [] and told["hot_kernels"] == []
    assert "--unsafe" in told["not_measured"] and told["ran_without"] == list(LEFT_OUT)


def test_a_profile_outside_of_the_jail_is_told(seen: Seen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPSIGHT_UNSAFE", "1")
    told = seen.compare(tmp_path)
    assert len(seen.tools) == 2 and "CUDA_VISIBLE_DEVICES=GPU-aaaa" in seen.tools[0]
    assert told["hot_kernels"][0]["program_share"] == 0.5
    assert told["ran_without"] == [*LEFT_OUT, NO_JAIL]
    console = Console(record=True, width=200)
    render(told)(console)
    assert NO_JAIL in console.export_text()
