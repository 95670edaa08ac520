"""Reports and CSV of Nsight Compute to a Profile. Tests of real reports are skipped where there are none."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warpsight.devices.device import Value
from warpsight.devices.virtual import VirtualGpu, spread_blocks
from warpsight.errors import ToolMissing, UsageError, WarpsightError
from warpsight.lens import find_findings, rederive
from warpsight.lens.measured import MeasuredLaunch, choose, make_profile, plain_name
from warpsight.lens.ncu_csv import read_csv
from warpsight.lens.ncu_report import MARK, read_report
from warpsight.lens.vocabulary import Metric, vocabulary
from warpsight.nouns import InstructionCounters, Profile
from warpsight.tasks import LaunchSize
from warpsight.toolchain.compile import compile_cuda
from warpsight.vgpu.counters import DERIVED
from warpsight.vgpu.gpus import find_gpu

ROOT = Path(__file__).parents[2]
REPORTS = Path(os.environ.get("WARPSIGHT_NCU_REPORTS", ROOT.parent / "shared" / "data" / "ncu"))
DAXPY = """extern "C" __global__ void daxpy_kernel(int n, double a, double *x, double *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
"""
EMPTY = MARK + b"\x02\0\0\0\x08\x07"  # a mark and a header, no blocks
HAS_READER = importlib.util.find_spec("ncu_report") is not None
ALL = frozenset({
    "warps", "threads", "threads_on", "sectors", "sectors_ideal", "local_sectors", "wavefronts", "wavefronts_ideal",
    "branches_divergent", "samples", "samples_issued", "access_bits",
})  # fmt: skip


def report(name: str) -> Path:
    path = REPORTS / name
    if not HAS_READER or not path.is_file():
        pytest.skip(f"needs the package ncu-report and {name} (WARPSIGHT_NCU_REPORTS)")
    return path


def everything_is_accounted_for(profile: Profile) -> bool:
    kernel_wide = {name for name, entry in vocabulary().items() if entry.scope == "kernel"}
    return set(profile.counters) | set(profile.not_measured) == kernel_wide


# ---------------------------------------------------------------------------------------------------- real reports


def test_daxpy() -> None:
    found = read_report(report("manual_nvtx.ncu-rep"), "daxpy_kernel")
    warps, counters = 131072, found.counters
    assert (found.source, found.device, found.gpu) == ("measured", "NVIDIA GeForce RTX 3070", "rtx-3070")
    assert found.total_blocks * 256 // 32 == warps
    assert counters["instructions"] == 15 * warps == 1966080
    assert counters["global_load_sectors"] + counters["global_store_sectors"] == 3145728
    assert counters["duration_us"] == pytest.approx(249.216)
    assert counters["global_load_requests"] == 2 * warps and counters["global_load_bytes"] == 2 * warps * 32 * 8
    assert counters["flops"] == 2 * warps * 32 and counters["branch_efficiency"] == 100
    assert found.bound == "DRAM bandwidth" and "dram_bytes" in found.not_measured
    assert everything_is_accounted_for(found)


def test_the_virtual_gpu_counts_the_same_daxpy() -> None:
    """All counts are equal, not only near: the compiler makes the same 15 instructions of it."""
    measured = read_report(report("manual_nvtx.ncu-rep"), "daxpy_kernel")
    build, count = compile_cuda(DAXPY, gpu_arch="sm_86"), 16384 * 256
    values = [
        Value("n", np.array(count, np.int32), writable=False),
        Value("a", np.array(2.0), writable=False),
        Value("x", np.ones(count), writable=False),
        Value("y", np.ones(count), writable=True),
    ]
    size = LaunchSize((16384, 1, 1), (256, 1, 1), 0)
    simulated = VirtualGpu(gpu=find_gpu("rtx-3070")).profile(
        build, "daxpy_kernel", values, size, source_text=DAXPY, blocks=spread_blocks(16384, 64)
    )
    both = [name for name in DERIVED if name in measured.counters]
    assert len(both) > 20
    assert {n: simulated.counters[n] for n in both} == {n: measured.counters[n] for n in both}
    assert simulated.bound == measured.bound
    assert simulated.counters["duration_us"] == pytest.approx(measured.counters["duration_us"], rel=0.15)


def test_daxpy_by_instruction_and_line() -> None:
    found = read_report(report("manual_nvtx.ncu-rep"), 1)
    ran = [i for i in found.instructions if i.counters.get("warps")]
    assert len(ran) == 15 and all(i.counters["warps"] == 131072 for i in ran)
    hottest = max(found.lines, key=lambda line: line.counters.get("stall_samples", 0))
    assert hottest.line == 69 and hottest.counters["global_store_sectors_per_request"] == 8
    assert sum(line.counters["instructions"] for line in found.lines) == found.counters["instructions"]


def test_index_and_name_mean_the_same() -> None:
    path = report("manual_nvtx.ncu-rep")
    assert read_report(path, "2") == read_report(path, "check_results_kernel")


def test_several_kernels_ask_which() -> None:
    with pytest.raises(UsageError, match="3 kernels") as asked:
        read_report(report("manual_nvtx.ncu-rep"))
    assert asked.value.hint is not None and "1: daxpy_kernel" in asked.value.hint


OWN_RULES = {"High Throughput": "at_roofline", "Small Grid": "launch_overhead"}
"""What Nsight Compute's own rule about the bottleneck says in a title, and the finding that says the same."""


@pytest.mark.parametrize("name", ["manual_nvtx.ncu-rep", "CuVectorAddDrv.ncu-rep", "CuVectorAddDrv_2.ncu-rep"])
def test_findings_agree_with_the_rules_of_the_report(name: str) -> None:
    path = report(name)
    context = importlib.import_module("ncu_report").load_report(str(path))
    actions = [part.action_by_idx(k) for part in context for k in range(part.num_actions())]
    for index, action in enumerate(actions):
        titles = {str(rule.rule_message()["title"]) for rule in action.rule_results()}
        profile = read_report(path, index)
        found = find_findings(profile)
        assert {finding.name for finding in found} == {OWN_RULES[title] for title in titles & OWN_RULES.keys()}
        assert all(number.agrees for finding in found for number in rederive(profile, finding))


@pytest.mark.parametrize("name", ["CuVectorAddDrv.ncu-rep", "CuVectorAddDrv_2.ncu-rep"])
def test_a_report_without_instructions(name: str) -> None:
    found = read_report(report(name))
    assert found.kernel == "VecAdd_kernel" and found.instructions == () and found.counters["duration_us"] > 0
    assert "instructions" in found.not_measured and everything_is_accounted_for(found)


@pytest.mark.parametrize("kept", [3, 9, 50_000, 162_103])
def test_a_cut_report_is_refused(tmp_path: Path, kept: int) -> None:
    cut = tmp_path / "cut.ncu-rep"
    cut.write_bytes(report("manual_nvtx.ncu-rep").read_bytes()[:kept])
    with pytest.raises(UsageError, match=r"cut short|not a report"):
        read_report(cut, 0)


# ------------------------------------------------------------------------------------------------------ bad files


def test_a_missing_file(tmp_path: Path) -> None:
    for read in (read_report, read_csv):
        with pytest.raises(UsageError, match="No such file"):
            read(tmp_path / "none.ncu-rep")


def test_a_foreign_file(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    foreign.write_bytes(b"\x7fELF\x80\xff")
    with pytest.raises(UsageError, match="not a report of Nsight Compute"):
        read_report(foreign)
    with pytest.raises(UsageError, match="not CSV of Nsight Compute"):
        read_csv(foreign)


def test_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ncu_report", None)
    path = tmp_path / "empty.ncu-rep"
    path.write_bytes(EMPTY)
    with pytest.raises(ToolMissing) as missing:
        read_report(path)
    assert missing.value.hint is not None and "pip install ncu-report" in missing.value.hint


@pytest.mark.skipif(not HAS_READER, reason="needs the package ncu-report")
def test_a_report_without_kernels(tmp_path: Path) -> None:
    path = tmp_path / "empty.ncu-rep"
    path.write_bytes(EMPTY)
    with pytest.raises(UsageError, match=r"no kernels|refused"):
        read_report(path)


@settings(max_examples=60, deadline=None)
@given(st.binary(min_size=1, max_size=64))
def test_rubbish_after_the_mark_is_an_error_of_ours(tmp_path_factory: pytest.TempPathFactory, rubbish: bytes) -> None:
    path = tmp_path_factory.mktemp("rubbish") / "x.ncu-rep"
    path.write_bytes(EMPTY + b"\xff\xff\xff\x7f" + rubbish)
    with pytest.raises(WarpsightError):
        read_report(path)


# ---------------------------------------------------------------------------------------- choosing, what is known


def test_choosing() -> None:
    kernels = ["axpy(float *, int)", "sum", "axpy(float *, int)", "3"]
    assert choose(kernels, "sum", "r") == (1, ())
    assert choose(kernels, 2, "r") == choose(kernels, "2", "r") == (2, ())
    index, notes = choose(kernels, "axpy", "r")
    assert index == 0 and "2 launches" in notes[0]
    assert choose(kernels, "3", "r") == (3, ())
    for wrong in ("dot", 4, "-1"):
        with pytest.raises(UsageError, match="no kernel"):
            choose(kernels, wrong, "r")


def test_names_without_types_and_arguments() -> None:
    full = "void (anonymous namespace)::axpy<float, (int)4>(float *, void (*)(int))"
    assert plain_name(full) == "(anonymous namespace)::axpy<float, (int)4>"
    assert plain_name("axpy(int)") == plain_name("axpy") == "axpy"


def instruction(index: int, text: str, **counters: int) -> InstructionCounters:
    return InstructionCounters(index=index, text=text, line=3, counters=counters)


def test_a_half_guarded_load_has_unknown_requests() -> None:
    load = instruction(0, "@P0 LDG.E R2, [R2.64]", warps=4, threads=128, threads_on=64, sectors=8, bytes=256)
    found = make_profile(MeasuredLaunch("k", "gpu", {}, 1, (load,), ALL))
    assert found.counters["global_load_sectors"] == 8 and found.counters["global_load_efficiency"] == 100
    assert {"global_load_requests", "global_load_sectors_per_request"} <= set(found.not_measured)


def test_what_was_not_collected_is_not_zero() -> None:
    load = instruction(0, "LDG.E R2, [R2.64]", warps=4, threads=128, threads_on=128)
    found = make_profile(MeasuredLaunch("k", "gpu", {}, 1, (load,), frozenset({"warps", "threads", "threads_on"})))
    assert found.counters["global_load_requests"] == 4
    assert {"global_load_sectors", "global_load_bytes", "shared_wavefronts", "local_sectors"} <= set(found.not_measured)


def test_tensor_operations_are_not_guessed() -> None:
    tensor = instruction(0, "HMMA.16816.F32 R4, R8, R2, R4", warps=1, threads=32, threads_on=32)
    assert "flops" in make_profile(MeasuredLaunch("k", "gpu", {}, 1, (tensor,), ALL)).not_measured


def test_divergence() -> None:
    branch = instruction(0, "@P0 BRA 0x100", warps=10, threads=320, threads_on=160, branches_divergent=4)
    found = make_profile(MeasuredLaunch("k", "gpu", {}, 1, (branch,), ALL))
    assert (found.counters["branches"], found.counters["branch_efficiency"]) == (10, 60)


def test_foreign_stall_reasons_are_noted() -> None:
    stalled = "smsp__pcsamp_warps_issue_stalled_"
    metrics = {
        "smsp__pcsamp_sample_count": 10,
        f"{stalled}wait": 4,
        f"{stalled}drain": 6,
        f"{stalled}drain_not_issued": 6,
    }
    found = make_profile(MeasuredLaunch("k", "gpu", {name: Metric(value) for name, value in metrics.items()}, 1))
    assert found.counters["stall_wait"] == 40 and any("drain 60.0 %" in note for note in found.notes)


# ------------------------------------------------------------------------------------------------------------ CSV

ABOUT = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream",'
    '"Block Size","Grid Size","Device","CC"'
)
CELLS = '"7","app","127.0.0.1","{kernel}(float *, int)","1","7","(256, 1, 1)","(64, 2, 1)","0","8.6"'


def csv_file(folder: Path, *lines: str) -> Path:
    path = folder / "report.csv"
    path.write_text("==PROF== Connected to process 7\n" + "\n".join(lines) + "\n")
    return path


def raw_file(folder: Path, *times: str) -> Path:
    units = ",".join(['""'] * 11)
    rows = [f'"{k}",{CELLS.format(kernel=f"k{k}")},"{time}","2048"' for k, time in enumerate(times)]
    return csv_file(folder, f'{ABOUT},"gpu__time_duration.sum","dram__bytes.sum"', f'{units},"usecond","Kbyte"', *rows)


def test_csv_raw_page(tmp_path: Path) -> None:
    path = raw_file(tmp_path, "1,234.5", "2.25")
    first, second = read_csv(path, "k0"), read_csv(path, 1)
    assert (first.counters["duration_us"], second.counters["duration_us"]) == (1234.5, 2.25)
    assert (first.kernel, first.total_blocks, first.counters["dram_bytes"]) == ("k0", 128, 2_048_000)
    assert first.device == "CUDA device 0, compute capability 8.6" and everything_is_accounted_for(first)


def test_csv_with_decimal_commas(tmp_path: Path) -> None:
    assert read_csv(raw_file(tmp_path, "1.234,5")).counters["duration_us"] == 1234.5
    assert read_csv(raw_file(tmp_path, "3,25", "1.234"), 1).counters["duration_us"] == 1234


def test_csv_details_page(tmp_path: Path) -> None:
    header = f'{ABOUT},"Section Name","Metric Name","Metric Unit","Metric Value","Rule Name"'
    about = f'"0",{CELLS.format(kernel="axpy")}'
    metrics = (
        '"GPU Speed Of Light Throughput","Duration","ms","1.50",""',
        '"GPU Speed Of Light Throughput","DRAM Throughput","%","90.10",""',
        '"Occupancy","Theoretical Occupancy","%","66.67",""',
        '"Command line profiler metrics","smsp__inst_executed.sum","inst","1,966,080",""',
        '"Command line profiler metrics","dram__bytes.sum","","n/a",""',
        '"Occupancy","","","","Occupancy"',
    )
    found = read_csv(csv_file(tmp_path, header, *(f"{about},{metric}" for metric in metrics)))
    assert found.kernel == "axpy" and found.bound == "DRAM bandwidth"
    expected = {"duration_us": 1500, "busy_dram": 90.1, "occupancy": 66.67, "instructions": 1966080}
    assert {name: found.counters[name] for name in expected} == expected and "dram_bytes" in found.not_measured


def test_damaged_csv(tmp_path: Path) -> None:
    good = raw_file(tmp_path, "1.5")
    good.write_text(good.read_text()[:-60])
    with pytest.raises(UsageError, match=r"damaged|broken"):
        read_csv(good)
    short = raw_file(tmp_path, "1.5", "2.5")
    short.write_text(short.read_text().removesuffix(',"2048"\n'))
    with pytest.raises(UsageError, match="a row of 12 cells under a header of 13"):
        read_csv(short, 0)
    with pytest.raises(UsageError, match="without kernels"):
        read_csv(csv_file(tmp_path, f'{ABOUT},"gpu__time_duration.sum"'))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**9), st.booleans())
def test_numbers_of_both_countries(tmp_path_factory: pytest.TempPathFactory, hundredths: int, comma: bool) -> None:
    text = f"{hundredths / 100:,.2f}"
    text = text.translate(str.maketrans(",.", ".,")) if comma else text
    found = read_csv(raw_file(tmp_path_factory.mktemp("csv"), text))
    assert found.counters["duration_us"] == pytest.approx(hundredths / 100, abs=1e-4)
