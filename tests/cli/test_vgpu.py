"""`warpsight vgpu coverage`: forms are tried, and what is not executed is named with the programs that use it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from warpsight.vgpu.counters import DERIVED
from warpsight.vgpu.coverage import cover, cover_form
from warpsight.vgpu.ptx.forms import listed_forms
from warpsight.vgpu.sass.coverage import whole_kernels

Command = Callable[..., Any]
ROOT = Path(__file__).parents[2]
CORE = ROOT / "src" / "warpsight" / "vgpu" / "core" / "bind.cpp"


@pytest.fixture
def census(tmp_path: Path) -> Callable[[object], str]:
    def write(data: object) -> str:
        file = tmp_path / "census.json"
        file.write_text(json.dumps(data))
        return str(file)

    return write


def test_a_census_with_a_form_that_is_not_executed(command: Command, census: Callable[[object], str]) -> None:
    file = census({"forms": {"add.s32": 12, "tex.2d.v4.f32.f32": 3, "atom.global.add.f32": 5, "wgmma.fence": 9}})
    ran = command("vgpu", "coverage", "--census", file)
    assert ran.code == 1 and "4 PTX forms of 4 instructions" in ran.out
    rows = [line.split()[:2] for line in ran.out.split("not executed:")[1].splitlines()[2:]]
    assert rows == [["wgmma.fence", "9"], ["tex.2d.v4.f32.f32", "3"]]
    document = command("vgpu", "coverage", "--census", file, "--json").document()
    assert document["totals"] == {"forms": 4, "executed": 2, "lowers": 2, "core": 2, "definition": 2, "agrees": 2}
    (texture,) = [form for form in document["forms"] if form["form"].startswith("tex")]
    assert texture["programs"] == 3 and not texture["executed"] and "tex is not known" in texture["reason"]


def test_forms_of_machine_code(command: Command, census: Callable[[object], str]) -> None:
    file = census({"forms": {"IADD3.X": 239, "FFMA.FTZ": 200, "TEX.SCR.LL": 1}})
    ran = command("vgpu", "coverage", "--isa", "sass", "--census", file)
    assert ran.code == 1 and "2 of 3 forms of machine code" in ran.out and "TEX.SCR.LL (1 programs)" in ran.out
    assert command("vgpu", "coverage", "--isa", "sass").code == 2


def test_kernels_that_are_read_whole(command: Command, census: Callable[[object], str]) -> None:
    forms = {"IADD3.X": 239, "LDG.E": 300, "TEX.SCR.LL": 1}
    file = census({"forms": forms, "kernels": 1000, "base_operations": {"IADD3": 900, "LDG": 950, "TEX": 4}})
    ran = command("vgpu", "coverage", "--isa", "sass", "--census", file)
    assert "996 of 1000 kernels are read whole (99.6 %)" in ran.out
    document = command("vgpu", "coverage", "--isa", "sass", "--census", file, "--json").document()
    assert document["kernels"] == {"all": 1000, "whole_at_least": 996, "whole_at_most": 996}


def test_kernels_are_bounded_where_only_some_forms_of_an_operation_are_read() -> None:
    used = {"LDG": 40, "TEX": 4, "MOV": 90}
    whole = whole_kernels(["LDG.E", "LDG.STRANGE", "TEX.LL", "MOV"], ["LDG.STRANGE", "TEX.LL"], used, 100)
    assert (whole.at_least, whole.at_most) == (56, 96)
    assert whole.sentence(100) == "56 to 96 of 100 kernels are read whole (56.0 % to 96.0 %)"
    assert whole_kernels(["MOV"], [], used, 100).sentence(100) == "100 of 100 kernels are read whole (100.0 %)"


def test_all_executed_is_exit_code_0(command: Command, census: Callable[[object], str]) -> None:
    ran = command("vgpu", "coverage", "--census", census({"forms": {"bra": 1, "bar.sync": 1, "trap": 1}}), "--json")
    assert ran.code == 0 and ran.document()["totals"]["executed"] == 3


@pytest.mark.parametrize("data", [[], {}, {"forms": {}}, {"forms": {"add.s32": "many"}}, {"forms": ["add.s32"]}])
def test_a_bad_census_is_wrong_usage(command: Command, census: Callable[[object], str], data: object) -> None:
    ran = command("vgpu", "coverage", "--census", census(data))
    assert ran.code == 2 and ran.out == "" and "forms" in ran.err


def test_a_missing_census_is_wrong_usage(command: Command) -> None:
    assert command("vgpu", "coverage", "--census", "nowhere.json").code == 2


def test_a_sample_of_the_list_is_executed() -> None:
    """Every twentieth form; the front end's tests lower them all."""
    forms = listed_forms()
    assert len(forms) > 2000 and len(set(forms)) == len(forms)
    assert [c for c in cover(forms[::20]) if not c.executed] == []


@pytest.mark.slow
def test_every_listed_form_is_executed(command: Command) -> None:
    ran = command("vgpu", "coverage", "--json")
    document = ran.document()
    assert ran.code == 0 and document["totals"]["executed"] == document["totals"]["forms"] == len(listed_forms())


def test_an_unknown_modifier_is_named() -> None:
    found = cover_form("add.s32.strange")
    assert not found.lowers and not found.executed and "strange" in found.reason


def test_help_has_an_example(command: Command) -> None:
    assert "warpsight vgpu coverage" in command("vgpu", "--help").out
    assert "warpsight vgpu coverage --census" in command("vgpu", "coverage", "--help").out


def test_the_page_lists_every_counter_and_every_fault() -> None:
    page = (ROOT / "docs" / "virtual-gpu.md").read_text()
    checks, _, counts = page.partition("## What it counts")

    def rows_of(part: str) -> list[tuple[str, ...]]:
        lines = [line for line in part.splitlines() if line.startswith("| `")]
        return [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines]

    counters = [row for row in rows_of(counts) if len(row) == 3]
    assert counters == [(f"`{info.name}`", info.unit, info.meaning) for info in DERIVED.values()]
    faults = {name for row in rows_of(checks) for name in re.findall(r"`(\w+)`", row[0])}
    names = re.search(r"kFaultNames\[\] = \{(.*?)\}", CORE.read_text(), re.DOTALL)
    assert names is not None
    assert faults == set(re.findall(r'"(\w+)"', names[1])) - {"interrupted"}
