"""Every supported opcode spelling lowers: forms.txt beside the front end is our list, with one small kernel for each.

Where a census of public CUDA programs is at hand, its forms are checked too.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from warpsight.errors import UnsupportedInstruction
from warpsight.vgpu.bytecode import OP_NAMES, Flag
from warpsight.vgpu.ptx import load_ptx
from warpsight.vgpu.ptx.forms import kernel_of, listed_forms

ROOT = Path(__file__).parents[3]


def census_file() -> Path | None:
    """The census that WARPSIGHT_CENSUS names, else the one beside the repository; None when there is neither."""
    chosen = os.environ.get("WARPSIGHT_CENSUS", "")
    file = Path(chosen) if chosen else ROOT / "../shared/data/ptx_census.json"
    return file if file.is_file() else None


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


def test_every_form_of_the_census_lowers() -> None:
    file = census_file()
    if file is None:
        pytest.skip("no census of public programs is at hand; WARPSIGHT_CENSUS can name one")
    census = json.loads(file.read_text(encoding="utf-8"))["forms"]
    forms = [form for form in census if not form.startswith("tex.")]
    assert len(forms) > 500
    assert refused(forms) == []
