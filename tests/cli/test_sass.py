"""`warpsight sass` on real tasks: the code, its schedule, what ran and where warps waited, how it ends."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from warpsight.cli.text.sass import SassRow, hot_addresses
from warpsight.errors import UsageError
from warpsight.verbs.sass import line_range

Command = Callable[..., Any]
Changed = Callable[[str, str, str], str]
BLOCKS = ("saxpy", "--workload", "blocks")


def test_code_counts_and_source_lines_as_shown(command: Command) -> None:
    ran = command("sass", *BLOCKS, columns=100)
    assert ran.code == 0 and ran.err == "" and "us simulated at the boost clock" in ran.out
    assert max(len(line) for line in ran.out.splitlines()) <= 100
    assert "   4 | int i = blockIdx.x * blockDim.x + threadIdx.x;" in ran.out
    row = next(line for line in ran.out.splitlines() if "LDG.E.128.CONSTANT" in line)
    # 8192 floats, four a thread: 64 warps. Loads set a scoreboard, to be waited for.
    assert re.search(r"[0-9a-f]{4}  B------ R- W\d S\d\d +64 ", row)
    hot = [line for line in ran.out.splitlines() if line.startswith(">")]
    assert 1 <= len(hot) <= 5 and any("FFMA" in line for line in hot)  # the first use of what was loaded


def test_counts_are_those_of_the_profile(command: Command) -> None:
    listing = command("sass", *BLOCKS, "--json").document()
    profile = command("profile", *BLOCKS, "--json").document()
    rows = listing["instructions"]
    assert sum(row["counters"].get("warps", 0) for row in rows) == profile["counters"]["instructions"]
    samples = sum(row["counters"].get("stall_samples", 0) for row in profile["instructions"])
    assert sum(row["counters"].get("stall_samples", 0) for row in rows) == samples > 0
    assert listing["duration_us"] == profile["counters"]["duration_us"] and listing["source"] == "simulated"
    assert [row["address"] for row in rows] == list(range(0, 16 * len(rows), 16))


def test_json_has_the_schedule(command: Command) -> None:
    rows = command("sass", *BLOCKS, "--json").document()["instructions"]
    load = next(k for k, row in enumerate(rows) if row["text"].startswith("LDG.E.128"))
    barrier = rows[load]["control"]["write_barrier"]
    assert barrier is not None and rows[load]["control"]["waits"] == []
    assert any(barrier in row["control"]["waits"] for row in rows[load + 1 :])
    assert all(0 <= row["control"]["stall"] < 16 for row in rows)


def test_without_a_run_there_is_only_code(command: Command) -> None:
    ran = command("sass", "saxpy", "--no-run")
    assert ran.code == 0 and "not run" in ran.out and "warps" not in ran.out.split("instruction\n")[0]
    document = command("sass", "saxpy", "--no-run", "--json").document()
    assert document["workload"] is None and document["duration_us"] is None and document["source"] is None
    assert document["instructions"] and all(row["counters"] == {} for row in document["instructions"])


def test_only_some_lines(command: Command) -> None:
    document = command("sass", "saxpy", "--no-run", "--lines", "7:8", "--json").document()
    assert {row["line"] for row in document["instructions"]} == {7, 8}
    assert "LDG.E.128" in command("sass", "saxpy", "--no-run", "--lines", "7").out
    ran = command("sass", "saxpy", "--no-run", "--lines", "1:2")
    assert ran.code == 2 and "no machine code comes from lines 1 to 2" in ran.err and "13" in ran.err


def test_shares_are_of_the_whole_kernel_when_only_lines_are_shown(command: Command) -> None:
    def row_of(*words: str) -> str:
        out = command("sass", *BLOCKS, *words).out
        return next(line for line in out.splitlines() if "LDG.E.128.CONSTANT" in line)

    assert row_of() == row_of("--lines", "7:8")


def test_another_gpu_has_other_code(command: Command) -> None:
    a100 = command("sass", "matmul_tiled", "--no-run", "--json").document()
    t4 = command("sass", "matmul_tiled", "--no-run", "--gpu", "t4", "--json").document()
    assert (a100["gpu_arch"], t4["gpu_arch"]) == ("sm_80", "sm_75") and t4["target"]["gpu"] == "t4"
    assert [row["text"] for row in a100["instructions"]] != [row["text"] for row in t4["instructions"]]


def test_code_that_is_not_read_is_shown_without_counts(command: Command, changed: Changed) -> None:
    kernel = changed("saxpy", "int tail =", 'asm volatile("pmevent 1;"); int tail =')
    ran = command("sass", "saxpy", "--workload", "small", "--kernel", kernel)
    assert ran.code == 0 and "note: counted on PTX, without a time:" in ran.out
    assert re.search(r"S\d\d  PMTRIG", ran.out) and "us simulated" not in ran.out
    document = command("sass", "saxpy", "--workload", "small", "--kernel", kernel, "--json").document()
    assert document["isa"] == "ptx" and document["duration_us"] is None
    assert all(row["counters"] == {} for row in document["instructions"])


def test_a_kernel_that_does_not_compile(command: Command, changed: Changed) -> None:
    kernel = changed("saxpy", "int quads = N / 4;", "int quads = M / 4;")
    ran = command("sass", "saxpy", "--kernel", kernel)
    assert ran.code == 1 and 'identifier "M" is undefined' in ran.out and "nothing to show" in ran.out
    document = command("sass", "saxpy", "--kernel", kernel, "--json").document()
    assert document["verdict"] == "does_not_compile"


def test_a_faulting_kernel_can_still_be_read(command: Command, changed: Changed) -> None:
    kernel = changed("saxpy", "i < quads", "i <= quads")
    ran = command("sass", "saxpy", "--workload", "small", "--kernel", kernel)
    assert ran.code == 1 and ran.out == "" and "out_of_bounds" in ran.err
    assert command("sass", "saxpy", "--kernel", kernel, "--no-run").code == 0


@pytest.mark.parametrize(
    "words", [("nowhere",), ("saxpy", "--gpu", "a6001"), ("saxpy", "--lines", "9:3"), ("saxpy", "--workload", "no")]
)
def test_wrong_usage(command: Command, words: tuple[str, ...]) -> None:
    ran = command("sass", *words)
    assert ran.code == 2 and ran.out == "" and ran.err != ""


def test_line_ranges() -> None:
    assert list(line_range("12:14")) == [12, 13, 14] and list(line_range("7")) == [7]
    for wrong in ("", "a", "0", "5:", ":5", "5:4", "-1:3"):
        with pytest.raises(UsageError, match="--lines"):
            line_range(wrong)


def test_only_a_real_share_is_marked() -> None:
    def row(address: int, samples: int) -> SassRow:
        return SassRow(address, "NOP", 1, 1, None, None, (), {"stall_samples": samples} if samples else {})

    assert hot_addresses([row(0, 96), row(16, 4), row(32, 0)]) == {0}
    assert hot_addresses([row(0, 0), row(16, 0)]) == frozenset()
    assert len(hot_addresses([row(16 * k, 10) for k in range(10)])) == 5


def test_help_has_an_example(command: Command) -> None:
    ran = command("sass", "--help")
    assert ran.code == 0 and "warpsight sass saxpy" in ran.out
