"""The same tools on a device that really measures: what it has no counters for is said, never guessed."""

from __future__ import annotations

import pytest
from tests.tools.kernels import ROOT, call

from warpsight.errors import UsageError
from warpsight.tasks import read_task
from warpsight.tools.open import open_box


def test_a_task_without_an_opencl_kernel_is_refused() -> None:
    with pytest.raises(UsageError, match="has no OpenCL kernel"):
        open_box(read_task(ROOT / "tasks" / "collatz"), device="opencl")


@pytest.mark.slow
def test_times_are_measured_and_counters_are_not_there() -> None:
    pytest.importorskip("pyopencl")
    box = open_box(read_task(ROOT / "tasks" / "histogram"), device="opencl", seed=1)
    try:
        assert call(box, "check", base="given").data["verdict"] == "right"
        found = call(box, "profile", base="given")
        assert found.data["source"] == "measured" and "this device has no counters" in found.text
        timed = call(box, "time", base="given")
        assert timed.data["source"] == "measured" and timed.data["decision"] != "FASTER"
        assert "only GPU kernels" in call(box, "inspect", base="given", view="sass").text
        assert call(box, "device", base="given").data["fit"] is None
    finally:
        box.close()
