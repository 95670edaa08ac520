"""The Triton examples on the virtual GPU: right against NumPy, profiled by source line, of a lower trust everywhere."""

from __future__ import annotations

import importlib.util
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from warpsight.devices.virtual import VirtualGpu
from warpsight.gate.check import check_candidate, kernel_values
from warpsight.gate.evaluate import evaluate
from warpsight.gate.kernel import build_candidate, kernel_on
from warpsight.lens import find_findings
from warpsight.nouns import HOST_CODE_NOTE, Profile, Task, Workload
from warpsight.tasks import read_candidate, read_task, run_reference
from warpsight.tools.open import open_box
from warpsight.vgpu.gpus import find_gpu

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="needs triton: pip install 'warpsight[triton]'"
)
TASKS = Path(__file__).parents[3] / "tasks"
NAMES = ("triton_vector_add", "triton_softmax", "triton_layer_norm", "triton_matmul", "triton_attention")
TENSOR = ("triton_matmul", "triton_attention")


def task_named(name: str) -> Task:
    return read_task(TASKS / name)


def profile_of(task: Task, workload: Workload, text: str | None = None, gpu: str = "a100") -> Profile:
    candidate = read_candidate(task.kernel if text is None else text, task, "kernel.py")
    target = find_gpu(gpu)
    kernel = kernel_on(candidate, build_candidate(task, candidate, gpu_arch=target.arch), workload)
    assert kernel.build.ok, kernel.build.diagnostics
    values = kernel_values(task, workload, 0)[1]
    device = VirtualGpu(gpu=target, cores=1, profile_budget=400_000)
    return device.profile(kernel.build, task.entry, values, kernel.size, source_text=candidate.source)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_right_against_numpy(name: str) -> None:
    """Without the gate: the plain reference, the plain difference."""
    task = task_named(name)
    candidate = read_candidate(task.kernel, task, task.kernel_file)
    build = build_candidate(task, candidate)
    assert build.ok and build.trust == "host_code" and build.language == "triton", build.diagnostics
    for workload in (w for w in task.workloads if not w.profile):
        kernel = kernel_on(candidate, build, workload)
        inputs, values = kernel_values(task, workload, 3)
        done = VirtualGpu(cores=1).execute(build, task.entry, values, kernel.size, check=True)
        assert not done.faults and not done.refused, (workload.name, done.faults, done.refused)
        expected = run_reference(task, inputs, workload.axes)
        for output, wanted in expected.items():
            np.testing.assert_allclose(
                done.arrays[output].astype(np.float64), wanted, rtol=task.tolerance.rtol, atol=task.tolerance.atol
            )


@pytest.mark.parametrize("name", NAMES)
def test_the_gate_says_right_and_names_the_trust(name: str) -> None:
    task = task_named(name)
    small = task.model_copy(update={"workloads": tuple(w for w in task.workloads if not w.profile)})
    found = check_candidate(
        small, read_candidate(task.kernel, small, task.kernel_file), VirtualGpu(cores=1), secret_seed=5
    )
    assert found.verdict == "right", (found.reason, found.faults, [w for w in found.workloads if not w.ok])
    assert found.trust == "host_code"


@pytest.mark.parametrize("name", NAMES)
def test_it_is_profiled_by_source_line(name: str) -> None:
    task = task_named(name)
    profile = profile_of(task, task.workloads[0])
    assert profile.trust == "host_code" and HOST_CODE_NOTE in profile.notes
    assert profile.isa == "sass" and profile.counters["duration_us"] > 0, profile.notes
    lines = {line.line: line for line in profile.lines}
    text = task.kernel.splitlines()
    for number, line in lines.items():
        assert line.text == text[number - 1].strip()
    loads = [n for n, words in enumerate(text, start=1) if "tl.load(" in words]
    assert any(lines[n].counters.get("global_load_sectors", 0) > 0 for n in loads if n in lines), sorted(lines)
    stores = [n for n, words in enumerate(text, start=1) if "tl.store(" in words]
    assert any(lines[n].counters.get("global_store_sectors", 0) > 0 for n in stores if n in lines), sorted(lines)


@pytest.mark.parametrize("name", TENSOR)
def test_products_run_on_the_tensor_cores(name: str) -> None:
    task = task_named(name)
    build = build_candidate(task, read_candidate(task.kernel, task, task.kernel_file))
    assert "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32" in build.ptx
    assert "cp.async" in build.ptx and "ldmatrix" in build.ptx
    assert build.dynamic_shared_bytes > 0
    profile = profile_of(task, task.workloads[0])
    dots = [n for n, words in enumerate(task.kernel.splitlines(), start=1) if "tl.dot(" in words]
    tensor = {line.line for line in profile.lines if line.counters.get("mix_tensor", 0) > 0}
    assert tensor and tensor <= set(dots)


def test_findings_name_lines_of_the_kernel() -> None:
    """A copy that reads a matrix by columns: the finding is about the line that loads."""
    task = task_named("triton_vector_add")
    strided = task.kernel.replace("tl.load(a + at, mask=inside)", "tl.load(a + (at * 33) % N, mask=inside)")
    workload = next(w for w in task.workloads if w.profile)
    findings = find_findings(profile_of(task, workload, strided))
    line = 1 + next(n for n, words in enumerate(strided.splitlines()) if "* 33" in words)
    assert line in {evidence.line for finding in findings for evidence in finding.evidence}


def test_constants_of_the_first_lines_change_the_program_and_the_launch() -> None:
    task = task_named("triton_vector_add")
    wider = task.kernel.replace("BLOCK=1024", "BLOCK=2048").replace("num_warps=4", "num_warps=8")
    candidate = read_candidate(wider, task, "kernel.py")
    build = build_candidate(task, candidate)
    assert build.ok and ".reqntid 256" in build.ptx
    kernel = kernel_on(candidate, build, task.workloads[1])
    assert kernel.size.block == (256, 1, 1) and kernel.size.grid == (2, 1, 1)


def test_more_stages_take_more_shared_memory_until_no_block_fits() -> None:
    task = task_named("triton_matmul")
    small = task.model_copy(update={"workloads": task.workloads[:1]})
    deep = task.kernel.replace("num_stages=3", "num_stages=12").replace("BK=32", "BK=64")
    usual = build_candidate(task, read_candidate(task.kernel, task, "kernel.py"))
    candidate = read_candidate(deep, task, "kernel.py")
    build = build_candidate(task, candidate)
    assert build.ok and build.dynamic_shared_bytes > 164 << 10 > usual.dynamic_shared_bytes > 0
    found = check_candidate(small, candidate, VirtualGpu(cores=1), build=build)
    assert found.verdict == "refused" and "bytes of shared memory" in found.reason and found.trust == "host_code"


def test_a_wrong_kernel_is_wrong_and_a_fault_has_its_line() -> None:
    task = task_named("triton_vector_add")
    small = task.model_copy(update={"workloads": task.workloads[:1]})

    def verdict(text: str):
        return check_candidate(small, read_candidate(text, small, "kernel.py"), VirtualGpu(cores=1), families=())

    wrong = verdict(task.kernel.replace("x + y", "x - y"))
    assert wrong.verdict == "wrong" and wrong.trust == "host_code"
    fault = verdict(task.kernel.replace("tl.load(b + at, mask=inside)", "tl.load(b + at)"))
    assert fault.verdict == "fault" and fault.faults[0].kind == "out_of_bounds"
    line = 1 + next(n for n, words in enumerate(task.kernel.splitlines()) if "tl.load(b" in words)
    assert fault.faults[0].line == line and fault.faults[0].array == "b"


def test_triton_is_compared_with_cuda_and_the_time_is_of_a_lower_trust() -> None:
    task = read_task(TASKS / "vector_add")
    theirs = read_candidate(task.kernel, task, task.kernel_file)
    mine = read_candidate(task_named("triton_vector_add").kernel, task, "mine.py")
    small = task.model_copy(update={"workloads": tuple(w for w in task.workloads if not w.profile)})
    found = evaluate(small, mine, theirs, VirtualGpu(gpu=find_gpu("a100"), cores=1), seed=4)
    assert found.check.verdict == "right" and found.timing is not None
    assert found.timing.trust == found.check.trust == found.trust == "host_code"
    assert HOST_CODE_NOTE in found.timing.notes
    assert found.timing.ratio is not None and found.timing.source == "simulated"


def test_the_tools_take_a_triton_kernel() -> None:
    task = task_named("triton_vector_add")
    small = task.model_copy(update={"workloads": tuple(w for w in task.workloads if not w.profile)})
    with closing(open_box(small, cores=1, seed=1)) as box:
        compiled = box.call("compile", {"base": "given"})
        assert "compiles for sm_80" in compiled.text and "block (128, 1, 1)" in compiled.text
        wider = box.call("check", {"edits": [{"search": "BLOCK=1024", "replace": "BLOCK=512"}]})
        assert wider.data["verdict"] == "right" and HOST_CODE_NOTE in wider.text
        broken = box.call("compile", {"base": "given", "edits": [{"search": "x + y", "replace": "x + z"}]})
        assert "does not compile" in broken.text and "13" in broken.text
        shown = box.call("inspect", {"base": "given", "view": "ptx", "first_line": 11, "last_line": 11})
        assert "ld.global" in shown.text
