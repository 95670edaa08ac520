"""The bench over programs: what a program says of itself is not made better, and rows go on where they were."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks import captures, faster
from benchmarks.programs.outcomes import cause, lacks, why_not_compiled
from benchmarks.programs.rows import Rows
from benchmarks.programs.run_lines import arguments_of, lines_of, reduced
from benchmarks.programs.verdict import says, verdict

PASSED = (
    "PASS\n", "Test passed\n", "All tests passed!", "Success\n", "mean 3.5\nPASSED.\n", "result: SUCCESS",
    "0 errors\nPASS", "no mismatches, PASS", "errors: 0\nTest PASSED", "Verification: PASS", "max error = 0.0\nOK\n",
    "error rate: 0.00\nPASS", "Results are correct", "pass 1 of 2\npass 2 of 2\nPASS\n", "checksum (Valid)",
)  # fmt: skip
FAILED = (
    "FAIL\n", "PASS\nFAIL\n", "Test failed!\nPASS", "3 mismatches\nPASS", "not passed", "[NOT PASSED] checking keys",
    "results do not match", "results don't match\nSUCCESS", "is correct: false", "Verification: 0",
    "Results are not correct",
    "0 errors in x\n2 errors in y\nPASS", "mismatch: 0.5\nPASS", "errors: 0\nerrors: 10\n10 errors\nPASS", "incorrect",
    "PASS with 1 errors", "checksum INVALID CHECKSUM!\nPASS", "unsuccessful", "Test result: FAILURE",
    "0 passed, 4 failed",
    "discrepancy at 3\nPASS", "failed: 0, failed: 12\nPASS",
)  # fmt: skip
NEITHER = (
    "Time of pass 2: 3 s\n", "Successfully opened the file\n", "number of passes: 3", "elapsed 3 ms\n", "", "PASS 1\n",
    "Usage: main <verify>\n", "Checking forward pass\n", "bypass 3\n", "OK: 0 of 3",
)  # fmt: skip


@pytest.mark.parametrize(("texts", "word"), [(PASSED, "passed"), (FAILED, "own check failed"), (NEITHER, "no verdict")])
def test_a_failure_outweighs_all(texts: tuple[str, ...], word: str) -> None:
    assert {text: says(text)[0] for text in texts} == dict.fromkeys(texts, word)


def told(**changed: Any) -> dict[str, Any]:
    run = {"faults": [], "refused": [], "missing": [], "end": "exited", "exit_code": 0, "launches": 3, "errors": ""}
    return {**run, "output": "PASS\n", "detail": "", **changed}


@pytest.mark.parametrize(
    ("changed", "outcome"),
    [
        ({}, "passed"),
        ({"faults": [{"warning": False, "fault": {"kind": "misaligned", "message": "x"}}]}, "stopped"),
        ({"refused": ["k: no"]}, "stopped"),
        ({"missing": ["cudaMallocArray"]}, "stopped"),
        ({"end": "time_limit"}, "too long"),
        ({"end": "signal", "detail": "ended by SIGSEGV"}, "stopped"),
        ({"exit_code": 1}, "stopped"),
        ({"launches": 0}, "stopped"),
        ({"launches": 0, "exit_code": 97, "output": "PASS", "errors": "warpsight: too much host memory\n"}, "stopped"),
        ({"launches": 0, "libraries": [{"name": "gemv"}], "output": "PASS\n"}, "passed"),
        ({"exit_code": 1, "launches": 0, "output": "error opening a.txt\n"}, "no data"),
        ({"exit_code": 1, "launches": 0, "output": "can't open input file a\n"}, "no data"),
        ({"output": "nan\nPASS\n"}, "passed"),
        ({"errors": "warpsight: warning in k at a.cu:3: errors in 3\n"}, "passed"),
    ],
)
def test_no_success_is_believed_of_a_run_that_was_stopped(changed: dict[str, Any], outcome: str) -> None:
    found = verdict(told(**changed))
    assert found["outcome"] == outcome
    assert found["nan"] == ("nan" in changed.get("output", ""))


def test_rows_go_on_and_can_be_made_again(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    before = [
        {"program": "a", "outcome": "passed", "commit": "old"},
        {"program": "b", "outcome": "stopped", "commit": "old"},
    ]
    path.write_text("".join(json.dumps({**row, "commit": "old"}) + "\n" for row in before))

    def wanted(**options: Any) -> list[str]:
        rows = Rows(path, lambda row: (row["program"],), **options)
        return [name for name in "abc" if rows.wanted({"program": name})]

    assert wanted() == ["c"]
    assert wanted(again=frozenset({"stopped"})) == ["b", "c"]
    assert wanted(older=True) == ["a", "b", "c"]
    rows = Rows(path, lambda row: (row["program"],))
    rows.add({"program": "b", "outcome": "passed"})
    assert wanted(again=frozenset({"stopped"})) == ["c"] and wanted(older=True) == ["a", "c"]
    assert len(path.read_text().splitlines()) == 3


def test_run_lines_of_makefiles(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text(
        "program = main\nDATA = -d in.txt\nrun: $(program)\n\t#$(LAUNCHER) ./$(program) 1\n"
        "\t$(LAUNCHER) ./$(program) 8192 $(DATA) \\\n\t  -n=4096 1000\n\t@SEED=1 $(BIN)/main 512 10 > out.txt\n"
        '\t$(LAUNCHER) ./main -c "read x; write y" 600 10 && cd ..\n\tdiff out.txt ./good/out.txt\n\nclean:\n'
    )
    first = ["8192", "-d", "in.txt", "-n=4096", "1000"]
    assert lines_of(tmp_path) == [first, ["512", "10"], ["-c", "read x; write y", "600", "10"]]
    assert arguments_of(tmp_path) == ["-c", "read x; write y", "600", "10"]
    assert arguments_of(tmp_path, least=True) == ["512", "10"]
    assert reduced(first, 1) == ["8192", "-d", "in.txt", "-n=4096", "2"]
    assert reduced(first, 16) == ["512", "-d", "in.txt", "-n=256", "2"]
    assert arguments_of(tmp_path / "none") == []


def test_why_a_program_was_not_built_or_has_no_data(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("CC = nvc++\nmain: main.cu\n\t$(CC) main.cu\n")
    assert why_not_compiled("make: nvc++: No such file or directory\nmake: *** [main] Error 127", tmp_path) == (
        "needs the compiler (nvc++)"
    )
    assert why_not_compiled("main.cu:1: fatal error: mpi.h: No such file", tmp_path) == "needs MPI"
    assert cause({"outcome": "not compiled", "reason": "error: no"}) == "the compiler refuses it"
    assert cause({"outcome": "stopped", "reason": "exit code 1: error: no"}) == "it says so by its exit code"
    assert not lacks(tmp_path, ["1", "0.5", "2/3", "-f"])
    assert lacks(tmp_path, ["./data", "2"]) and lacks(tmp_path, ["in.txt"])
    (tmp_path / "data.tar.gz.dvc").touch()
    assert lacks(tmp_path, ["2"]) and not lacks(tmp_path, ["2"], launches=3)


@pytest.mark.parametrize("bench", [captures, faster])
def test_benches_of_programs_start_on_rows_that_are_there(
    bench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {"program": "a-cuda", "outcome": "not run", "reason": "no end", "kernels": [], "commit": "old"}
    (tmp_path / "rows").write_text(json.dumps(row) + "\n")
    monkeypatch.setattr(bench, "OUT", tmp_path / "rows")
    monkeypatch.setattr(captures, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(faster, "KEPT", tmp_path / "kept")
    bench.main(f"{tmp_path},again=refused,for=0")
    assert "old (1)" in capsys.readouterr().out


def test_rows_of_captures_are_kept_without_the_programs_words() -> None:
    kernel = {"kernel": "k", "outcome": "refused", "reason": "it does not compile alone: `x` (`int x = secret;`)"}
    lost = {"kernel": "l", "outcome": "refused", "reason": "k.cuh was not found in /home/me/HeCBench/src/a-cuda"}
    row = {"program": "a-cuda", "outcome": "refused", "reason": "", "kernels": [kernel, lost]}
    kept = json.dumps(captures.without_texts(row))
    assert "secret" not in kept and "/home" not in kept and "was not found in a-cuda" in kept
