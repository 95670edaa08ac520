"""A pool of workers ends, whatever a worker does at its own end."""

from __future__ import annotations

import multiprocessing

import pytest
from tests.processes.units import stay

from warpsight.processes import pool


def test_a_worker_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "GRACE_S", 1.0)
    before = set(multiprocessing.active_children())
    with pool.worker_pool(1) as workers:
        assert workers.submit(stay, 3).result() == 3
    assert set(multiprocessing.active_children()) <= before
