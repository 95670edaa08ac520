"""A worker in the place of a kernel's that will not end, or takes too much: gone soon after its deadline, with nothing
left of it, and the next honest kernel on the same device scores as before.
"""

from __future__ import annotations

import tempfile
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pyopencl", reason="the extra `opencl` is not installed")

from benchmarks.spin import spin_kernel
from redteam.hosts import HostileDevice
from redteam.kernels import attacked_task
from tests.jail.conftest import processes_with

from warpsight.devices.opencl_build import build_opencl
from warpsight.gate.check import check_candidate
from warpsight.gate.values import fresh_values
from warpsight.nouns import Check
from warpsight.tasks import evaluate_launch

DEADLINE_S = 2.0  # of those that never end; the others have longer, and are to be stopped by another wall before
LONG_S = 20.0
HEAD = """
import contextlib, os, signal, sys, time
import hostile

class Stubborn(hostile.Worker):
    def go(self):
        if self.calls < 2:
            return super().go()
"""
STUBBORN = {
    "ignores signals": (
        """
        for number in signal.valid_signals():
            with contextlib.suppress(OSError, ValueError):
                signal.signal(number, signal.SIG_IGN)
        while True:
            time.sleep(1)
        """,
        "deadline",
    ),
    "loops for ever": ("while True: pass", "deadline"),
    "forks twice": ("if os.fork() == 0: os.fork()\nwhile True: time.sleep(1)", "forbidden_call"),
    "floods its log": ("while True: os.write(1, b'x' * 65536)", "too_much_output"),
    "floods its answers": ("while True: os.write(4, b'\\xff' * 65536)", "too_much_output"),
    "allocates without end": (
        "import mmap\nkept = []\nwhile True: kept.append(mmap.mmap(-1, 64 << 20))",
        "out_of_memory",
    ),
}


@pytest.mark.parametrize(("body", "ends"), STUBBORN.values(), ids=STUBBORN.keys())
def test_nothing_is_left_of_a_stubborn_worker_and_the_next_kernel_scores_as_before(
    body: str, ends: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = tmp_path / "folders"
    folders.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folders))
    attack = tmp_path / "stubborn.py"
    attack.write_text(
        HEAD + textwrap.indent(textwrap.dedent(body).strip(), " " * 8) + "\n\nhostile.serve(Stubborn())\n"
    )
    task = attacked_task("spin")
    small = task.model_copy(update={"workloads": tuple(w for w in task.workloads if not w.profile)})
    bad, honest = spin_kernel(task, 20), spin_kernel(task, 21)
    workload = task.workloads[0]
    values, size = fresh_values(task, workload, 3)[1], evaluate_launch(honest, workload.axes)
    builds = [build_opencl(task, kernel) for kernel in (bad, honest)]
    deadline_s = DEADLINE_S if ends == "deadline" else LONG_S
    with HostileDevice(attack, builds[0], deadline_s=deadline_s) as device:

        def scored() -> tuple[Check, dict[str, np.ndarray]]:
            check = check_candidate(small, honest, device, build=builds[1], secret_seed=7, families=())
            return check, dict(device.execute(builds[1], task.entry, values, size, check=True).arrays)

        before, arrays = scored()
        lane = device.open_lane(builds[0], task.entry)
        assert lane.run(values, size).faults == ()  # the start of a worker is not its deadline's
        started = time.monotonic()
        ran = lane.run(values, size)
        took_s = time.monotonic() - started
        assert [fault.kind for fault in ran.faults] == [ends], ran
        assert took_s < deadline_s + 2
        assert processes_with(str(attack)) == []
        assert list(folders.iterdir()) == []
        after, same = scored()
    assert before.verdict == "right" and after == before
    assert all(np.array_equal(arrays[name], same[name], equal_nan=True) for name in arrays)
