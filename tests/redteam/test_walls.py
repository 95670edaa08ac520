"""What the red team found and had closed, each hole with the smallest test that shows it is closed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from redteam.entries import ATTACKS, read_attack
from redteam.kernels import attacked_task, run_kernel, told, virtual_gpu
from tests.gate.certificate.conftest import SLOW

from warpsight.devices.opencl_assembly import NO_ASSEMBLY, refused_assembly
from warpsight.gate import statistics
from warpsight.gate.evaluate import evaluate
from warpsight.gate.ledger import Ledger
from warpsight.gate.statistics import Pairs
from warpsight.gate.verify import verify_bytes
from warpsight.nouns import Tolerance
from warpsight.tasks import read_candidate


def pairs(baseline_us: float, candidate_us: float, truth_us: float, outside_us: float = 300.0) -> Pairs:
    """Samples of a candidate that takes `truth_us` and says `candidate_us`."""
    noise = np.random.default_rng(1).normal(0, 5, (4, 12))
    theirs, mine = baseline_us + noise[0], np.full(12, candidate_us)
    wall, my_wall = theirs + outside_us + noise[1], truth_us + outside_us + noise[2]
    return Pairs(*(tuple(map(float, x)) for x in (theirs, mine, wall, my_wall, wall + 900, my_wall + 900 + noise[3])))


@pytest.mark.parametrize(
    ("claimed_us", "truth_us", "decision", "reason"),
    [
        (1000.0, 1000.0, "FASTER", ""),  # honest: twice as fast
        (1000.0, 2000.0, "REJECTED", "clock_disagrees"),  # not faster at all
        (20.0, 1000.0, "AMBIGUOUS", "wall_unconfirmed"),  # twice as fast, and claims a hundred times
        (20.0, 9000.0, "REJECTED", "clock_disagrees"),  # slower, and claims a hundred times
        (700.0, 1000.0, "FASTER", ""),  # overstates by less than half of what it claims: not told from noise
    ],
)
def test_a_claim_is_held_to_the_parents_clock(claimed_us: float, truth_us: float, decision: str, reason: str) -> None:
    found = statistics.decide(pairs(2000.0, claimed_us, truth_us), seed=3)
    assert (found.decision, found.reason) == (decision, reason), found


@pytest.mark.parametrize(
    ("claimed_us", "truth_us", "busy_us", "decision"),
    [
        (30.0, 1000.0, 0.0, "AMBIGUOUS"),  # twice as fast, and claims seventy times: told by the clock
        (30.0, 1000.0, 3000.0, "AMBIGUOUS"),  # the same on a busy machine, where the baseline waits as long unasked
        (200.0, 200.0, 0.0, "FASTER"),  # honest: ten times
        (1000.0, 1000.0, 0.0, "FASTER"),  # honest: twice
    ],
)
def test_a_large_claim_needs_a_quiet_clock(claimed_us: float, truth_us: float, busy_us: float, decision: str) -> None:
    quiet = pairs(2000.0, claimed_us, truth_us)
    for seed in range(20):
        waits = np.random.default_rng(seed).exponential(busy_us, (2, 12))
        theirs = np.array(quiet.baseline_us) + 20 * busy_us  # inside of its own clock too
        wall, mine = theirs + 300 + 4 / 3 * busy_us + waits[0], np.array(quiet.candidate_wall_us) + waits[1]
        found = statistics.decide(Pairs(tuple(theirs), quiet.candidate_us, tuple(wall), tuple(mine)), seed=seed)
        assert found.decision == decision, found


@pytest.mark.slow
def test_a_native_kernel_that_forges_its_time_is_rejected() -> None:
    pytest.importorskip("pyopencl")
    outcome = run_kernel(read_attack(ATTACKS / "C05_forged_time.cl"))
    assert outcome.found == "clock_disagrees", outcome


@pytest.mark.parametrize(
    "text",
    [
        "#undef asm\n",
        "#  define __asm__ x\n",
        "#un\\\ndef __asm\n",
        "%: undef /* a\n comment */ asm\n",
        "??=undef asm\n",
        "#/**/undef/**/__asm__\n",
    ],
)
def test_the_assembler_cannot_be_brought_back(text: str) -> None:
    assert refused_assembly(text, (), "kernel.cl")


def test_the_assembler_cannot_be_brought_back_by_an_option() -> None:
    assert refused_assembly("", ("-Dasm=asm",), "kernel.cl") and refused_assembly("", ("-D__asm__",), "kernel.cl")
    assert not refused_assembly("#define assembly 1\n#undef basm\n", ("-Dassembly=1",), "kernel.cl")
    assert len(NO_ASSEMBLY) == 3


@pytest.mark.slow
def test_a_time_is_not_taken_from_idle_blocks() -> None:
    outcome = run_kernel(read_attack(ATTACKS / "X01_work_in_blocks_not_traced.cu"))
    assert not outcome.improved and outcome.found in ("SAME", "SLOWER"), outcome


def test_a_kernel_is_charged_with_what_other_blocks_take() -> None:
    task = attacked_task("matmul_naive")
    text = (ATTACKS / "X43_less_work_in_blocks_traced.cu").read_text()
    device = virtual_gpu(task)
    found = evaluate(task, read_candidate(text, task), read_candidate(task.kernel, task), device).timing
    assert found is not None and found.ratio is not None
    assert found.decision in ("SAME", "SLOWER") and found.ratio < 1.02


@pytest.mark.usefixtures("rough_model")
def test_an_attack_that_is_likely_faster_has_scored() -> None:
    task = attacked_task("vector_add")
    found = evaluate(task, read_candidate(task.kernel, task), read_candidate(SLOW, task), virtual_gpu(task))
    assert told(found) == ("LIKELY_FASTER", "", True)


@pytest.mark.usefixtures("exact_model")
def test_a_certificate_of_an_easier_task_does_not_pass_for_the_real_one(tmp_path: Path) -> None:
    real = attacked_task("matmul_naive")
    easier = real.model_copy(update={"tolerance": Tolerance(rtol=0.5, atol=0.5)})
    loop = "for (int k = 0; k < K; ++k) {"
    assert loop in easier.kernel
    twice = easier.kernel.replace(loop, "for (int k = 0; k < 2 * K; ++k) { int kk = k % K; if (k == K) sum = 0.0f;")
    slow = twice.replace("A[row * K + k] * B[k * N + col]", "A[row * K + kk] * B[kk * N + col]")
    candidate, ledger = read_candidate(easier.kernel, easier), Ledger(tmp_path)
    found = evaluate(easier, candidate, read_candidate(slow, easier), virtual_gpu(easier), ledger=ledger)
    assert found.timing is not None and found.timing.decision == "FASTER", found
    raw = (ledger.certificates / f"{found.certificate}.json").read_bytes()
    assert all(one.ok for one in verify_bytes(raw, ledger.path, easier).findings)
    assert [one.name for one in verify_bytes(raw, ledger.path, real).findings if not one.ok] == ["task"]
