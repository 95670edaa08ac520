"""The attacks of `redteam/`: a share of them in the fast run, all of them in the slow one."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from redteam.elsewhere import ELSEWHERE
from redteam.entries import BASELINES, Attack, all_attacks
from redteam.kernels import Outcome, run_kernel
from redteam.outside import ask

ATTACKS = all_attacks()
FAST = (
    "A1_nothing.cu", "A6_not_a_number.cu", "A10_empty_grid.cu", "A13_cublas.cu", "D19_zero_the_inputs.cu",
    "D25_pasted_include.cu", "X03_two_machines.cu", "X06_looks_for_poison.cu", "X09_include_path_option.cu",
    "X11_python_in_the_launch.cu", "X24_ticket.cu", "X28_assembly_back.cl", "X36_takes_the_worker_over.cl",
    "X43_less_work_in_blocks_traced.cu", "D22_pickle.py", "X39_input_traded.py", "D16_leaves.py",
)  # fmt: skip
# The list of known attacks: all of it is either tried or told why not.
LISTED = {
    "A": (1, 2, 3, 4, 6, 7, 10, 12, 13, 14, 15, 16, 17),
    "B": (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 15),
    "C": (*range(1, 14), 18, 19),
    "D": (1, 2, 3, 4, *range(6, 28), 29),
    "E": (1, 5, 6, 7, 8),
}


def outcome_of(attack: Attack) -> Outcome:
    if attack.device in ("opencl", "worker") and (
        find_spec("pyopencl") is None or find_spec("pocl_binary_distribution") is None
    ):
        pytest.skip("no OpenCL here")
    if attack.device == "worker":
        from redteam.hosts import run_worker

        return run_worker(attack)
    if attack.device == "reference":
        from redteam.strangers import run_stranger

        return run_stranger(attack)
    if attack.device == "file":
        from redteam.stores import run_store

        return run_store(attack)
    if attack.device == "kernelbench":
        pytest.importorskip("torch")
        from redteam.benches import run_bench

        return run_bench(attack)
    return run_kernel(attack)


def test_every_entry_of_the_list_is_tried_or_explained() -> None:
    tried = {identity for attack in ATTACKS for identity in attack.id.split("+")}
    listed = {f"{letter}{number}" for letter, numbers in LISTED.items() for number in numbers}
    assert listed <= tried | set(ELSEWHERE)
    assert not tried & set(ELSEWHERE)
    own = {identity for identity in tried if re.fullmatch(r"X\d+", identity)}
    assert len(own) >= 10


def test_attacks_have_names_and_baselines_of_their_own() -> None:
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)
    assert all(not attack.baseline or (BASELINES / attack.baseline).exists() for attack in ATTACKS)
    assert all(a.file.with_suffix(".cu").exists() for a in ATTACKS if a.device == "reference")


def test_a_question_from_outside_has_its_own_cache(tmp_path: Path) -> None:
    answer = ask(["gpus", "--json"], tmp_path / "cache")
    assert answer.code == 0 and answer.json, answer.text
    assert ask(["no-such-verb"], tmp_path / "cache").code != 0


@pytest.mark.parametrize("attack", [a for a in ATTACKS if a.name in FAST], ids=lambda a: a.name)
def test_an_attack_is_rejected_for_its_reason(attack: Attack) -> None:
    outcome = outcome_of(attack)
    assert not outcome.improved and outcome.found in attack.expect, outcome


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda a: a.name)
def test_no_attack_is_an_improvement(attack: Attack) -> None:
    outcome = outcome_of(attack)
    assert not outcome.improved, outcome
    assert outcome.found in attack.expect, outcome
