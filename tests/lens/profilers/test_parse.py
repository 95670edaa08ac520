"""Every reader on the tools' own output, and on output that is broken, cut, localised, empty or a refusal."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.lens.profilers import recorded

from warpsight.errors import UsageError
from warpsight.lens.profilers import compute_sanitizer, ncu, nsys, nvprof, perf_stat, rocprofv3
from warpsight.lens.profilers.failures import (
    BrokenOutput,
    NoDriver,
    NoPermission,
    NothingProfiled,
    NotSupported,
    ProfilerError,
    refusal,
)
from warpsight.lens.profilers.times import of_kernel, profile_of
from warpsight.lens.reports import read_profile
from warpsight.lens.vocabulary import vocabulary
from warpsight.nouns import Profile


def everything_is_accounted_for(profile: Profile) -> bool:
    kernel_wide = {name for name, entry in vocabulary().items() if entry.scope == "kernel"}
    return set(profile.counters) | set(profile.not_measured) == kernel_wide and profile.source == "measured"


# ---------------------------------------------------------------------------------------------------- what was recorded


def test_ncu_csv() -> None:
    found = ncu.parse(recorded.NCU_RAW)
    assert found.kernel == "axpy" and found.total_blocks == 64
    assert found.counters["duration_us"] == 12.3456 and found.counters["dram_bytes"] == 1048576
    assert found.counters["instructions"] == 40960 and everything_is_accounted_for(found)


def test_ncu_csv_with_a_decimal_comma() -> None:
    cells = recorded.NCU_RAW.replace('"12,345.60"', '"12.345,60"').replace('"1,048,576"', '"1.048.576"')
    german = ncu.parse(cells.replace('"40,960"', '"40.960"'))
    assert german.counters == ncu.parse(recorded.NCU_RAW).counters


def test_nsys_trace() -> None:
    launches = nsys.parse(recorded.NSYS_TRACE)
    assert [launch.kernel for launch in launches] == ["void burn<float>(float *, int)"] * 2 + ["other"]
    burn = of_kernel(launches, "burn<float>", "nsys")
    found = profile_of(burn, tool="nsys")
    assert found.counters["duration_us"] == pytest.approx(42.4) and found.counters["blocks"] == 512
    assert found.counters["threads_per_block"] == 256 and found.counters["registers_per_thread"] == 104
    assert "dram_bytes" in found.not_measured and everything_is_accounted_for(found)
    assert "41.280 to 43.520 us" in found.notes[0]
    assert [time.duration_us for time in burn] == pytest.approx([41.28, 43.52])
    with pytest.raises(NothingProfiled, match=r"no launch of `axpy`.*other"):
        of_kernel(launches, "axpy", "nsys")
    with pytest.raises(NothingProfiled, match="not said"):
        of_kernel(launches, None, "nsys")


def test_nsys_export(tmp_path: Path) -> None:
    """The tables as the export schema documents them."""
    path = tmp_path / "report.sqlite"
    with sqlite3.connect(path) as database:
        database.executescript(
            """
            CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
            CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT);
            CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER,
              demangledName INTEGER,
              registersPerThread INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER,
              blockZ INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER);
            INSERT INTO StringIds VALUES (7, 'axpy(float *, int)');
            INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA A100-SXM4-40GB');
            INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000, 13345, 0, 7, 16, 64, 1, 1, 256, 1, 1, 1024, 0);
            """
        )
    database.close()
    (launch,) = nsys.parse_sqlite(path)
    found = profile_of([launch], tool="nsys")
    assert (found.kernel, found.counters["duration_us"]) == ("axpy", 12.345)
    assert found.counters["static_shared_bytes"] == 1024 and found.gpu.startswith("a100")
    assert read_profile(path) == found, "as `profile --from` reads it"
    with sqlite3.connect(path) as database:
        database.execute("DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL")
    database.close()
    with pytest.raises(NothingProfiled):
        nsys.parse_sqlite(path)
    path.write_bytes(path.read_bytes()[:3000])
    with pytest.raises(BrokenOutput):
        nsys.parse_sqlite(path)
    path.write_text("no database")
    with pytest.raises(BrokenOutput, match="no SQLite"):
        nsys.parse_sqlite(path)


@pytest.mark.parametrize(
    ("text", "kernel", "counter"),
    [
        (recorded.ROCPROFV3_COUNTERS, "divide_kernel", None),
        (recorded.ROCPROFV3_TRACE, None, "duration_us"),
        (recorded.ROCPROF_OLD, None, "duration_us"),
        (recorded.NSYS_TRACE, "other", "duration_us"),
        (recorded.NVPROF_METRICS, None, "instructions"),
        (recorded.NVPROF_TRACE, None, "duration_us"),
        (recorded.NCU_RAW, None, None),
    ],
    ids=["rocprofv3", "its trace", "rocprof", "nsys", "nvprof", "its trace too", "ncu"],
)
def test_a_table_is_read_by_the_reader_of_its_tool(
    tmp_path: Path, text: str, kernel: str | None, counter: str | None
) -> None:
    path = tmp_path / "report.csv"
    path.write_text(text)
    found = read_profile(path, kernel)
    assert found.source == "measured" and found.counters
    assert counter is None or counter in found.counters


def test_kernels_of_a_table_have_names_and_no_numbers(tmp_path: Path) -> None:
    path = tmp_path / "report.csv"
    path.write_text(recorded.NSYS_TRACE)
    with pytest.raises(UsageError, match="does not number"):
        read_profile(path, "0")


def test_nvprof_metrics() -> None:
    found = nvprof.parse(recorded.NVPROF_METRICS)
    assert found.kernel == "stream" and found.device == "Tesla K20c (0)"
    assert found.counters["instructions"] == 1346637 and found.counters["global_store_sectors"] == 9039820
    assert found.counters["global_store_efficiency"] == 87.5 and found.counters["lanes_per_instruction"] == 16
    assert "average of 3 launches" in found.notes[0] and any("before Maxwell" in note for note in found.notes)
    assert "duration_us" in found.not_measured and everything_is_accounted_for(found)


def test_nvprof_trace() -> None:
    times = of_kernel(nvprof.parse_trace(recorded.NVPROF_TRACE), "axpy", "nvprof")
    found = profile_of(times, tool="nvprof")
    assert found.counters["duration_us"] == pytest.approx(12.286) and found.counters["blocks"] == 128
    in_ms = recorded.NVPROF_TRACE.replace("us,us,", "ms,ms,")
    assert nvprof.parse_trace(in_ms)[0].duration_us == pytest.approx(12536.0)


def test_rocprofv3_counters() -> None:
    found = rocprofv3.parse(recorded.ROCPROFV3_COUNTERS, "divide_kernel")
    assert found.counters["dram_bytes"] == (8192.5 + 4096) * 1024 and found.counters["blocks"] == 16384
    assert found.counters["registers_per_thread"] == 12 and found.device == "AMD Agent 4"
    assert any("SQ_WAVES 16384" in note for note in found.notes) and everything_is_accounted_for(found)
    with pytest.raises(NothingProfiled, match="not said"):
        rocprofv3.parse(recorded.ROCPROFV3_COUNTERS)


def test_rocprofv3_trace_counts_work_items() -> None:
    (launch,) = rocprofv3.parse_trace(recorded.ROCPROFV3_TRACE)
    assert launch.grid == (16, 1024, 1) and launch.block == (64, 1, 1) and launch.duration_us == 10.52


def test_old_rocprof() -> None:
    found = rocprofv3.parse_old(recorded.ROCPROF_OLD, "bodyForce")
    assert found.counters["duration_us"] == pytest.approx(26316.649) and found.counters["blocks"] == 256
    assert found.counters["dram_bytes"] == (784.25 + 768) * 1024 and everything_is_accounted_for(found)


@pytest.mark.parametrize(
    ("text", "check", "faults"),
    [
        (recorded.MEMCHECK, "memcheck", [("misaligned", 6, 1), ("out_of_bounds", 16, 1)]),
        (recorded.RACECHECK, "racecheck", [("shared_race", 40, 508)]),
        (recorded.INITCHECK, "initcheck", [("uninitialised_read", 41, 2)]),
        (recorded.SYNCCHECK, "synccheck", [("barrier_divergence", 61, 1), ("warp_sync_divergence", 12, 1)]),
        (recorded.CLEAN, "memcheck", []),
    ],
)
def test_sanitizer(text: str, check: compute_sanitizer.Check, faults: list[tuple[str, int, int]]) -> None:
    report = compute_sanitizer.parse(text, check)
    assert [(fault.kind, fault.line, fault.count) for fault in report.faults] == faults


def test_sanitizer_says_who_and_where() -> None:
    _, bounds = compute_sanitizer.parse(recorded.MEMCHECK, "memcheck").faults
    assert (bounds.thread, bounds.block, bounds.address) == ((3, 0, 0), (2, 0, 0), 0x87654320)
    assert bounds.message.startswith("memcheck: Invalid __global__ write of size 4 bytes")
    assert compute_sanitizer.parse(recorded.INITCHECK, "initcheck").not_printed


def test_sanitizer_never_takes_errors_for_none() -> None:
    odd = compute_sanitizer.parse("========= Something new\n========= ERROR SUMMARY: 1,024 errors\n", "memcheck")
    assert [(fault.kind, fault.count) for fault in odd.faults] == [("fault", 1024)]
    lonely = "========= Program hit cudaErrorLaunchFailure (error 719)\n========= ERROR SUMMARY: 1 error\n"
    assert [fault.kind for fault in compute_sanitizer.parse(lonely, "memcheck").faults] == ["crash"]


def test_perf() -> None:
    """Cells as perf-stat(1) documents them under CSV FORMAT; the first number as a German locale writes it."""
    text = "# started on Mon\n\n1,23;msec;task-clock;1225235;100,00;0,347;CPUs utilized\n9000;;cycles;12;100.00;;\n"
    found = perf_stat.parse(text + "<not supported>;;cache-misses;0;100.00;;\n")
    assert found.counts == {"task-clock": 1.23, "cycles": 9000} and found.units["task-clock"] == "msec"
    assert found.not_measured == {"cache-misses": "not supported"} and "cache-misses" in found.notes()[1]


# ------------------------------------------------------------------------------------------------ what comes out broken

READERS: dict[str, tuple[Callable[[str], object], str]] = {
    "ncu": (ncu.parse, recorded.NCU_RAW),
    "nsys": (nsys.parse, recorded.NSYS_TRACE),
    "nvprof": (nvprof.parse, recorded.NVPROF_METRICS),
    "nvprof trace": (nvprof.parse_trace, recorded.NVPROF_TRACE),
    "rocprofv3": (lambda text: rocprofv3.parse(text, "divide_kernel"), recorded.ROCPROFV3_COUNTERS),
    "rocprofv3 trace": (rocprofv3.parse_trace, recorded.ROCPROFV3_TRACE),
    "rocprof": (rocprofv3.parse_old, recorded.ROCPROF_OLD),
    "sanitizer": (lambda text: compute_sanitizer.parse(text, "memcheck"), recorded.MEMCHECK),
    "perf": (perf_stat.parse, "1.0;;cycles;1;100.00;;\n"),
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("text", ["", "\n\n", "Segmentation fault\n", "\x00\xff\x00,,,\n", "a,b,c\n1,2,3\n"])
def test_foreign_output_is_broken(name: str, text: str) -> None:
    with pytest.raises(BrokenOutput) as broken:
        READERS[name][0](text)
    assert broken.value.hint


@pytest.mark.parametrize("name", [name for name in READERS if name != "perf"])
def test_no_cut_gives_a_whole_result(name: str) -> None:
    """Cut anywhere: an error of ours, or (between two rows) what the rows before say. Never another exception."""
    read, text = READERS[name]
    for end in range(0, len(text) - 1, max(1, len(text) // 90)):
        cut = text[:end]
        if cut.endswith("\n") and name != "sanitizer":
            continue
        with pytest.raises(ProfilerError):
            read(cut)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (recorded.NO_PERMISSION, NoPermission),
        ("==WARNING== No kernels were profiled.\nAvailable Kernels:\n1. axpy\n", NothingProfiled),
        ("==ERROR== Cuda driver is not compatible with Nsight Compute\n", NoDriver),
        ("error while loading shared libraries: libcuda.so.1: cannot open shared object file", NoDriver),
        (
            "======== Warning: nvprof is not supported on devices with compute capability 8.0 and higher.\n",
            NotSupported,
        ),
        ("failed to dlopen libamdhip64.so", NoDriver),
        ("Consider adjusting /proc/sys/kernel/perf_event_paranoid setting", NoPermission),
    ],
)
def test_each_refusal_has_its_type(text: str, kind: type[ProfilerError]) -> None:
    found = refusal("ncu", text)
    assert found is not None and type(found) is kind and found.hint and text.splitlines()[0][:40] in found.message
    for read in (ncu.parse, nsys.parse, nvprof.parse):
        with pytest.raises(kind):
            read(text)
