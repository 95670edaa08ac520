"""`warpsight profile` on real tasks: counts that can be worked out by hand, what is shown, how it ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from warpsight.cli.profile_text import GROUPS, MIX, number_text
from warpsight.nouns import Profile
from warpsight.vgpu.counters import DERIVED

Command = Callable[..., Any]
Changed = Callable[[str, str, str], str]


def test_counts_of_a_transpose_as_shown(command: Command) -> None:
    ran = command("profile", "transpose")
    assert ran.code == 0 and ran.err == ""
    assert "virtual GPU (simulated counters, PTX)" in ran.out and "counted    all 4096 blocks" in ran.out
    assert "not measured: time," in ran.out
    rows = [line.split() for line in ran.out.splitlines()]
    assert [row[1] for row in rows if row[:1] == ["sectors_per_request"]] == ["4", "32"]  # loads, then stores
    hot = next(row for row in rows if "y[(size_t)c" in row)
    assert hot[0] == "6" and hot[3] == "18.00"  # (4 + 32) / 2


def test_the_default_workload_is_the_profiled_one(command: Command) -> None:
    assert "workload profile (N=2097152)" in command("profile", "saxpy").out
    assert "workload odd (N=4099)" in command("profile", "saxpy", "--workload", "odd").out


def test_json_is_a_profile_and_more(command: Command) -> None:
    ran = command("profile", "saxpy", "--workload", "blocks", "--json")
    document = ran.document()
    found = Profile.model_validate(
        {name: document[name] for name in Profile.model_fields if name != "kernel"} | {"kernel": "saxpy"}
    )
    # 8192 floats, four a thread: x and y are read, y is written, 512 bytes for each warp.
    assert found.counters["global_load_requests"] == 2 * 64 and found.counters["global_load_sectors_per_request"] == 16
    assert found.counters["global_store_bytes"] == 4 * 8192 and found.source == "simulated"
    assert document["kernel"]["entry"] == "saxpy" and document["launch"]["block"] == [256, 1, 1]
    assert document["workload"] == {"name": "blocks", "axes": {"N": 8192}, "seed": 0}
    assert document["usage"]["registers"] > 0


def test_a_sample_is_scaled_and_says_so(command: Command) -> None:
    whole = command("profile", "transpose", "--json").document()["counters"]
    ran = command("profile", "transpose", "--blocks", "8", "--json").document()
    assert ran["sampled_blocks"] == 8 and ran["total_blocks"] == 4096
    assert ran["counters"]["global_store_sectors"] == whole["global_store_sectors"]
    assert "counted    8 of 4096 blocks, scaled" in command("profile", "transpose", "--blocks", "8").out
    assert "counted    all 4096 blocks" in command("profile", "transpose", "--blocks", "5000").out


def test_lines_and_all(command: Command) -> None:
    few = command("profile", "transpose_tiled", "--blocks", "4", "--lines", "2").out
    assert "more lines: --all-lines" in few and "tile[threadIdx.x][threadIdx.y + j]" in few
    every = command("profile", "transpose_tiled", "--blocks", "4", "--all-lines", "--all").out
    assert "more lines" not in every and "atomic_requests" in every and "atomic_requests" not in few
    assert "source" not in command("profile", "transpose", "--lines", "0").out


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("task", ["matmul_tiled", "histogram", "transpose_tiled"])
def test_it_fits_the_terminal(command: Command, task: str, columns: int) -> None:
    ran = command("profile", task, "--blocks", "2", columns=columns)
    body = ran.out.split("\ninstructions\n")[1]
    assert max(len(line) for line in body.splitlines()) <= columns
    assert "\nline" in ran.out and "divergent" in ran.out


def test_a_faulting_kernel_is_sent_to_check(command: Command, changed: Changed) -> None:
    kernel = changed("saxpy", "i < quads", "i <= quads")
    ran = command("profile", "saxpy", "--workload", "small", "--kernel", kernel)
    assert ran.code == 1 and ran.out == ""
    assert "out_of_bounds at line 7" in ran.err and "warpsight check" in ran.err
    ran = command("profile", "saxpy", "--workload", "small", "--kernel", kernel, "--json")
    assert ran.code == 1 and ran.document()["error"]["kind"] == "CannotProfile"


def test_a_kernel_that_does_not_compile(command: Command, changed: Changed) -> None:
    kernel = changed("saxpy", "int quads = N / 4;", "int quads = M / 4;")
    ran = command("profile", "saxpy", "--kernel", kernel)
    assert ran.code == 1 and 'mine.cu:5:17: identifier "M" is undefined' in ran.out
    document = command("profile", "saxpy", "--kernel", kernel, "--json").document()
    assert document["verdict"] == "does_not_compile" and document["diagnostics"]


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [("block=(256)", "block=(2048)", 1), ("shared=0", "shared=200000", 1), ("grid=", "gird=", 2)],
)
def test_bad_launches(command: Command, changed: Changed, old: str, new: str, code: int) -> None:
    ran = command("profile", "saxpy", "--kernel", changed("saxpy", old, new))
    assert ran.code == code and ran.out == "" and "launch" in ran.err


@pytest.mark.parametrize("words", [("nowhere",), ("saxpy", "--workload", "nowhere"), ("saxpy", "--blocks", "0")])
def test_wrong_usage(command: Command, words: tuple[str, ...]) -> None:
    ran = command("profile", *words)
    assert ran.code == 2 and ran.out == "" and ran.err != ""


def test_every_counter_is_shown_somewhere_once() -> None:
    grouped = [prefix + name for _, prefix, names in GROUPS for name in names]
    assert sorted(grouped) == sorted(name for name in DERIVED if not name.startswith(MIX))


def test_numbers() -> None:
    assert number_text(1234567, short=True) == "1,234,567"
    assert number_text(19_520_000, short=True) == "19.52 M"
    assert number_text(19_520_000, short=False) == "19,520,000"
    assert number_text(12.5, short=True) == "12.5" and number_text(100.0, short=True) == "100"


def test_help_has_an_example(command: Command) -> None:
    ran = command("profile", "--help")
    assert ran.code == 0 and "warpsight profile matmul_tiled" in ran.out
