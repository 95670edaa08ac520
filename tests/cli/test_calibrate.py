"""`warpsight doctor --calibrate` from outside, and what doctor says of GPUs and profilers."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys

from rich.console import Console

from warpsight.cli.text.calibrate import render
from warpsight.lens.profilers.calibration import Calibration, CounterComparison


def test_doctor_calibrates_the_virtual_gpu() -> None:
    argv = [sys.executable, "-m", "warpsight.cli.app", "doctor", "--calibrate", "--json"]
    run = subprocess.run(argv, capture_output=True, text=True, timeout=200, env=dict(os.environ))
    document = json.loads(run.stdout)
    virtual = document["calibrations"][0]
    assert "simulated" in virtual["device"] and virtual["good"] is True and virtual["wrong"] == []
    assert len(virtual["comparisons"]) == 47 and {c["verdict"] for c in virtual["comparisons"]} == {"agrees"}
    probes = {probe["name"]: probe for probe in document["probes"]}
    for tool in ("ncu", "nsys", "nvprof", "compute-sanitizer", "rocprofv3", "rocprof", "perf"):
        found = probes[f"profiler {tool}"]
        assert found["state"] == "ok" or (found["state"] == "absent" and found["fix"])
    assert "not run on a GPU by us" in probes["device cuda"]["detail"] + probes["device hip"]["detail"]
    assert run.returncode == 0


def test_wrong_counters_stand_out() -> None:
    rows = (
        CounterComparison("copy", "global_load_sectors", 2048, 4096, "wrong"),
        CounterComparison("copy", "flops", 8, None, "not measured"),
        CounterComparison("copy", "global_load_requests", 512, 512, "agrees"),
    )
    console = Console(file=io.StringIO(), width=120)
    render(console, (Calibration("a GPU [x]", rows, {"banks": "it faults"}),))
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    assert "1 of 3 agree" in shown and "global_load_sectors: counted 4096, computed 2048" in shown
    assert "flops: not measured" in shown and "could not be counted: it faults" in shown and "a GPU [x]" in shown
    assert "not to be believed on this device: global_load_sectors" in shown
