"""`python -m benchmarks goods`: one pair through it, and what it writes."""

from pathlib import Path

from benchmarks.goods import KERNELS, Good, judge, of_record, recorded, write


def test_a_pair_gives_the_numbers_that_are_recorded() -> None:
    found = judge(KERNELS / "quantise_rows")
    assert found.is_better
    kept = recorded()["quantise_rows"]
    assert (found.first_us, found.good_us) == (kept["first_us"], kept["good_us"])


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    root = tmp_path / "kernels"
    root.mkdir()
    (root / "README.md").write_text("| `one` | data | slow | good | ? |\n| `two` | data | slow | good | 1.0x |\n")
    found = Good("one", "a100", "FASTER", 30.0, 10.0, (2.0, 4.0), ("latency", "DRAM bandwidth"))
    write(root, [found])
    assert recorded(root)["one"]["speed_up"] == 3.0
    assert [of_record(name, row) for name, row in recorded(root).items()] == [found]
    assert (root / "README.md").read_text() == (
        "| `one` | data | slow | good | 3.0x |\n| `two` | data | slow | good | 1.0x |\n"
    )
