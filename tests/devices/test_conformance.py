"""Every device keeps the contract; one of another package is installed, found by its name, checked and judged."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from warpsight.devices.conformance import CASES
from warpsight.devices.opencl import OpenClDevice
from warpsight.devices.registry import device_class, device_names
from warpsight.devices.virtual import VirtualGpu
from warpsight.errors import UsageError

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
@pytest.mark.parametrize("kind", [VirtualGpu, OpenClDevice], ids=["virtual", "opencl"])
def test_our_devices_keep_the_contract(kind: Any, case: Any) -> None:
    case(kind)


def test_the_suite_sees_a_device_that_lies() -> None:
    class Forgetful(VirtualGpu):
        """Gives back what it was given."""

        def execute(self, build: Any, entry: Any, values: Any, size: Any, **_: Any) -> Any:
            done = super().execute(build, entry, values, size, check=False)
            return type(done)({value.name: value.array for value in values if not value.is_scalar})

    failed = []
    for case in CASES:
        try:
            case(Forgetful)
        except AssertionError:
            failed.append(case.__name__)
    assert {"gives_right_results", "remembers_nothing", "refuses_an_impossible_launch"} <= set(failed)


def test_a_name_without_a_device_lists_those_there_are() -> None:
    with pytest.raises(UsageError, match="no device 'gpu'") as caught:
        device_class("gpu")
    assert "virtual, opencl, cuda, hip" in str(caught.value)
    with pytest.raises(UsageError, match="no device 'os:nothing'"):
        device_class("os:nothing")
    assert device_class("warpsight.devices.virtual:VirtualGpu") is VirtualGpu and "virtual" in device_names()


@pytest.fixture(scope="module")
def plugged(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a process that has the example plugin installed, in a folder of its own."""
    folder, copy = tmp_path_factory.mktemp("plugin"), tmp_path_factory.mktemp("source") / "plugin"
    shutil.copytree(ROOT / "examples" / "plugin", copy)  # a build writes beside the sources
    words = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--target"]
    subprocess.run([*words, str(folder), str(copy)], check=True, timeout=120)
    return {**os.environ, "PYTHONPATH": str(folder)}


def asked(environment: dict[str, str], *words: str) -> Any:
    run = subprocess.run(
        [sys.executable, "-m", "warpsight.cli.app", *words, "--json"],
        env=environment, cwd=ROOT, capture_output=True, text=True, timeout=250,
    )  # fmt: skip
    assert run.stdout, run.stderr
    return json.loads(run.stdout)


def test_a_device_of_another_package_is_used_by_its_name(plugged: dict[str, str], tmp_path: Path) -> None:
    suite = [sys.executable, "-m", "warpsight.devices.conformance", "interpreter"]
    subprocess.run(suite, env=plugged, check=True, timeout=200)
    check = asked(plugged, "check", "vector_add", "--device", "interpreter", "--workload", "small")
    assert check["verdict"] == "right" and check["device"] == "interpreter"
    assert (
        asked(plugged, "profile", "vector_add", "--device", "interpreter", "--workload", "small")["source"]
        == "measured"
    )
    words = ("--device", "interpreter", "--candidate", "tasks/vector_add/kernel.cu", "--workload", "small")
    judged = asked(plugged, "compare", "vector_add", *words)
    assert judged["timing"]["source"] == "measured" and judged["timing"]["decision"] in ("SAME", "AMBIGUOUS", "SLOWER")


def test_a_finding_and_a_rewrite_of_another_package_are_used_like_ours(plugged: dict[str, str], tmp_path: Path) -> None:
    """The rewrite is judged by the gate: it is right, and makes this kernel no faster."""
    shown = asked(plugged, "profile", "matmul_naive", "--blocks", "8")
    assert "thirsty" in [found["name"] for found in shown["findings"]]
    out = tmp_path / "new.cu"
    tried = asked(plugged, "rewrite", "transpose", "aliasing", "--out", str(out))["causes"]["aliasing"]["tried"]
    assert [one["rewrite"] for one in tried] == ["restrict pointers"] and tried[0]["outcome"]
    assert asked(plugged, "doctor")["fine"]
