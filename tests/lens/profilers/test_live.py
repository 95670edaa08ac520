"""From `warpsight profile --device cuda` to findings, all of it as processes: our command, the vendor's tool, the
worker that it runs, and a driver. The tools and the driver are stand-ins (`stand_ins/`) that behave as documented.

It shows that command lines, files, refusals and ends fit together. It shows nothing of the vendors' own programs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.devices import test_hip
from tests.lens.profilers.stand_ins.ways import ROOT, Way, put

from warpsight.cli.text.doctor import summary
from warpsight.devices import hip
from warpsight.devices.cuda_state import STAND_IN
from warpsight.lens.profilers import ncu, nsys, nvprof, rocprofv3
from warpsight.lens.profilers.on_gpu import best_profile
from warpsight.programs.door import open_door
from warpsight.verbs.doctor_probe import Probe

pytest.importorskip("cuda.core")
HERE = any(tool.available().path for tool in (ncu, nsys, nvprof, rocprofv3))
alone = pytest.mark.skipif(HERE, reason="a vendor's own tools are here")
TRANSPOSE, SAXPY = ROOT / "tasks" / "transpose", ROOT / "tasks" / "saxpy"
Run = Callable[..., subprocess.CompletedProcess[str]]
WITH_DEADLINE = """
import json, sys
from pathlib import Path
from warpsight.devices.cuda import CudaDevice
from warpsight.gate.evaluate import build_for
from warpsight.lens.profilers.on_gpu import profile_on_gpu
from warpsight.tasks import evaluate_launch, launch_of, read_candidate, read_task
from warpsight.gate.values import fresh_values
task = read_task(Path(sys.argv[1]))
candidate = read_candidate(task.kernel, task, task.kernel_file)
workload = task.workloads[0]
with CudaDevice() as device:
    build = build_for(task, candidate, device)
    size = launch_of(build, evaluate_launch(candidate, workload.axes))
    found = profile_on_gpu(
        device, build, task.entry, fresh_values(task, workload, 0)[1], size, source_text=candidate.source,
        folder=Path(sys.argv[2]), deadline_s=float(sys.argv[3]),
    )
print(json.dumps({"used": found.used, "missed": [[miss.source, miss.why] for miss in found.missed]}))
"""


@pytest.fixture
def machine(tmp_path: Path) -> Generator[Callable[..., Run]]:
    """A machine with one GPU and tools that behave in the way named. What it gives runs Python there."""
    with ExitStack() as stack:

        def made(gpu: str = "a100", **tools: Way) -> Run:
            folder = tmp_path / "bin"
            folder.mkdir()
            for name, way in tools.items():
                put(folder, name.replace("_", "-"), way=way, gpu=gpu, marks=tmp_path / f"{name}.pids")
            driver = stack.enter_context(open_door(gpu))
            path = f"{folder}:{os.environ['PATH']}"
            environment = {**os.environ, **driver, "PATH": path, "WARPSIGHT_CACHE": str(tmp_path / "cache")}

            def run(*words: str) -> subprocess.CompletedProcess[str]:
                command = [sys.executable, *words]
                return subprocess.run(
                    command, env=environment, capture_output=True, text=True, timeout=300, check=False
                )

            return run

        yield made


def told(run: Run, *words: str) -> dict[str, Any]:
    done = run("-m", "warpsight.cli.app", *words, "--device", "cuda", "--json")
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def profiled(run: Run) -> tuple[dict[str, Any], str]:
    """The profile of a transpose whose stores are not coalesced, and its notes."""
    found = told(run, "profile", str(TRANSPOSE))
    return found, "\n".join(found["notes"])


def test_ncu_to_findings(machine: Callable[..., Run]) -> None:
    found, notes = profiled(machine(ncu="as documented"))
    assert found["source"] == "measured" and found["counters"]["global_store_sectors_per_request"] == 32
    assert [one["name"] for one in found["findings"]] == ["uncoalesced"]
    assert "measured by ncu" in notes and "report kept at" in notes and STAND_IN in notes


def test_doctor_says_what_stands_in_for_the_driver() -> None:
    detail = "0: NVIDIA A100 SXM4 40 GB (Warpsight virtual GPU), compute capability 8.0"
    here = summary([Probe("native core", "ok", "built"), Probe("device cuda", "ok", detail)])[1]
    assert "the stand-in for NVIDIA's driver (simulated)" in here and "measured" not in here
    real = summary([Probe("device cuda", "ok", "0: NVIDIA L4, compute capability 8.9")])[1]
    assert "NVIDIA GPUs (measured)" in real


@alone
def test_where_counters_are_forbidden_times_are_left(machine: Callable[..., Run]) -> None:
    """ncu may not count, nvprof does not know the GPU, nsys writes 1.234,5."""
    found, notes = profiled(machine(ncu="forbidden", nvprof="as documented", nsys="localised"))
    assert "measured by nsys: time and launch" in notes and STAND_IN in notes
    assert "ERR_NVGPUCTRPERM" in notes and "NVreg_RestrictProfilingToAdminUsers=0" in notes
    assert "nvprof: it does not support this GPU" in notes
    assert 5 < found["counters"]["duration_us"] < 100 and "dram_bytes" in found["not_measured"]


@alone
@pytest.mark.slow
def test_numbers_of_another_locale_are_the_same_numbers(machine: Callable[..., Run], tmp_path: Path) -> None:
    run = machine(ncu="localised")
    localised, _ = profiled(run)
    put(tmp_path / "bin", "ncu")
    plain, _ = profiled(run)
    assert localised["counters"] == plain["counters"] and localised["findings"] == plain["findings"]


@alone
@pytest.mark.slow
def test_tools_that_hang_or_end_early_are_told_and_gone(machine: Callable[..., Run], tmp_path: Path) -> None:
    """What is left is the device's own events. Nobody waits for the tools, and nothing of them is left."""
    run = machine(ncu="hangs", nvprof="ends early", nsys="ends early")
    done = run("-c", WITH_DEADLINE, str(SAXPY), str(tmp_path), "8")
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)
    missed = dict(found["missed"])
    assert found["used"] == "the device's events" and "did not end within 8 s" in missed["ncu"]
    assert "exit status -9 and no report" in missed["nsys"]
    pids = (tmp_path / "ncu.pids").read_text().split()
    assert len(pids) == 2 and not any(alive(pid) for pid in pids)


def alive(pid: str) -> bool:
    try:
        return ") Z" not in Path("/proc", pid, "stat").read_text()
    except OSError:
        return False


@alone
@pytest.mark.slow
def test_a_report_that_is_cut_short_is_not_read(machine: Callable[..., Run]) -> None:
    _, notes = profiled(machine(ncu="ends early", nsys="as documented"))
    assert "measured by nsys" in notes and "not measured by ncu" in notes


@alone
@pytest.mark.slow
def test_a_tool_that_saw_no_kernel(machine: Callable[..., Run]) -> None:
    _, notes = profiled(machine(ncu="sees nothing", nsys="sees nothing"))
    assert "measured by the device's events" in notes
    assert "ncu: it ran and saw no kernel" in notes and "nsys: it ran and saw no kernel" in notes


@alone
@pytest.mark.slow
def test_an_old_gpu_has_times_by_nvprof(machine: Callable[..., Run]) -> None:
    """At compute capability 7.5 nvprof gives times, and no counters."""
    found, notes = profiled(machine(gpu="t4", nvprof="as documented"))
    assert "measured by nvprof" in notes and "no counters" in notes and found["counters"]["duration_us"] > 5


def test_the_sanitizer_finds_what_a_check_asks_for(machine: Callable[..., Run], tmp_path: Path) -> None:
    """A race that does no harm to the results: only the tool sees it."""
    racy = tmp_path / "racy.cu"
    racy.write_text(
        "// launch: grid=(ceil(N/256)) block=(256) shared=0\n"
        'extern "C" __global__ void saxpy(const float* x, float* y, float alpha, int N) {\n'
        "  __shared__ int last;\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  last = i;\n"
        "  if (i < N) y[i] = alpha * x[i] + (last < 0 ? 1.f : y[i]);\n"
        "}\n"
    )
    run = machine(compute_sanitizer="as documented")
    words = ("check", str(SAXPY), "--workload", "small", "--candidate", str(racy))
    found = told(run, *words)
    assert found["verdict"] != "right" and found["faults"][0]["kind"] == "shared_race", found
    assert found["faults"][0]["line"] in (5, 6)
    put(tmp_path / "bin", "compute-sanitizer", way="ends early")
    cut = told(run, *words)
    assert cut["verdict"] == "right" and sum("were not looked for" in line for line in cut["warnings"]) == 4


@alone
def test_rocprofv3_to_a_profile(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The HIP device's program runs under the tool; counters that this GPU does not have are told."""
    put(tmp_path, "rocprofv3")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(rocprofv3, "PLACES", ())
    monkeypatch.setattr(hip, "WORKER", test_hip.STAND_IN)
    monkeypatch.setattr(hip.util, "find_spec", lambda name: True)
    with hip.HipDevice(gpu="0") as device:
        what = (test_hip.twice(), "twice", test_hip.values(), test_hip.SIZE)
        found = best_profile(device, *what, source_text=test_hip.SOURCE, folder=tmp_path)
    notes = "\n".join(found.notes)
    assert found.counters["dram_bytes"] == 1024 * (8192.5 + 4096) and found.counters["duration_us"] == 10.52
    assert "measured by rocprofv3" in notes and "not measured: VALUBusy" in notes
