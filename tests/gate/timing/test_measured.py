"""Measuring with real processes and real clocks: honest kernels, and ways to seem fast without being so.

Durations are slept, far apart, so that a busy machine does not turn one answer into another.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from tests.gate.timing.lanes import ProcessDevice

from warpsight.devices.device import TimedDevice
from warpsight.gate.compare_pair import compare_measured, measured_timing
from warpsight.gate.kernel import Kernel
from warpsight.gate.time_alone import time_measured
from warpsight.gate.verify import derive
from warpsight.nouns import Build, Task, Timing, Workload
from warpsight.nouns.timing import Roof
from warpsight.tasks import evaluate_launch, read_candidate, read_task

ROOT = Path(__file__).parents[3]
TASK = read_task(ROOT / "tasks" / "saxpy")
WORKLOAD = next(w for w in TASK.workloads if w.name == "blocks")
FAST_US, SLOW_US = 5500.0, 20_000.0  # less than four times: larger claims need a quiet machine


def low_roof(task: Task, workload: Workload, device: TimedDevice) -> Roof:
    return Roof(floor_us=0.1, compulsory_bytes=1, launch_us=0.2, source="of the test")


def high_roof(task: Task, workload: Workload, device: TimedDevice) -> Roof:
    return Roof(floor_us=1e6, compulsory_bytes=1, launch_us=2e6, source="of the test")


def kernel(mark: str) -> Kernel:
    """A kernel for the process device: its text only tells it from others."""
    candidate = read_candidate(f"{TASK.kernel}// {mark}\n", TASK)
    build = Build(
        ok=True, source_sha256=candidate.sha256, gpu_arch="sm_80", options=(), compiler="none", ptx="//",
        cubin=b"", entries=(), diagnostics=(), log="",
    )  # fmt: skip
    return Kernel(candidate, build, evaluate_launch(candidate, WORKLOAD.axes))


def compared(
    folder: Path, candidate: tuple[str, float], baseline: tuple[str, float] = ("honest", SLOW_US), roof=low_roof, seed=5
) -> Timing:
    mine, theirs = kernel("candidate"), kernel("baseline")
    lanes = {mine.build.source_sha256: candidate, theirs.build.source_sha256: baseline}
    device = ProcessDevice(lanes, folder / hashlib.sha256(b"flag").hexdigest()[:8])
    return compare_measured(TASK, WORKLOAD, theirs, mine, device, seed=seed, budget_s=20.0, roof_of=roof)


def test_a_faster_kernel_is_measured_twice_and_the_second_ratio_counts(tmp_path: Path) -> None:
    found = compared(tmp_path, ("honest", FAST_US))
    assert found.decision == "FASTER" and len(found.measurements) == 2, found.detail
    first, second = found.measurements
    assert found.ratio == second.ratio and first.decision == second.decision == "FASTER"
    assert first.candidate_first != second.candidate_first and {True, False} == set(first.candidate_first)
    assert first.verified_calls >= 3 and first.warm_up_calls >= 3 and len(first.alone_us) == 24
    assert derive(second).ratio == second.ratio
    assert found == measured_timing(found.device, found.workload, found.measurements, found.roof)


def test_the_same_kernel_is_not_faster(tmp_path: Path) -> None:
    found = compared(tmp_path, ("honest", FAST_US), ("honest", FAST_US))
    assert found.decision in ("SAME", "AMBIGUOUS") or len(found.measurements) == 2
    assert found.decision != "FASTER"


def test_a_slower_kernel_is_measured_once(tmp_path: Path) -> None:
    found = compared(tmp_path, ("honest", SLOW_US), ("honest", FAST_US))
    assert found.decision == "SLOWER" and len(found.measurements) == 1


@pytest.mark.parametrize(
    ("manner", "duration_us", "reason"),
    [
        ("forged", SLOW_US, "clock_disagrees"),
        ("boasting", SLOW_US, "clock_disagrees"),
        ("late", SLOW_US, "clock_disagrees"),
        ("wrong", FAST_US, "wrong_in_timed_call"),
        ("crash", FAST_US, "fault_in_timed_call"),
    ],
)
def test_a_cheat_is_rejected_by_name(tmp_path: Path, manner: str, duration_us: float, reason: str) -> None:
    found = compared(tmp_path, (manner, duration_us))
    assert (found.decision, found.reason) == ("REJECTED", reason), found.detail
    assert found.detail


def test_a_candidate_that_slows_the_baseline_down_gains_nothing(tmp_path: Path) -> None:
    found = compared(tmp_path, ("disturbing", FAST_US), ("disturbed", FAST_US))
    assert (found.decision, found.reason) == ("AMBIGUOUS", "not_faster_alone"), found.detail


def test_nothing_is_faster_than_the_roofline(tmp_path: Path) -> None:
    found = compared(tmp_path, ("honest", FAST_US), roof=high_roof)
    assert (found.decision, found.reason) == ("REJECTED", "faster_than_roofline")
    assert len(found.measurements) == 1 and "bytes" in found.detail


def test_a_time_alone_is_verified(tmp_path: Path) -> None:
    mine = kernel("alone")
    for manner, decision in (("honest", None), ("wrong", "REJECTED")):
        device = ProcessDevice({mine.build.source_sha256: (manner, FAST_US)}, tmp_path / "flag")
        found = time_measured(TASK, WORKLOAD, mine, device, seed=3, calls=6)
        assert found.decision == decision and len(found.samples_us) == 6 and found.source == "measured"
