"""The check as a whole: what it runs, what it keeps, what it says about the task and about chance."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.gate.right.candidates import INDEX, PER_ELEMENT, TASKS, VECTOR_ADD, adds, checked, own, task_named

from warpsight.devices.virtual import VirtualGpu
from warpsight.gate.check import check_candidate
from warpsight.gate.expected import ExpectedValues
from warpsight.gate.hidden import generated_workloads
from warpsight.gate.repeat import has_atomics, run_again
from warpsight.gate.run import Subject, Trial, prepare, run
from warpsight.gate.weak import task_weakness
from warpsight.nouns import Axis, Check, Task, Workload
from warpsight.tasks import read_candidate, read_task
from warpsight.toolchain.cache import Cache


def test_families_and_secret_sizes_are_run_and_recorded() -> None:
    found = checked("saxpy", task_named("saxpy").kernel)
    assert found.verdict == "right"
    assert len({result.family for result in found.workloads}) >= 8
    assert {w.name for w in found.generated} >= {"secret-primes", "secret-ragged", "secret-one"}
    assert found.secret_seed == 5 and all(w.hidden for w in found.generated)
    assert Check.model_validate_json(found.model_dump_json()) == found


def test_the_secret_is_drawn_anew_when_none_is_given() -> None:
    task = task_named("xorshift")
    small = task.model_copy(update={"workloads": task.workloads[:2]})
    seeds = {check_candidate(small, own(small), VirtualGpu(), families=()).secret_seed for _ in range(2)}
    assert len(seeds) == 2 and None not in seeds


def test_a_skipped_family_says_why() -> None:
    found = checked("collatz", task_named("collatz").kernel)
    assert {s.family for s in found.skipped} >= {"tiny", "cancellation"}
    assert all(s.why for s in found.skipped)


@pytest.mark.parametrize(
    "folder", sorted(file.parent for file in TASKS.glob("*/kernel.cu")), ids=lambda folder: folder.name
)
def test_drawn_sizes_keep_the_bounds_of_the_axes(folder: Path) -> None:
    task = read_task(folder)
    for seed in range(20):
        drawn = generated_workloads(task, seed)
        assert len(drawn) >= 2
        for workload in drawn:
            for axis in task.axes:
                value = workload.axes[axis.name]
                assert axis.min <= value <= axis.max and value % axis.multiple_of == 0


def test_an_axis_that_may_be_empty_is_tried_empty() -> None:
    task = task_named("xorshift")
    empty = [w for seed in range(5) for w in generated_workloads(task, seed) if w.name == "secret-empty"]
    assert empty and all(w.axes["ROUNDS"] == 0 for w in empty)


def test_a_second_check_computes_no_expected_value(tmp_path: Path) -> None:
    task = task_named("reduce_sum")
    small = task.model_copy(update={"workloads": task.workloads[:2]})
    first, second = (ExpectedValues(disk=Cache(tmp_path)) for _ in range(2))
    for values in (first, second):
        assert check_candidate(small, own(small), VirtualGpu(), secret_seed=1, values=values).verdict == "right"
    assert first.computed > 10 and second.computed == 0


def test_a_kernel_that_depends_on_the_order_of_blocks_is_told() -> None:
    text = adds(
        "__shared__ int turn; static __device__ int count; if (threadIdx.x == 0) turn = atomicAdd(&count, 1);"
        "__syncthreads(); if (i < N) c[i] = a[i] + b[i] + (turn == (int)blockIdx.x ? 0.0f : 1.0f);"
    )
    found = checked("vector_add", text)
    assert found.verdict == "wrong"


def test_bits_that_change_from_run_to_run_are_told() -> None:
    class Wavering(VirtualGpu):
        """A device whose last bit is left to chance, as a race on real hardware leaves it."""

        def reordered(self, seed: int) -> Wavering:
            return Wavering(block_order=seed)

        def execute(self, *arguments, **more):  # type: ignore[no-untyped-def, override]
            done = super().execute(*arguments, **more)
            if self.block_order is not None:
                done.arrays["c"][:] = np.nextafter(done.arrays["c"], np.float32(9e9))
            return done

    task = task_named("vector_add")
    found = check_candidate(task, own(task), Wavering(), workloads=task.workloads[:1])
    assert (found.verdict, found.named) == ("wrong", "not_deterministic")


@pytest.mark.parametrize(
    ("code", "atomic"),
    [
        ("atomic_add(&bins[i], 1);", True),
        ("atom_inc (p);", True),
        ("atomic_fetch_add_explicit(p, 1, memory_order_relaxed);", True),
        ("red.global.add.f32 [%rd1], %f1;", True),
        ("atom.global.add.u32 %r1, [%rd1], 1;", True),
        ("y[i] = x[i]; // no atomic_add(p, 1) here", False),
        ("/* atomic_add(p, 1);\n atom.global.add */ y[i] = x[i];", False),
        ("y[i] = x[i]; // goes on \\\natomic_add(p, 1);\n", False),
        ('printf("atomic_add(%d)", 1);', False),
        ("/* atomic_add(p, 1); never closed", False),
        ("/* no */ atomic_add(p, 1); /* no */", True),
        ('printf("/*"); atomic_add(p, 1); printf("*/");', True),
        ("int atomic_number = 3; f(atomic_number);", False),
    ],
)
def test_atomics_are_looked_for_in_code_and_not_in_comments(code: str, atomic: bool) -> None:
    assert has_atomics(code) == atomic


def test_repeats_of_an_honest_kernel_agree() -> None:
    from warpsight.gate.kernel import build_candidate

    task = task_named("softmax")
    subject = Subject(task, own(task), build_candidate(task, own(task)), VirtualGpu(), ExpectedValues())
    trial = prepare(subject, task.workloads[0], seed=1)
    assert isinstance(trial, Trial)
    execution, result = run(subject, trial)
    assert result is not None and run_again(subject, trial, execution, result)[1] == result


def _with_reference(task: Task, body: str) -> Task:
    return task.model_copy(update={"reference": f"import numpy as np\ndef reference(a, b, N):\n    {body}\n"})


@pytest.mark.parametrize("body", ["return np.zeros(N)", "return np.full(N, 3.0) + 1e-9 * a"])
def test_a_task_whose_answer_is_a_constant_is_refused(body: str) -> None:
    task = _with_reference(task_named("vector_add"), body)
    found = check_candidate(task, read_candidate(task.kernel, task), VirtualGpu(), workloads=task.workloads[:2])
    assert found.verdict == "refused" and "constant" in found.reason


def test_an_input_that_does_not_matter_is_a_warning() -> None:
    task = _with_reference(task_named("vector_add"), "return a + 1e-12 * b")
    weak = task_weakness(task, task.workloads[:2], 0, ExpectedValues())
    assert not weak.refused and len(weak.warnings) == 1 and "input b" in weak.warnings[0]


@pytest.mark.parametrize("name", ["vector_add", "histogram", "reduce_sum", "transpose", "softmax", "spmv_csr"])
def test_the_examples_are_not_weak(name: str) -> None:
    task = task_named(name)
    small = [w for w in task.workloads if not w.profile]
    weak = task_weakness(task, small, 0, ExpectedValues())
    assert weak.refused == "" and weak.warnings == ()


def test_a_drawn_size_that_no_shape_takes_is_left_out() -> None:
    task = task_named("vector_add")
    narrow = task.model_copy(
        update={"axes": (Axis(name="N", min=64, max=64),), "workloads": (Workload(name="only", axes={"N": 64}),)}
    )
    assert {w.axes["N"] for w in generated_workloads(narrow, 1)} == {64}


def test_an_output_that_was_not_written_names_the_store_and_its_line() -> None:
    source = adds("if (i < N - 1)\n        c[i] = a[i] + b[i];")
    found = checked("vector_add", source)
    line = next(n for n, text in enumerate(source.splitlines(), 1) if "c[i] = a[i]" in text)
    bad = next(result for result in found.workloads if not result.ok)
    assert (found.named, bad.line) == ("output_not_written", line)
    assert f"line {line} writes it, and ran for" in bad.detail
    assert f"at line {line}" in found.reason


def test_a_store_that_is_skipped_where_poison_looks_right_is_named_with_its_line() -> None:
    task = task_named("vector_add")
    reference = "import numpy as np\ndef reference(a, b):\n    return np.where(a > 0, a + b, 0.0)\n"
    text = f"{PER_ELEMENT}{VECTOR_ADD} {{\n    {INDEX}\n    if (i < N && a[i] > 0)\n        c[i] = a[i] + b[i];\n}}\n"
    task = task.model_copy(update={"reference": reference, "kernel": text})
    found = check_candidate(task, read_candidate(text, task, "x.cu"), VirtualGpu(), families=(), secret_seed=1)
    bad = next(result for result in found.workloads if not result.ok)
    assert found.named == "output_not_written" and bad.line == 5 and "line 5 writes it" in bad.detail
