"""Planted faults are named for what they are, at the line that has them: 95 % by kind, 90 % by line."""

from __future__ import annotations

import pytest
from tests.vgpu.planted.planted import all_planted, named

KINDS, LINES, AT_LEAST = 0.95, 0.90, 60


@pytest.mark.slow
def test_planted_faults_are_named_with_their_line() -> None:
    planted = list(all_planted())
    said = {p.name: named(p) for p in planted}
    other_kind = {p.name: said[p.name] for p in planted if said[p.name].kind != p.kind}
    other_line = {p.name: said[p.name] for p in planted if said[p.name].line not in (p.lines or {None})}
    assert len(planted) >= AT_LEAST
    assert len(other_kind) <= (1 - KINDS) * len(planted), other_kind
    assert len(other_line) <= (1 - LINES) * len(planted), other_line
