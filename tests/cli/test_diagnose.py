"""`warpsight diagnose` on real tasks: the defect is named with its line, and every number can be looked up again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Command = Callable[..., Any]
Changed = Callable[[str, str, str], str]


def test_scattered_stores_are_shown_with_their_line(command: Command) -> None:
    ran = command("diagnose", "transpose")
    assert ran.code == 0 and ran.err == ""
    assert "1. uncoalesced" in ran.out and "x, estimated)" in ran.out
    assert "global_store_sectors_per_request = 32 sectors/request (limit 4) at line 6" in ran.out
    assert "6 |         y[(size_t)c * R + r] = x[(size_t)r * C + c];" in ran.out


def test_near_the_roof_it_says_stop(command: Command) -> None:
    ran = command("diagnose", "saxpy")
    assert ran.code == 0 and "1. at_roofline" in ran.out and "stop: DRAM bandwidth" in ran.out


def test_json_lets_a_program_look_every_number_up(command: Command) -> None:
    document = command("diagnose", "transpose_tiled", "--json").document()
    lines = {line["line"]: line["counters"] for line in document["lines"]}
    assert document["task"] == "transpose_tiled" and document["findings"]
    for finding in document["findings"]:
        for evidence in finding["evidence"]:
            place = document["counters"] if evidence["line"] is None else lines[evidence["line"]]
            assert evidence["value"] == place[evidence["counter"]]
            assert evidence["unit"] == document["units"][evidence["counter"]]
        assert finding["estimated_gain"] is None or finding["estimated_gain"] >= 1


def test_another_gpu_and_workload(command: Command) -> None:
    document = command("diagnose", "saxpy", "--gpu", "rtx-a6000", "--workload", "blocks", "--json").document()
    assert document["target"]["gpu"] == "rtx-a6000" and document["workload"]["name"] == "blocks"
    assert document["findings"][0]["name"] == "launch_overhead"


def test_a_kernel_that_does_not_compile_ends_with_1(command: Command, changed: Changed) -> None:
    ran = command("diagnose", "transpose", "--kernel", changed("transpose", "y[", "z["))
    assert ran.code == 1 and "nothing to diagnose" in ran.out


def test_an_unknown_gpu_is_refused(command: Command) -> None:
    ran = command("diagnose", "saxpy", "--gpu", "a6001")
    assert ran.code == 2 and "--gpu" in ran.err
