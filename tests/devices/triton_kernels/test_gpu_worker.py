"""The worker in which Triton launches its own kernels on a real GPU, as far as that goes without one."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from warpsight.devices import cuda
from warpsight.devices.cuda import WORKER, worker_for
from warpsight.devices.triton_lane import TRITON_WORKER, signature_of, triton_request
from warpsight.nouns import Build

HERE = Path(__file__).parent
KERNEL = HERE.parents[2] / "tasks" / "triton_vector_add" / "kernel.py"


def build() -> Build:
    return Build(
        ok=True, language="triton", source_sha256="0" * 64, gpu_arch="sm_80", ptx=".version 8.0", cubin=b"\x7fELF",
        options=("num_warps=4", "BLOCK=64", "signature=*fp32:16,i32"), compiler="triton", text="# a kernel",
        diagnostics=(), log="", trust="host_code",
    )  # fmt: skip


def test_what_the_worker_is_told() -> None:
    header, blobs = triton_request(build(), "scale")
    assert header == {
        "op": "open", "entry": "scale", "kind": "triton", "options": ["num_warps=4", "BLOCK=64"],
        "types": ["*fp32", "i32"],
    }  # fmt: skip
    assert blobs == [b"# a kernel"]
    assert signature_of(build().model_copy(update={"options": ()})) == ()


def test_host_code_runs_beside_a_driver_only_where_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "told_unsafe", lambda: False)
    assert worker_for(build(), "scale", fits=True)[0] == WORKER
    monkeypatch.setattr(cuda, "told_unsafe", lambda: True)
    assert worker_for(build(), "scale", fits=True)[0] == TRITON_WORKER


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="needs triton: pip install 'warpsight[triton]'")
def test_triton_takes_our_arguments_and_compiles_for_the_gpu_it_is_told_of(tmp_path: Path) -> None:
    program = [sys.executable, str(HERE / "gpu_stand_in.py"), str(KERNEL)]
    done = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert "not 4 warps" in told["wrong block"]["refused"]
    # loaded before the clock, and the fill hides what Triton does in Python at each launch
    assert told["arranged"] == {} and told["loaded"] == ["vector_add"] and told["fill"] >= 1 << 30
    # 2048 is a multiple of 16 and Triton sees it, where the one program for all sizes does not: wide loads.
    assert ".target sm_80" in told["ptx"] and "ld.global.v4.b32" in told["ptx"]
    assert told["arguments"][:4] == [1 << 20, 2 << 20, 3 << 20, 2048]
    assert told["words"] == {"num_warps": 4, "num_stages": 3, "BLOCK": 1024}
    assert told["grid"] == [2, 1, 1] and told["stream"] == 7
