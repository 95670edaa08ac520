"""flashinfer-trace is read, refused where it breaks its own rules, written from our tasks, and read back."""

from __future__ import annotations

import ast
import json
import math
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest

from warpsight.errors import UsageError
from warpsight.nouns import Check, Evaluation, Fault, Task, Timing, WorkloadResult
from warpsight.tasks import evaluate_launch, generate_inputs, read_candidate, read_task, run_reference
from warpsight.tasks.importers.flashinfer.convert import task_files, task_name
from warpsight.tasks.importers.flashinfer.host import program_options
from warpsight.tasks.importers.flashinfer.read import read_flashinfer
from warpsight.tasks.importers.flashinfer.schema import FlashinferEvaluation
from warpsight.tasks.importers.flashinfer.traces import trace_of, traced_workload
from warpsight.tasks.importers.flashinfer.write import (
    axis_of,
    definition_of,
    solution_of,
    workload_of,
    write_trace_set,
)
from warpsight.tasks.importers.records import CannotImport

TASKS = Path(__file__).parents[3] / "tasks"
DEFINITION: dict[str, Any] = {
    "name": "rmsnorm_h128",
    "op_type": "rmsnorm",
    "description": "Root mean square norm.",
    "tags": ["status:draft"],
    "axes": {"batch_size": {"type": "var"}, "hidden_size": {"type": "const", "value": 128}},
    "inputs": {
        "hidden_states": {"shape": ["batch_size", "hidden_size"], "dtype": "float16"},
        "weight": {"shape": ["hidden_size"], "dtype": "float16"},
        "eps": {"shape": None, "dtype": "float32"},
    },
    "outputs": {"output": {"shape": ["batch_size", "hidden_size"], "dtype": "float16"}},
    "reference": "import torch\n\ndef run(hidden_states, weight, eps):\n    x = hidden_states.float()\n"
    "    return (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight).half()\n",
}
SOLUTION: dict[str, Any] = {
    "name": "rmsnorm_triton",
    "definition": "rmsnorm_h128",
    "author": "someone",
    "spec": {"language": "triton", "target_hardware": ["NVIDIA_H100"], "entry_point": "main.py::run"},
    "sources": [{"path": "main.py", "content": "def run(): pass"}],
}
KERNEL = """\
// launch: grid=(batch_size) block=(128) shared=0
#include <cuda_fp16.h>
extern "C" __global__ void rms(const __half* hidden_states, const __half* weight, float eps, __half* output,
                               int batch_size) {
}
"""


def workload(batch: int, **inputs: Any) -> dict[str, Any]:
    given = {
        "hidden_states": {"type": "random"},
        "weight": {"type": "random"},
        "eps": {"type": "scalar", "value": 1e-5},
    }
    axes = {"batch_size": batch}
    return {
        "definition": "rmsnorm_h128",
        "workload": {"uuid": f"u{batch}", "axes": axes, "inputs": {**given, **inputs}},
    }


def data_set(folder: Path, *workloads: dict[str, Any]) -> Path:
    for part in ("definitions", "solutions", "workloads", "traces"):
        (folder / part).mkdir(parents=True)
    (folder / "definitions" / "d.json").write_text(json.dumps(DEFINITION))
    (folder / "solutions" / "s.json").write_text(json.dumps(SOLUTION))
    (folder / "workloads" / "w.jsonl").write_text("".join(json.dumps(one) + "\n" for one in workloads))
    return folder


def test_a_data_set(tmp_path: Path) -> None:
    folder = data_set(tmp_path, workload(4), workload(512))
    passed = {
        "status": "PASSED",
        "environment": {"hardware": "NVIDIA_H100", "libs": {}},
        "timestamp": "2026-01-01T00:00:00",
        "correctness": {"max_relative_error": 0.001, "max_absolute_error": 0.01},
        "performance": {"latency_ms": 0.5, "reference_latency_ms": 1.0, "speedup_factor": 2.0},
    }
    trace = {**workload(4), "solution": "rmsnorm_triton", "evaluation": passed}
    (folder / "traces" / "t.jsonl").write_text(json.dumps(trace) + "\n")
    found = read_flashinfer(folder)
    (entry,) = found.items
    assert not found.refused
    assert (len(entry.solutions), len(entry.workloads), len(entry.traces)) == (1, 2, 1)
    assert entry.traces[0].evaluation and entry.traces[0].evaluation.performance
    assert json.loads(entry.definition.model_dump_json(exclude_none=True))["axes"] == DEFINITION["axes"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"axes": {"batch_size": {"type": "var"}}}, "no axis"),
        ({"reference": "def other(): pass"}, "run"),
        ({"reference": "def run(:"}, "not Python"),
        ({"inputs": {}}, "inputs"),
        ({"axes": {"batch_size": {"type": "fixed"}}}, "axes"),
        ({"name": ""}, "name"),
    ],
)
def test_a_definition_that_breaks_the_rules_is_refused(tmp_path: Path, change: dict[str, Any], reason: str) -> None:
    file = tmp_path / "d.json"
    file.write_text(json.dumps({**DEFINITION, **change}))
    found = read_flashinfer(file)
    assert not found.items and reason in found.refused[0].reason


def test_other_files_are_refused_one_by_one(tmp_path: Path) -> None:
    folder = data_set(tmp_path, workload(4))
    with (folder / "workloads" / "w.jsonl").open("a") as stream:
        stream.write("{broken\n" + json.dumps({**workload(8), "definition": "elsewhere"}) + "\n")
        stream.write(json.dumps({**workload(8), "solution": "x"}) + "\n")
    (folder / "solutions" / "list.json").write_text("[1]")
    (folder / "solutions" / "odd.json").write_text('{"a": 1}')
    entry_gone = {**SOLUTION, "name": "b", "spec": {**SOLUTION["spec"], "entry_point": "gone.py::run"}}
    (folder / "solutions" / "gone.json").write_text(json.dumps(entry_gone))
    found = read_flashinfer(folder)
    assert len(found.items) == 1 and len(found.items[0].workloads) == 1
    reasons = {one.file: one.reason for one in found.refused}
    assert "JSON" in reasons["workloads/w.jsonl:2"] and "elsewhere" in reasons["workloads/w.jsonl:3"]
    assert "come together" in reasons["workloads/w.jsonl:4"]
    assert "object" in reasons["solutions/list.json"] and "keys" in reasons["solutions/odd.json"]
    assert "entry file" in reasons["solutions/gone.json"]


def test_the_old_name_of_the_type(tmp_path: Path) -> None:
    old = {("type" if key == "op_type" else key): value for key, value in DEFINITION.items()}
    (tmp_path / "d.json").write_text(json.dumps(old))
    assert read_flashinfer(tmp_path).items[0].definition.op_type == "rmsnorm"


def test_only_a_passed_evaluation_has_a_time() -> None:
    base: dict[str, Any] = {"environment": {"hardware": "x"}, "timestamp": "now"}
    FlashinferEvaluation.model_validate({**base, "status": "TIMEOUT"})
    for status, more in (("PASSED", {}), ("TIMEOUT", {"performance": {}}), ("INCORRECT_NUMERICAL", {})):
        with pytest.raises(ValueError, match="together"):
            FlashinferEvaluation.model_validate({**base, "status": status, **more})


def test_a_foreign_definition_becomes_a_task_with_a_kernel(tmp_path: Path) -> None:
    (entry,) = read_flashinfer(data_set(tmp_path / "set", workload(512), workload(4))).items
    with pytest.raises(CannotImport, match="--kernel"):
        task_files(entry)
    folder = tmp_path / task_name(entry.name)
    folder.mkdir()
    for name, text in task_files(entry, KERNEL).items():
        (folder / name).write_text(text)
    task = read_task(folder)
    assert [one.name for one in task.arguments] == ["hidden_states", "weight", "eps", "output", "batch_size"]
    assert [dict(one.axes)["batch_size"] for one in task.workloads] == [4, 512, 5]
    assert task.workloads[1].profile and task.workloads[2].hidden and task.entry == "rms"


@pytest.mark.parametrize(
    ("workloads", "change", "reason"),
    [
        ([], {}, "no.* workload|has none"),
        ([workload(4, eps={"type": "scalar", "value": 1}), workload(8)], {}, "one value"),
        ([workload(4)], {"outputs": {"output": {"shape": ["batch_size"], "dtype": "bfloat16"}}}, "bfloat16"),
        (
            [workload(4, ids={"type": "safetensors", "path": "x", "tensor_key": "y"})],
            {"inputs": {**DEFINITION["inputs"], "ids": {"shape": ["batch_size"], "dtype": "int32"}}},
            "indices",
        ),
    ],
)
def test_what_cannot_become_a_task(
    tmp_path: Path, workloads: list[dict[str, Any]], change: dict[str, Any], reason: str
) -> None:
    folder = data_set(tmp_path, *workloads)
    (folder / "definitions" / "d.json").write_text(json.dumps({**DEFINITION, **change}))
    (entry,) = read_flashinfer(folder).items
    with pytest.raises(CannotImport, match=reason):
        task_files(entry, KERNEL)


@pytest.mark.parametrize("name", ["softmax", "saxpy", "conv2d", "spmv_csr", "scatter_add"])
def test_a_task_goes_there_and_back(tmp_path: Path, name: str) -> None:
    task = read_task(TASKS / name)
    candidate = read_candidate(task.kernel, task, task.kernel_file)
    written = write_trace_set(task, {"baseline": candidate}, tmp_path / "set")
    assert len(written) == 3
    found = read_flashinfer(tmp_path / "set")
    assert not found.refused
    (entry,) = found.items
    shown = [one for one in task.workloads if not one.hidden]
    assert len(entry.workloads) == len(shown)
    whole = (tmp_path / "set" / "solutions" / name / "baseline.json").read_text()
    for hidden in (one for one in task.workloads if one.hidden):
        assert f'\\"{hidden.name}\\"' not in whole
    folder = tmp_path / "back"
    folder.mkdir()
    for file, text in task_files(entry).items():
        (folder / file).write_text(text)
    back = read_task(folder)
    same = ("name", "description", "kernel", "entry", "gpu", "gpu_arch", "axes", "arguments", "tolerance")
    assert all(getattr(back, field) == getattr(task, field) for field in same)
    assert list(back.workloads)[:-1] == shown and back.workloads[-1].name == "made-up"
    axes = shown[0].axes
    inputs = generate_inputs(task, shown[0], 3)
    ours, theirs = run_reference(task, inputs, axes), run_reference(back, inputs, axes)
    assert all(np.array_equal(ours[key], theirs[key]) for key in ours)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("daxpy", "x is float64"),
        ("histogram", "is uint32"),
        ("collatz", "is uint32"),
        ("xorshift", "is uint32"),
    ],
)
def test_a_type_that_the_format_does_not_have_is_refused_by_name(tmp_path: Path, name: str, told: str) -> None:
    with pytest.raises(UsageError, match=f"{name} .*{told}"):
        write_trace_set(read_task(TASKS / name), {}, tmp_path / "set")
    assert not (tmp_path / "set").exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["softmax", "saxpy", "scan"])
def test_the_written_reference_takes_tensors(name: str) -> None:
    torch = pytest.importorskip("torch")
    task = read_task(TASKS / name)
    definition = definition_of(task)
    names: dict[str, Any] = {}
    exec(compile(definition.reference, "reference", "exec"), names)
    shown = next(one for one in task.workloads if not one.hidden)
    inputs = generate_inputs(task, shown, 1)
    given = {key: torch.from_numpy(value) if value.shape else value.item() for key, value in inputs.items()}
    found = names["run"](**{key: given.get(key, shown.axes.get(key)) for key in definition.inputs})
    found = found if isinstance(found, tuple) else (found,)
    expected = run_reference(task, inputs, shown.axes)
    assert len(found) == len(definition.outputs)
    for output, value in zip(definition.outputs, found, strict=True):
        dtype = definition.outputs[output].dtype
        assert str(value.dtype) == f"torch.{dtype}"
        want = expected[output.removesuffix("_after")].astype(dtype)
        assert np.array_equal(value.numpy(), want)


@pytest.mark.parametrize("task", sorted(path.parent.name for path in TASKS.glob("*/kernel.cu")))
def test_the_host_function_is_python_that_launches_as_the_kernel_says(task: str) -> None:
    found = read_task(TASKS / task)
    candidate = read_candidate(found.kernel, found, found.kernel_file)
    files = {one.path: one.content for one in solution_of(found, candidate, "s").sources}
    tree = ast.parse(files["main.py"])
    run = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "run")
    axes = found.workloads[0].axes
    names: dict[str, Any] = {key: Fraction(value) for key, value in axes.items()}
    names |= {"ceil": math.ceil, "floor": math.floor, "cdiv": lambda a, b: math.ceil(Fraction(a) / b)}
    sizes = {
        node.targets[0].id: eval(compile(ast.Expression(node.value), "main.py", "eval"), names)
        for node in run.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id in ("grid", "block")
    }
    size = evaluate_launch(candidate, axes)
    assert sizes == {"grid": size.grid, "block": size.block}


def test_compile_options_go_with_the_launcher() -> None:
    options = ["-DTILE=8", "-DFAST", "-fmad=false", "--maxrregcount=64", "--std=c++20", "--use_fast_math"]
    assert program_options(options) == {
        "std": "c++20", "fma": False, "max_register_count": 64, "use_fast_math": True,
        "define_macro": [("TILE", "8"), "FAST"],
    }  # fmt: skip
    assert program_options([]) == {"std": "c++17"}
    for odd in ("--dopt=on", "--fmad", "-D", "--restrict=1"):
        with pytest.raises(UsageError, match=f"'{odd}' is none"):
            program_options([odd])


@pytest.mark.parametrize(("shared", "asked"), [("65536", [65536]), ("0", [])])
def test_the_launcher_asks_for_its_shared_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared: str, asked: list[int]
) -> None:
    """The written text runs, over stand-ins for the packages that need a GPU."""
    task = saxpy()
    text = task.kernel.replace("shared=0", f"shared={shared}")
    text = text if f"shared={shared}" in text else text.replace("block=", f"shared={shared} block=", 1)
    candidate = read_candidate(text, task, task.kernel_file)
    assert candidate.launch.shared == shared
    given: list[int] = []
    launched: list[dict[str, Any]] = []

    def attribute(_: object, size: int, *__: object) -> tuple[int]:
        given.append(size)
        return (0,)

    driver, torch, core = MagicMock(), MagicMock(), MagicMock()
    driver.cuKernelSetAttribute = attribute
    core.LaunchConfig = lambda **fields: launched.append(fields)
    modules = {"torch": torch, "cuda": MagicMock(), "cuda.core": core, "cuda.bindings": MagicMock(driver=driver)}
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    for source in solution_of(task, candidate, "s").sources:
        (tmp_path / source.path).write_text(source.content)
    names: dict[str, Any] = {"__file__": str(tmp_path / "main.py")}
    exec(compile((tmp_path / "main.py").read_text(), "main.py", "exec"), names)
    definition = definition_of(task)
    tensor = MagicMock(shape=(256, 256))
    names["run"](**{name: 2 if spec.shape is None else tensor for name, spec in definition.inputs.items()})
    assert given == asked and launched[0]["shmem_size"] == int(shared)


def test_what_is_there_is_not_written_over(tmp_path: Path) -> None:
    task = read_task(TASKS / "saxpy")
    write_trace_set(task, {}, tmp_path)
    with pytest.raises(UsageError, match="expected to write"):
        write_trace_set(task, {}, tmp_path)


def test_expressions_become_axes() -> None:
    assert axis_of("N") == "N" and axis_of("N*4") == "n_N_times_4" and axis_of("ceil(N/32)") == "n_ceil_N_div_32"
    task = read_task(TASKS / "conv2d")
    definition = definition_of(task)
    for argument in task.arguments:
        for extent in argument.shape:
            assert axis_of(extent) in definition.axes
    assert workload_of(task, task.workloads[0]).workload.uuid == workload_of(task, task.workloads[0]).workload.uuid


def saxpy() -> Task:
    return read_task(TASKS / "saxpy")


def test_only_a_measured_time_is_a_latency() -> None:
    task = saxpy()
    one = task.workloads[0]
    result = WorkloadResult(workload=one.name, hidden=False, seed=0, ok=True, total_elements=4)
    check = Check(verdict="right", reason="", workloads=(result,))
    simulated = Timing(source="simulated", device="a100", method="model", samples_us=(2.0,))
    with pytest.raises(UsageError, match="measured"):
        trace_of(task, one, "s", Evaluation(candidate_sha256="0" * 64, check=check, timing=simulated))
    measured = Timing(
        source="measured", device="A100", method="events", samples_us=(2.0, 2.0), baseline_us=(4.0, 4.0),
        ratio=2.0, interval=(1.9, 2.1), decision="FASTER",
    )  # fmt: skip
    trace = trace_of(task, one, "s", Evaluation(candidate_sha256="0" * 64, check=check, timing=measured))
    assert trace.evaluation and trace.evaluation.status == "PASSED"
    assert trace.evaluation.performance == {"latency_ms": 0.002}  # the definition's reference was not timed
    assert json.loads(trace.model_dump_json())["evaluation"]["environment"]["hardware"] == "A100"


def test_a_kernel_that_fails_is_a_trace_too() -> None:
    task = saxpy()
    one = task.workloads[0]
    hang = Check(verdict="fault", reason="it hangs", faults=(Fault(kind="deadlock", message="waits"),))
    trace = trace_of(task, one, "s", Evaluation(candidate_sha256="0" * 64, check=hang))
    assert trace.evaluation and trace.evaluation.status == "TIMEOUT" and trace.evaluation.performance is None
    wrong = WorkloadResult(workload=one.name, hidden=False, seed=0, ok=False, reason="wrong_values", total_elements=4)
    found = Check(verdict="wrong", reason="values", workloads=(wrong,))
    trace = trace_of(task, one, "s", Evaluation(candidate_sha256="0" * 64, check=found))
    assert trace.evaluation and trace.evaluation.status == "INCORRECT_NUMERICAL" and trace.evaluation.correctness


def test_a_trace_is_of_a_workload_that_may_be_shown() -> None:
    task = saxpy()
    shown = [one for one in task.workloads if not one.hidden]
    hidden = next(one for one in task.workloads if one.hidden)

    def failed_on(*names: str) -> Evaluation:
        results = tuple(
            WorkloadResult(workload=name, hidden=name == hidden.name, seed=0, ok=False, reason=reason, total_elements=4)
            for name, reason in zip(names, ("wrong_shape", "wrong_values"), strict=False)
        )
        return Evaluation(candidate_sha256="0" * 64, check=Check(verdict="wrong", reason="r", workloads=results))

    both = failed_on(hidden.name, shown[-1].name)
    assert traced_workload(task, both) == shown[-1]
    trace = trace_of(task, shown[-1], "s", both)
    assert trace.evaluation and trace.evaluation.status == "INCORRECT_NUMERICAL"
    with pytest.raises(UsageError, match="may be shown"):
        traced_workload(task, failed_on(hidden.name))
