"""The CUDA device as a whole, on stand-ins for NVML and the driver: architecture, sanitizer, ladder, missing walls."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from tests.devices.test_cuda import SIZE, SOURCE, STAND_IN, has_gpu, twice, values
from tests.devices.triton_kernels.test_gpu_worker import build as triton_build
from tests.lens.profilers import recorded

from warpsight.cli.app import main
from warpsight.devices import cuda, cuda_lane, cuda_state
from warpsight.devices.cuda import OWN_LAUNCH, CheckerResult, CudaDevice
from warpsight.devices.cuda_lane import LEFT_OUT
from warpsight.devices.cuda_state import arch_for, runs
from warpsight.devices.device import caveats, missing_walls
from warpsight.devices.virtual import VirtualGpu
from warpsight.errors import DeviceError, UsageError
from warpsight.gate import rerun
from warpsight.gate.certificate import read_certificate
from warpsight.gate.evaluate import evaluate
from warpsight.gate.kernel import build_for
from warpsight.gate.ledger import Ledger
from warpsight.jail import wire
from warpsight.lens.profilers import compute_sanitizer, ncu, nsys, nvprof
from warpsight.lens.profilers.on_gpu import best_profile, look_for_faults
from warpsight.tasks import read_candidate, read_task
from warpsight.vgpu.gpus import find_gpu

TASKS = Path(__file__).parents[2] / "tasks"


class Nvml:
    """A stand-in for NVIDIA's management library: one quiet L4."""

    def __init__(self, uuid: str = "GPU-22222222-bbbb") -> None:
        self.index, self.uuid_without_prefix, self.name = 0, uuid.removeprefix("GPU-"), "NVIDIA L4"
        self.cuda_compute_capability, self.compute_running_processes = (8, 9), ()
        self.current_clock_event_reasons = ("gpu_idle",)
        self.temperature = SimpleNamespace(get_sensor=lambda: 40)

    @staticmethod
    def get_all_devices() -> list[Nvml]:
        return [Nvml()]

    def get_clock(self, which: str) -> SimpleNamespace:
        return SimpleNamespace(get_current_mhz=lambda: 1410)


@pytest.fixture
def on_stand_ins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """NVML and the driver are stand-ins; the folder is the only one in PATH."""
    monkeypatch.setattr(cuda_state, "_nvml", lambda: SimpleNamespace(Device=Nvml))
    monkeypatch.setattr(cuda, "WORKER", STAND_IN)
    monkeypatch.setattr(compute_sanitizer, "PLACES", ())
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return tmp_path


def test_the_architecture_to_compile_for(on_stand_ins: Path) -> None:
    assert arch_for((8, 0)) == "sm_80" and arch_for((9, 0)) == "sm_90" and arch_for((12, 1)) == "sm_121"
    assert arch_for((8, 5)) == "sm_80" and arch_for((13, 0)) == "sm_121"  # the nearest before: the driver takes its PTX
    with pytest.raises(DeviceError, match=r"7\.5 or later, this one is 7\.0"):
        arch_for((7, 0))
    task = read_task(TASKS / "saxpy")
    with CudaDevice() as device:
        build = build_for(task, read_candidate(task.kernel, task, task.kernel_file), device)
    assert build.ok and build.gpu_arch == "sm_89" and runs(build.gpu_arch, (8, 9))


def test_without_a_sanitizer_that_is_told(on_stand_ins: Path) -> None:
    with CudaDevice(checker=look_for_faults) as device:
        ran = device.execute(twice(), "twice", values(), SIZE, check=True, source_text=SOURCE)
        told = "\n".join(caveats(device))
    assert not ran.faults and np.array_equal(ran.arrays["x"], 2 * np.arange(8, dtype=np.float32))
    assert "races in shared memory were not looked for" in told and "compute-sanitizer is not installed" in told
    assert "seccomp" in told
    with CudaDevice() as bare:
        bare.execute(twice(), "twice", values(), SIZE, check=True, source_text=SOURCE)
        assert any("no checker was given" in line for line in caveats(bare))


def test_what_the_sanitizer_sees_is_a_fault_of_the_kernel(on_stand_ins: Path) -> None:
    """The tool really starts our program and answers as in NVIDIA's manual. Each launch size is looked at once."""
    tool, calls = on_stand_ins / "compute-sanitizer", on_stand_ins / "calls"
    (on_stand_ins / "memcheck").write_text(recorded.MEMCHECK)
    tool.write_text(
        f"#!{sys.executable}\nimport pathlib, subprocess, sys\nargs = sys.argv[1:]\n"
        "if args == ['--version']:\n    print('Version 2026.1.0')\n    sys.exit(0)\n"
        f"check = args[args.index('--tool') + 1]\nwith open({str(calls)!r}, 'a') as log: log.write(check + chr(10))\n"
        f"program = args[args.index({sys.executable!r}):]\n"
        "ran = subprocess.run(program, capture_output=True, text=True)\n"
        "assert '1 launches' in ran.stdout, ran.stderr\n"
        f"text = pathlib.Path({str(on_stand_ins)!r}) / check\n"
        "print(text.read_text() if text.exists() else '========= ERROR SUMMARY: 0 errors')\n"
    )
    tool.chmod(0o755)
    with CudaDevice(checker=look_for_faults) as device:
        first = device.execute(twice(), "twice", values(), SIZE, check=True, source_text=SOURCE)
        again = device.execute(twice(), "twice", values(), SIZE, check=True, source_text=SOURCE)
        unasked = device.execute(twice(), "twice", values(), SIZE, check=False, source_text=SOURCE)
        told = caveats(device)
    assert [fault.kind for fault in first.faults] == ["misaligned", "out_of_bounds"]
    assert again.faults == first.faults  # seen once, it is a fault of every launch of that size
    assert not unasked.faults and calls.read_text().split() == list(compute_sanitizer.CHECKS)
    assert not any("not looked for" in line for line in told)


def test_a_kernel_built_otherwise_is_looked_at_again(on_stand_ins: Path) -> None:
    seen: list[str] = []
    with CudaDevice(
        checker=lambda program, entry, text: CheckerResult(not_looked=(str(seen.append(entry)),))
    ) as device:
        for options in ((), ("-DTILE=8",), ()):
            build = twice().model_copy(update={"options": options})
            device.execute(build, "twice", values(), SIZE, check=True, source_text=SOURCE)
    assert len(seen) == 2


def test_results_need_no_quiet_gpu_and_times_do(on_stand_ins: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Capped(Nvml):
        current_clock_event_reasons = property(lambda _: ("sw_power_cap",), lambda *_: None)

    monkeypatch.setattr(cuda_state, "_nvml", lambda: SimpleNamespace(Device=Capped))
    with CudaDevice() as device:
        ran = device.execute(twice(), "twice", values(), SIZE, check=True, source_text=SOURCE)
        assert not ran.faults and np.array_equal(ran.arrays["x"], 2 * np.arange(8, dtype=np.float32))
        for timed in (
            lambda: device.open_lane(twice(), "twice").call(values(), SIZE),
            lambda: device.profile(twice(), "twice", values(), SIZE, source_text=SOURCE),
        ):
            with pytest.raises(DeviceError, match="sw_power_cap"):
                timed()


def test_a_wall_that_a_worker_really_lacked_is_named(on_stand_ins: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_lane, "LEFT_OUT", (*LEFT_OUT, "network namespace"))
    with CudaDevice() as device:
        assert missing_walls(device) == LEFT_OUT
        device.execute(twice(), "twice", values(), SIZE, check=False, source_text=SOURCE)
        profile = device.profile(twice(), "twice", values(), SIZE, source_text=SOURCE)
    assert "network namespace" in missing_walls(device) and set(LEFT_OUT) <= set(missing_walls(device))
    for told in (caveats(device), profile.notes):
        assert any("network namespace" in line for line in told)


def test_profilers_never_run_the_candidate_s_python(on_stand_ins: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for unsafe in (False, True):
        monkeypatch.setattr(cuda, "told_unsafe", lambda unsafe=unsafe: unsafe)
        with CudaDevice() as device:
            argv = device.replay_argv(triton_build(), "scale", values(), SIZE, folder=on_stand_ins)
            header, blobs = wire.unpack(Path(argv[-1]).read_bytes())
            assert argv[2] == str(STAND_IN) and header["open"]["kind"] == "cubin" and len(blobs) == 3
            assert (OWN_LAUNCH in caveats(device)) == unsafe, "then another launch was timed, and results say so"


def test_the_ladder_ends_with_the_events(on_stand_ins: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (ncu, nsys, nvprof):
        monkeypatch.setattr(module, "PLACES", ())
    monkeypatch.setenv("WARPSIGHT_CACHE", str(on_stand_ins / "cache"))
    with CudaDevice() as device:
        found = best_profile(device, twice(), "twice", values(), SIZE, source_text=SOURCE)
    assert found.notes[0].startswith("measured by the device's events")
    assert any("not measured by ncu" in note for note in found.notes) and "dram_bytes" in found.not_measured


@pytest.mark.usefixtures("exact_model")
def test_missing_walls_stand_in_the_result_and_the_certificate(tmp_path: Path) -> None:
    class Open(VirtualGpu):
        missing_walls = ("seccomp",)
        caveats = ("a wall was missing",)

    task = read_task(TASKS / "transpose_tiled")
    kernel = read_candidate(task.kernel, task, task.kernel_file)
    padded = read_candidate((TASKS / "transpose_tiled/faster/padded.cu").read_text(), task, "padded.cu")
    ledger = Ledger(tmp_path)
    found = evaluate(task, padded, kernel, Open(gpu=find_gpu("a100")), ledger=ledger)
    assert found.unsafe and "a wall was missing" in found.check.warnings and found.certificate is not None
    stated, *_ = read_certificate((ledger.certificates / f"{found.certificate}.json").read_bytes())
    assert stated.unsafe and "seccomp" in stated.missing_protections


@pytest.mark.skipif(has_gpu(), reason="there is a GPU")
@pytest.mark.parametrize("kind", ["cuda", "hip"])
def test_a_certificate_of_a_gpu_can_be_run_again_where_there_is_one(kind: str) -> None:
    with ExitStack() as stack:
        assert rerun._device(kind, stack).name == kind  # pyright: ignore[reportPrivateUsage]
    with ExitStack() as stack, pytest.raises(UsageError, match="it is of 'abacus'"):
        rerun._device("abacus", stack)  # pyright: ignore[reportPrivateUsage]


@pytest.mark.skipif(has_gpu(), reason="there is a GPU")
def test_optimize_on_a_gpu_that_is_not_there(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARPSIGHT_DATA", str(tmp_path))
    for verb in (("optimize", "--model", "scripted:demo"), ("tune",)):
        with pytest.raises(SystemExit) as end:
            main((verb[0], str(TASKS / "transpose"), *verb[1:], "--device", "cuda", "--gpu", "1"))
        assert end.value.code in (3, 5)
        shown = capfd.readouterr().err
        assert "cuda-core" in shown or "no NVIDIA driver answers" in shown
