"""The core's table of allocations, as it lives from launch to launch: entered, left, marked, compared."""

from __future__ import annotations

import numpy as np
import pytest

from warpsight.vgpu import _core

BASE = 0x200000000


def zeros(size: int) -> np.ndarray:
    return np.zeros(size, np.uint8)


def test_allocations_come_in_any_order_and_never_meet() -> None:
    memory = _core.Memory()
    memory.insert(BASE + 4096, zeros(100))
    memory.insert(BASE, zeros(100))
    for base, size in ((BASE + 50, 10), (BASE - 50, 60), (BASE + 100, 8), (BASE + 4000, 500), (BASE + 4096, 100)):
        with pytest.raises(ValueError, match="meets another"):
            memory.insert(base, zeros(size))
    memory.remove(BASE)
    with pytest.raises(ValueError, match="no allocation begins there"):
        memory.remove(BASE)
    memory.insert(BASE + 50, zeros(10))


def test_marks_are_set_and_copied_to_the_byte() -> None:
    memory = _core.Memory()
    memory.insert(BASE, zeros(300), True, False)
    memory.insert(BASE + 4096, zeros(300), True, False)
    memory.mark(BASE + 10, 100)
    assert memory.unwritten(0) == (200, 0)
    memory.copy_marks(BASE + 4096 + 1, BASE, 64)
    assert memory.unwritten(1) == (300 - 54, 0)
    memory.mark(BASE, 10_000)  # what lies outside is left alone
    assert memory.unwritten(0)[0] == 0
    memory.copy_marks(BASE + 4096, BASE + 4096 + 1, 64)  # over one another
    assert memory.unwritten(1) == (300 - 55, 0)
    memory.mark(BASE + 9999, 5)
    memory.copy_marks(BASE + 9999, BASE, 5)


@pytest.mark.parametrize("size", [1, 63, 64, 65, 1000])
def test_a_digest_sees_every_byte(size: int) -> None:
    data, memory = zeros(size), _core.Memory()
    memory.insert(BASE, data)
    found = {memory.digest(BASE, size)}
    for at in range(size):
        data[at] = 1
        found.add(memory.digest(BASE, size))
        data[at] = 0
    assert len(found) == size + 1 and memory.digest(BASE, size) in found
    with pytest.raises(ValueError, match="so many bytes"):
        memory.digest(BASE, size + 1)


def test_a_digest_sees_the_order_of_words() -> None:
    data, memory = np.arange(512, dtype=np.uint64), _core.Memory()
    memory.insert(BASE, data.view(np.uint8))
    before = memory.digest(BASE, data.nbytes)
    data[:] = data[::-1].copy()
    assert memory.digest(BASE, data.nbytes) != before


def test_nothing_runs_and_nothing_was_touched() -> None:
    memory = _core.Memory()
    memory.insert(BASE, zeros(8))
    assert memory.touched() == [] and _core.progress() == (0, 0)
