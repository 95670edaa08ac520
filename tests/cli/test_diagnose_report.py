"""`diagnose --from`: findings of a report with its lines, and what differs from another profile."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.lens.profilers.recorded import ROCPROFV3_COUNTERS

from warpsight.cli.app import main

HEAD = '"ID","Kernel Name","Block Size","Grid Size","Device","CC","gpu__time_duration.sum","launch__grid_size",'
COUNTED = '"smsp__inst_executed.sum","l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"'
UNITS = '"","","","","","","ns","","inst","request"'
ROW = (
    '"0","saxpy(float)","(256, 1, 1)","({blocks}, 1, 1)","NVIDIA GeForce RTX 3070","8.6","{ns}","{blocks}","{ran}","99"'
)


def report(folder: Path, name: str, *, ns: int, ran: int, blocks: int = 4096) -> Path:
    path = folder / name
    path.write_text("\n".join((HEAD + COUNTED, UNITS, ROW.format(ns=ns, ran=ran, blocks=blocks))) + "\n")
    return path


def told(capfd: pytest.CaptureFixture[str], *words: str, ends: int = 0) -> str:
    with pytest.raises(SystemExit) as end:
        main(["diagnose", *words])
    shown = capfd.readouterr()
    assert (end.value.code or 0) == ends, shown.err
    return shown.out if not ends else shown.err


def test_a_report_gives_findings(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = report(tmp_path, "one.csv", ns=100_000, ran=1_000_000)
    document: dict[str, Any] = json.loads(told(capfd, "--from", str(path), "--json"))
    assert document["source"] == "measured" and document["counters"]["instructions"] == 1_000_000
    assert isinstance(document["findings"], list) and "measured" in told(capfd, "--from", str(path))


def test_two_reports_show_what_moved(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    before = report(tmp_path, "before.csv", ns=100_000, ran=1_000_000)
    after = report(tmp_path, "after.csv", ns=50_000, ran=4_000_000)
    out = tmp_path / "moved.json"
    shown = told(capfd, "--from", str(before), "--against", str(after), "--out", str(out))
    rows = [line.split() for line in shown.splitlines()]
    assert ["duration_us", "100", "50", "0.50", "us"] in rows
    assert ["instructions", "1000000", "4000000", "4.00", "warps"] in rows
    assert rows.index(["duration_us", "100", "50", "0.50", "us"]) == 1
    kept = out.read_text()
    assert "saxpy" not in kept and {one["counter"] for one in json.loads(kept)["counters"]} >= {"duration_us"}


def test_a_report_beside_the_virtual_gpu(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = report(tmp_path, "one.csv", ns=100_000, ran=1_000_000, blocks=7)
    document = json.loads(told(capfd, "--from", str(path), "--against", "saxpy", "--gpu", "rtx-3070", "--json"))
    assert document["sources"] == ["measured", "simulated"]
    assert "instructions" in {one["counter"] for one in document["counters"]}
    shown = told(capfd, "--from", str(path), "--against", "saxpy", "--gpu", "rtx-3070")
    assert "Compare launches of one size" in shown and "--workload NAME" in shown and "the launch itself" in shown


def test_a_part_of_a_name_is_enough_where_it_is_of_one_kernel(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = report(tmp_path, "one.csv", ns=100_000, ran=1_000_000)
    path.write_text(path.read_text() + ROW.format(ns=1, ran=1, blocks=1).replace("saxpy", "daxpy") + "\n")
    assert "kernel daxpy" in told(capfd, "--from", str(path), "--kernel-name", "dax")
    assert "no kernel `axpy`" in told(capfd, "--from", str(path), "--kernel-name", "axpy", ends=2)


def test_what_does_not_go_together_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = report(tmp_path, "one.csv", ns=1, ran=1)
    (tmp_path / "amd.csv").write_text(ROCPROFV3_COUNTERS)
    assert "a report was run already" in told(capfd, "saxpy", "--from", str(path), ends=2)
    assert "--out only with --against" in told(capfd, "--from", str(path), "--out", "x.json", ends=2)
    assert "a TASK or --from REPORT" in told(capfd, "--source", "x.cu", ends=2)
    assert "no data sheet" in told(
        capfd, "--from", str(tmp_path / "amd.csv"), "--kernel-name", "divide_kernel", "--against", "saxpy", ends=2
    )
