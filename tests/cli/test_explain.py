"""`warpsight explain`, and `warpsight profile --from` with what it explains: text, JSON, errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from warpsight.lens.vocabulary import vocabulary

Command = Callable[..., Any]
CSV = (
    '"ID","Kernel Name","Grid Size","gpu__time_duration.sum","smsp__inst_executed.sum","dram__throughput'
    '.avg.pct_of_peak_sustained_elapsed"\n"","","","us","inst","%"\n'
    '"0","axpy","(4, 1, 1)","12.5","1,024","91.5"\n"1","dot","(8, 1, 1)","7.25","4,096","10.0"\n'
)


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "report.csv"
    path.write_text(CSV)
    return str(path)


def test_one_counter(command: Command) -> None:
    ran = command("explain", "global_load_efficiency")
    assert ran.code == 0 and ran.out.startswith("global_load_efficiency (%): bytes asked")
    rows = {line[:14].strip(): line[16:].strip() for line in ran.out.splitlines()[2:]}
    assert rows["nvprof"] == "gld_efficiency" and rows["rocprof"] == "-"
    assert rows["Nsight Compute"] == "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"
    assert rows["virtual GPU"] == "global_load_efficiency, from bytes / (32 * sectors)"


def test_one_counter_as_json(command: Command) -> None:
    document = command("explain", "gld_efficiency", "--json").document()
    assert document["name"] == "global_load_efficiency" and document["unit"] == "%"


def test_a_finding_by_its_name_or_an_old_one(command: Command) -> None:
    ran = command("explain", "bank_conflicts")
    assert ran.code == 0 and ran.out.startswith("bank_conflicts: Lanes of a warp meet") and "first: Pad" in ran.out
    document = command("explain", "slow_arithmetic", "--json").document()
    assert [cause["name"] for cause in document["causes"]] == ["division_in_loop", "slow_math"]


def test_all_of_them(command: Command) -> None:
    words = {line.split()[0] for line in command("explain").out.splitlines() if line.strip()}
    assert set(vocabulary()) <= words
    listed = command("explain", "--json").document()["counters"]
    assert [entry["name"] for entry in listed] == list(vocabulary())


def test_an_unknown_counter(command: Command) -> None:
    ran = command("explain", "dram_byte")
    assert ran.code == 2 and ran.out == "" and "near names: dram_bytes" in ran.err
    failed = command("explain", "zzz", "--json")
    assert failed.code == 2 and json.loads(failed.out)["error"]["kind"] == "UsageError"


def test_profile_from_a_report(command: Command, table: str) -> None:
    ran = command("profile", "--from", table, "--kernel-name", "axpy")
    assert ran.code == 0 and "12.5 us measured" in ran.out and "bound by DRAM bandwidth" in ran.out
    assert "simulated" not in ran.out.split("not measured")[0] and "instruction mix" in ran.out
    (row,) = [line for line in ran.out.splitlines() if line.startswith("  instructions ")]
    assert row.split()[1:3] == ["1,024", "warps"]


def test_profile_from_a_report_as_json(command: Command, table: str) -> None:
    document = command("profile", "--from", table, "--kernel-name", "1", "--json").document()
    assert (document["kernel"], document["source"], document["total_blocks"]) == ("dot", "measured", 8)
    assert document["counters"]["instructions"] == 4096 and "dram_bytes" in document["not_measured"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "2 kernels"),
        (("--kernel-name", "sum"), "no kernel `sum`"),
        (("saxpy",), "expected --from alone"),
        (("--gpu", "a100"), "expected --from alone"),
    ],
)
def test_wrong_usage_with_a_report(command: Command, table: str, words: tuple[str, ...], message: str) -> None:
    ran = command("profile", "--from", table, *words)
    assert ran.code == 2 and ran.out == "" and message in ran.err


def test_wrong_usage_without_a_report(command: Command, tmp_path: Path) -> None:
    assert command("profile").code == 2
    assert "--from REPORT with --kernel-name" in command("profile", "saxpy", "--kernel-name", "0").err
    missing = command("profile", "--from", str(tmp_path / "none.ncu-rep"))
    assert missing.code == 2 and "No such file" in missing.err
