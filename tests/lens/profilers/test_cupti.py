"""CUPTI's records: the command line, the reader, the tracer on a stand-in for NVIDIA's package, and its absence."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from warpsight.lens.profilers import cupti
from warpsight.lens.profilers.failures import BrokenOutput, NothingProfiled, ProfilerError, ProfilerMissing

HERE = importlib.util.find_spec("cupti") is not None
PROGRAM = [sys.executable, "-I", "/x/cuda_worker.py", "GPU-1", "--replay", "/x/k.launch"]
LAUNCH: dict[str, object] = {
    "name": "axpy",
    "start": 1_000_000,
    "end_ns": 1_012_500,
    "grid": [64, 1, 1],
    "block": [256, 1, 1],
    "registers": 16,
    "static_shared": 0,
    "dynamic_shared": 1024,
}
# Fields and units as cupti-python documents them for kernel records (ActivityKernel11): times in nanoseconds.
STAND_IN = """
import types
class ActivityKind:
    CONCURRENT_KERNEL = 10
seen = {}
def activity_register_callbacks(requested, completed):
    size, most = requested()
    assert size > 0 and most == 0
    seen["completed"] = completed
def activity_enable(kind):
    assert kind == 10
    seen["on"] = True
def activity_disable(kind):
    seen["on"] = False
def activity_flush_all(flag):
    assert flag == 1 and seen["on"]
    fields = dict(kind=10, name="axpy", start=1000, end=3500, grid_x=4, grid_y=1, grid_z=1, block_x=32, block_y=1,
                  block_z=1, registers_per_thread=8, static_shared_memory=0, dynamic_shared_memory=64)
    other = dict(fields, kind=1, name="a copy")
    seen["completed"]([types.SimpleNamespace(**fields), types.SimpleNamespace(**other)])
"""


def records(*launches: dict[str, object], device: str = "NVIDIA A100-SXM4-40GB") -> str:
    closing = {"end": True, "records": len(launches), "device": device}
    return "".join(f"{json.dumps(line)}\n" for line in (*launches, closing))


def test_the_tracer_stands_before_the_program() -> None:
    words = cupti.argv(PROGRAM, records=Path("/x/r.jsonl"))
    assert words[:2] == PROGRAM[:2] and words[2:4] == [str(cupti.TRACER), "/x/r.jsonl"] and words[4:] == PROGRAM[2:]
    with pytest.raises(ProfilerError, match="expected a Python program"):
        cupti.argv(["/bin/true"], records=Path("/x/r.jsonl"))


def test_records_become_times() -> None:
    first, second = cupti.parse(records(LAUNCH, LAUNCH | {"start": 2_000_000, "end_ns": 2_011_500}))
    assert (first.duration_us, second.duration_us) == (12.5, 11.5) and first.device == "NVIDIA A100-SXM4-40GB"
    assert first.grid == (64, 1, 1) and first.also == {
        "registers_per_thread": 16,
        "static_shared_bytes": 0,
        "dynamic_shared_bytes": 1024,
    }
    assert cupti.parse(records(LAUNCH, device=""))[0].device == cupti.NO_GPU_NAME


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n",
        "Segmentation fault\n",
        "[1, 2]\n",
        json.dumps(LAUNCH) + "\n",
        json.dumps({"end": True, "records": 2, "device": ""}) + "\n",
        records(LAUNCH | {"start": 0, "end_ns": 0}),
        records(LAUNCH | {"end_ns": LAUNCH["start"]}),
        records({"name": "axpy"}),
        records(LAUNCH | {"grid": [1, 2]}),
    ],
)
def test_what_is_broken_is_not_read(text: str) -> None:
    with pytest.raises(BrokenOutput) as broken:
        cupti.parse(text)
    assert broken.value.hint


def test_no_cut_is_taken_for_the_whole() -> None:
    text = records(LAUNCH, LAUNCH)
    for end in range(0, len(text) - 2, 7):
        with pytest.raises(BrokenOutput):
            cupti.parse(text[:end])


def test_no_launch_is_told() -> None:
    with pytest.raises(NothingProfiled):
        cupti.parse(records())


@pytest.mark.skipif(HERE, reason="cupti-python is installed")
def test_a_package_that_is_not_there(tmp_path: Path) -> None:
    found = cupti.available()
    assert not found.present and "not installed" in found.reason and "pip install cupti-python" in found.how
    with pytest.raises(ProfilerMissing):
        cupti.measure(PROGRAM, "axpy", folder=tmp_path, deadline_s=5)


def test_the_tracer_writes_what_the_reader_reads(tmp_path: Path) -> None:
    """The program runs as if it were alone; copies and fills are no kernels."""
    package = tmp_path / "packages" / "cupti"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("from . import cupti\n")
    (package / "cupti.py").write_text(STAND_IN)
    program = tmp_path / "program.py"
    program.write_text("import sys\nprint(__name__, sys.argv[1:])\n")
    out = tmp_path / "r.jsonl"
    words = cupti.argv([sys.executable, str(program), "--n", "5"], records=out)
    env = {"PYTHONPATH": str(package.parent), "PATH": os.environ["PATH"]}
    ran = subprocess.run(words, capture_output=True, text=True, timeout=60, env=env)
    assert ran.returncode == 0 and ran.stdout == "__main__ ['--n', '5']\n", ran.stderr
    (launch,) = cupti.parse(out.read_text())
    assert launch.kernel == "axpy" and launch.duration_us == 2.5 and launch.block == (32, 1, 1)


def test_a_program_that_fails_leaves_no_records(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("raise SystemExit('CUDA: CUDA_ERROR_NO_DEVICE')\n")
    out = tmp_path / "r.jsonl"
    words = cupti.argv([sys.executable, str(program)], records=out)
    ran = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert ran.returncode != 0 and not out.exists()


def test_cupti_has_the_names_we_use() -> None:
    found = pytest.importorskip("cupti.cupti", exc_type=ImportError)
    for name in [
        "activity_register_callbacks",
        "activity_enable",
        "activity_disable",
        "activity_flush_all",
        "ActivityKind",
    ]:
        assert hasattr(found, name)
    assert hasattr(found.ActivityKind, "CONCURRENT_KERNEL")
