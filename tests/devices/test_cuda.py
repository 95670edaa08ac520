"""The CUDA and HIP devices where no GPU is: clear errors, pure decisions, and the worker's protocol on a stand-in."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from warpsight.cli.app import main
from warpsight.devices import cuda_state
from warpsight.devices.cuda import CudaDevice, replay_request
from warpsight.devices.cuda_lane import LEFT_OUT, GpuLane, cuda_request, sticky_fault
from warpsight.devices.cuda_state import (
    GpuHere,
    GpuState,
    choose,
    disturbances,
    gpus_here,
    lock_gpu,
    runs,
    visible,
)
from warpsight.devices.device import TimedDevice, Value
from warpsight.devices.hip import HipDevice
from warpsight.devices.opencl_lane import LaneSettings
from warpsight.devices.virtual import VirtualGpu
from warpsight.errors import DeviceError, GpuPackageMissing, ToolMissing, UsageError
from warpsight.gate import copy_floor
from warpsight.jail import wire
from warpsight.lens.profilers import cupti
from warpsight.nouns import Build
from warpsight.tasks import LaunchSize
from warpsight.toolchain.compile import compile_cuda

STAND_IN = Path(__file__).with_name("cuda_stand_in.py")
SOURCE = 'extern "C" __global__ void twice(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= 2; }'
SIZE = LaunchSize(grid=(1, 1, 1), block=(32, 1, 1), shared_bytes=0)
A = GpuHere(0, "11111111-aaaa", "NVIDIA A100-SXM4-40GB", (8, 0), processes=(4242,))
B = GpuHere(1, "22222222-bbbb", "NVIDIA L4", (8, 9))
QUIET = GpuState(1410, 1215, 40, ("gpu_idle",), ())


def twice() -> Build:
    return compile_cuda(SOURCE, entry="twice")


def values(count: int = 8) -> list[Value]:
    return [
        Value("x", np.arange(count, dtype=np.float32), writable=True),
        Value("n", np.array(count, np.int32), writable=False),
    ]


def lane(
    kernel: str,
    watch: Callable[[], Callable[[], tuple[str, ...]]] = lambda: tuple,
    walls: set[str] | None = None,
    **limits: float,
) -> GpuLane:
    build = twice()
    return GpuLane(
        build,
        kernel,
        LaneSettings(threads=1, deadline_s=limits.get("deadline_s", 30.0)),
        worker=STAND_IN,
        words=[],
        request=cuda_request(build, kernel, fits=True),
        watch=watch,
        walls=set() if walls is None else walls,
    )


# -------------------------------------------------------------------------------------------------------- without a GPU


def has_gpu() -> bool:
    try:
        return bool(gpus_here())
    except (ToolMissing, DeviceError):
        return False


@pytest.mark.skipif(has_gpu(), reason="there is a GPU")
def test_without_a_driver_the_device_says_so() -> None:
    device: TimedDevice = CudaDevice()
    missing = importlib.util.find_spec("cuda") is None or importlib.util.find_spec("cuda.core") is None
    with pytest.raises(ToolMissing if missing else DeviceError, match=r"cuda-core|no NVIDIA driver answers") as problem:
        device.execute(twice(), "twice", values(), SIZE, check=False)
    assert problem.value.hint and ("pip install" in problem.value.hint or "driver" in problem.value.hint)


@pytest.mark.skipif(has_gpu(), reason="there is a GPU")
@pytest.mark.parametrize("words", [("check",), ("time",), ("compare", "--candidate", "saxpy/kernel.cu")])
def test_verbs_say_so_too(words: tuple[str, ...], capfd: pytest.CaptureFixture[str]) -> None:
    tasks = Path(__file__).parents[2] / "tasks"
    given = [str(tasks / word) if "/" in word else word for word in words[1:]]
    with pytest.raises(SystemExit) as end:
        main((words[0], str(tasks / "saxpy"), *given, "--device", "cuda"))
    assert end.value.code in (3, 5)
    shown = capfd.readouterr().err
    assert "cuda-core" in shown or "no NVIDIA driver answers" in shown


def test_kernels_for_other_devices_are_refused() -> None:
    failed = compile_cuda("not a kernel", entry="twice")
    for device in (CudaDevice(), HipDevice()):
        with pytest.raises(UsageError):
            device.open_lane(failed, "twice")


# ------------------------------------------------------------------------------------------------------- pure decisions


def test_choice_of_a_gpu() -> None:
    assert choose([A, B]) is B  # nobody else uses it
    assert choose([A]) is A
    for wanted in ("1", "L4", "NVIDIA L4", "22222222-bbbb", "GPU-22222222-bbbb", "GPU-2222"):
        assert choose([A, B], wanted) is B
    with pytest.raises(UsageError, match="found 'H100'") as problem:
        choose([A, B], "H100")
    assert "GPU-11111111-aaaa" in (problem.value.hint or "")
    with pytest.raises(DeviceError):
        choose([])


@pytest.mark.parametrize(
    ("setting", "left"),
    [(None, [A, B]), ("1,0", [B, A]), ("GPU-22222222", [B]), ("", []), ("1,7,0", [B]), ("-1", [])],
)
def test_cuda_visible_devices(setting: str | None, left: list[GpuHere]) -> None:
    assert visible([A, B], setting, "PCI_BUS_ID") == tuple(left)


@pytest.mark.parametrize("order", [None, "FASTEST_FIRST"])
def test_a_number_that_may_mean_another_gpu_is_refused(order: str | None) -> None:
    """NVML counts along the bus, CUDA from the fastest."""
    with pytest.raises(UsageError, match="found '1,0'") as problem:
        visible([A, B], "1,0", order)
    assert "UUID" in (problem.value.hint or "") and "CUDA_DEVICE_ORDER=PCI_BUS_ID" in (problem.value.hint or "")
    assert visible([A], "0", order) == (A,) and visible([A, B], "GPU-2222,GPU-1111", order) == (B, A)
    assert visible([A, B], None, order) == (A, B) and visible([A, B], "-1", order) == ()


def test_bindings_without_nvml_are_not_a_missing_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_state, "import_module", lambda name: SimpleNamespace(system=SimpleNamespace()))
    with pytest.raises(GpuPackageMissing, match="cuda-bindings with NVML") as problem:
        gpus_here()
    assert "upgrade cuda-bindings" in (problem.value.hint or "")


def test_which_machine_code_runs_where() -> None:
    assert runs("sm_80", (8, 0)) and runs("sm_80", (8, 9)) and runs("sm_90a", (9, 0)) and runs("sm_100", (10, 3))
    assert not runs("sm_89", (8, 0)) and not runs("sm_80", (9, 0)) and not runs("sm_90a", (9, 1))


def test_disturbances() -> None:
    assert disturbances(QUIET, QUIET, own=()) == ()
    hot = GpuState(1200, 1215, 90, ("hw_thermal_slowdown", "applications_clocks_setting"), ())
    told = " ".join(disturbances(QUIET, hot, own=()))
    assert "hw_thermal_slowdown" in told and "fell from 1410 to 1200" in told and "applications" not in told
    ours, both = GpuState(1410, 1215, 40, (), (7,)), GpuState(1410, 1215, 40, (), (7, 9))
    assert disturbances(QUIET, ours, own={7}) == () and "(9)" in disturbances(ours, both, own={7})[0]
    # numbers of the host, seen from a container: only how many can be told
    assert disturbances(QUIET, ours, own={300}) == () and "1 other" in disturbances(ours, both, own={300})[0]
    silent = GpuState(None, None, None, (), ())
    assert disturbances(silent, silent, own=()) == ()


def test_one_process_at_a_time() -> None:
    held = lock_gpu("test-uuid")
    try:
        code = "from warpsight.devices.cuda_state import lock_gpu; lock_gpu('test-uuid', 0.1)"
        other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    finally:
        held.release()
    assert other.returncode != 0 and "another Warpsight process uses it" in other.stderr
    lock_gpu("test-uuid", 1).release()


@pytest.mark.parametrize(
    ("log", "kind"),
    [
        ("noise\nCUDA: CUDA_ERROR_ILLEGAL_ADDRESS: bad", "out_of_bounds"),
        ("CUDA: CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned"),
        ("CUDA: CUDA_ERROR_ASSERT: device-side assert", "assert_failed"),
        ("HIP: hipErrorIllegalAddress", "out_of_bounds"),
        ("HIP: hipErrorLaunchFailure", "crash"),
        ("CUDA: CUDA_ERROR_SOMETHING_NEW", "crash"),
    ],
)
def test_sticky_errors_become_faults(log: str, kind: str) -> None:
    fault = sticky_fault(log)
    assert fault is not None and fault.kind == kind


def test_a_log_without_an_error_names_none() -> None:
    assert sticky_fault("printf of a kernel: CUDA_ERROR_ASSERT") is None


def test_ptx_goes_where_the_machine_code_does_not_run() -> None:
    build = twice()
    assert cuda_request(build, "twice", fits=True)[1] == [build.cubin]
    header, (code,) = cuda_request(build, "twice", fits=False)
    assert header["kind"] == "ptx" and b".version" in code and code.endswith(b"\0")


@pytest.mark.parametrize("words", [1, 4095, 4096, 10_001])
def test_the_copy_that_sets_the_roof_copies(words: int) -> None:
    """Its launch is the one of the gate; here on the virtual GPU, with every check."""
    given = np.arange(words, dtype=np.uint32)
    arguments = [
        Value("from", given, writable=False),
        Value("to", np.zeros(words, np.uint32), writable=True, initialised=False),
        Value("words", np.array(words, np.int32), writable=False),
    ]
    size = LaunchSize((-(-words // (copy_floor.BLOCK * copy_floor.WORDS_PER_ITEM)), 1, 1), (copy_floor.BLOCK, 1, 1), 0)
    build = compile_cuda(copy_floor.CUDA_COPY, entry=copy_floor.ENTRY)
    done = VirtualGpu().execute(build, copy_floor.ENTRY, arguments, size, check=True)
    assert not done.faults and np.array_equal(done.arrays["to"], given)


def test_the_request_for_profilers_holds_the_launch() -> None:
    told = cuda_request(twice(), "twice", fits=True)
    header, blobs = wire.unpack(replay_request(told, values(), SIZE, launches=3))
    assert header["launches"] == 3 and header["load"]["local"] == [32, 1, 1]
    assert header["load"]["values"] == [{"initialised": True}, {"dtype": "<i4"}]
    assert np.array_equal(np.frombuffer(blobs[1], np.float32), np.arange(8, dtype=np.float32))


# ---------------------------------------------------------------------------- the worker, on a stand-in for the driver


def test_a_launch_and_its_walls() -> None:
    walls: set[str] = set()
    with_lane = lane("twice", walls=walls)
    given = values()
    call = with_lane.call(given, SIZE)
    assert not call.faults and np.array_equal(call.arrays["x"], 2 * np.arange(8, dtype=np.float32))
    assert np.array_equal(given[0].array, np.arange(8, dtype=np.float32))
    assert 0 <= call.device_us < call.wall_us < call.total_us and set(LEFT_OUT) <= walls
    assert "network namespace" not in walls
    with_lane.close()
    assert with_lane.call(given, SIZE).faults[0].kind == "closed"


def test_a_lane_that_is_started_early_has_its_own_worker() -> None:
    with_lane = lane("twice")
    with_lane.start()
    assert not with_lane.call(values(), SIZE).faults
    with_lane.close()


def test_static_and_dynamic_shared_memory_count_together() -> None:
    """40 KB are below the default limit of 48 KB, and with the kernel's own 16 KB above it."""
    with_lane = lane("tiled")
    ran = with_lane.run(values(), LaunchSize(grid=(1, 1, 1), block=(32, 1, 1), shared_bytes=40 << 10))
    with_lane.close()
    assert not ran.refused and not ran.faults


def test_the_fill_before_a_launch_is_long_enough_to_hide_it() -> None:
    """However small the cache: the stand-in's has 4 MB."""
    with_lane = lane("filled")
    filled = with_lane.call(values(), SIZE).arrays["x"][0]
    with_lane.close()
    assert filled >= 256 << 20


def test_more_than_one_message_holds_is_told_before_it_is_sent() -> None:
    large = Value("x", np.broadcast_to(np.float32(0), (1 << 30,)), writable=True)
    with_lane = lane("twice")
    with pytest.raises(UsageError, match="at most 4278190079 bytes together") as problem:
        with_lane.call([large, values()[1]], SIZE)
    assert problem.value.hint and not with_lane.call(values(), SIZE).faults
    with_lane.close()
    code = (
        "import worker_io\nclass Large(bytes):\n    def __len__(self): return 1 << 32\n"
        "worker_io.write_frame(Large(), 1)"
    )
    jail = Path(cuda_state.__file__).parents[1] / "jail"
    ran = subprocess.run([sys.executable, "-c", code], cwd=jail, capture_output=True, text=True, timeout=60)
    assert "expected an answer of at most 4294967295 bytes" in ran.stderr


def test_every_call_is_at_another_address() -> None:
    with_lane = lane("where")
    seen = [float(with_lane.call(values(), SIZE).arrays["x"][0]) for _ in range(5)]
    with_lane.close()
    assert seen == [1, 2, 3, 4, 5]


def test_the_program_for_profilers_launches(tmp_path: Path) -> None:
    """Each array in an allocation of its own; a launch that fails ends the program with a status."""
    request = tmp_path / "k.launch"
    for entry, status in (("twice", 0), ("illegal", 1)):
        told = cuda_request(twice(), entry, fits=True)
        request.write_bytes(replay_request(told, values(), SIZE, launches=3))
        argv = [sys.executable, "-I", str(STAND_IN), "--replay", str(request)]
        run = subprocess.run(argv, capture_output=True, text=True, timeout=60)
        assert run.returncode == status, run.stderr
        assert ("3 launches" in run.stdout) if not status else ("CUDA_ERROR_ILLEGAL_ADDRESS" in run.stderr)


def test_the_tracer_does_not_take_our_files_for_packages(tmp_path: Path) -> None:
    """Beside the workers lies a `cuda.py`, which is not NVIDIA's package."""
    beside, packages = tmp_path / "devices", tmp_path / "packages"
    for folder in (beside, packages / "cupti", packages / "cuda"):
        folder.mkdir(parents=True)
    (beside / "cuda.py").write_text("raise SystemExit('the file beside the worker was taken')\n")
    (packages / "cuda" / "__init__.py").write_text("name = 'the package'\n")
    (packages / "cupti" / "__init__.py").write_text(
        "from types import SimpleNamespace\nno = lambda *_: None\n"
        "cupti = SimpleNamespace(ActivityKind=SimpleNamespace(CONCURRENT_KERNEL=10), activity_enable=no,\n"
        "    activity_register_callbacks=no, activity_flush_all=no, activity_disable=no)\n"
    )
    program = beside / "cuda_worker.py"
    program.write_text("import cuda\nprint(cuda.name)\n")
    words = cupti.argv([sys.executable, str(program)], records=tmp_path / "records")
    env = {"PYTHONPATH": str(packages), "PATH": os.environ["PATH"]}
    ran = subprocess.run(words, capture_output=True, text=True, timeout=60, env=env)
    assert ran.returncode == 0 and ran.stdout == "the package\n", ran.stderr


def test_an_overrun_is_seen() -> None:
    with_lane = lane("overrun")
    (fault,) = with_lane.call(values(), SIZE).faults
    with_lane.close()
    assert fault.kind == "out_of_bounds" and "after x" in fault.message


def test_a_sticky_error_ends_the_worker() -> None:
    with_lane = lane("illegal")
    for _ in range(2):
        (fault,) = with_lane.call(values(), SIZE).faults
        assert fault.kind == "out_of_bounds" and "CUDA_ERROR_ILLEGAL_ADDRESS" in fault.message
    assert with_lane.ended and with_lane.worker_pid is None


def test_an_endless_kernel_is_a_deadline() -> None:
    with_lane = lane("endless", deadline_s=2.0)
    (fault,) = with_lane.call(values(), SIZE).faults
    assert fault.kind == "deadline" and with_lane.ended


def test_a_lost_gpu_is_no_fault_of_the_kernel() -> None:
    with pytest.raises(DeviceError, match="the GPU is lost"):
        lane("lost").call(values(), SIZE)


def test_what_a_kernel_prints_does_not_lose_the_gpu() -> None:
    (fault,) = lane("chatty").call(values(), SIZE).faults
    assert fault.kind == "assert_failed" and "CUDA_ERROR_ASSERT" in fault.message


def test_a_launch_that_cannot_start_is_refused() -> None:
    with_lane = lane("large")
    assert "LAUNCH_OUT_OF_RESOURCES" in with_lane.run(values(), SIZE).refused and not with_lane.ended
    with_lane.close()
    few = lane("twice")
    assert "parameters have [8, 4] bytes" in few.run(values()[:1], SIZE).refused
    few.close()


def test_a_disturbed_launch_is_done_again() -> None:
    answers = iter([("hot",), (), ("hot",), ("hot",), ("hot",)])
    with_lane = lane("twice", watch=lambda: lambda: next(answers))
    assert not with_lane.call(values(), SIZE).faults and with_lane.disturbed == ["hot"]
    with pytest.raises(DeviceError, match="3 launches in a row were disturbed: hot"):
        with_lane.call(values(), SIZE)
    assert not with_lane.run_untimed(values(), SIZE).faults  # and nobody asks for a fourth answer
    with_lane.close()


# ----------------------------------------------------------------------------------------- the vendors' own packages


def test_cuda_core_has_the_names_we_use() -> None:
    core = pytest.importorskip("cuda.core")
    driver = pytest.importorskip("cuda.bindings.driver")
    for owner, names in (
        (core.Device, "set_current create_stream allocate sync properties device_id"),
        (core.Stream, "record sync handle"),
        (core.ObjectCode, "from_cubin from_ptx get_kernel"),
        (core.Kernel, "arguments_info handle"),
        (core.Buffer, "handle size close"),
        (core.Event, "sync __sub__"),
        (core.system.Device, "get_all_devices get_device_count get_clock temperature current_clock_event_reasons"),
        (core.system.Device, "compute_running_processes uuid_without_prefix cuda_compute_capability index name"),
        (driver, "cuCtxResetPersistingL2Cache cuMemsetD8Async cuMemcpyHtoD cuMemcpyDtoH cuMemGetInfo"),
        (driver, "cuKernelSetAttribute CUfunction_attribute"),
    ):
        for name in names.split():
            assert hasattr(owner, name), f"{owner} has no {name}"
    core.EventOptions(timing_enabled=True)
