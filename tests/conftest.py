"""For all tests: an interrupt ends a program, also where the tests themselves were started in the background; and runs
and keys go to a folder of their own. `exact_model` and `rough_model` replace the error tables of the time model."""

from __future__ import annotations

import os
import signal
import tempfile

import pytest
from hypothesis import HealthCheck, settings
from tests.model_errors import EXACT, ROUGH

from warpsight.vgpu import model_error

# A shell has its background jobs ignore interrupts, and what they start ignores them too: several tests send one.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How fast inputs are drawn depends on what else the machine does: no test of ours fails for that.
settings.register_profile("any_machine", suppress_health_check=[HealthCheck.too_slow], deadline=None)
settings.load_profile("any_machine")

# Removed when the tests end. Tests that look at the folder give their own.
_data = tempfile.TemporaryDirectory(prefix="warpsight-test-data-")
os.environ["WARPSIGHT_DATA"] = _data.name


@pytest.fixture
def exact_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time model errs by less than 1 %: what is simulated faster is FASTER."""
    monkeypatch.setattr(model_error, "built_in", lambda: EXACT)


@pytest.fixture
def rough_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time model errs by any factor: what is simulated faster is LIKELY_FASTER."""
    monkeypatch.setattr(model_error, "built_in", lambda: ROUGH)
