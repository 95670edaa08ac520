"""Programs that lie, flood, unmap, fork or try to get out: the core goes on, events have types, nothing is touched."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.programs.conftest import Ran

RunHostile = Callable[..., Ran]

LIES = {
    "operation": "expected an operation",
    "announce": "expected at most",
    "outside": "is not in device memory",
    "beyond": "is not in device memory",
    "wrap": "is not in device memory",
    "overlap": "meets another",
    "kind": "expected a number up to 3",
    "release": "nothing was allocated",
    "left over": "are left over",
    "copy": "expected a number up to",
    "module": "was never sent",
    "name": "expected a name",
    "launch": "was never sent",
    "flood": "expected at most 200000 allocations",
    "library": "expected a number up to 6",
}


@pytest.mark.parametrize("what", LIES)
def test_a_lie_ends_the_program(run_hostile: RunHostile, what: str) -> None:
    ran = run_hostile(what, limit_s=120.0)
    assert (ran.run.end, ran.run.exit_code) == ("bad_request", 1)
    assert LIES[what] in ran.run.detail


def test_half_a_message_is_the_end(run_hostile: RunHostile) -> None:
    ran = run_hostile("half")
    assert (ran.run.end, ran.run.exit_code, ran.run.launches) == ("exited", 5, 0)


def test_device_memory_cannot_be_taken_away(run_hostile: RunHostile) -> None:
    ran = run_hostile("shrink")
    assert ran.output.splitlines() == ["shrink: refused", "grow: refused", "bytes: all there"]
    assert (ran.run.end, ran.run.exit_code) == ("exited", 0)


def test_device_memory_is_bounded(run_hostile: RunHostile) -> None:
    ran = run_hostile("fill", device_bytes=64 << 20, limit_s=120.0)
    assert ran.run.end == "too_much_memory"


def test_children_end_with_the_program(run_hostile: RunHostile) -> None:
    before = _hostile_processes()
    ran = run_hostile("fork")
    assert ran.output == "children: 40\n" and ran.run.end == "exited"
    assert _hostile_processes() == before


def test_nothing_outside_is_reached(run_hostile: RunHostile, hostile: Path) -> None:
    ran = run_hostile("look")
    said = dict(line.split(": ") for line in ran.output.splitlines())
    assert said.pop("write to the scratch folder") == "DONE"
    assert set(said.values()) == {"refused"} and len(said) == 5
    assert [p.name for p in hostile.parent.iterdir()] == ["hostile"]


@pytest.mark.parametrize("what", ["trace", "network"])
def test_calls_that_only_attacks_make_end_it(run_hostile: RunHostile, what: str) -> None:
    ran = run_hostile(what, limit_s=60.0)
    assert (ran.run.end, ran.run.detail) == ("signal", "ended by SIGSYS")


@pytest.mark.parametrize("what", ["busy", "silent"])
def test_a_limit_holds(run_hostile: RunHostile, what: str) -> None:
    ran = run_hostile(what, limit_s=2.0)
    assert ran.run.end == "time_limit" and ran.run.wall_s < 60


def test_a_flood_of_output_is_cut(run_hostile: RunHostile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warpsight.programs.jailed.MOST_OUTPUT_BYTES", 1 << 20)
    ran = run_hostile("print", limit_s=60.0)
    assert (ran.run.end, ran.run.detail) == ("lost", "it printed more than the cap")
    assert len(ran.output) <= 1 << 20


def _hostile_processes() -> int:
    count = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                count += (entry / "comm").read_text().strip() == "hostile"
            except OSError:
                continue
    return count


def test_our_own_descriptors_stay_ours(run_hostile: RunHostile) -> None:
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    run_hostile("half")
    assert len(os.listdir("/proc/self/fd")) <= before + 1  # noqa: PTH208


IMAGES = (
    "nothing", "short", "long entry", "small header", "compressed", "binary", "large array", "large local",
    "large shared", "deep", "braces", "registers", "itself", "target",
)  # fmt: skip


@pytest.mark.parametrize("which", IMAGES)
def test_an_image_that_lies_is_refused(run_hostile: RunHostile, which: str) -> None:
    ran = run_hostile(f"image {which}", limit_s=120.0)
    assert ran.run.end in ("exited", "bad_request") and ran.run.launches == 0, ran.run.detail
    told = ran.run.detail if ran.run.end == "bad_request" else " ".join(ran.run.refused)
    assert told or (which in ("itself", "target", "registers") and ran.output == "answered\n")


@pytest.mark.parametrize("what", ["scribble", "own"])
def test_memory_that_changes_under_a_kernel_harms_nobody_else(run_source: RunHostile, what: str) -> None:
    ran = run_source("hostile_gpu.cu", what, times=False, limit_s=120.0)
    assert ran.run.end == "exited" and ran.output.startswith("launches: "), (ran.run.detail, ran.errors)
    assert ran.run.launches > 30


def test_a_meeting_place_that_is_written_over_ends_in_time(run_source: RunHostile) -> None:
    ran = run_source("hostile_gpu.cu", "meet", times=False, limit_s=20.0)
    assert ran.run.end in ("exited", "time_limit") and ran.run.wall_s < 90


def test_a_pointer_out_of_memory_is_a_fault(run_source: RunHostile) -> None:
    ran = run_source("hostile_gpu.cu", "pointer", times=False)
    assert ran.output == "launches: cudaErrorIllegalAddress\nend\n" and ran.run.faulted
    assert {fault.fault.kind for fault in ran.run.faults} <= {"out_of_bounds", "misaligned"}


def test_bytes_between_messages_end_it(run_source: RunHostile) -> None:
    ran = run_source("hostile_gpu.cu", "interleave", times=False, limit_s=120.0)
    assert ran.run.end == "bad_request"


def test_what_is_unmapped_is_missing_to_the_program_alone(run_source: RunHostile) -> None:
    ran = run_source("hostile_gpu.cu", "unmap", times=False)
    assert (ran.run.end, ran.run.detail) == ("signal", "ended by SIGSEGV") and "still here" in ran.output
    assert ran.run.launches == 4 and not ran.run.faults
    ran = run_source("hostile_gpu.cu", "remap", times=False)
    assert ran.output == "seen: 0\nend\n" and ran.run.launches == 2


@pytest.mark.parametrize("what", ["fork", "close"])
def test_a_channel_that_is_shared_or_closed_ends_in_time(run_source: RunHostile, what: str) -> None:
    ran = run_source("hostile_gpu.cu", what, times=False, limit_s=30.0)
    assert ran.run.end in ("exited", "bad_request", "time_limit", "signal") and ran.run.wall_s < 120


def test_the_next_program_is_served_as_ever(run_source: RunHostile) -> None:
    run_source("hostile_gpu.cu", "scribble", times=False, limit_s=60.0)
    assert run_source("saxpy.cu", "1000", times=False).output.startswith("PASS bad=0")
