"""The first lines of a Triton candidate: what is read from them, and what is refused by name."""

from __future__ import annotations

import pytest

from warpsight.errors import TaskError
from warpsight.nouns import Build, Task
from warpsight.tasks import LaunchSize, evaluate_launch, kernel_name, language_of, launch_of, read_candidate, written_in
from warpsight.tasks.triton_header import kernel_parameters

KERNEL = """
import triton
import triton.language as tl


@triton.jit
def scale(x, y, a, n, BLOCK: tl.constexpr, EVEN: "tl.constexpr" = False):
    pass
"""


def task_with(**more: object) -> Task:
    fields = {
        "name": "scale", "description": "d", "folder": ".", "kernel_file": "kernel.py", "kernel": KERNEL,
        "entry": "scale", "reference_file": "reference.py", "reference": "", "gpu": "a100", "gpu_arch": "sm_80",
        "axes": [{"name": "N"}], "arguments": [{"name": "n", "dtype": "int32", "role": "scalar", "value": "N"}],
        "tolerance": {"rtol": 0, "atol": 0}, "workloads": [{"name": "w", "axes": {"N": 5000}}],
    }  # fmt: skip
    return Task.model_validate({**fields, **more})


def test_constants_and_warps_are_read_as_data() -> None:
    top = "# launch: grid=(cdiv(N, BLOCK), 2) num_warps=8 num_stages=2\n# constants: BLOCK=1024, EVEN=True\n"
    candidate = read_candidate(top + KERNEL, task_with(), "kernel.py")
    assert candidate.language == "triton"
    assert candidate.options == ("num_warps=8", "num_stages=2", "BLOCK=1024", "EVEN=True")
    assert evaluate_launch(candidate, {"N": 5000}) == LaunchSize((5, 2, 1), (256, 1, 1), 0)


def test_the_defaults_are_triton_s() -> None:
    candidate = read_candidate("# launch: grid=(N)\n" + KERNEL, task_with(), "kernel.py")
    assert candidate.options == ("num_warps=4", "num_stages=3")
    assert evaluate_launch(candidate, {"N": 7}) == LaunchSize((7, 1, 1), (128, 1, 1), 0)


@pytest.mark.parametrize(
    ("top", "key"),
    [
        ("# launch: grid=(N) num_warps=3\n", "launch.num_warps"),
        ("# launch: grid=(N) num_warps=64\n", "launch.num_warps"),
        ("# launch: grid=(N) num_stages=0\n", "launch.num_stages"),
        ("# launch: grid=(N) num_stages=many\n", "launch.num_stages"),
        ("# launch: grid=(N) block=(128)\n", "launch.block"),
        ("# launch: grid=(BLOCK)\n", "launch.grid"),
        ("# launch: num_warps=4\n", "launch"),
        ("# constants: BLOCK=1\n", "launch"),
        ("// launch: grid=(N) block=(128)\n", "launch"),
        ("# launch: grid=(N)\n# launch: grid=(N)\n", "launch"),
        ("# launch: grid=(N)\n# constants: BLOCK=big\n", "constants"),
        ("# launch: grid=(N)\n# constants: BLOCK=__import__('os')\n", "constants"),
        ("# launch: grid=(N)\n# constants: BLOCK=1 BLOCK=2\n", "constants.BLOCK"),
        ("# launch: grid=(N)\n# constants: num_warps=2\n", "constants.num_warps"),
        ("# launch: grid=(N)\n# constants: ceil=2\n", "constants.ceil"),
        ("# launch: grid=(N)\n# constants: N=2\n", "constants.N"),
        ("import os\n# launch: grid=(N)\n", "launch"),
    ],
)
def test_what_is_wrong_is_named(top: str, key: str) -> None:
    with pytest.raises(TaskError) as refused:
        read_candidate(top + KERNEL, task_with(), "kernel.py")
    assert refused.value.key == key


def test_parameters_are_read_without_running_anything() -> None:
    assert kernel_parameters("raise SystemExit\n" + KERNEL, "scale") == (["x", "y", "a", "n"], ["BLOCK", "EVEN"])
    assert kernel_parameters(KERNEL, "other") is None


def test_the_language_is_that_of_the_file_or_of_the_launch_line() -> None:
    assert [language_of(name) for name in ("a.cu", "a.cl", "a.py")] == ["cuda", "opencl", "triton"]
    assert written_in("# launch: grid=(N)\n") == "triton"
    assert written_in("// launch: grid=(N) block=(1)\n#include <cstdint>\n") == "cuda"
    assert kernel_name(task_with(), "triton") == "kernel.py"
    assert kernel_name(task_with(), "cuda") == "kernel.cu"
    assert kernel_name(task_with(kernel_file="mine.cu"), "triton") == "kernel.py"


def test_a_launch_gets_the_shared_memory_that_the_program_asks_for() -> None:
    build = Build(
        ok=False, language="triton", source_sha256="0" * 64, gpu_arch="sm_80", options=(), compiler="", diagnostics=(),
        log="", dynamic_shared_bytes=3000, trust="host_code",
    )  # fmt: skip
    small, large = LaunchSize((1, 1, 1), (32, 1, 1), 0), LaunchSize((1, 1, 1), (32, 1, 1), 4000)
    assert launch_of(build, small).shared_bytes == 3000
    assert launch_of(build, large) == large
