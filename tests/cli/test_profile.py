"""`warpsight profile` on real tasks: counts that can be worked out by hand, the time and where it goes, how it ends."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from warpsight.cli.text.diagnosis import reports_since
from warpsight.cli.text.profile import GROUPS, MIX, number_text
from warpsight.cli.text.time import BUSY, BUSY_LABELS, STALL, STALL_MEANINGS, bar, us_text
from warpsight.devices.machine_code import TIME_UNITS
from warpsight.devices.profiles import LAUNCH_UNITS
from warpsight.lens.roofline import dominant_arithmetic, roofline
from warpsight.nouns import InstructionCounters, Profile
from warpsight.vgpu.counters import DERIVED
from warpsight.vgpu.gpus import find_gpu

Command = Callable[..., Any]
Changed = Callable[[str, str, str], str]
ROOT = Path(__file__).parents[2]
SMALL = ("matmul_tiled", "--workload", "square")


def time_part(document: dict[str, Any]) -> dict[str, Any]:
    """The counters of a document that the time model made, per kernel and per instruction."""
    whole = {name: value for name, value in document["counters"].items() if name in TIME_UNITS}
    samples = [row["counters"].get("stall_samples", 0) for row in document["instructions"]]
    return whole | {"bound": document["bound"], "roofline": document["roofline"], "samples": samples}


def test_a_simulated_time_has_a_likely_range(command: Command) -> None:
    counters = command("profile", "transpose", "--json").document()["counters"]
    assert 0 < counters["duration_us_low"] < counters["duration_us_high"]
    said = command("profile", "transpose", columns=160).out
    low, high = (us_text(counters[f"duration_us_{end}"]) for end in ("low", "high"))
    assert f"likely {low} to {high} us when measured at the boost clock" in said


def test_counts_of_a_transpose_as_shown(command: Command) -> None:
    ran = command("profile", "transpose")
    assert ran.code == 0 and ran.err == ""
    assert "virtual GPU as a100 (simulated counters and time, machine code)" in ran.out
    assert "counted    all 4096 blocks" in ran.out and "not measured" not in ran.out
    rows = [line.split() for line in ran.out.splitlines()]
    assert [row[1] for row in rows if row[:1] == ["sectors_per_request"]] == ["4", "32"]  # loads, then stores
    hot = next(row for row in rows if "y[(size_t)c" in row)
    assert hot[0] == "6" and hot[5] == "18.00"  # (4 + 32) / 2


def test_the_default_workload_is_the_profiled_one(command: Command) -> None:
    assert "workload profile (N=2097152)" in command("profile", "saxpy").out
    assert "workload odd (N=4099)" in command("profile", "saxpy", "--workload", "odd").out


def test_json_is_a_profile_and_more(command: Command) -> None:
    ran = command("profile", "saxpy", "--workload", "blocks", "--json")
    document = ran.document()
    found = Profile.model_validate(
        {name: document[name] for name in Profile.model_fields if name in document} | {"kernel": "saxpy"}
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
    assert "\nline" not in command("profile", "transpose", "--blocks", "4", "--lines", "0").out


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("task", ["matmul_tiled", "histogram", "transpose_tiled"])
def test_it_fits_the_terminal(command: Command, task: str, columns: int) -> None:
    ran = command("profile", task, "--blocks", "2", columns=columns)
    body = ran.out.split("\n\n", 1)[1]
    assert max(len(line) for line in body.splitlines()) <= columns
    assert "\nline" in ran.out and "samples" in ran.out and "█" in ran.out


def test_the_time_and_where_it_goes_as_shown(command: Command) -> None:
    out = command("profile", "saxpy", columns=160).out
    assert "us simulated at the boost clock of 1410 MHz (" in out and "us at the base clock of 1095 MHz)" in out
    assert "bound by DRAM bandwidth (" in out and "limited by warps of an SM" in out
    # 2 operations for each 12 bytes; FP32 at 19.5 T/s over 1555 GB/s.
    assert "0.167 flops a DRAM byte, ridge at 12.5 (f32): under the roof of DRAM" in out
    busy = out.split("where the time goes")[1].split("what warps wait for")[0].splitlines()
    assert busy[1].split()[:2] == ["DRAM", "bandwidth"]  # the busiest first
    assert out.split("what warps wait for")[1].splitlines()[1].split()[0] == "long_scoreboard"
    lines = out.split("\nline ")[1].splitlines()[1:]
    assert lines[0].split()[0] == "12" and float(lines[0].split()[1]) > 50  # the first use of what was loaded
    shares = [float(row[5:].split()[0].strip("<")) for row in lines[:5]]
    assert shares == sorted(shares, reverse=True)


def test_latency_is_said_with_what_is_waited_for(command: Command) -> None:
    out = command("profile", "saxpy", "--workload", "small", columns=160).out
    assert "bound by latency: the busiest resource is" in out and "1 blocks over 108 SMs, 107 have none" in out
    assert "warps wait mostly for a value from global or local memory" in out


def test_the_time_is_the_same_in_every_run(command: Command) -> None:
    first, second = (command("profile", *SMALL, "--json").document() for _ in range(2))
    assert time_part(first) == time_part(second)
    assert first["counters"]["duration_us"] > 0 and sum(time_part(first)["samples"]) > 0


def test_another_gpu_is_compiled_for_and_timed(command: Command) -> None:
    a100 = command("profile", *SMALL, "--json").document()
    a6000 = command("profile", *SMALL, "--gpu", "RTX A6000", "--json").document()
    assert (a100["gpu"], a100["gpu_arch"]) == ("a100", "sm_80")
    assert (a6000["gpu"], a6000["gpu_arch"]) == ("rtx-a6000", "sm_86")
    assert a100["counters"]["duration_us"] != a6000["counters"]["duration_us"]
    assert a100["occupancy"]["warps_possible"] == 64 and a6000["occupancy"]["warps_possible"] == 48
    assert a6000["target"] == {
        "gpu": "rtx-a6000", "name": a6000["target"]["name"], "arch": "sm_86", "sms": 84,
        "boost_mhz": 1800, "base_mhz": 1410,
    }  # fmt: skip


def test_the_roofline_follows_from_the_counters(command: Command) -> None:
    document = command("profile", "daxpy", "--json").document()
    counters, roof = document["counters"], document["roofline"]
    gpu = find_gpu("a100")
    assert roof["arithmetic"] == "f64"
    intensity = counters["flops"] / counters["dram_bytes"]
    assert roof["flops_per_dram_byte"] == pytest.approx(intensity, rel=1e-3)
    attainable = min(gpu.peak_gflops("f64"), intensity * gpu.dram_gb_per_s)
    assert roof["attainable_gflops"] == pytest.approx(attainable, rel=1e-3)
    assert roof["share"] == pytest.approx(counters["flops"] / counters["duration_us"] / 10 / attainable, rel=1e-3)
    assert 0 < roof["share"] <= 100
    assert command("profile", "collatz", "--workload", "small", "--json").document()["roofline"] is None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("@!P0 HMMA.16816.F32 R4, R8, R12, R4", "tensor_f16"),
        ("HMMA.16816.F16 R4, R8, R12, R4", "tensor_f16_acc16"),
        ("HMMA.16816.F32.BF16 R4, R8, R12, R4", "tensor_bf16"),
        ("HMMA.1688.F32.TF32 R4, R8, R12, R4", "tensor_tf32"),
        ("DMMA.884 R4, R8, R12, R4", "tensor_f64"),
        ("DFMA R4, R8, R12, R4", "f64"),
        ("HFMA2.MMA R4, R8, R12, R4", "f16"),
        (
            "HFMA2.MMA R5, -RZ, RZ, 0, 9.5367431640625e-07",
            "f32",
        ),  # a constant: no arithmetic, so the FADD is what counts
    ],
)
def test_which_arithmetic_has_the_roof(text: str, kind: str) -> None:
    ran = {"warps": 100}
    rows = tuple(InstructionCounters(index=i, text=t, line=1, counters=ran) for i, t in enumerate((text, "IMAD R1")))
    few = InstructionCounters(index=2, text="FADD R4, R4, R5", line=1, counters={"warps": 1})
    units = {"warps": "warps", "flops": "operations", "duration_us": "us", "dram_bytes": "bytes"}
    profile = Profile(
        kernel="k", device="virtual", source="simulated", isa="sass", counters={"flops": 10, "duration_us": 1.0},
        units=units, instructions=(*rows, few), sampled_blocks=1, total_blocks=1,
    )  # fmt: skip
    gpu = find_gpu("a100")
    assert dominant_arithmetic(profile, gpu) == kind
    roof = roofline(profile, gpu)  # nothing from DRAM: only arithmetic limits
    assert roof is not None and roof.flops_per_dram_byte is None and roof.attainable_gflops == roof.peak_gflops


def test_machine_code_that_is_not_read_is_counted_on_ptx(command: Command, changed: Changed) -> None:
    kernel = changed("saxpy", "int tail =", 'asm volatile("pmevent 1;"); int tail =')
    ran = command("profile", "saxpy", "--workload", "small", "--kernel", kernel)
    assert ran.code == 0 and "(simulated counters, PTX)" in ran.out and "us simulated" not in ran.out
    assert "note: counted on PTX, without a time:" in ran.out and "PMTRIG" in ran.out
    assert "not measured: time," in ran.out and "occupancy  100.0 %" in ran.out
    document = command("profile", "saxpy", "--workload", "small", "--kernel", kernel, "--json").document()
    assert document["isa"] == "ptx" and document["roofline"] is None and "duration_us" in document["not_measured"]


def test_an_unknown_gpu_lists_near_ones(command: Command) -> None:
    ran = command("profile", "saxpy", "--gpu", "a6001")
    assert ran.code == 2 and ran.out == "" and "--gpu" in ran.err and "rtx-a6000" in ran.err


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
    assert sorted(grouped) == sorted(name for name in (*DERIVED, *LAUNCH_UNITS) if not name.startswith(MIX))


def test_every_number_of_the_time_has_words_and_a_place_in_the_page() -> None:
    assert {BUSY + name for name in BUSY_LABELS} == {name for name in TIME_UNITS if name.startswith(BUSY)}
    reasons = {name for name in TIME_UNITS if name.startswith(STALL)} - {"stall_samples"}
    assert {STALL + name for name in STALL_MEANINGS} == reasons
    page = (ROOT / "docs" / "time-model.md").read_text()
    assert [name for name in TIME_UNITS if f"| `{name}` | {TIME_UNITS[name]} |" not in page] == []


def test_bars() -> None:
    assert bar(100, 4, ascii_only=False) == "████" and bar(50, 4, ascii_only=True) == "##"
    assert bar(0, 4, ascii_only=False) == "" and bar(0.01, 4, ascii_only=False) == "▏"
    assert bar(0.01, 4, ascii_only=True) == "#" and bar(130, 4, ascii_only=True) == "####"
    assert us_text(3.5391) == "3.539" and us_text(12345.67) == "12,345.7"


def test_numbers() -> None:
    assert number_text(1234567, short=True) == "1,234,567"
    assert number_text(19_520_000, short=True) == "19.52 M"
    assert number_text(19_520_000, short=False) == "19,520,000"
    assert number_text(12.5, short=True) == "12.5" and number_text(100.0, short=True) == "100"


def test_it_ends_with_the_findings(command: Command) -> None:
    out = command("profile", "transpose_tiled", columns=160).out
    said = out.split("\nfindings  gains are estimated\n")[1]
    assert said.lstrip().startswith("1.  bank_conflicts (about ") and "try: pad the rows" in said
    document = command("profile", "transpose_tiled", "--json").document()
    assert [f["name"] for f in document["findings"]][:1] == ["bank_conflicts"]


def test_help_has_an_example(command: Command) -> None:
    ran = command("profile", "--help")
    assert ran.code == 0 and "warpsight profile matmul_tiled" in ran.out


def test_a_processor_is_measured_and_says_what_it_cannot_count(command: Command) -> None:
    pytest.importorskip("pyopencl")
    document = command("profile", "saxpy", "--device", "opencl", "--json").document()
    assert document["source"] == "measured" and document["counters"]["duration_us"] > 0
    assert document["launch"]["block"] and document["findings"] == [] and document["reports"] == []
    ran = command("profile", "saxpy", "--device", "opencl")
    assert any(note.startswith("perf") for note in document["notes"]), "counted, or why not"
    assert "us measured" in ran.out and "only the time was measured here" in " ".join(ran.out.split())


def test_reports_of_an_earlier_run_are_not_this_one_s(tmp_path: Path) -> None:
    for name in ("a.ncu-rep", "group0/b_counter_collection.csv", "c.txt", "old.ncu-rep"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
        os.utime(tmp_path / name, (0, 50.0 if name.startswith("old") else 100.0))
    assert [path.name for path in reports_since(tmp_path, 99.0)] == ["a.ncu-rep", "b_counter_collection.csv"]


@pytest.mark.parametrize("device", ["cuda", "hip"])
def test_a_gpu_that_is_not_there_is_told(command: Command, device: str) -> None:
    ran = command("profile", "saxpy", "--device", device)
    code = 5 if find_spec(device) else 3  # a driver, or a package
    assert ran.code == code and "error: " in ran.err and "try: " in ran.err and "docs/real-gpus.md" in ran.err


def test_a_processor_has_no_gpu_to_choose(command: Command) -> None:
    ran = command("profile", "saxpy", "--device", "opencl", "--gpu", "a100")
    assert ran.code == 2 and "OpenCL runs on this machine's processor" in ran.err


def test_a_sample_of_blocks_is_of_the_virtual_gpu_alone(command: Command) -> None:
    ran = command("profile", "saxpy", "--device", "opencl", "--blocks", "4")
    assert ran.code == 2 and "--blocks" in ran.err
