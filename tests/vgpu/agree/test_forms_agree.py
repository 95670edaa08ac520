"""Every PTX form of the list, as a kernel of one instruction on awkward values: core and definition give the same bits.

The kernels and values are those of `warpsight vgpu coverage`, with more threads and other seeds. Only the forms whose
meaning is to stop (a trap, a branch to itself) may fault, so nothing passes because both refuse an address.
"""

from __future__ import annotations

import zlib
from dataclasses import replace
from itertools import groupby

import numpy as np
import pytest

from warpsight.vgpu.bytecode import Mod, Round
from warpsight.vgpu.coverage import (
    FormOutcome,
    awkward,
    cover_form,
    difference,
    inputs_of,
    run_core,
    run_definition,
    trial_of,
)
from warpsight.vgpu.ptx.forms import listed_forms

FAULTS = {"trap": "trap", "brkpt": "trap", "bra": "endless_loop", "bra.uni": "endless_loop"}
FAMILIES = {base: tuple(forms) for base, forms in groupby(sorted(listed_forms()), key=lambda form: form.split(".")[0])}


def both(form: str, seed: int, blocks: int = 2) -> tuple[FormOutcome, FormOutcome]:
    trial = trial_of(form)
    inputs = inputs_of(trial, blocks, seed)
    return run_core(trial, inputs), run_definition(trial, inputs)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_forms_of_an_instruction_agree(family: str) -> None:
    apart: dict[str, str] = {}
    blocks = 2 if len(FAMILIES[family]) > 100 else 4  # large families try their few operations many times anyway
    for form in FAMILIES[family]:
        core, meaning = both(form, zlib.crc32(form.encode()), blocks)
        kind = core.fault[0] if core.fault else None
        assert kind == FAULTS.get(form), f"{form}: {core.fault}"
        if words := difference(core, meaning):
            apart[form] = words
    assert not apart


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_the_forms_agree_on_many_more_values(family: str) -> None:
    apart = {
        form: difference(*both(form, zlib.crc32(form.encode()) + 1, blocks=12))
        for form in FAMILIES[family]
        if form not in FAULTS
    }
    assert {form: words for form, words in apart.items() if words} == {}


def test_all_listed_forms_are_in_a_family() -> None:
    assert sum(map(len, FAMILIES.values())) == len(listed_forms()) > 2000


def test_one_wrong_bit_is_a_difference() -> None:
    core, meaning = both("add.rn.f32", seed=1)
    assert difference(core, meaning) == ""
    first, registers, results = core.memory
    changed = bytes([results[0] ^ 1]) + results[1:]
    assert "1 words differ, first word 0 of array 2" in difference(
        replace(core, memory=(first, registers, changed)), meaning
    )
    assert "how often" in difference(replace(core, counts=core.counts + 1), meaning)
    assert "trap" in difference(replace(core, fault=("trap", "trap", 0)), meaning)


@pytest.mark.parametrize(
    "form",
    [
        "add.s64",
        "ld.shared.v4.f32",
        "st.local.u16",
        "atom.shared.cas.b64",
        "st.param.f64",
        "cvt.rn.f16.f64",
    ],
)
def test_the_trial_shows_what_the_form_did(form: str) -> None:
    """With other values other results: the registers are really filled, the results really written."""
    one, other = both(form, seed=1)[0], both(form, seed=2)[0]
    assert one.memory[2] != other.memory[2]
    assert any(one.memory[2]) and one.fault is None


@pytest.mark.parametrize(
    ("form", "modifier"),
    [
        ("add.rn.f32", Round.RZ), ("mul.rn.f64", Round.RZ), ("fma.rn.f16x2", Round.RZ), ("div.rn.f32", Round.RZ),
        ("cvt.rn.f16.f32", Round.RZ), ("cvt.rn.bf16.f32", Round.RZ), ("cvt.rn.f32.f64", Round.RZ),
        ("cvt.rni.s32.f32", Round.RZ), ("add.ftz.f32", Mod.FTZ), ("fma.rn.ftz.f16", Mod.FTZ),
        ("setp.lt.ftz.f32", Mod.FTZ), ("add.sat.f32", Mod.SAT), ("add.sat.s32", Mod.SAT), ("cvt.sat.s8.s32", Mod.SAT),
    ],
)  # fmt: skip
def test_values_tell_a_wrong_modifier(form: str, modifier: int) -> None:
    """The definition run with another rounding, without flushing or without saturation does not pass."""
    trial = trial_of(form)
    code = trial.program.code.copy()
    code["mod"][[text.startswith(f"{form} ") for text in trial.program.texts]] ^= np.uint8(modifier)
    wrong = replace(trial, program=replace(trial.program, code=code))
    inputs = inputs_of(trial, blocks=4, seed=0)
    assert "words differ" in difference(run_core(trial, inputs), run_definition(wrong, inputs))


def test_values_have_every_awkward_kind() -> None:
    words = awkward(np.random.default_rng(0), 4, (4000,))
    floats = words.view(np.float32)
    assert np.isnan(floats).any() and np.isinf(floats).any() and (floats == 0).any()
    assert ((words & 0x7F800000) == 0).any() and (words == 0x80000000).any() and (words == 32).any()
    assert ((words & 0x1FFF) == 0x1000).any()  # halfway between two f16


def test_coverage_says_what_agrees() -> None:
    found = cover_form("fma.rz.ftz.f32")
    assert found.lowers and found.core and found.definition and found.agrees and found.reason == ""
    unknown = cover_form("tex.2d.v4.f32.f32")
    assert not unknown.agrees and not unknown.executed
