"""Does what threads do depend on when others have their turns? Then somebody waits, and how long is not simulated.

A launch whose blocks or warps may wait for one another is run twice: with its first blocks in another order, the warps
of each block the other way round, and accesses that may wait at another price. Tickets, last blocks that add up, and
histograms load and update memory as often in any order. Who polls does not, whatever a poll looks like. Left out are
exchanges on condition (CAS) that are not made, as they are tried again because another one was, and the first one that
a thread makes after a load, as who comes late may have nothing to put there (a greatest value). Not seen: who polls by
exchanges that are never made, on so many words in turn that a warp's last looks at them are forgotten (`failed_polls`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warpsight.vgpu.bytecode import OPS, Flag, Program, Space
from warpsight.vgpu.counters import INDEX
from warpsight.vgpu.machine import ROUND_TRIP, Launched

OTHER_ROUND_TRIP = ROUND_TRIP // 4
MOST_TURNED = 64  # blocks that start in the other order: few enough that all of them always run at once
MOST_TIMES = 16  # the instructions of the first run: who needs more waits
SPARE_INSTRUCTIONS = 1 << 20
SAME = 0.01


def may_wait(program: Program) -> bool:
    """Whether it has an access that learns what others do at that moment: volatile, relaxed, an atomic's result, or a
    load in a loop that may be of shared memory, where machine code does not say what is volatile."""
    op, flags = program.code["op"], program.code["flags"]
    loads = op == OPS["LD"].number
    told = (op == OPS["ATOM"].number) & ((flags & int(Flag.UNUSED_RESULT)) == 0)
    if bool((told | (loads & ((flags & int(Flag.VOLATILE)) != 0))).any()):
        return True
    near = np.cumsum(loads & np.isin(program.code["sub"], (int(Space.SHARED), int(Space.GENERIC))))
    back = np.flatnonzero((op == OPS["BRA"].number) & (program.code["target"] <= np.arange(len(op))))
    before = program.code["target"][back] - 1
    return bool((near[back] > np.where(before >= 0, near[before], 0)).any())


def other_order(blocks: int, concurrent: int) -> list[int]:
    """All blocks, those that start first the other way round."""
    turned = min(blocks, concurrent, MOST_TURNED)
    return [*range(turned - 1, -1, -1), *range(turned, blocks)]


def accesses(program: Program, done: Launched) -> NDArray[np.int64]:
    """By instruction, the threads that loaded or updated memory, without those that any order may change."""
    touching = np.isin(program.code["op"], [OPS["LD"].number, OPS["ATOM"].number])
    threads = np.where(touching, done.counts[:, INDEX["threads_on"]].astype(np.int64), 0)
    for at, excused in done.excused_swaps.items():
        threads[at] -= excused
    return threads


def changed(program: Program, first: Launched, second: Launched) -> int:
    """Accesses of the instructions that did another number of them in the second run; 0 where order is no matter."""
    one, other = accesses(program, first), accesses(program, second)
    apart = np.abs(one - other)
    return int(apart[apart > SAME * np.maximum(one, other)].sum())
