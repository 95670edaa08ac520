"""The suite classify: the truth of the roofline, or of published launches; a profile gives what decides it."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from tests.learn.rows import small_row

from warpsight.bench.classify import measured_side
from warpsight.bench.suite import BenchPlan, run_bench
from warpsight.corpus.specs import task_of
from warpsight.errors import UsageError
from warpsight.lens.bound_side import SIDES, intensities, published_sides, side_of, side_words
from warpsight.nouns import Profile
from warpsight.short.box import SmallBox
from warpsight.vgpu.gpus import find_gpu

HEAD = (
    "program,arguments,signature,kernel,block,grid,time_ns,dram_bytes_per_s,sp_flop_per_dram_byte,"
    "dp_flop_per_dram_byte,sp_flop_per_s,dp_flop_per_s,integer_operations\n"
)


def launches(folder: Path) -> Path:
    """Three launches of a kernel with much arithmetic, one of a kernel with none."""
    many = "".join(f'nbody-cuda,1,"k()",saxpy,"(1)","(1)",1000,1e9,0,0,{rate}e12,0,10\n' for rate in (1, 2, 3))
    file = folder / "launches.csv.gz"
    file.write_bytes(gzip.compress((HEAD + many + 'copy-cuda,1,"c()",c,"(1)","(1)",1000,5e11,0,0,0,0,10\n').encode()))
    return file


def test_sides_of_published_launches_go_by_the_median_one(tmp_path: Path) -> None:
    gpu, file = find_gpu("rtx-3080"), launches(tmp_path)
    assert published_sides(file, gpu) == {("nbody-cuda", "saxpy"): "compute", ("copy-cuda", "c"): "bandwidth"}
    bad = tmp_path / "bad.csv"
    bad.write_text("program,kernel\na,b\n")
    with pytest.raises(UsageError, match="could not read"):
        published_sides(bad, gpu)


def test_a_kernel_is_matched_by_its_program_and_its_name(tmp_path: Path) -> None:
    task = task_of(small_row(0, "saxpy", ("accidental_double",)).spec)
    file = launches(tmp_path)
    assert measured_side(task.model_copy(update={"name": "nbody"}), file) == "compute"
    assert measured_side(task.model_copy(update={"name": "other", "folder": Path("x")}), file) is None


def test_what_moves_nothing_is_bound_by_compute_and_what_computes_nothing_by_bandwidth() -> None:
    gpu = find_gpu("a100")

    def side(**counters: float) -> str:
        units = dict.fromkeys(counters, "x")
        profile = Profile(kernel="k", device="d", source="simulated", isa="sass", counters=counters, units=units,
                          sampled_blocks=1, total_blocks=1)  # fmt: skip
        assert side_words(profile, gpu)
        return side_of(intensities(profile, gpu), gpu)

    assert side(flops=10.0) == "compute" and side(dram_bytes=1e6) == "bandwidth"
    assert side(flops=1e9, dram_bytes=1e6) == "compute" and side(flops=1e6, dram_bytes=1e6) == "bandwidth"


def test_a_profile_shows_the_balance_and_the_source_alone_does_not(tmp_path: Path) -> None:
    corpus, row = tmp_path / "rows.jsonl", small_row(0, "saxpy", ("accidental_double",))
    corpus.write_text(row.model_dump_json() + "\n")
    shown = SmallBox(task_of(row.spec), "classify", "curated").call("profile", {}).text
    hidden = SmallBox(task_of(row.spec), "classify", "none").call("profile", {}).text
    assert "operations a DRAM byte, balance" in shown and "balance" not in hidden
    plan = BenchPlan(corpus, "classify", "rival:roofline", ("curated",), allow_train=True)
    (one,) = run_bench(plan, tmp_path / "out.jsonl")
    assert one.diagnosed and one.answer in SIDES and one.right_answers == (one.answer,)
    table = launches(tmp_path)
    measured = BenchPlan(corpus, "classify", "rival:roofline", ("curated",), allow_train=True, measured=table)
    (other,) = run_bench(measured, tmp_path / "other.jsonl")
    assert other.right_answers == (), "the table has no such program"
