"""Every kind of fault is named at the line that has it, with the thread, block and array where these are determined."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.vgpu.faults.cases import CASES
from tests.vgpu.run import run

FOLDER = Path(__file__).parent / "kernels"


def guilty(source: str) -> set[tuple[int, str]]:
    """(line, kind) as the source's own FAULT remarks say; a race has two sides, and may be seen from either."""
    remarks = [
        (n, line.split("// FAULT: ")[1]) for n, line in enumerate(source.splitlines(), 1) if "// FAULT: " in line
    ]
    return {(n, kind) for n, kinds in remarks for kind in kinds.split(", ")}


def test_every_kernel_has_a_case_and_a_guilty_line() -> None:
    sources = {p.stem: p.read_text() for p in FOLDER.glob("*.cu")}
    assert sources.keys() == CASES.keys()
    assert all(guilty(s) for s in sources.values())


@pytest.mark.parametrize("name", CASES)
def test_the_fault_is_named_at_its_line(name: str) -> None:
    source, case = (FOLDER / f"{name}.cu").read_text(), CASES[name]
    ran = run(source, case.arguments, grid=case.grid, block=case.block, shared=case.shared, **case.how)
    found = ran.launched.faults
    assert {(f.line, f.kind) for f in found} == guilty(source), [(f.kind, f.line, f.message) for f in found]
    first = found[0]
    assert first.line is not None
    assert first.line_text == source.splitlines()[first.line - 1].strip()
    assert first.instruction
    assert case.says in first.message
    if case.thread is not None:
        assert first.thread == (case.thread, 0, 0)
    if case.in_block is not None:
        assert first.block == (case.in_block, 0, 0)
    if case.array is not None:
        assert first.array == case.array
