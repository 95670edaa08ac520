"""HeCBench programs are imported: their kernels with registers and machine code, or the reason why not."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.tasks.importers.programs import PROGRAMS, Program, write_suite

from warpsight.errors import UsageError
from warpsight.tasks.importers.hecbench import nvcc
from warpsight.tasks.importers.hecbench.flags import read_flags
from warpsight.tasks.importers.hecbench.read import Compilers, HecProgram, device_texts, read_hecbench
from warpsight.tasks.importers.hecbench.run import build_argv, build_program, runner
from warpsight.tasks.importers.hecbench.whole_program import compare_programs
from warpsight.tasks.importers.records import CannotImport
from warpsight.verbs.import_formats import OurToolchain

COMPILERS = Compilers(OurToolchain("sm_80"))
FEW = ("scale", "adam", "through_host", "two_units", "host_types", "reduce")
BY_NAME = {program.name: program for program in PROGRAMS}


def imported(program: Program, folder: Path, compilers: Compilers = COMPILERS) -> HecProgram:
    found = read_hecbench(program.write(folder), compilers)
    assert not found.refused, found.refused
    (item,) = found.items
    return item


def check(program: Program, found: HecProgram) -> None:
    """What must be known of every program."""
    assert found.name == program.name and found.program == "main" and found.checks_itself
    assert {kernel.name for kernel in found.kernels} == set(program.finds), found.refused
    for kernel in found.kernels:
        assert kernel.registers > 0 and kernel.sass_instructions > 0
        assert kernel.sass_bytes == 16 * kernel.sass_instructions
    assert found.run == (("./main", "100000", "10"),) and not found.refused


@pytest.mark.parametrize("name", FEW)
def test_a_program(name: str, tmp_path: Path) -> None:
    check(BY_NAME[name], imported(BY_NAME[name], tmp_path))


@pytest.mark.slow
def test_the_whole_suite(tmp_path: Path) -> None:
    found = read_hecbench(write_suite(tmp_path), COMPILERS)
    assert len(found.items) == len(PROGRAMS) >= 20
    for program in found.items:
        check(BY_NAME[program.name], program)
    assert [one.file for one in found.refused] == ["scale-sycl"] and "SYCL" in found.refused[0].reason


def test_shared_memory_and_units_are_told(tmp_path: Path) -> None:
    reduce = imported(BY_NAME["reduce"], tmp_path)
    assert {kernel.name: kernel.shared_bytes for kernel in reduce.kernels} == {"reduce": 1024, "finish": 0}
    two = imported(BY_NAME["two_units"], tmp_path)
    assert two.sources == ("main.cu", "blur.cu") and [kernel.unit for kernel in two.kernels] == ["blur.cu"]


def test_the_device_code_is_there_to_work_on(tmp_path: Path) -> None:
    folder = BY_NAME["scale"].write(tmp_path)
    (text,) = device_texts(folder, COMPILERS).values()
    assert "__global__ void scale" in text and "cudaMalloc" not in text


def test_a_kernel_that_does_not_compile_is_left_out_with_its_line(tmp_path: Path) -> None:
    scale = BY_NAME["scale"]
    folder = scale.write(tmp_path)
    main = folder / "main.cu"
    broken = (
        "__global__ void broken(float* x) { x[0] = nothing; }\ntemplate <typename T> __global__ void any(T* x) {}\n"
    )
    main.write_text(main.read_text().replace("static float host_value", broken + "static float host_value"))
    (found,) = read_hecbench(folder, COMPILERS).items
    assert [kernel.name for kernel in found.kernels] == ["scale"]
    reasons = {one.file.split()[-1]: one for one in found.refused}
    assert "nothing" in reasons["broken"].reason and "main.cu:" in reasons["broken"].file
    assert "never launched" in reasons["any"].reason


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"Makefile": "source = main.cu\n", "main.cu": "int main() { return 0; }\n"}, "no __global__"),
        ({"Makefile": "source = main.cu\n", "main.cu": "__global__ void k() { nothing(); }\n"}, "nothing"),
        ({"Makefile": "source = gone.cu\n", "x.txt": ""}, "CUDA sources"),
        ({"x.txt": ""}, "Makefile"),
    ],
)
def test_what_cannot_be_imported(files: dict[str, str], reason: str, tmp_path: Path) -> None:
    folder = tmp_path / "p-cuda"
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    found = read_hecbench(folder, COMPILERS)
    assert not found.items
    (refused,) = found.refused
    assert reason in refused.reason


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="found nothing there"):
        read_hecbench(tmp_path / "gone", COMPILERS)


def test_the_command_line_of_nvcc() -> None:
    flags = read_flags(["-std=c++14", "-DX=1", "-Iinc", "-use_fast_math", "-arch=sm_60"])
    words = nvcc.argv(Path("/cuda/bin/nvcc"), "suite/p/main.cu", flags, "sm_80")
    assert words[:3] == ["/cuda/bin/nvcc", "-cubin", "-arch=sm_80"] and words[-3:] == [
        "suite/p/main.cu",
        "-o",
        "unit.cubin",
    ]
    assert {"-DX=1", "-Iinc", "--use_fast_math", "--std=c++17"} <= set(words) and "-arch=sm_60" not in words


def test_nvcc_gets_the_options_that_it_alone_has() -> None:
    flags = read_flags(["--extended-lambda", "--expt-relaxed-constexpr", "-DX=1", "-Iinc", "-rdc=true"])
    one = nvcc.argv(Path("/cuda/bin/nvcc"), "suite/p/main.cu", flags, "sm_80")
    whole = build_argv(Path("/cuda/bin/nvcc"), Path("/suite/p"), ["main.cu"], flags, ["-lcublas"], "sm_90")
    assert {"--extended-lambda", "--expt-relaxed-constexpr"} <= set(one) & set(whole)
    assert {"-arch=sm_90", "-rdc=true", "-DX=1", "-Isuite/p/inc", "-lcublas", "suite/p/main.cu"} <= set(whole)


def test_our_own_compiler_says_that_it_leaves_them_out(tmp_path: Path) -> None:
    folder = BY_NAME["scale"].write(tmp_path)
    makefile = folder / "Makefile"
    makefile.write_text(f"{makefile.read_text()}\nCFLAGS += --extended-lambda\n")
    (found,) = read_hecbench(folder, COMPILERS).items
    assert any("left out" in note and "--extended-lambda" in note for note in found.notes), found.notes


@pytest.mark.slow
@pytest.mark.skipif(nvcc.find_nvcc() is None, reason="no CUDA toolkit is installed")
@pytest.mark.parametrize("name", ["adam", "two_units"])
def test_nvcc_finds_the_same_kernels(name: str, tmp_path: Path) -> None:
    compilers = Compilers(OurToolchain("sm_80"), nvcc.find_nvcc())
    found = imported(BY_NAME[name], tmp_path, compilers)
    check(BY_NAME[name], found)
    assert all(kernel.compiler.startswith("nvcc of ") for kernel in found.kernels)


@pytest.mark.slow
@pytest.mark.skipif(nvcc.find_nvcc() is None, reason="no CUDA toolkit is installed")
def test_what_nvcc_refuses_is_told(tmp_path: Path) -> None:
    folder = BY_NAME["scale"].write(tmp_path)
    main = folder / "main.cu"
    main.write_text(main.read_text().replace("int main(", "static int broken() { return nothing; }\nint main("))
    toolchain = OurToolchain("sm_80")
    (found,) = read_hecbench(folder, Compilers(toolchain, nvcc.find_nvcc())).items
    assert found.kernels[0].compiler.startswith("nvrtc") and "nothing" in found.notes[0]
    refused = read_hecbench(folder, Compilers(toolchain, nvcc.find_nvcc(), nvcc_alone=True)).refused
    assert "nvcc refused main.cu" in refused[0].reason


HOST = """
#include <cstdio>
#include "sum.h"
int main(int argc, char** argv) {
  FILE* data = fopen("numbers.dat", "r");
  double value = 0, total = 0;
  while (data && fscanf(data, "%lf", &value) == 1) total = add(total, value);
  printf("Average kernel execution time %f (us)\\n", 1.0 * argc);
  printf("total %f\\n%s\\n", total, total > 5 ? "PASS" : "FAIL");
}
"""


@pytest.mark.slow
@pytest.mark.skipif(nvcc.find_nvcc() is None, reason="no CUDA toolkit is installed")
def test_a_whole_program_is_built_run_and_compared(tmp_path: Path) -> None:
    """A program that uses no GPU goes all the way: built by nvcc, run in the jail, compared with a changed one."""
    folder = tmp_path / "sum-cuda"
    folder.mkdir()
    (folder / "Makefile").write_text("source = main.cu\nrun: main\n\t./main 3\n")
    (folder / "main.cu").write_text(HOST)
    (folder / "sum.h").write_text("inline double add(double a, double b) { return a + b; }\n")
    (folder / "numbers.dat").write_text("1 2 3.5\n")
    toolkit = nvcc.find_nvcc()
    assert toolkit is not None
    before = build_program(toolkit, folder)
    assert before.arguments == ("3",) and set(before.data) == {"numbers.dat", "Makefile"}
    same = build_program(toolkit, folder, replaced={"sum.h": "inline double add(double a, double b) { return b + a; }"})
    found = compare_programs(runner(before), runner(same), runs=2)
    assert found.verdict == "right" and found.self_check == "passed", found.reason
    assert found.before_s and found.after_s and found.source == "measured"
    other = build_program(toolkit, folder, replaced={"sum.h": "inline double add(double a, double b) { return a; }"})
    assert compare_programs(runner(before), runner(other), runs=1).verdict == "wrong"
    with pytest.raises(CannotImport, match="does not build"):
        build_program(toolkit, folder, replaced={"sum.h": "inline double"})
    with pytest.raises(UsageError, match="to replace"):
        build_program(toolkit, folder, replaced={"gone.h": ""})
