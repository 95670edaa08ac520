"""What a second reader tried to break: full disks, two processes, stopped evaluations, moved entries, no sizes."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.gate.right.candidates import INDEX, PER_ELEMENT, VECTOR_ADD, changed, checked, task_named

from warpsight.devices.device import Device
from warpsight.devices.virtual import VirtualGpu
from warpsight.errors import TaskError, UsageError
from warpsight.gate.check import NO_SECRET_SIZE, check_candidate
from warpsight.gate.evaluate import evaluate
from warpsight.gate.expected import ExpectedValues
from warpsight.gate.families import family_inputs
from warpsight.gate.identity import commitment
from warpsight.gate.kernel import build_candidate
from warpsight.gate.ledger import BrokenLedger, Ledger, read_ledger
from warpsight.gate.plan import families_plan
from warpsight.jail import scrubbed
from warpsight.tasks import read_candidate
from warpsight.toolchain.cache import Cache
from warpsight.vgpu.gpus import find_gpu

APPEND = """
import sys
from pathlib import Path
from warpsight.errors import BrokenMachine
from warpsight.gate.ledger import Ledger
try:
    Ledger(Path(sys.argv[1])).append("result", {"text": "x" * 4000})
except BrokenMachine:
    sys.exit(9)
"""


def _capped(room: int) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))


def test_a_line_that_does_not_fit_on_the_disk_is_an_error_and_leaves_the_ledger_whole(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.append("commit", {"n": 1})
    room = ledger.path.stat().st_size + 700  # a part of the line fits
    done = subprocess.run(
        [sys.executable, "-c", APPEND, str(tmp_path)], preexec_fn=lambda: _capped(room), timeout=60, check=False
    )
    assert done.returncode == 9
    assert [line.kind for line in read_ledger(ledger.path)] == ["commit"]
    assert ledger.append("result", {}).seq == 1


def test_what_is_counted_for_a_line_does_not_change_with_later_lines(tmp_path: Path) -> None:
    mine, theirs = Ledger(tmp_path), Ledger(tmp_path)
    first = mine.append("result", {"task_sha256": "t"})
    theirs.append("result", {"task_sha256": "t"})  # before we have counted
    assert mine.count("result", "task_sha256", "t", through=first.seq) == 1
    assert mine.count("result", "task_sha256", "t") == 2


def test_a_damaged_line_is_told_when_lines_are_counted(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.append("result", {"task_sha256": "t"})
    ledger.path.write_bytes(b"[]\n" + ledger.path.read_bytes())
    with pytest.raises(BrokenLedger):
        ledger.count("result", "task_sha256", "t")


def test_an_evaluation_that_cannot_be_timed_stands_in_the_ledger_with_its_seed(tmp_path: Path) -> None:
    task, ledger = task_named("vector_add"), Ledger(tmp_path)
    own, broken = read_candidate(task.kernel, task), read_candidate(task.kernel.replace("{", "{ nothing", 1), task)
    device: Device = VirtualGpu(gpu=find_gpu(task.gpu), cores=2)
    with pytest.raises(UsageError, match="baseline"):
        evaluate(task, own, broken, device, ledger=ledger, seed=11)
    committed, abandoned = read_ledger(ledger.path)
    assert (committed.kind, abandoned.kind) == ("commit", "abandoned")
    assert abandoned.body["reason"] == "UsageError" and abandoned.body["candidate_sha256"] == own.sha256
    assert commitment(abandoned.body["seed"], abandoned.body["nonce"]) == committed.body["commitment"]


SLOW_TO_COMPILE = """// launch: grid=(ceil(N/256)) block=(256) shared=0
#define A(x) x x x x x x x x x x
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {
    int k = blockIdx.x * 256 + threadIdx.x;
    A(A(A(A(A(asm volatile("mov.b32 %0, %0;" : "+r"(k));)))))
    if (k < N) c[k] = a[k] + b[k];
}
"""


@pytest.mark.parametrize("odd", ["\x1b[2J", "\u202e", "\ud800", "\x00", "\x85"])
def test_a_text_that_a_terminal_would_obey_is_no_candidate(odd: str) -> None:
    task = task_named("vector_add")
    with pytest.raises(TaskError, match="control characters"):
        read_candidate(task.kernel + f"// {odd}right\n", task)
    assert read_candidate(task.kernel.replace("\n", "\r\n") + "// größer\tals ∞\n", task).source


def test_what_a_worker_says_moves_no_cursor() -> None:
    assert scrubbed("a\x1b[2J\x9b1A\rb\tc\r\nd") == "a?[2J?1A?b\tc\nd"


def test_a_text_that_the_compiler_does_not_finish_is_a_result() -> None:
    task = task_named("vector_add")
    slow = read_candidate(SLOW_TO_COMPILE, task)
    build = build_candidate(task, slow, deadline_s=1.5)
    assert not build.ok and "did not finish" in build.diagnostics[0].message
    assert check_candidate(task, slow, VirtualGpu(cores=2), build=build).verdict == "does_not_compile"


@pytest.mark.parametrize(
    ("before", "inside"),
    [
        ("__device__ char big[40000000000ULL];", "big[i] = 1;"),
        ("", 'asm volatile("{ .reg .f32 t<60000000>; mov.f32 t59999999, 0f00000000; }");'),
    ],
)
def test_a_kernel_that_asks_our_own_process_for_too_much_is_refused(before: str, inside: str) -> None:
    text = f"{PER_ELEMENT}{before}\n{VECTOR_ADD} {{ {INDEX} {inside} if (i < N) c[i] = a[i] + b[i]; }}\n"
    assert checked("vector_add", text).verdict == "refused"


def test_an_expected_value_moved_to_another_key_is_not_believed(tmp_path: Path) -> None:
    task, disk = task_named("vector_add"), Cache(tmp_path)
    workload = task.workloads[0]
    for seed in (1, 2):
        inputs = family_inputs(task, workload, seed, "declared")
        assert inputs is not None
        ExpectedValues(disk=disk).of(task, inputs, workload.axes)
    one, two = sorted(path for path in tmp_path.glob("??/*"))
    one.write_bytes(two.read_bytes())
    for seed in (1, 2):
        inputs = family_inputs(task, workload, seed, "declared")
        assert inputs is not None
        found = ExpectedValues(disk=Cache(tmp_path)).of(task, inputs, workload.axes)
        assert np.allclose(found["c"], inputs["a"].astype(np.float64) + inputs["b"])


def test_that_no_secret_size_was_run_is_said() -> None:
    task = task_named("vector_add")
    small = tuple(w for w in task.workloads if not w.profile and w.axes["N"] > 1)
    sizes = [w.axes["N"] for w in small]
    picky = f"def reference(a, b):\n    assert len(a) in {sizes}\n    return a + b\n"
    only = task.model_copy(update={"workloads": small, "reference": picky})
    own = read_candidate(task.kernel, task)
    told = check_candidate(only, own, VirtualGpu(cores=2), secret_seed=3, families=())
    assert told.verdict == "right" and NO_SECRET_SIZE in told.warnings
    whole = check_candidate(
        task.model_copy(update={"workloads": small}), own, VirtualGpu(cores=2), secret_seed=3, families=()
    )
    assert whole.verdict == "right" and NO_SECRET_SIZE not in whole.warnings


@pytest.mark.parametrize(
    "edit",
    [
        ("__int_as_float(0x7f800000)", "__int_as_float(0)"),
        ("scratch[t] = fmaxf(scratch[t], scratch[t + half]);", ";"),
        ("THREADS / 2; half > 0", "THREADS / 3; half > 0"),
    ],
)
def test_a_softmax_that_misses_the_greatest_is_wrong(edit: tuple[str, str]) -> None:
    text = changed("softmax", edit)
    assert checked("softmax", text).verdict == "wrong"


@pytest.mark.parametrize("step", ["1 + THREADS", "THREADS + 2"])
def test_a_softmax_whose_greatest_leaves_out_one_element_of_hundreds_is_wrong(step: str) -> None:
    """It shows only where that element lies 88 above the rest of its row; most rows are in the profiled workload."""
    task = task_named("softmax")
    loop = "c += THREADS) {\n        greatest"
    assert task.kernel.count(loop) == 1
    text = task.kernel.replace(loop, loop.replace("THREADS", step))
    assert check_candidate(task, read_candidate(text, task), VirtualGpu(cores=2), secret_seed=5).verdict == "wrong"


def test_spikes_run_on_the_longest_rows_and_on_the_most() -> None:
    task = task_named("softmax")
    plan = families_plan(task, task.workloads, ("tiny", "spikes"), 0)
    spiked = [planned.workload.name for planned in plan if planned.family == "spikes"]
    assert spiked.count("wide") >= 3 and spiked.count("odd") >= 2 and "profile" in spiked
    assert not [planned for planned in families_plan(task, task.workloads, ("tiny",), 0) if planned.family == "spikes"]


def test_where_the_spikes_are() -> None:
    task = task_named("softmax")
    workload = task.workloads[0].model_copy(update={"axes": {"R": 800, "C": 50}})
    inputs = family_inputs(task, workload, 9, "spikes")
    assert inputs is not None
    highest, places = inputs["x"].max(axis=1), inputs["x"].argmax(axis=1)
    assert ((inputs["x"] > -90).sum(axis=1) <= 1).all()
    assert 60 < (highest < -90).sum() < 140  # rows without one
    spiked = places[highest == 100]
    assert (spiked == 49).sum() > 60 and np.isin(spiked, [1, 2, 4, 8, 16, 32]).sum() > 100
    beside = [place + by for place in (8, 16, 32) for by in (-1, 0, 1)]
    assert {*beside, 24, 48} <= set(spiked.tolist()) and len(set(spiked.tolist())) > 40
