"""Command lines, and really calling tools: those that are not there, and programs that behave as the tools do."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.lens.profilers import recorded

from warpsight.errors import UsageError
from warpsight.lens.profilers import availabilities, compute_sanitizer, ncu, nsys, nvprof, perf_stat, rocprofv3
from warpsight.lens.profilers.failures import (
    BrokenOutput,
    NoDriver,
    NoPermission,
    NoSource,
    NothingProfiled,
    ProfilerMissing,
    ProfilerTimedOut,
)
from warpsight.lens.profilers.ladder import Rung, amd_rungs, climb, device_rung, nvidia_rungs
from warpsight.lens.profilers.on_gpu import sanitize
from warpsight.lens.profilers.process import clean_environment, run_tool
from warpsight.lens.profilers.times import KernelTime, profile_of

ROOT = Path(__file__).parents[3]
REPORTS = Path(os.environ.get("WARPSIGHT_NCU_REPORTS", ROOT.parent / "shared" / "data" / "ncu"))
PROGRAM = ["/bin/true", "--n", "5"]


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A PATH with nothing in it but what a test puts there, and no vendor folders."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    for module in (ncu, nsys, nvprof, compute_sanitizer, rocprofv3):
        monkeypatch.setattr(module, "PLACES", ())
    return folder


def put(folder: Path, name: str, body: str) -> None:
    """A program of this name that answers --version and otherwise does `body`."""
    text = f"#!{sys.executable}\nimport sys, time, pathlib\nargs = sys.argv[1:]\n"
    text += f"if args == ['--version']:\n    print('{name} version 2026.1.2')\n    sys.exit(0)\n{body}\n"
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


def test_command_lines() -> None:
    report = Path("/tmp/r.ncu-rep")
    full = ncu.argv(PROGRAM, report=report, kernel="a.b")
    assert full[-len(PROGRAM) :] == PROGRAM and full[full.index("--set") + 1] == "full"
    assert full[full.index("--kernel-name") + 1] == r"regex:^a\.b$" and full[full.index("--export") + 1] == str(report)
    few = ncu.argv(PROGRAM, report=report, metrics=["x__y.sum"], sections=["Occupancy"], launch_skip=3, launch_count=2)
    assert "--set" not in few and few[few.index("--metrics") + 1] == "x__y.sum" and "Occupancy" in few
    assert few[few.index("--launch-skip") + 1] == "3" and few[few.index("--launch-count") + 1] == "2"
    with pytest.raises(UsageError):
        ncu.argv(PROGRAM, report=report, launch_count=0)
    assert ncu.csv_argv(report)[1:3] == ["--import", str(report)]
    assert nsys.argv(PROGRAM, report=report)[:2] == ["nsys", "profile"]
    assert nsys.stats_argv(report)[-2:] == ["-", str(report)] and "sqlite" in nsys.export_argv(report, Path("d"))
    counted = nvprof.argv(PROGRAM, log=Path("l"), kernel="k", metrics=["inst_executed", "gld_efficiency"])
    assert counted.index("--kernels") < counted.index("--metrics") and "inst_executed,gld_efficiency" in counted
    assert "--print-gpu-trace" in nvprof.argv(PROGRAM, log=Path("l"))
    rocm = rocprofv3.argv(PROGRAM, folder=Path("d"), kernel="k", counters=["SQ_WAVES", "VALUBusy"])
    assert rocm[rocm.index("--pmc") + 1 :][:2] == ["SQ_WAVES", "VALUBusy"] and rocm[rocm.index("--") + 1 :] == PROGRAM
    assert rocprofv3.old_request([["A", "B"], ["C"]], "k") == "pmc: A B\npmc: C\nkernel: k\n"
    assert rocprofv3.old_argv(PROGRAM, request=Path("i"), output=Path("o"))[1:5] == ["-i", "i", "-o", "o"]
    for check in compute_sanitizer.CHECKS:
        assert check in compute_sanitizer.argv(PROGRAM, check, kernel="k")
    assert perf_stat.argv(PROGRAM, output=Path("o"))[2:4] == ["-x", ";"]


def test_chosen_metrics_answer_their_counters() -> None:
    assert ncu.metrics_for(["duration_us", "global_load_sectors"]) == (
        "gpu__time_duration.sum",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    )
    assert nvprof.metrics_for(["flops", "instructions"]) == ("flop_count_sp", "flop_count_dp", "inst_executed")


def test_tools_that_are_not_there(bare: Path, tmp_path: Path) -> None:
    for found in availabilities():
        assert not found.present and "not installed" in found.reason and found.how
        with pytest.raises(ProfilerMissing) as missing:
            found.required()
        assert missing.value.exit_code == 3 and missing.value.hint == found.how
    for tool in (ncu, nsys, nvprof, rocprofv3):
        with pytest.raises(ProfilerMissing):
            tool.measure(PROGRAM, "k", folder=tmp_path, deadline_s=5)
    with pytest.raises(ProfilerMissing):
        compute_sanitizer.measure(PROGRAM, "memcheck", deadline_s=5)
    with pytest.raises(ProfilerMissing, match="cannot be started"):
        run_tool([str(bare / "ncu")], tool="ncu", deadline_s=5)


def test_a_tool_that_does_not_start_is_told(bare: Path) -> None:
    (bare / "ncu").write_text("#!/no/such/interpreter\n")
    (bare / "ncu").chmod(0o755)
    found = ncu.available()
    assert not found.present and found.path and "does not start" in found.reason
    put(bare, "ncu", "")
    assert ncu.available().version == "2026.1.2"


def test_no_permission_no_driver_nothing_profiled(bare: Path, tmp_path: Path) -> None:
    put(bare, "ncu", f"print('''{recorded.NO_PERMISSION}'''); sys.exit(1)")
    with pytest.raises(NoPermission, match="ERR_NVGPUCTRPERM") as forbidden:
        ncu.measure(PROGRAM, "k", folder=tmp_path, deadline_s=20)
    assert "NVreg_RestrictProfilingToAdminUsers=0" in (forbidden.value.hint or "")
    put(bare, "ncu", "print('libcuda.so.1: cannot open shared object file', file=sys.stderr); sys.exit(127)")
    with pytest.raises(NoDriver):
        ncu.measure(PROGRAM, "k", folder=tmp_path, deadline_s=20)
    # ncu leaves a report and exit status 0 when the filter matches no kernel
    leave = "pathlib.Path(args[args.index('--export') + 1]).write_bytes(b'NVR' + bytes(99))"
    put(bare, "ncu", f"{leave}\nprint('==WARNING== No kernels were profiled.')")
    with pytest.raises(NothingProfiled):
        ncu.measure(PROGRAM, "k", folder=tmp_path, deadline_s=20)
    put(bare, "ncu", leave)
    with pytest.raises(BrokenOutput):
        ncu.measure(PROGRAM, "k", folder=tmp_path, deadline_s=20)


def test_a_report_newer_than_its_reader(bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The package that reads reports may be older than ncu; ncu reads its own."""

    def too_new(report: Path, kernel: str) -> None:
        raise UsageError(f"{report} cannot be read: version 99")

    monkeypatch.setattr(ncu.importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(ncu, "read_report", too_new)
    (tmp_path / "page").write_text(recorded.NCU_RAW)
    show = f"sys.stdout.write(pathlib.Path({str(tmp_path / 'page')!r}).read_text())"
    put(bare, "ncu", f"{show} if '--import' in args else pathlib.Path(args[args.index('--export') + 1]).write_text('')")
    found = ncu.measure(PROGRAM, "axpy", folder=tmp_path, deadline_s=20)
    assert found.counters["dram_bytes"] == 1048576 and any("version 99" in note for note in found.notes)


def test_what_the_program_prints_is_no_refusal(bare: Path, tmp_path: Path) -> None:
    body = (
        "pathlib.Path(args[args.index('--export') + 1]).write_text('x'); print('I know libcuda.so, ERR_NVGPUCTRPERM')"
    )
    put(bare, "ncu", body)
    with pytest.raises(BrokenOutput):  # the report is nonsense; what was printed did not decide
        ncu.measure(PROGRAM, "k", folder=tmp_path, deadline_s=20)


def test_a_tool_that_hangs_is_ended_with_its_children(bare: Path, tmp_path: Path) -> None:
    mark = tmp_path / "child"
    child = f"import os, time; open({str(mark)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    put(bare, "nsys", f"import subprocess\nsubprocess.Popen([sys.executable, '-c', {child!r}])\ntime.sleep(600)")
    with pytest.raises(ProfilerTimedOut, match="within 3 s"):
        nsys.measure(PROGRAM, "k", folder=tmp_path, deadline_s=3)
    for _ in range(100):
        if not (Path("/proc") / mark.read_text() / "cmdline").exists() or _is_zombie(mark.read_text()):
            break
        time.sleep(0.05)
    else:
        pytest.fail("the child of the profiler is still there")


def _is_zombie(pid: str) -> bool:
    try:
        return ") Z" in (Path("/proc") / pid / "stat").read_text()
    except OSError:
        return True


def test_nsys_and_rocprofv3_whole(bare: Path, tmp_path: Path) -> None:
    """Programs that behave as the tools do and leave the published output."""
    (tmp_path / "trace").write_text(recorded.NSYS_TRACE)
    report = "pathlib.Path([a for a in args if a.startswith('--output=')][0][9:]).write_text('report')"
    show = f"sys.stdout.write(pathlib.Path({str(tmp_path / 'trace')!r}).read_text())"
    put(bare, "nsys", f"{report} if args[0] == 'profile' else {show}")
    found = nsys.measure(PROGRAM, "other", folder=tmp_path, deadline_s=20)
    assert found.counters["duration_us"] == 3.2 and any("report kept at" in note for note in found.notes)
    (tmp_path / "kernels").write_text(recorded.ROCPROFV3_TRACE)
    body = (
        f"text = pathlib.Path({str(tmp_path / 'kernels')!r}).read_text()\n"
        "out = pathlib.Path(args[args.index('-d') + 1])\n"
        "if '--pmc' not in args: (out / 'out_kernel_trace.csv').write_text(text)"
    )
    put(bare, "rocprofv3", body)
    amd = rocprofv3.measure(PROGRAM, "addition_kernel<float>", folder=tmp_path, deadline_s=20)
    assert amd.counters["duration_us"] == 10.52 and "dram_bytes" in amd.not_measured
    assert any(note.startswith("not measured: FETCH_SIZE") for note in amd.notes)


def test_the_ladder_says_what_it_used_and_what_not(bare: Path, tmp_path: Path) -> None:
    put(bare, "ncu", f"print('''{recorded.NO_PERMISSION}'''); sys.exit(1)")
    times = [KernelTime("axpy(float *, int)", "NVIDIA A100-SXM4-40GB", 12.5, (64, 1, 1), (256, 1, 1))]
    rungs = nvidia_rungs(PROGRAM, "axpy", folder=tmp_path, deadline_s=20)
    climbed = climb((*rungs, device_rung(lambda: profile_of(times, tool="events"))))
    assert climbed.used == "the device's events" and [miss.source for miss in climbed.missed] == [
        "ncu",
        "nvprof",
        "nsys",
        "cupti",
    ]
    notes = "\n".join(climbed.profile.notes)
    assert "measured by the device's events: time alone" in notes and "to enable it: let everyone read" in notes
    assert "not measured by nsys" in notes and "dram_bytes" in climbed.profile.not_measured


def test_a_ladder_without_an_answer_is_an_error(bare: Path, tmp_path: Path) -> None:
    with pytest.raises(NoSource, match=r"ncu is not installed.*nvprof.*nsys") as none:
        climb(nvidia_rungs(PROGRAM, "axpy", folder=tmp_path, deadline_s=5))
    assert none.value.exit_code == 3 and "ncu: install" in (none.value.hint or "")
    with pytest.raises(NoSource, match="rocprofv3"):
        climb(amd_rungs(PROGRAM, "axpy", folder=tmp_path, deadline_s=5))


def test_a_mistake_of_ours_is_not_taken_for_a_missing_source() -> None:
    def wrong() -> None:
        raise KeyError("ours")

    with pytest.raises(KeyError):
        climb([Rung("x", "y", wrong)])  # type: ignore[arg-type]


def test_no_secret_reaches_a_tool() -> None:
    given = {"PATH": "/bin", "AWS_SECRET_ACCESS_KEY": "s", "OPENAI_API_KEY": "k", "LC_ALL": "de_DE.UTF-8"}
    assert clean_environment(given) == {"PATH": "/bin", "LC_ALL": "C", "LANG": "C"}


@pytest.mark.skipif(not perf_stat.available().present, reason="needs perf")
def test_perf_for_real(tmp_path: Path) -> None:
    found = perf_stat.measure(["/bin/true"], folder=tmp_path, deadline_s=20)
    assert set(found.counts) | set(found.not_measured) == set(perf_stat.EVENTS) and found.notes()


@pytest.mark.skipif(not perf_stat.available().present, reason="needs perf")
def test_perf_counts_a_process_that_runs_already(tmp_path: Path) -> None:
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        found = perf_stat.measure_attached(busy.pid, lambda: time.sleep(0.2), folder=tmp_path)
        assert set(found.counts) | set(found.not_measured) == set(perf_stat.EVENTS)
        assert found.counts["task-clock"] > 0 and "of a loop: task-clock" in found.notes("of a loop")[0]
        assert busy.poll() is None, "what was counted goes on"
    finally:
        busy.kill()
        busy.wait()
    with pytest.raises(BrokenOutput, match="perf"):
        perf_stat.measure_attached(busy.pid, lambda: pytest.fail("nothing is counted"), folder=tmp_path)


def test_perf_that_is_not_there_is_told(bare: Path, tmp_path: Path) -> None:
    with pytest.raises(ProfilerMissing, match="perf"):
        perf_stat.measure_attached(1, lambda: pytest.fail("nothing is counted"), folder=tmp_path)
    assert perf_stat.argv_attached(7, output=Path("o"))[-4:] == ["-o", "o", "-p", "7"]


@pytest.mark.skipif(importlib.util.find_spec("ncu_report") is None, reason="needs the package ncu-report")
def test_a_real_report_through_the_profiler(bare: Path, tmp_path: Path) -> None:
    source = REPORTS / "manual_nvtx.ncu-rep"
    if not source.is_file():
        pytest.skip("needs a recorded report (WARPSIGHT_NCU_REPORTS)")
    copy = f"pathlib.Path(args[args.index('--export') + 1]).write_bytes(pathlib.Path({str(source)!r}).read_bytes())"
    put(bare, "ncu", copy)
    found = ncu.measure(PROGRAM, "daxpy_kernel", folder=tmp_path, deadline_s=60)
    assert found.source == "measured" and found.counters["instructions"] > 0 and found.lines
    assert found.notes[0] == f"report kept at {tmp_path / 'daxpy_kernel.ncu-rep'}"


def test_four_checks_each_told(bare: Path, tmp_path: Path) -> None:
    """Two of the checks answer as in NVIDIA's manual, one is cut short, one hangs."""
    none = sanitize(PROGRAM, "k", deadline_s=5)
    assert none.reports == () and [check for check, _ in none.not_run] == list(compute_sanitizer.CHECKS)
    for check, text in (("memcheck", recorded.MEMCHECK), ("racecheck", recorded.RACECHECK)):
        (tmp_path / check).write_text(text)
    (tmp_path / "initcheck").write_text(recorded.INITCHECK[:200])
    folder = str(tmp_path)
    put(
        bare,
        "compute-sanitizer",
        "check = args[args.index('--tool') + 1]\nif check == 'synccheck': time.sleep(600)\n"
        f"print((pathlib.Path({folder!r}) / check).read_text(), end='')\nsys.exit(86)",
    )
    found = sanitize(PROGRAM, "k", deadline_s=4)
    assert [fault.kind for fault in found.faults] == ["misaligned", "out_of_bounds", "shared_race"]
    assert [check for check, _ in found.not_run] == ["initcheck", "synccheck"]
    assert "no summary" in found.not_run[0][1] and "did not end" in found.not_run[1][1]
