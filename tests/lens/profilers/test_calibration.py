"""The self-check of counters: a device that counts right passes, one that does not is told on, and not believed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from warpsight.devices.device import CannotProfile, Execution, Value
from warpsight.devices.virtual import VirtualGpu
from warpsight.lens.profilers.calibration import (
    MicroKernel,
    believed,
    calibrate,
    known_wrong,
    micro_kernels,
    on_device,
    remember_wrong,
)
from warpsight.lens.profilers.failures import NoSource
from warpsight.nouns import Build, Profile, Source
from warpsight.tasks import LaunchSize
from warpsight.vgpu.gpus import find_gpu


def some() -> list[MicroKernel]:
    return [kernel for kernel in micro_kernels() if kernel.name in ("copy", "shared read, 4 lanes a bank")]


class WrongDevice:
    """The virtual GPU with deliberately wrong counters: each is multiplied, or dropped where the factor is None."""

    name = "wrong"
    source: Source = "simulated"

    def __init__(self, factors: Mapping[str, float | None]) -> None:
        self.inner, self.factors = VirtualGpu(gpu=find_gpu("a100")), factors

    def execute(
        self, build: Build, entry: str, values: Sequence[Value], size: LaunchSize, *, check: bool, source_text: str = ""
    ) -> Execution:
        return self.inner.execute(build, entry, values, size, check=check, source_text=source_text)

    def profile(
        self, build: Build, entry: str, values: Sequence[Value], size: LaunchSize, *, source_text: str
    ) -> Profile:
        profile = self.inner.profile(build, entry, values, size, source_text=source_text)
        counters = {
            name: value * factor
            for name, value in profile.counters.items()
            if (factor := self.factors.get(name, 1)) is not None
        }
        return profile.model_copy(update={"counters": counters})


def test_the_kernels_compute_what_their_text_says() -> None:
    """The counts are of these kernels only if the kernels do what the counts assume."""
    device = VirtualGpu()
    from warpsight.toolchain.compile import compile_cuda

    for kernel in micro_kernels():
        build = compile_cuda(kernel.source, entry=kernel.entry)
        done = device.execute(build, kernel.entry, kernel.values, kernel.size, check=True)
        assert not done.faults and not done.refused
        x = kernel.values[1].array
        if kernel.entry == "copy":
            expected = x[:: int(kernel.values[2].array)]
        elif kernel.entry == "fma_chain":
            expected = np.full(len(x), 2.0, np.float32)  # v = v / 2 + 1 tends to 2
        else:
            stride = int(kernel.values[2].array)
            at = np.arange(32) * stride
            expected = np.tile(x[at % 32] + (at // 32).astype(np.float32), kernel.size.grid[0])
        assert np.allclose(done.arrays["y"], expected), kernel.name


def test_a_right_device_passes() -> None:
    found = calibrate(on_device(WrongDevice({})), "right", kernels=some())
    assert found.good and found.wrong == () and {c.verdict for c in found.comparisons} == {"agrees"}


def test_wrong_counters_are_reported_and_not_believed() -> None:
    device = WrongDevice({"global_load_sectors": 2, "shared_bank_conflicts": 0.5, "global_store_bytes": None})
    found = calibrate(on_device(device), "wrong", kernels=some())
    assert not found.good and found.wrong == ("global_load_sectors", "shared_bank_conflicts")
    loads = next(c for c in found.comparisons if c.counter == "global_load_sectors")
    assert loads.counted == 2 * loads.computed and loads.verdict == "wrong"
    assert [c.counter for c in found.comparisons if c.verdict == "not measured"] == ["global_store_bytes"]
    kernel = some()[0]
    from warpsight.toolchain.compile import compile_cuda

    build = compile_cuda(kernel.source, entry=kernel.entry)
    profile = device.profile(build, kernel.entry, kernel.values, kernel.size, source_text=kernel.source)
    kept = believed(profile, found.wrong)
    assert "global_load_sectors" not in kept.counters and "global_load_sectors" in kept.not_measured
    assert "global_load_requests" in kept.counters and "not believed" in kept.notes[-1]
    assert believed(profile, ()) is profile


def test_what_a_calibration_found_wrong_is_kept_until_the_next(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WARPSIGHT_CACHE", str(tmp_path))
    assert known_wrong("a") == ()
    remember_wrong("a", ("global_load_sectors",))
    assert known_wrong("a") == ("global_load_sectors",) and known_wrong("b") == ()
    remember_wrong("a", ())
    assert known_wrong("a") == ()
    (tmp_path / "calibration" / "a.json").write_text("{broken")
    assert known_wrong("a") == ()


def test_a_gpu_without_any_profiler_is_told_kernel_by_kernel() -> None:
    def nothing(_kernel: MicroKernel, _build: Build) -> Profile:
        raise NoSource("no profiler could measure this kernel: ncu: not installed")

    found = calibrate(nothing, "a GPU")
    assert set(found.failed) == {kernel.name for kernel in micro_kernels()} and not found.good


@pytest.mark.parametrize("factor", [0.0, 1.02, float("nan")])
def test_a_little_wrong_is_wrong(factor: float) -> None:
    found = calibrate(on_device(WrongDevice({"shared_wavefronts": factor})), "wrong", kernels=some()[1:])
    assert found.wrong == ("shared_wavefronts",)


def test_a_kernel_that_cannot_be_counted_is_told() -> None:
    def refuses(kernel: MicroKernel, build: Build) -> Profile:
        raise CannotProfile("it faults")

    found = calibrate(refuses, "refuses", kernels=some())
    assert not found.good and set(found.failed.values()) == {"it faults"} and found.comparisons == ()


def test_a_profile_of_another_kernel_is_not_taken() -> None:
    right = on_device(WrongDevice({}))
    other = some()[0]
    found = calibrate(
        lambda kernel, build: right(kernel, build).model_copy(update={"kernel": "x"}), "x", kernels=[other]
    )
    assert found.failed == {"copy": "the profile is of x"} and not found.good
