"""`warpsight check` on real tasks: the verdicts, their exit codes, what is shown and what --json holds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from warpsight.cli.output import emit
from warpsight.cli.text.check import merged
from warpsight.cli.text.source import marked_line
from warpsight.nouns import Check, Fault, WorstElement

Command = Callable[..., Any]
Changed = Callable[[str, str, str], str]

WRONG = ("saxpy", "alpha * xv.y", "xv.y")
OUT_OF_BOUNDS = ("saxpy", "i < quads", "i <= quads")
SYNTAX = ("saxpy", "int quads = N / 4;", "int quads = M / 4;")
RACE = ("matmul_tiled", "__syncthreads();", "")


def test_a_right_kernel(command: Command) -> None:
    ran = command("check", "saxpy", "--workload", "odd", "--workload", "small")
    assert ran.code == 0 and all(line.startswith("...") for line in ran.err.splitlines())  # progress, when it is slow
    rows = [line.split() for line in ran.out.splitlines()]
    assert ["odd", "N=4099", "right", "0", "of", "4099"] in [row[:6] for row in rows]
    assert [row[0] for row in rows if len(row) > 2 and row[2] == "right"] == ["small", "odd"]
    assert "right: 2 workloads" in ran.out


def test_a_task_by_its_folder_with_all_workloads(command: Command) -> None:
    ran = command("check", "tasks/gather", "--seed", "7", "--cores", "1")
    assert ran.code == 0 and "(hidden)" in ran.out and "seed 7" in ran.out


def test_a_wrong_kernel(command: Command, changed: Changed) -> None:
    ran = command("check", "saxpy", "--workload", "small", "--kernel", changed(*WRONG))
    assert ran.code == 1
    assert "250 of 1000" in ran.out and "worst at y[" in ran.out
    assert "wrong: wrong_values with workload small" in ran.out


def test_a_faulting_kernel_shows_line_caret_thread_array_and_count(command: Command, changed: Changed) -> None:
    ran = command("check", "saxpy", "--workload", "small", "--kernel", changed(*OUT_OF_BOUNDS))
    assert ran.code == 1
    assert "out_of_bounds at mine.cu:7, once, first by thread (250, 0, 0) of block (0, 0, 0), array x" in ran.out
    source = "float4 xv = reinterpret_cast<const float4*>(x)[i];"
    shown = ran.out.splitlines()
    at = next(i for i, line in enumerate(shown) if source in line)
    assert shown[at + 1].index("^") == shown[at].index("(x)") + 1


def test_a_race_in_an_unrolled_loop_is_shown_once_for_each_array(command: Command, changed: Changed) -> None:
    ran = command("check", "matmul_tiled", "--workload", "wide", "--kernel", changed(*RACE))
    assert ran.code == 1
    races = [line for line in ran.out.splitlines() if line.startswith("shared_race at mine.cu:18")]
    assert sorted(line.rsplit(" ", 1)[1] for line in races) == ["tile_a", "tile_b"]
    assert "fault: shared_race in 1 of 1 workloads" in ran.out


def test_a_kernel_that_does_not_compile(command: Command, changed: Changed) -> None:
    ran = command("check", "saxpy", "--kernel", changed(*SYNTAX))
    assert ran.code == 1
    assert 'error: mine.cu:5:17: identifier "M" is undefined' in ran.out
    shown = ran.out.splitlines()
    at = next(i for i, line in enumerate(shown) if "int quads = M / 4;" in line)
    assert shown[at + 1].index("^") == shown[at].index("M / 4")


def test_an_impossible_launch_is_refused(command: Command, changed: Changed) -> None:
    ran = command("check", "saxpy", "--kernel", changed("saxpy", "block=(256)", "block=(2048)"))
    assert ran.code == 1 and "refused: launch.block.x: expected 1 to 1024, found 2048" in ran.out


def test_a_bad_launch_line_is_wrong_usage(command: Command, changed: Changed) -> None:
    ran = command("check", "saxpy", "--kernel", changed("saxpy", "block=", "blok="))
    assert ran.code == 2 and ran.out == "" and "mine.cu:1: launch: expected" in ran.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("saxpyy",), "one of saxpy, daxpy"),
        (("qqqq",), "vector_add"),
        (("docs",), "no task.toml"),
        (("saxpy", "--workload", "smal"), "one of small"),
        (("saxpy", "--kernel", "nowhere.cu"), "nowhere.cu"),
        (("saxpy", "--seed", "-1"), "seed"),
        (("saxpy", "--cores", "0"), "cores"),
    ],
)
def test_wrong_usage(command: Command, words: tuple[str, ...], told: str) -> None:
    ran = command("check", *words)
    assert ran.code == 2 and ran.out == "" and told in ran.err


def test_json_of_a_right_kernel(command: Command) -> None:
    ran = command("check", "saxpy", "--workload", "small", "--seed", "3", "--json")
    document = ran.document()
    assert ran.code == 0 and document["task"] == "saxpy" and document["seed"] == 3
    assert document["kernel"]["file"] == "kernel.cu" and document["usage"]["registers"] > 0
    assert document["workloads"][0]["total_elements"] == 1000
    fields = {name: document[name] for name in Check.model_fields if name in document}
    assert Check.model_validate(fields).verdict == "right"


@pytest.mark.parametrize(
    ("change", "verdict"), [(WRONG, "wrong"), (OUT_OF_BOUNDS, "fault"), (SYNTAX, "does_not_compile")]
)
def test_json_of_other_verdicts(command: Command, changed: Changed, change: tuple[str, str, str], verdict: str) -> None:
    ran = command("check", "saxpy", "--workload", "small", "--kernel", changed(*change), "--json")
    document = ran.document()
    assert ran.code == 1 and document["verdict"] == verdict and document["reason"]
    assert (document["usage"] is None) == (verdict == "does_not_compile")


def test_json_of_a_nan_is_still_json(command: Command, changed: Changed) -> None:
    kernel = changed("saxpy", "y[j] = ", "y[j] = 0.0f / 0.0f * ")
    ran = command("check", "saxpy", "--workload", "one", "--kernel", kernel, "--json")
    worst = ran.document()["workloads"][0]["worst"]
    assert ran.code == 1 and worst["got"] == "NaN" and worst["error"] == "Infinity"


def test_a_record_inside_a_document_may_hold_nan_and_infinity(capsys: pytest.CaptureFixture[str]) -> None:
    worst = WorstElement(output="y", index=(0,), got=float("nan"), expected=float("-inf"), error=float("inf"))
    emit({"worst": [worst]}, as_json=True, render=lambda _: None)
    shown = json.loads(capsys.readouterr().out)["worst"][0]
    assert (shown["got"], shown["expected"], shown["error"]) == ("NaN", "-Infinity", "Infinity")


@pytest.mark.parametrize("verb", ["check", "profile"])
def test_a_gpu_that_is_not_known_is_wrong_usage(command: Command, tmp_path: Path, verb: str) -> None:
    assert command("new", "mine", "--into", str(tmp_path)).code == 0
    file = tmp_path / "mine" / "task.toml"
    file.write_text(file.read_text().replace('gpu = "a100"', 'gpu = "a1000"'))
    ran = command(verb, str(tmp_path / "mine"))
    assert ran.code == 2 and ran.out == ""
    assert f"{file}: target.gpu: expected the name of a known GPU, found 'a1000'; near: a100" in ran.err


def test_json_of_an_error(command: Command) -> None:
    ran = command("check", "nowhere", "--json")
    assert ran.code == 2 and ran.document()["error"]["exit_code"] == 2


def test_help_has_an_example(command: Command) -> None:
    ran = command("check", "--help")
    assert ran.code == 0 and "warpsight check matmul_tiled" in ran.out


def test_a_new_task_is_right(command: Command, tmp_path: Path) -> None:
    assert command("new", "mine", "--into", str(tmp_path)).code == 0
    assert command("check", str(tmp_path / "mine")).code == 0


def test_marked_line() -> None:
    source = "a;\n\tb = c[i];\n"
    assert marked_line(source, 2) == "    2 |     b = c[i];\n      |     ^"
    assert marked_line(source, 2, column=6) == "    2 |     b = c[i];\n      |         ^"
    assert marked_line(source, 2, word="nothing") == marked_line(source, 2)
    assert marked_line(source, 9) == ""


def test_merged_faults_add_their_counts() -> None:
    one, two, other = (
        Fault(kind="out_of_bounds", message=text, line=line, array="x", count=count, instruction=text)
        for text, line, count in (("a", 3, 2), ("b", 3, 5), ("c", 4, 1))
    )
    assert [(fault.message, fault.count) for fault in merged([one, two, other])] == [("a", 7), ("c", 1)]
