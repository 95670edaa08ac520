"""Whole programs: what they print is what a GPU would have them print, and what goes wrong is told with its line."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.programs.conftest import SOURCES, Ran

from warpsight.programs.build import BuildFailed
from warpsight.verbs.program_progress import long_launch

RunSource = Callable[..., Ran]


def test_saxpy_is_right_and_timed(run_source: RunSource) -> None:
    ran = run_source("saxpy.cu", "100000")
    assert ran.output.startswith("PASS bad=0")
    (row,) = ran.run.kernels
    assert (ran.run.end, ran.run.exit_code, row.launches, row.grid) == ("exited", 0, 1, (391, 1, 1))
    assert row.time_us is not None and 2 < row.time_us < 100 and row.bound
    assert float(ran.output.rpartition("=")[2]) == pytest.approx(row.time_us / 1000, abs=2e-6)
    assert [(c.direction, c.count, c.size_bytes) for c in ran.run.copies] == [
        ("host to device", 2, 800_000),
        ("device to host", 1, 400_000),
    ]


def test_another_gpu_has_other_times(run_source: RunSource) -> None:
    a100, h100 = (run_source("saxpy.cu", gpu=gpu).run.kernel_us for gpu in ("a100", "h100"))
    assert h100 < a100


def test_streams_events_and_graphs(run_source: RunSource) -> None:
    ran = run_source("streams.cu")
    assert ran.output == "bad=0 called=1 timed=1 query=0\n"
    assert ran.run.launches == 5


def test_graphs_built_node_by_node(run_source: RunSource) -> None:
    ran = run_source("graphs.cu", times=False)
    assert ran.output == "nodes=5 roots=1 first=1\nbad=0 called=3 error=0 loop=1\n"
    assert ran.run.launches == 3 and not ran.run.missing


def test_registered_memory_is_reached_in_place(run_source: RunSource) -> None:
    ran = run_source("registered.cu", times=False)
    assert ran.output == "bad=0 again=1 gone=1\n"


def test_textures_and_surfaces(run_source: RunSource) -> None:
    ran = run_source("textures.cu", times=False, check="strict")
    assert ran.output == "bad=0 error=0\nbeyond: 1\n"
    assert [(f.kernel, f.fault.kind, f.fault.line) for f in ran.run.faults] == [("_Z6beyondy", "out_of_bounds", 31)]


def test_symbols_have_their_values(run_source: RunSource) -> None:
    ran = run_source("symbols.cu", times=False)
    assert ran.output.splitlines() == [
        "0.5 3 7.5 14 counter=9 seen=6",
        "10 40 90 160 counter=11 seen=7 size=16",
        "past the end: cudaErrorInvalidValue",
    ]


def test_managed_memory_printf_and_assert(run_source: RunSource) -> None:
    ran = run_source("managed.cu", times=False)
    said = ran.output.splitlines()
    assert said[:3] == ["kernel sees 0 of 8"] * 3
    assert said[3:] == ["14 98", "a..b..c..d..", "kernel sees 0 of 0", "cudaErrorAssert"]
    (fault,) = ran.run.faults
    assert (fault.fault.kind, fault.fault.line, Path(fault.file or "").name) == ("assert_failed", 9, "managed.cu")


def test_a_grid_meets(run_source: RunSource) -> None:
    ran = run_source("grid_sync.cu", times=False)
    assert ran.output == "cudaSuccess total=1536 cudaErrorCooperativeLaunchTooLarge\n"


@pytest.mark.parametrize(("what", "line"), [("past", 5), ("freed", 11)])
def test_a_fault_is_told_with_file_and_line(run_source: RunSource, what: str, line: int) -> None:
    ran = run_source("faults.cu", what, times=False)
    assert ran.output == "cudaErrorIllegalAddress, then cudaErrorIllegalAddress\n"
    assert ran.run.faulted and ran.run.faults[0].fault.kind == "out_of_bounds"
    assert f"faults.cu:{line}: access outside the array" in ran.errors


@pytest.mark.parametrize(
    ("what", "kind"), [("race", "global_race"), ("unwritten", "uninitialised_read"), ("copied", "uninitialised_read")]
)
def test_checks_warn_or_stop(run_source: RunSource, what: str, kind: str) -> None:
    assert not run_source("faults.cu", what, times=False).run.faults
    lenient = run_source("faults.cu", what, check="lenient", times=False)
    assert lenient.output == "cudaSuccess, then cudaSuccess\n"
    assert [(f.fault.kind, f.warning) for f in lenient.run.faults] == [(kind, True)]
    strict = run_source("faults.cu", what, check="strict", times=False)
    assert strict.output == "cudaErrorLaunchFailure, then cudaErrorLaunchFailure\n"
    assert [(f.fault.kind, f.warning) for f in strict.run.faults] == [(kind, False)]


def test_what_was_set_is_written(run_source: RunSource) -> None:
    assert not run_source("faults.cu", "set", check="strict", times=False).run.faults


def test_repeats_are_skipped_and_change_nothing(run_source: RunSource) -> None:
    ran = run_source("repeats.cu", times=False)
    assert ran.output == "21 8 10 1 60\n"
    assert ran.run.skipped >= 15 and ran.run.launches == 90
    checked = run_source("repeats.cu", check="lenient", times=False)
    assert checked.output == "21 8 10 1 60\n" and checked.run.skipped == 0


def test_a_launch_that_is_cut_off_has_no_answer(run_source: RunSource, tmp_path: Path) -> None:
    source = tmp_path / "long.cu"
    source.write_text(
        "#include <cstdio>\n__global__ void spin(volatile int *x) { for (int i = 0; i < 100000000; i++) *x += i; }\n"
        'int main() { int *x; cudaMalloc(&x, 4096); spin<<<64, 256>>>(x); printf("went on\\n"); }\n'
    )
    ran = run_source(str(source), times=False, limit_s=4.0)
    assert (ran.run.end, ran.run.exit_code, ran.output, ran.run.faults) == ("time_limit", 1, "", ())


def test_a_launch_that_cannot_end_in_time_is_given_up(run_source: RunSource, tmp_path: Path) -> None:
    source = tmp_path / "hours.cu"
    source.write_text(
        "#include <cstdio>\n__global__ void spin(int *x) { int k = x[0]; for (int i = 0; i < 30000; i++) k = k * 5 + i;"
        ' x[0] = k; }\nint main() { int *x; cudaMalloc(&x, 4); spin<<<1 << 24, 64>>>(x); printf("went on\\n"); }\n'
    )
    ran = run_source(str(source), times=False, cpu_limit_s=100.0, cores=1)
    assert (ran.run.end, ran.run.exit_code, ran.output) == ("time_limit", 1, "")
    assert re.match(r"launch 1, spin.*, would take about [\d,]+ minutes of processor time more, and ", ran.run.detail)


def test_a_folder_with_a_makefile_keeps_itself_clean(run_source: RunSource, tmp_path: Path) -> None:
    del run_source  # skips where there is no nvcc
    folder, beside = tmp_path / "program", tmp_path / "beside"
    folder.mkdir()
    beside.mkdir()
    (beside / "size.h").write_text("#define SIZE 5000\n")
    text = (SOURCES / "saxpy.cu").read_text().replace("1 << 20", "SIZE")
    (folder / "main.cu").write_text(
        '#include "../beside/size.h"\n'
        + text.replace(
            "return bad", 'FILE *f = fopen("made.txt", "w");\n    fputs("done", f), fclose(f);\n    return bad'
        )
    )
    (folder / "Makefile").write_text("main: main.cu\n\tnvcc -arch=sm_60 -O3 $< -o $@ -lcudart\n")
    out = tmp_path / "out"
    found = subprocess.run(
        [sys.executable, "-m", "warpsight.cli.app", "run", "--no-times", "--out", str(out), str(folder)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert found.returncode == 0 and found.stdout.startswith("PASS"), found.stderr
    assert sorted(p.name for p in folder.iterdir()) == ["Makefile", "main.cu"]
    assert (out / "made.txt").read_text() == "done"


def test_parts_are_linked_on_the_device_side(run_source: RunSource) -> None:
    ran = run_source("separate")
    assert ran.output.splitlines() == ["108 119 173", "7000 7035 1000: cudaSuccess"]
    assert [bool(row.time_us) for row in ran.run.kernels] == [True, False]
    assert "calls functions by addresses" in ran.run.kernels[1].no_time


def test_a_function_has_one_address_in_all_kernels(run_source: RunSource) -> None:
    assert run_source("virtual.cu", times=False).output == "area 12.00 36.00 6.00 scaled 24.00: cudaSuccess\n"


def test_a_build_may_make_links(run_source: RunSource, tmp_path: Path) -> None:
    del run_source
    folder = tmp_path / "program"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "text").write_text("linked")
    (folder / "main.cu").write_text(
        '#include <cstdio>\nint main() { char t[8] = {}; fread(t, 1, 7, fopen("there/text", "r")); puts(t); }\n'
    )
    (folder / "Makefile").write_text(
        "all:\n\tmkdir bin && nvcc main.cu -o bin/run\n\tln -sf bin/run run\n\tln -s data there\n"
    )
    command = [sys.executable, "-m", "warpsight.cli.app", "run", "--no-times", str(folder)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (0, "linked\n"), found.stderr


def test_too_much_host_memory_is_told(run_source: RunSource, tmp_path: Path) -> None:
    source = tmp_path / "host.cu"
    source.write_text(
        "#include <sys/mman.h>\nint main() { int *x; mmap(0, 12ull << 30, PROT_READ | PROT_WRITE,"
        " MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0); return cudaMalloc(&x, 4); }\n"
    )
    ran = run_source(str(source), times=False)
    assert ran.run.exit_code == 97 and "the program holds too much host memory" in ran.errors


def test_a_build_starts_what_it_makes_and_a_program_does_not(run_source: RunSource, tmp_path: Path) -> None:
    del run_source
    folder = tmp_path / "program"
    folder.mkdir()
    (folder / "main.cu").write_text(
        "#include <cerrno>\n#include <cstdio>\n#include <fstream>\n#include <sys/stat.h>\n#include <unistd.h>\n"
        '#include "size.h"\nint main() {\n  std::ofstream("copy") << std::ifstream("/proc/self/exe").rdbuf();\n'
        '  chmod("copy", 0755);\n  if (access("copy", R_OK)) return 2;\n  execl("copy", "copy", nullptr);\n'
        '  printf("%d %d\\n", SIZE, errno == EACCES);\n}\n'
    )
    (folder / "write.cpp").write_text('#include <cstdio>\nint main() { puts("#define SIZE 7"); }\n')
    (folder / "script").write_text("#!/bin/bash\n./write > size.h\n")
    (folder / "script").chmod(0o755)
    (folder / "Makefile").write_text("all:\n\tg++ write.cpp -o write\n\t./script\n\tnvcc main.cu -o main\n")
    command = [sys.executable, "-m", "warpsight.cli.app", "run", "--no-times", str(folder)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (0, "7 1\n"), found.stderr


def test_what_does_not_build_says_why(run_source: RunSource, tmp_path: Path) -> None:
    del run_source
    broken = tmp_path / "broken.cu"
    broken.write_text("int main() { return nothing; }\n")
    from warpsight.verbs.run_program import ProgramQuestion, run_whole

    with pytest.raises(BuildFailed) as failed:
        run_whole(ProgramQuestion(broken), output=print, errors=print)
    assert 'identifier "nothing" is undefined' in failed.value.said


def test_a_missing_function_is_an_error_with_its_name(run_source: RunSource, tmp_path: Path) -> None:
    del run_source
    source = tmp_path / "levels.cu"
    source.write_text(
        "#include <cstdio>\nint main() {\n    cudaMipmappedArray_t a = nullptr;\n"
        '    printf("%s\\n", cudaGetErrorName(cudaFreeMipmappedArray(a)));\n}\n'
    )
    command = [sys.executable, "-m", "warpsight.cli.app", "run", str(source)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.stdout == "cudaErrorNotSupported\n"
    assert "cudaFreeMipmappedArray is not provided by the virtual GPU" in found.stderr
    assert "called, and not provided: cudaFreeMipmappedArray" in found.stderr


def test_the_exit_code_is_the_programs(run_source: RunSource, tmp_path: Path) -> None:
    del run_source
    source = tmp_path / "seven.cu"
    source.write_text("int main() { return 7; }\n")
    command = [sys.executable, "-m", "warpsight.cli.app", "run", str(source)]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 7
    assert shutil.which("nvcc", path=os.fspath(tmp_path)) is None


LONG = """
#include <cstdio>
__global__ void spin(volatile int *x) { for (int i = 0; i < 100000000; i++) *x += i; }
int main() {
    int *x;
    cudaMalloc(&x, 4096);
    cudaMemset(x, 0, 4), puts("begun"), fflush(stdout);
    spin<<<64, 256>>>(x);
    puts("went on");
}
"""


def test_ctrl_c_ends_it_with_what_is_known(run_source: RunSource, tmp_path: Path) -> None:
    del run_source  # skips where there is no nvcc
    source = tmp_path / "long.cu"
    source.write_text(LONG)
    command = [sys.executable, "-m", "warpsight.cli.app", "run", "--no-times", str(source)]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stdout is not None and running.stdout.readline() == "begun\n"
    time.sleep(0.5)
    running.send_signal(signal.SIGINT)
    output, errors = running.communicate(timeout=60)
    assert (running.returncode, output) == (130, "")
    assert "the program was interrupted: " in errors and "warpsight: 1 launch of 1 kernel; exit code 130" in errors


def test_a_program_that_never_asks_for_a_gpu_is_told(tmp_path: Path) -> None:
    program = tmp_path / "plain"
    subprocess.run(
        ["c++", "-x", "c++", "-", "-o", str(program)], input="int main() { return 3; }", text=True, check=True
    )
    tmp_path.chmod(0o755)
    command = [sys.executable, "-m", "warpsight.cli.app", "run", "--", str(program), "-x"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 3 and "it never asked for a GPU" in found.stderr


@pytest.mark.parametrize(
    ("begun", "spent_s", "said"),
    [
        (3, 8.0, "launch 1,200, add<16>: 3 of 1,000 blocks begun after 8 s"),
        (102, 10.0, "launch 1,200, add<16>: 102 of 1,000 blocks begun after 10 s, about 90 s to go"),
        (
            12,
            10.0,
            "launch 1,200, add<16>: 12 of 1,000 blocks begun after 10 s, about 16 minutes to go; "
            "smaller arguments end sooner",
        ),
    ],
)
def test_a_long_launch_says_how_long(begun: int, spent_s: float, said: str) -> None:
    assert long_launch(1200, "_Z3addILi16EEvPf", begun, 1000, spent_s, 2) == said
