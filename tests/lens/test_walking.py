"""How threads walk through memory: the step of an address in machine code, and the findings that follow from it."""

from pathlib import Path

import pytest

from warpsight.devices.virtual import VirtualGpu
from warpsight.lens.findings import detect, find
from warpsight.lens.findings.reading import executed
from warpsight.lens.findings.steps import neighbours, step_of, walks
from warpsight.nouns import Finding, Profile
from warpsight.session.session import Session
from warpsight.toolchain.compile import compile_cuda

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"
WALKS = """// launch: grid=(ceil(N/64)) block=(64)
extern "C" __global__ void walk(const float* x, float* y, int stride, int turns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
#pragma unroll 1
    for (int k = 0; k < turns; k++) sum += x[INDEX];
    y[i] = sum;
}
"""


def profile_of(index: str, arch: str = "sm_86") -> Profile:
    import numpy as np

    from warpsight.devices.device import Value
    from warpsight.tasks import LaunchSize
    from warpsight.vgpu.gpus import find_gpu

    gpu = find_gpu("rtx-3080" if arch == "sm_86" else "h100")
    text = WALKS.replace("INDEX", index)
    build = compile_cuda(text, gpu_arch=arch)
    assert build.ok, build.log
    x, y = np.zeros(64 * 400, np.float32), np.zeros(64, np.float32)
    values = (
        Value("x", x, writable=False),
        Value("y", y, writable=True),
        Value("stride", np.array(100, np.int32), writable=False),
        Value("turns", np.array(40, np.int32), writable=False),
    )
    return VirtualGpu(gpu=gpu).profile(build, "walk", values, LaunchSize((1, 1, 1), (64, 1, 1), 0), source_text=text)


@pytest.mark.parametrize("arch", ["sm_86", "sm_90"])
@pytest.mark.parametrize(
    ("index", "step"),
    [
        ("i * 300 + k", 4),
        ("i * 300 + 2 * k", 8),
        ("i + k", 4),
        ("i + 40 - k", -4),
        ("i + k * stride", None),  # by what the launch passes: not known from the machine code
        ("i + k * 64", 256),
    ],
)
def test_the_step_of_an_address_is_read_from_machine_code(index: str, step: int | None, arch: str) -> None:
    work = executed(profile_of(index, arch))
    load = next(w for w in work if w.space == "global_load" and w.warps > 2 * work[0].warps)
    assert step_of(load, work) == step
    assert walks(load, work) == (step is not None and abs(step) <= 32)
    assert neighbours(load, work) >= 1


def findings_of(name: str) -> tuple[Finding, ...]:
    with Session(KERNELS / name, cores=1) as session:
        return session.diagnose()


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("matvec", "thread_per_row"),
        ("softmax_rows", "thread_per_row"),
        ("pagerank_step", "thread_per_row"),
        ("column_means", "serial_loop"),
        ("gravity", "serial_loop"),
    ],
)
def test_the_main_cause_is_named_first_and_gone_in_the_good_version(name: str, cause: str) -> None:
    with Session(KERNELS / name, cores=1) as session:
        first = session.diagnose()[0]
        good = session.diagnose((KERNELS / name / "good.cu").read_text())
    assert first.name == cause and (first.estimated_gain or 0) > 3
    assert any(e.line is not None for e in first.evidence)
    assert cause not in [one.name for one in good]


def test_neighbours_that_read_the_same_window_are_told() -> None:
    assert "overlapping_reads" in [one.name for one in findings_of("fir_filter")]


def test_a_walk_of_lanes_side_by_side_is_no_row_for_each_thread() -> None:
    found = [one.name for one in detect(profile_of("i + k * 64"))]
    assert "thread_per_row" not in found and "overlapping_reads" not in found
    assert "thread_per_row" in [one.name for one in detect(profile_of("i * 300 + k"))]
    assert find(profile_of("i * 300 + k"))
