"""Readers of measurements on made-up tables, rows as launches, and the whole way where the data are at hand."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest
from benchmarks.measured import missing, request_of
from benchmarks.measured.ncu import ratios
from benchmarks.measured.predicted import Kept, Outcome, outcome_of, row_key, sorts_of_blocks
from benchmarks.measured.report import builds
from benchmarks.measured.rivals import other_card, rival_times
from benchmarks.measured.sets import SETS, MeasuredSet, Row, array_value, find_text, read_rows, rows_of
from benchmarks.measured.work import Request, chosen_rows

from warpsight.tasks import LaunchSize
from warpsight.vgpu.gpus import find_gpu

CONV_TI, COULOMB, CONV_A4000, GEMM = SETS
LINE = {
    "BLOCK_SIZE_X": "16", "BLOCK_SIZE_Y": "4", "TILE_SIZE_X": "2", "TILE_SIZE_Y": "1", "PADDING": "0",
    "IMAGE_WIDTH": "4096", "IMAGE_HEIGHT": "4096", "HFS": "7", "READ_ONLY": "1",
    "grid_x": "128", "grid_y": "1024", "grid_z": "1", "block_x": "16", "block_y": "4", "block_z": "1",
    "registers": "40", "shared_bytes": "3312", "local_bytes": "0", "time_us": "100.0",
    "smsp__inst_executed.sum": "5000",
}  # fmt: skip
TUNED = {
    "block_size_x": "48", "block_size_y": "2", "tile_size_x": "2", "tile_size_y": "3", "read_only": "1",
    "use_padding": "0", "use_shmem": "1", "use_cmem": "1", "filter_height": "15", "filter_width": "15",
    "time_ms": "2.5", "min_ms": "2.4", "samples": "32",
}  # fmt: skip


def test_repeats_of_a_configuration_are_one_row() -> None:
    again = {**LINE, "PADDING": "1", "time_us": "102.0", "smsp__inst_executed.sum": "5002"}
    (row,) = rows_of(CONV_TI, [LINE, again])
    assert row.measured_us == 101.0
    assert row.ncu == {"smsp__inst_executed.sum": 5001.0}
    assert (row.registers, row.local_bytes) == (40, 0)
    assert row.size == LaunchSize((128, 1024, 1), (16, 4, 1), 0)


def test_a_launch_that_no_column_gives_follows_from_the_configuration() -> None:
    (row,) = rows_of(CONV_A4000, [TUNED])
    assert row.measured_us == 2500.0
    assert row.size == LaunchSize((43, 683, 1), (48, 2, 1), 0)
    assert row.registers is None
    assert "-Dblock_size_x=48" in CONV_A4000.defines(row)


def test_the_same_convolution_on_another_card() -> None:
    same = {**TUNED, "block_size_x": "16", "block_size_y": "4", "tile_size_x": "2", "tile_size_y": "1"}
    (ti,) = rows_of(CONV_TI, [LINE])
    others = rows_of(CONV_A4000, [TUNED, same])
    assert other_card([ti], others) == {0: 2500.0}
    assert other_card([ti], rows_of(CONV_A4000, [{**same, "use_shmem": "0"}])) == {}


def test_blocks_at_the_ends_of_the_grid_are_counted_apart() -> None:
    assert sorts_of_blocks((1, 1, 1)) == [(0, 1)]
    assert sorts_of_blocks((4, 1, 1)) == [(0, 3), (3, 1)]
    found = sorts_of_blocks((4, 3, 2))
    assert sum(weight for _, weight in found) == 24
    assert len({block for block, _ in found}) == 8


def test_texts_are_found_in_a_folder_of_checkouts(tmp_path: Path) -> None:
    (tmp_path / "repo" / "gemm_milo").mkdir(parents=True)
    (tmp_path / "repo" / "gemm_milo" / "common.opencl").write_text("x")
    assert find_text(tmp_path, "gemm_milo/common.opencl").read_text() == "x"
    with pytest.raises(FileNotFoundError, match=r"no other\.cu under"):
        find_text(tmp_path, "other.cu")


def test_what_is_asked(tmp_path: Path) -> None:
    request = request_of(f"{tmp_path},n=7,terms,set=conv,jobs=2", {"WARPSIGHT_KERNELS": "texts"})
    assert (request.data, request.kernels, request.n, request.terms, request.only) == (
        tmp_path, Path("texts"), 7, True, "conv",
    )  # fmt: skip
    assert "no conv_rtx2080ti" in missing(CONV_TI, request)
    with pytest.raises(ValueError, match="found m="):
        request_of("m=3", {})


def test_a_larger_choice_holds_the_smaller(tmp_path: Path) -> None:
    header = ",".join(TUNED)
    lines = [",".join({**TUNED, "block_size_x": str(16 * i)}.values()) for i in range(1, 20)]
    (tmp_path / CONV_A4000.file).write_bytes(gzip.compress("\n".join([header, *lines]).encode()))
    few, more = (chosen_rows(CONV_A4000, Request(tmp_path, tmp_path, n=n)) for n in (4, 9))
    assert more[:4] == few


def test_outcomes_are_kept_and_a_torn_line_is_not(tmp_path: Path) -> None:
    file = tmp_path / "kept" / "outcomes.jsonl"
    Kept(file).put("a", Outcome(time_us=2.0, notes=("cut",), counts={"flops": 3.0}))
    with file.open("a") as out:
        out.write('{"key": "b", "outc')
    again = Kept(file)
    assert again.get("a") == Outcome(time_us=2.0, notes=("cut",), counts={"flops": 3.0})
    assert again.get("b") is None


def test_builds_are_told_apart_by_registers_and_spills() -> None:
    def row(registers: int | None) -> Row:
        return Row({}, 1.0, LaunchSize((1, 1, 1), (32, 1, 1), 0), registers, 0 if registers else None)

    told = [
        (row(40), Outcome(registers=38)),
        (row(40), Outcome(registers=48)),
        (row(40), Outcome(registers=40, local_bytes=8)),
        (row(None), Outcome(registers=40, spill_bytes=8)),
    ]
    counts = {name: len(part) for name, part in builds(told).items()}
    assert counts == {
        "same registers and spills": 1, "other registers or spills": 2, "local memory in our build": 1,
        "our build spills": 1,
    }  # fmt: skip


def test_rivals_and_counters() -> None:
    gpu = find_gpu("rtx-a6000").at_clock(1000)
    outcome = Outcome(
        time_us=13.0, launch_us=3.0, shares={"DRAM bandwidth": 0.5, "issue slots": 0.2}, occupancy=0.5,
        counts={"dram_sectors": 24e6, "flops": 1e6, "instructions": 2000.0},
    )  # fmt: skip
    times = rival_times(outcome, gpu)
    assert times["roofline"] == pytest.approx(1000.0)  # 768 MB at 768 GB/s
    assert times["busiest resource"] == pytest.approx(8.0)
    row = Row({}, 1.0, LaunchSize((1, 1, 1), (32, 1, 1), 0), 40, 0, {"smsp__inst_executed.sum": 4000.0})
    with pytest.raises(KeyError):
        ratios([(row, outcome)])  # a table with some of the counters is a mistake


def test_a_clock_is_asked_for() -> None:
    gpu = find_gpu("h100")
    slow = gpu.at_clock(1000)
    assert (slow.base_mhz, slow.boost_mhz, slow.tensor_boost_mhz) == (1000, 1000, None)
    assert slow.dram_bytes_per_clock() == pytest.approx(gpu.dram_gb_per_s)
    assert slow.sources["boost_mhz"] == "asked for"
    with pytest.raises(ValueError, match="1 MHz or more"):
        gpu.at_clock(0)


COPY = """__global__ void copy(const float *a, float *b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  b[i] = a[i] * TWO;
}
"""


def test_a_made_up_set_from_text_to_outcome(tmp_path: Path) -> None:
    (tmp_path / "copy.cu").write_text(COPY)
    one = MeasuredSet(
        "copy", "none", "rtx-a4000", 1000, "copy", ("copy.cu",), ("TWO",),
        lambda: (array_value("a", 1 << 16), array_value("b", 1 << 16, writable=True)),
        lambda c: LaunchSize((256, 1, 1), (256, 1, 1), 0),
    )  # fmt: skip
    (row,) = rows_of(one, [{"TWO": "2", "time_ms": "0.01"}])
    outcome = outcome_of(one, row, one.source(tmp_path))
    assert outcome.failed == ""
    assert outcome.time_us > 3.0
    assert outcome.counts["global_load_requests"] == 2048
    assert outcome.counts["flops"] == 1 << 16
    source = one.source(tmp_path)
    assert row_key(one, row, source, "a") != row_key(one, row, source, "b")
    assert row_key(one, row, source, "a") != row_key(one, row, source, "a", ("tail",))


@pytest.mark.parametrize("one", SETS, ids=lambda one: one.name)
def test_the_published_tables_are_read(one: MeasuredSet) -> None:
    data = Path(os.environ.get("WARPSIGHT_MEASURED", "../shared/data/measured"))
    if not (data / one.file).is_file():
        pytest.skip("the measurements are not here")
    rows = read_rows(one, data)
    assert len(rows) > 200
    assert all(row.measured_us > 0 for row in rows)
