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
