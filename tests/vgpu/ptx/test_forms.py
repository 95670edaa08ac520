"""Every supported opcode spelling lowers: forms.txt beside the front end is our list, with one small kernel for each.

Where the census of public CUDA programs lies beside the repository, its forms are checked too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from warpsight.errors import UnsupportedInstruction
from warpsight.vgpu.bytecode import OP_NAMES, Flag
from warpsight.vgpu.ptx import load_ptx
from warpsight.vgpu.ptx.forms import kernel_of, listed_forms

CENSUS = Path(__file__).parents[4] / "shared" / "data" / "ptx_census.json"


def refused(forms: Iterable[str]) -> list[str]:
    """What does not lower, or is not counted as exactly one instruction (besides the kernel's ret)."""
    found = list[str]()
    for form in forms:
        try:
            program = load_ptx(kernel_of(form))
        except UnsupportedInstruction as e:
            found.append(f"{form}: {e.message}")
            continue
        counted = [OP_NAMES[ins["op"]] for ins in program.code if not ins["flags"] & Flag.HIDDEN]
        if len(counted) != 2 or counted[-1] != "EXIT":
            found.append(f"{form}: counted as {counted}")
    return found


def test_the_list_is_long_and_without_doubles() -> None:
    assert len(set(listed_forms())) == len(listed_forms()) > 2000


@pytest.mark.parametrize("base", sorted({form.split(".")[0] for form in listed_forms()}))
def test_every_listed_form_lowers(base: str) -> None:
    assert refused(form for form in listed_forms() if form.split(".")[0] == base) == []


@pytest.mark.skipif(not CENSUS.exists(), reason="the census of public programs is not beside this repository")
def test_every_form_of_the_census_lowers() -> None:
    census = json.loads(CENSUS.read_text(encoding="utf-8"))["forms"]
    forms = [form for form in census if not form.startswith("tex.")]
    assert len(forms) > 500
    assert refused(forms) == []
