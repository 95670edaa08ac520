"""What must be rejected, for its named reason, and what must not be rejected at all."""

from __future__ import annotations

import pytest
from tests.gate.right import candidates

from warpsight.nouns import REASONS


@pytest.mark.parametrize("name", candidates.CHEATS)
def test_a_cheat_is_wrong_for_its_reason(name: str) -> None:
    task, text, reason = candidates.CHEATS[name]
    found = candidates.checked(task, text)
    assert found.verdict in ("wrong", "fault")
    assert found.named == reason, found.reason
    assert found.named in REASONS


@pytest.mark.parametrize("name", candidates.LOW_PRECISION)
def test_too_few_bits_are_told(name: str) -> None:
    found = candidates.checked(*candidates.LOW_PRECISION[name])
    assert (found.verdict, found.named) == ("wrong", "precision_too_low"), found.reason


@pytest.mark.parametrize("name", candidates.HONEST)
def test_an_honest_kernel_is_right(name: str) -> None:
    found = candidates.checked(*candidates.HONEST[name])
    assert found.verdict == "right", found.reason
