"""The HIP device where no GPU is: what it says it lacks, and its worker's protocol on a stand-in for AMD's package."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from warpsight.cli.app import main
from warpsight.devices import cuda_lane, hip
from warpsight.devices.cuda_lane import LEFT_OUT
from warpsight.devices.device import TimedDevice, Value, caveats, missing_walls
from warpsight.devices.hip import HipDevice
from warpsight.errors import DeviceError, ToolMissing, UsageError
from warpsight.gate.evaluate import compare_on
from warpsight.gate.kernel import build_for, kernel_on
from warpsight.gate.time_alone import time_measured
from warpsight.nouns import Build, Task
from warpsight.tasks import LaunchSize, read_candidate, read_task
from warpsight.toolchain.compile import compile_cuda

ROOT = Path(__file__).parents[2]
STAND_IN = Path(__file__).with_name("hip_stand_in.py")
SOURCE = 'extern "C" __global__ void twice(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= 2; }'
SIZE = LaunchSize(grid=(1, 1, 1), block=(32, 1, 1), shared_bytes=0)
HERE = importlib.util.find_spec("hip") is not None


def twice() -> Build:
    return compile_cuda(SOURCE, entry="twice")


def values(count: int = 8) -> list[Value]:
    return [
        Value("x", np.arange(count, dtype=np.float32), writable=True),
        Value("n", np.array(count, np.int32), writable=False),
    ]


def twice_task(folder: Path) -> Task:
    """A task whose kernel does what the stand-in's `twice` does."""
    (folder / "kernel.cu").write_text(f"// launch: grid=(1) block=(32) shared=0\n{SOURCE}\n")
    (folder / "reference.py").write_text("def reference(x):\n    return 2 * x\n")
    (folder / "task.toml").write_text(
        """name = "twice"
description = "x = 2 x"
kernel = "kernel.cu"
entry = "twice"
[target]
gpu = "a100"
arch = "sm_80"
[axes]
N = { min = 1, max = 32 }
[[arguments]]
name = "x"
dtype = "float32"
shape = ["N"]
role = "inout"
[[arguments]]
name = "n"
dtype = "int32"
role = "scalar"
value = "N"
[tolerance]
rtol = 1e-6
atol = 1e-6
[[workloads]]
name = "some"
axes = { N = 32 }
profile = true
[[workloads]]
name = "few"
axes = { N = 5 }
hidden = true
"""
    )
    return read_task(folder)


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> HipDevice:
    """A device whose workers run on the stand-in; the package is taken to be installed."""
    monkeypatch.setattr(hip, "WORKER", STAND_IN)
    monkeypatch.delenv("ROCR_VISIBLE_DEVICES", raising=False)
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object() if name == "hip" else real(name))
    made = HipDevice(deadline_seconds=30)
    made.learn(SOURCE)
    return made


@pytest.mark.skipif(HERE, reason="hip-python is installed")
@pytest.mark.parametrize("words", [("check",), ("time",), ("tune",), ("optimize", "--model", "scripted:demo")])
def test_without_the_package_verbs_say_so(
    words: tuple[str, ...], capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARPSIGHT_DATA", str(tmp_path))
    with pytest.raises(SystemExit) as end:
        main((words[0], str(ROOT / "tasks" / "saxpy"), *words[1:], "--device", "hip"))
    shown = capfd.readouterr().err
    assert end.value.code == 3 and "hip-python" in shown and "warpsight[hip]" in shown


def test_a_text_must_come_first() -> None:
    with HipDevice() as bare, pytest.raises(UsageError, match="expected the kernel's text"):
        bare.open_lane(twice(), "twice")


def test_the_gate_brings_the_text(device: HipDevice) -> None:
    """So that a lane can be opened for a baseline that was never executed."""
    task = read_task(ROOT / "tasks" / "saxpy")
    kernel = read_candidate(task.kernel, task, task.kernel_file)
    build = build_for(task, kernel, device)
    device.open_lane(build, task.entry)
    device.close()


def test_results_name_what_was_missing(device: HipDevice) -> None:
    timed: TimedDevice = device
    assert missing_walls(timed) == LEFT_OUT and any("seccomp" in line for line in caveats(timed))
    assert any("races" in line for line in caveats(timed))


def test_a_wall_that_a_worker_really_lacked_is_named(device: HipDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_lane, "LEFT_OUT", (*LEFT_OUT, "network namespace"))
    device.execute(twice(), "twice", values(), SIZE, check=False, source_text=SOURCE)
    device.close()
    assert "network namespace" in missing_walls(device) and set(LEFT_OUT) <= set(missing_walls(device))
    assert any("network namespace" in line for line in caveats(device))


@pytest.mark.parametrize(
    ("setting", "wanted", "used"),
    [(None, None, "0"), ("3", None, "3"), ("GPU-1f,2", None, "GPU-1f"), ("", None, ""), ("3", "1", "1")],
)
def test_the_gpu_that_the_user_set(
    setting: str | None, wanted: str | None, used: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ROCR_VISIBLE_DEVICES", raising=False)
    if setting is not None:
        monkeypatch.setenv("ROCR_VISIBLE_DEVICES", setting)
    assert HipDevice(gpu=wanted).gpu == used


def test_a_measured_time_names_them_too(device: HipDevice, tmp_path: Path) -> None:
    """Two kernels of the stand-in's one task, timed and compared by the gate as on a GPU."""
    task = twice_task(tmp_path)
    kernel = read_candidate(task.kernel, task, task.kernel_file)
    workload = task.workloads[0]
    ready = kernel_on(kernel, build_for(task, kernel, device), workload)
    alone = time_measured(task, workload, ready, device, seed=1, calls=5, budget_s=0.1)
    assert alone.source == "measured" and alone.device == "hip" and alone.samples_us
    assert alone.notes == caveats(device)
    found, _ = compare_on(task, workload, ready, ready, device, seed=1)
    assert found.source == "measured" and set(caveats(device)) <= set(found.notes) and found.decision != "FASTER"
    device.close()


def test_the_architecture_as_hip_python_told_it_before(device: HipDevice) -> None:
    device.gpu = "old"
    assert not device.execute(twice(), "twice", values(), SIZE, check=False, source_text=SOURCE).faults
    device.close()


def test_launches_in_one_worker(device: HipDevice) -> None:
    for _ in range(2):
        ran = device.execute(twice(), "twice", values(), SIZE, check=True, source_text=SOURCE)
        assert not ran.faults and np.array_equal(ran.arrays["x"], 2 * np.arange(8, dtype=np.float32))
    profile = device.profile(twice(), "twice", values(), SIZE, source_text=SOURCE)
    assert profile.source == "measured" and profile.counters["duration_us"] >= 0
    device.close()


@pytest.mark.parametrize(("entry", "kind"), [("illegal", "out_of_bounds")])
def test_a_sticky_error_is_a_fault(device: HipDevice, entry: str, kind: str) -> None:
    (fault,) = device.execute(twice(), entry, values(), SIZE, check=False, source_text=SOURCE).faults
    assert fault.kind == kind and "hipErrorIllegalAddress" in fault.message
    device.close()


def test_a_launch_that_cannot_start_is_refused(device: HipDevice) -> None:
    assert "OutOfMemory" in device.execute(twice(), "large", values(), SIZE, check=False, source_text=SOURCE).refused
    device.close()


def test_a_text_that_hip_does_not_take_is_told(device: HipDevice) -> None:
    text = SOURCE + " // not a kernel"
    with pytest.raises(DeviceError, match="HIPRTC_ERROR_COMPILATION: line 1: x"):
        device.execute(compile_cuda(text, entry="twice"), "twice", values(), SIZE, check=False, source_text=text)
    device.close()


def test_the_program_for_profilers(device: HipDevice, tmp_path: Path) -> None:
    argv = device.replay_argv(twice(), "twice", values(), SIZE, folder=tmp_path, launches=3)
    assert argv[0] == sys.executable and argv[-2] == "--replay"
    run = subprocess.run(argv, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0 and "3 launches" in run.stdout, run.stderr


def test_hip_has_the_names_we_use() -> None:
    found = pytest.importorskip("hip", exc_type=ImportError)
    for name in [
        "hipGetDeviceProperties",
        "hipModuleLoadData",
        "hipModuleLaunchKernel",
        "hipEventElapsedTime",
        "hipMemcpyKind",
    ]:
        assert hasattr(found.hip, name)
    for name in ["hiprtcCreateProgram", "hiprtcCompileProgram", "hiprtcGetCode", "hiprtcGetProgramLog"]:
        assert hasattr(found.hiprtc, name)


def test_missing_package_has_its_own_error() -> None:
    if HERE:
        pytest.skip("hip-python is installed")
    with HipDevice() as bare, pytest.raises(ToolMissing, match="hip-python"):
        bare.execute(twice(), "twice", values(), SIZE, check=False, source_text=SOURCE)
