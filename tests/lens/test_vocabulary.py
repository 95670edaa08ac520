"""The vocabulary: every counter has an entry, every entry a counter, and formulas mean what they say."""

from __future__ import annotations

import pytest

from warpsight.devices.machine_code import TIME_UNITS
from warpsight.devices.profiles import LAUNCH_UNITS
from warpsight.errors import UsageError
from warpsight.lens.vocabulary import Metric, find_entry, from_metrics, terms, vocabulary
from warpsight.vgpu.counters import DERIVED, RAW

RAW_UNITS = {info.name: info.unit for info in RAW}


def test_no_counter_is_missing_and_no_entry_is_orphaned() -> None:
    assert set(vocabulary()) == set(DERIVED) | set(TIME_UNITS) | set(LAUNCH_UNITS) | set(RAW_UNITS)


def test_units_are_those_of_the_counters() -> None:
    units = RAW_UNITS | TIME_UNITS | LAUNCH_UNITS | {name: info.unit for name, info in DERIVED.items()}
    assert {name: entry.unit for name, entry in vocabulary().items()} == units


def test_scopes_say_where_a_counter_is_found() -> None:
    for name, entry in vocabulary().items():
        kernel_wide = name in DERIVED or name in LAUNCH_UNITS or (name in TIME_UNITS and name != "stall_samples")
        assert (entry.scope == "kernel") == kernel_wide, name


def test_meanings_are_one_sentence() -> None:
    for entry in vocabulary().values():
        assert len(entry.meaning) > 10 and "\n" not in entry.meaning and not entry.meaning.endswith("."), entry.name


def test_every_formula_can_be_read() -> None:
    formulas = [formula for entry in vocabulary().values() for formula in entry.ncu]
    names = {name for formula in formulas for part in terms(formula) for _, name in part}
    assert len(formulas) > 60 and "dram__bytes_write.sum" in names
    assert all("__" in name or "_executed" in name or name.startswith("memory_") for name in names)


def test_a_formula_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(ValueError, match="expected terms"):
        terms("a b")


def test_times_are_converted() -> None:
    entry = vocabulary()["duration_us"]
    given = {"ns": 249216.0, "nsecond": 249216.0, "us": 249.216, "msecond": 0.249216, "s": 249.216e-6}
    for unit, value in given.items():
        assert from_metrics(entry, {"gpu__time_duration.sum": Metric(value, unit)}) == pytest.approx(249.216)


def test_sums_and_prefixes() -> None:
    metrics = {"dram__bytes_read.sum": Metric(1.5, "Mbyte"), "dram__bytes_write.sum": Metric(500, "byte")}
    assert from_metrics(vocabulary()["dram_bytes"], metrics) == 1_500_500


def test_half_of_a_sum_is_no_value() -> None:
    assert from_metrics(vocabulary()["dram_bytes"], {"dram__bytes_read.sum": Metric(8, "byte")}) is None


def test_differences_and_weights() -> None:
    shared = {"memory_l1_wavefronts_shared": Metric(64), "memory_l1_wavefronts_shared_ideal": Metric(2)}
    assert from_metrics(vocabulary()["shared_bank_conflicts"], shared) == 62
    assert from_metrics(vocabulary()["dram_bytes"], {"dram__sectors.sum": Metric(3, "sector")}) == 96


def test_shares_are_in_percent_and_nothing_of_nothing_is_unknown() -> None:
    entry, part, whole = (
        vocabulary()["stall_barrier"], "smsp__pcsamp_warps_issue_stalled_barrier", "smsp__pcsamp_sample_count",
    )  # fmt: skip
    assert from_metrics(entry, {part: Metric(5), whole: Metric(20)}) == 25
    assert from_metrics(entry, {part: Metric(0), whole: Metric(0)}) is None


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("global_load_efficiency", "global_load_efficiency"),
        ("gld_efficiency", "global_load_efficiency"),
        ("gpu__time_duration.sum", "duration_us"),
        ("SQ_LDS_BANK_CONFLICT", "shared_bank_conflicts"),
    ],
)
def test_found_by_any_tools_name(word: str, name: str) -> None:
    assert find_entry(word).name == name


def test_an_unknown_name_gets_near_ones() -> None:
    with pytest.raises(UsageError, match="`bank_conflict` is none") as unknown:
        find_entry("bank_conflict")
    assert unknown.value.hint is not None and "shared_bank_conflicts" in unknown.value.hint
