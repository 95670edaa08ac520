"""The attacks of `redteam/`: a share of them in the fast run, all of them in the slow one."""

from __future__ import annotations

import re
from importlib.util import find_spec

import pytest
from redteam.elsewhere import ELSEWHERE
from redteam.entries import Attack, kernel_attacks, worker_attacks
from redteam.kernels import Outcome, run_kernel

KERNELS, WORKERS = kernel_attacks(), worker_attacks()
FAST = (
    "A1_nothing.cu", "A6_not_a_number.cu", "A10_empty_grid.cu", "A13_cublas.cu", "D19_zero_the_inputs.cu",
    "D25_pasted_include.cu", "X03_two_machines.cu", "X06_looks_for_poison.cu", "X09_include_path_option.cu",
    "X11_python_in_the_launch.cu", "X24_ticket.cu", "X28_assembly_back.cl", "X36_takes_the_worker_over.cl",
    "D22_pickle.py", "X39_input_traded.py", "D16_leaves.py",
)  # fmt: skip
# The list of known attacks: all of it is either tried or told why not.
LISTED = (
    "A1 A2 A3 A4 A6 A7 A10 A12 A13 A14 A15 A16 A17 B1 B2 B3 B4 B5 B6 B7 B8 B9 B10 B11 B15 C1 C2 C3 C4 C5 C6 C7 C8 C9 C10 "
    "C11 C12 C13 C18 C19 D1 D2 D3 D4 D6 D7 D8 D9 D10 D11 D12 D13 D14 D15 D16 D17 D18 D19 D20 D21 D22 D23 D24 D25 D26 D27 "
    "D29 E1 E5 E6 E7 E8"
).split()


def outcome_of(attack: Attack) -> Outcome:
    if attack.device != "virtual" and (find_spec("pyopencl") is None or find_spec("pocl_binary_distribution") is None):
        pytest.skip("no OpenCL here")
    if attack.device == "worker":
        from redteam.hosts import run_worker

        return run_worker(attack)
    return run_kernel(attack)


def test_every_entry_of_the_list_is_tried_or_explained() -> None:
    tried = {identity for attack in (*KERNELS, *WORKERS) for identity in attack.id.split("+")}
    assert set(LISTED) <= tried | set(ELSEWHERE)
    assert not tried & set(ELSEWHERE)
    own = {identity for identity in tried if re.fullmatch(r"X\d+", identity)}
    assert len(own) >= 10


@pytest.mark.parametrize("attack", [a for a in (*KERNELS, *WORKERS) if a.name in FAST], ids=lambda a: a.name)
def test_an_attack_is_rejected_for_its_reason(attack: Attack) -> None:
    outcome = outcome_of(attack)
    assert not outcome.improved and outcome.found in attack.expect, outcome


@pytest.mark.slow
@pytest.mark.parametrize("attack", [*KERNELS, *WORKERS], ids=lambda a: a.name)
def test_no_attack_is_an_improvement(attack: Attack) -> None:
    outcome = outcome_of(attack)
    assert not outcome.improved, outcome
    assert outcome.found in attack.expect, outcome
