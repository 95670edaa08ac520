"""The whole gate on the virtual GPU: what is accepted, what is not, and what stands in the ledger."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.gate.certificate.conftest import SLOW, Accepted

from warpsight.devices.virtual import VirtualGpu
from warpsight.gate.evaluate import evaluate
from warpsight.gate.identity import commitment
from warpsight.gate.kernel import timed_workload
from warpsight.gate.ledger import Ledger, read_ledger
from warpsight.gate.values import fresh_values
from warpsight.nouns import Evaluation, Task
from warpsight.tasks import read_candidate, read_task
from warpsight.vgpu.gpus import find_gpu

TASK = read_task(Path(__file__).parents[3] / "tasks" / "vector_add")


def evaluated(text: str, baseline: str = SLOW, ledger: Ledger | None = None, task: Task = TASK) -> Evaluation:
    device = VirtualGpu(gpu=find_gpu(task.gpu))
    return evaluate(task, read_candidate(text, task), read_candidate(baseline, task), device, seed=77, ledger=ledger)


def test_an_accepted_kernel(accepted: Accepted) -> None:
    found = accepted.evaluation
    assert found.timing is not None and found.timing.decision == "FASTER" and found.timing.source == "simulated"
    assert found.check.verdict == "right" and found.profile is not None and found.certificate is not None
    lines = read_ledger(accepted.ledger.path)
    assert [line.kind for line in lines] == ["commit", "result", "certificate"]
    seed, nonce = lines[1].body["seed"], lines[1].body["nonce"]
    assert lines[0].body["commitment"] == commitment(seed, nonce) and "seed" not in lines[0].body


def test_what_is_not_better_leaves_a_result_and_no_certificate(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    same = evaluated(TASK.kernel, TASK.kernel, ledger)
    slower = evaluated(SLOW, TASK.kernel, ledger)
    wrong = evaluated(TASK.kernel.replace("+ b[i]", "- b[i]"), SLOW, ledger)
    assert same.timing is not None and (same.timing.decision, same.timing.ratio) == ("SAME", 1.0)
    assert slower.timing is not None and slower.timing.decision == "SLOWER"
    assert wrong.timing is None and wrong.check.verdict == "wrong"
    assert {same.certificate, slower.certificate, wrong.certificate} == {None}
    results = [line.body for line in read_ledger(ledger.path) if line.kind == "result"]
    assert [(r["verdict"], r["decision"]) for r in results] == [("right", "SAME"), ("right", "SLOWER"), ("wrong", None)]
    assert not ledger.certificates.exists()


def test_a_kernel_that_knows_the_public_inputs_is_rejected() -> None:
    """It is right on contents it recognises and does nothing on others: fast, and wrong where it was timed."""
    workload = timed_workload(TASK)
    first = float(fresh_values(TASK, workload, 0)[0]["a"][0]).hex()
    guard = f"if (N == {workload.axes['N']} && a[0] != {first}f) return;\n    int i ="
    cheat = TASK.kernel.replace("int i =", guard)
    assert cheat != TASK.kernel
    found = evaluated(cheat)
    # The check may see through it already; what must not happen is an improvement.
    assert found.certificate is None and (found.timing is None or found.timing.decision == "REJECTED")
    if found.timing is not None:
        assert found.timing.reason in ("wrong_in_timed_call", "faster_than_roofline")


def test_a_time_below_the_roofline_is_rejected() -> None:
    """Another hole than the one above: the answer is right, the model's time is not to be believed."""
    from warpsight.gate.compare_pair import simulated_timing
    from warpsight.gate.roofline_cap import simulated_roof

    roof = simulated_roof(TASK, timed_workload(TASK), find_gpu("a100"))
    below, above = (0.9 * roof.floor_us, 0.9 * roof.floor_us), (1.1 * roof.floor_us, 1.1 * roof.floor_us)
    found = simulated_timing("virtual:a100", "profile", below, (50.0, 60.0), roof)
    assert (found.decision, found.reason) == ("REJECTED", "faster_than_roofline")
    assert simulated_timing("virtual:a100", "profile", above, (50.0, 60.0), roof).decision == "FASTER"


@pytest.mark.usefixtures("rough_model")
def test_a_likely_faster_kernel_goes_through_the_gate_and_gets_no_certificate(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    found = evaluated(TASK.kernel, SLOW, ledger)
    assert found.timing is not None and found.timing.decision == "LIKELY_FASTER" and found.certificate is None
    assert [line.body.get("decision") for line in read_ledger(ledger.path)] == [None, "LIKELY_FASTER"]
    wrong = TASK.kernel.replace("+ b[i]", "- b[i]")
    assert evaluated(wrong, SLOW, ledger).timing is None
    assert evaluated(TASK.kernel, TASK.kernel).timing.decision == "SAME"  # type: ignore[union-attr]


def test_a_seed_gives_the_same_evaluation() -> None:
    assert evaluated(TASK.kernel) == evaluated(TASK.kernel)


def test_a_missing_protection_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    from warpsight import jail
    from warpsight.errors import BrokenMachine

    def refuse(unsafe: bool = False) -> tuple[str, ...]:
        if not unsafe:
            raise BrokenMachine("expected every protection of the jail, these are missing: landlock")
        return ("landlock",)

    monkeypatch.setattr(jail, "require_protections", refuse)
    with pytest.raises(BrokenMachine, match="landlock"):
        evaluated(TASK.kernel)
    device = VirtualGpu(gpu=find_gpu(TASK.gpu))
    mine, theirs = read_candidate(TASK.kernel, TASK), read_candidate(SLOW, TASK)
    assert evaluate(TASK, mine, theirs, device, unsafe=True).unsafe
