"""A task that gives an OpenCL kernel beside the CUDA one: what is read, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from warpsight.devices.opencl_build import blocks_of
from warpsight.errors import TaskError
from warpsight.nouns import Build
from warpsight.tasks import read_candidate, read_task
from warpsight.tasks.scaffold import new_task

KERNEL = """// launch: grid=(ceil(N/256)) block=(256) shared=0
__kernel void scale_kernel(__global const float* x, __global float* y, float alpha, int N) {
    int i = get_global_id(0);
    if (i < N) {
        y[i] = alpha * x[i];
    }
}
"""


def folder_with(tmp_path: Path, kernel: str) -> Path:
    folder = new_task(tmp_path / "scale", "scale")
    file = folder / "task.toml"
    file.write_text(file.read_text().replace('kernel = "kernel.cu"\n', 'kernel = "kernel.cu"\nopencl = "kernel.cl"\n'))
    (folder / "kernel.cl").write_text(kernel)
    return folder


def test_both_kernels_are_read(tmp_path: Path) -> None:
    task = read_task(folder_with(tmp_path, KERNEL))
    assert task.opencl == KERNEL and "__global__" in task.kernel
    assert read_candidate(task.opencl, task, task.opencl_file).language == "opencl"
    assert read_candidate(task.kernel, task, task.kernel_file).language == "cuda"
    assert read_candidate(KERNEL, task, language="opencl").language == "opencl"


def test_a_trailing_local_parameter_is_no_argument_of_the_task(tmp_path: Path) -> None:
    task = read_task(folder_with(tmp_path, KERNEL.replace("int N)", "int N, __local float* tile)")))
    assert [argument.name for argument in task.arguments] == ["x", "y", "alpha", "N"]


@pytest.mark.parametrize(
    ("old", "new", "key", "found"),
    [
        ("void scale_kernel", "void other", "entry", "no kernel"),
        ("__kernel void", "void", "entry", "no kernel"),
        ("float alpha, int N", "int N, float alpha", "scale_kernel()", "N, alpha"),
        ("__global float* y", "float y", "scale_kernel(y)", "a value"),
        ("// launch:", "// lunch:", "launch", "none"),
        ("block=(256)", "block=(2048)", "launch.block", "2048"),
    ],
)
def test_a_bad_opencl_kernel_is_named(tmp_path: Path, old: str, new: str, key: str, found: str) -> None:
    assert old in KERNEL
    with pytest.raises(TaskError) as problem:
        read_task(folder_with(tmp_path, KERNEL.replace(old, new)))
    assert problem.value.key.startswith(key) and found in problem.value.found
    assert problem.value.file.endswith("kernel.cl")


def test_an_opencl_file_that_is_not_there(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, KERNEL)
    (folder / "kernel.cl").unlink()
    with pytest.raises(TaskError, match="opencl"):
        read_task(folder)


def test_blocks_are_those_of_the_workloads(tmp_path: Path) -> None:
    task = read_task(folder_with(tmp_path, KERNEL))
    assert blocks_of(task, read_candidate(KERNEL, task, "a.cl")) == ((256, 1, 1),)
    varied = KERNEL.replace("block=(256)", "block=(min(N, 64))")
    assert blocks_of(task, read_candidate(varied, task, "a.cl")) == ((64, 1, 1), (1, 1, 1))


GOOD = {"ok": True, "language": "opencl", "source_sha256": "0" * 64, "options": (), "compiler": "pocl", "log": ""}


@pytest.mark.parametrize(
    "wrong",
    [
        {"native": b""},
        {"text": ""},
        {"ptx": "x"},
        {"gpu_arch": "sm_80"},
        {"language": "cuda", "gpu_arch": "sm_80"},
        {"ok": False},
    ],
)
def test_builds_that_make_no_sense(wrong: dict[str, object]) -> None:
    good = {**GOOD, "diagnostics": (), "text": "kernel", "native": b"code"}
    built = Build.model_validate(good)
    assert Build.model_validate_json(built.model_dump_json()) == built
    with pytest.raises(ValidationError):
        Build.model_validate({**good, **wrong})
