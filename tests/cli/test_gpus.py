"""`warpsight gpus`: the table, one data sheet with its sources, and occupancy; text and JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Command = Callable[..., Any]


def test_all_of_them(command: Command) -> None:
    ran = command("gpus")
    rows = {line.split()[0]: line.split() for line in ran.out.splitlines() if line.strip()}
    assert ran.code == 0 and rows["a100"][1:5] == ["sm_80", "108", "1095-1410", "15.1-19.5"]
    assert {"h100", "rtx-a6000", "rtx-3070", "l4", "t4", "v100"} <= set(rows)
    listed = command("gpus", "--json").document()["gpus"]
    assert [gpu["key"] for gpu in listed][:2] == ["a100", "a100-80gb"] and listed[0]["sms"] == 108


def test_one_with_its_sources(command: Command) -> None:
    ran = command("gpus", "RTX A6000", columns=200)
    assert ran.code == 0 and "rtx-a6000: NVIDIA RTX A6000" in ran.out
    (row,) = [line for line in ran.out.splitlines() if line.startswith("latency_l1 ")]
    assert row.split()[1] == "32" and "Huerta et al., Analyzing Modern NVIDIA GPU Cores" in row
    document = command("gpus", "a6000", "--json").document()
    assert document["derived"]["peak_gflops"]["f32"]["at_boost"] == pytest.approx(38707.2)
    assert document["sources"]["latency_l1"].startswith("Huerta et al., Analyzing Modern NVIDIA GPU Cores")
    assert "tensor_f64" not in document["derived"]["peak_gflops"]


def test_a_note_is_shown(command: Command) -> None:
    assert "compiled for sm_75" in command("gpus", "v100").out


def test_occupancy_on_one(command: Command) -> None:
    words = ("gpus", "a100", "--threads", "256", "--registers", "64", "--shared", "16384")
    ran = command(*words)
    (row,) = [line.split() for line in ran.out.splitlines() if line.startswith("a100")]
    assert row[:6] == ["a100", "50.0", "%", "4", "32/64", "registers"] and "other block sizes" in ran.out
    document = command(*words, "--json").document()
    assert (document["gpu"], document["occupancy"], document["limited_by"]) == ("a100", 0.5, ["registers"])


def test_occupancy_on_all(command: Command) -> None:
    found = command("gpus", "--threads", "1024", "--registers", "72", "--json").document()["gpus"]
    assert all(answer["blocks_per_sm"] == 0 and answer["limited_by"] == ["registers"] for answer in found)
    assert len(found) > 8


@pytest.mark.parametrize(
    "words",
    [
        ("--threads", "256"),
        ("--registers", "32"),
        ("--shared", "8"),
        ("gtx-9",),
        ("--threads", "0", "--registers", "1"),
    ],
)
def test_wrong_usage(command: Command, words: tuple[str, ...]) -> None:
    ran = command("gpus", *words)
    assert ran.code == 2 and ran.out == "" and "expected" in ran.err


def test_help_has_examples(command: Command) -> None:
    assert "warpsight gpus a100 --threads 256" in command("gpus", "--help").out
