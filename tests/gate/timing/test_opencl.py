"""The whole gate on a device that is really timed: PoCL, in the jail. Two kernels whose work differs by a factor."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from benchmarks.spin import spin_kernel, spin_task, spin_text

from warpsight.gate.evaluate import evaluate
from warpsight.gate.ledger import Ledger
from warpsight.gate.verify import verify_bytes
from warpsight.nouns import Task
from warpsight.tasks import read_candidate

pytestmark = pytest.mark.skipif(
    find_spec("pyopencl") is None or find_spec("pocl_binary_distribution") is None, reason="no OpenCL here"
)


@pytest.fixture(scope="module")
def spin(tmp_path_factory: pytest.TempPathFactory) -> Task:
    return spin_task(tmp_path_factory.mktemp("tasks") / "spin", elements=2048)


def test_a_kernel_with_a_twentieth_of_the_work_is_accepted_and_its_certificate_holds(
    spin: Task, tmp_path: Path
) -> None:
    from warpsight.devices.opencl import OpenClDevice

    ledger = Ledger(tmp_path)
    with OpenClDevice() as device:
        found = evaluate(spin, spin_kernel(spin, 160), spin_kernel(spin, 3200), device, ledger=ledger)
    assert found.check.verdict == "right", found.check.reason
    assert found.timing is not None and found.timing.source == "measured"
    if found.timing.decision == "AMBIGUOUS":
        pytest.skip(f"the machine is too busy to tell: {found.timing.reason} {found.timing.detail}")
    assert found.timing.decision == "FASTER", found.timing.detail
    assert found.timing.roof is not None and found.timing.roof.compulsory_bytes == 2048 * 8
    raw = (ledger.certificates / f"{found.certificate}.json").read_bytes()
    found_in = verify_bytes(raw, ledger.path, spin)
    certificate, looked = found_in.certificate, found_in.findings
    assert certificate is not None and all(one.ok for one in looked), looked
    assert {"measurement 1", "measurement 2", "measured twice"} <= {one.name for one in looked}


def test_a_wrong_kernel_is_not_timed(spin: Task) -> None:
    from warpsight.devices.opencl import OpenClDevice

    wrong = read_candidate(spin_text(20).replace("+ kept +", "+ 2 * kept +"), spin, "kernel.cl")
    with OpenClDevice() as device:
        found = evaluate(spin, wrong, spin_kernel(spin, 20), device)
    assert found.check.verdict == "wrong" and found.timing is None
