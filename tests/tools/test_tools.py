"""Each tool on a real kernel: what it says, what it gives to programs, and what it must not say."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.tools.kernels import (
    GIVEN,
    HIDDEN_ONLY,
    NO_COMPILE,
    OUT_OF_BOUNDS,
    PADDED,
    UNPADDED,
    WRONG_VALUES,
    call,
    opened,
    transpose,
)

from warpsight.gate.certificate import read_certificate
from warpsight.gate.ledger import read_ledger
from warpsight.nouns import kernel_id
from warpsight.nouns.timing import IMPROVEMENTS
from warpsight.tools.task_box import TaskBox


def test_compile_tells_resources_and_occupancy(box: TaskBox) -> None:
    found = call(box, "compile", kernel=PADDED)
    assert found.data["ok"] is True and found.data["shared_bytes"] == 32 * 33 * 4
    assert found.data["occupancy_percent"] == 100.0 and found.data["spilled_bytes"] == 0
    assert "registers a thread" in found.text and "occupancy 100 %" in found.text


def test_compile_tells_errors_with_their_line(box: TaskBox) -> None:
    found = call(box, "compile", kernel=NO_COMPILE)
    assert found.data["ok"] is False and 'error at line 4: identifier "integer" is undefined' in found.text
    assert "  4 | integer r = " in found.text
    assert "not profiled" in call(box, "profile", kernel=NO_COMPILE).text
    assert call(box, "check", kernel=NO_COMPILE).data["verdict"] == "does_not_compile"


def test_check_says_right(box: TaskBox) -> None:
    found = call(box, "check", kernel=PADDED)
    assert found.data["verdict"] == "right" and found.text.startswith(f"{kernel_id(PADDED)}: right")
    assert found.evaluation is not None and found.evaluation.check.verdict == "right"


def test_check_names_the_worst_element_and_the_line(box: TaskBox) -> None:
    wrong = call(box, "check", kernel=WRONG_VALUES)
    assert wrong.data["verdict"] == "wrong" and "wrong_values" in wrong.text and "worst: y[" in wrong.text
    assert "workload square (R=128, C=128)" in wrong.text
    fault = call(box, "check", kernel=OUT_OF_BOUNDS)
    assert fault.data["verdict"] == "fault" and "out_of_bounds at line 6" in fault.text
    assert "  6 | y[" in fault.text


def test_nothing_of_a_hidden_workload_is_shown(box: TaskBox) -> None:
    found = call(box, "check", kernel=HIDDEN_ONLY)
    assert found.data["verdict"] != "right" and found.data["hidden"] is True
    assert "a hidden workload failed: " in found.text
    hidden = [workload for workload in transpose().workloads if workload.hidden]
    names = {w.name for w in hidden} | {str(size) for w in hidden for size in w.axes.values() if size > 9}
    said = " ".join((found.text, str(found.data))).replace(kernel_id(HIDDEN_ONLY), "")
    words = set(said.replace("=", " ").replace(",", " ").replace("'", " ").split())
    assert not words & names, words & names
    timed = call(box, "time", kernel=HIDDEN_ONLY)
    assert timed.data["timed"] is False and "a hidden workload failed" in timed.text and "primes" not in timed.text


def test_time_gives_ratios_with_their_source(box: TaskBox) -> None:
    slow = call(box, "time", kernel=UNPADDED, against="given")
    assert slow.data["decision"] in IMPROVEMENTS and "simulated on virtual:a100" in slow.text
    fast = call(box, "time", kernel=PADDED, against=kernel_id(UNPADDED))
    assert fast.data["decision"] in IMPROVEMENTS and fast.data["source"] == "simulated"
    mine, theirs = fast.data["ratio_to_given"], slow.data["ratio_to_given"]
    assert isinstance(mine, float) and isinstance(theirs, float)
    assert fast.data["ratio_to_against"] == pytest.approx(mine / theirs)
    assert f"against {kernel_id(UNPADDED)}: " in fast.text
    assert box.kernels()["best"] == PADDED, "the best is what the gate found faster"
    assert fast.evaluation is not None and fast.evaluation.timing is not None
    assert fast.evaluation.timing.ratio == mine


def test_a_wrong_kernel_is_not_timed(box: TaskBox) -> None:
    found = call(box, "time", kernel=WRONG_VALUES)
    assert found.data["timed"] is False and found.data["ratio_to_given"] is None and "not timed" in found.text
    assert found.evaluation is not None and found.evaluation.timing is None


def test_a_kernel_that_faults_is_not_profiled(box: TaskBox) -> None:
    found = call(box, "profile", kernel=GIVEN.replace("y[(size_t)c * R + r]", "y[(size_t)c * R + r + (1 << 24)]"))
    assert found.data["profiled"] is False and "out_of_bounds" in found.text


def test_profile_says_why_and_where(box: TaskBox) -> None:
    found = call(box, "profile", base="given")
    assert "uncoalesced_access" in found.text and "line 6: y[" in found.text and "should move: " in found.text
    assert found.profiled and found.artefacts, "the whole profile is kept for those who want it"


def test_inspect_shows_hot_lines_and_code(box: TaskBox) -> None:
    hot = call(box, "inspect", kernel=PADDED)
    assert "stall" in hot.text and "tile[threadIdx.y + j]" in hot.text
    line = 1 + PADDED[: PADDED.index("y[(size_t)(out_row0")].count("\n")
    sass = call(box, "inspect", kernel=PADDED, view="sass", first_line=line, last_line=line)
    assert "STG.E" in sass.text and "ran " in sass.text
    assert "st.global.f32" in call(box, "inspect", kernel=PADDED, view="ptx", first_line=line, last_line=line).text
    assert "no ptx comes from" in call(box, "inspect", kernel=PADDED, view="ptx", first_line=900).text


def test_device_answers_what_if(box: TaskBox) -> None:
    found = call(box, "device", kernel=PADDED, registers=128)
    fit = found.data["fit"]
    assert isinstance(fit, dict) and fit["registers"] == 128 and fit["limited_by"] == ["registers"]
    assert "multiprocessors: 108" in found.text and "occupancy 25 %" in found.text


def test_compare_says_what_moved(box: TaskBox) -> None:
    found = call(box, "compare", kernel=PADDED, against="given")
    moved = {m["counter"]: (m["before"], m["after"]) for m in found.data["moved"]}  # type: ignore
    assert moved["global_store_sectors"] == (1048576, 131072)
    assert found.data["findings_gone"] == ["uncoalesced_access"]
    assert call(box, "compare", kernel=GIVEN, against="given").data["moved"] == []


@pytest.mark.usefixtures("exact_model")
def test_a_submission_is_scored_and_certified(tmp_path: Path) -> None:
    box = opened(ledger=tmp_path)
    predicts = {"global_store_sectors": "down", "global_load_sectors": "up", "cycles": "up"}
    found = call(box, "submit", kernel=PADDED, cause="uncoalesced stores", predicts=predicts)
    assert found.submitted and found.evaluation is not None and found.evaluation.certificate is not None
    scored = [p["verdict"] for p in found.data["predictions"]]  # type: ignore
    assert scored == ["right", "unmoved", "wrong"]
    certificate, sha256, _ = read_certificate(Path(str(found.data["certificate_file"])).read_bytes())
    assert sha256 == found.evaluation.certificate and certificate.candidate.text == PADDED
    lines = (tmp_path / "ledger.jsonl").read_text().count("\n")
    again = call(box, "submit", kernel=PADDED, cause="once more")
    assert again.evaluation == found.evaluation, "no second draw for the same kernel"
    assert (tmp_path / "ledger.jsonl").read_text().count("\n") == lines


@pytest.mark.usefixtures("rough_model")
def test_a_likely_faster_submission_is_accepted_without_a_certificate(tmp_path: Path) -> None:
    box = opened(ledger=tmp_path)
    found = call(box, "submit", kernel=PADDED, cause="uncoalesced stores")
    first, chance, advice = found.text.splitlines()[0].split("; ")
    assert first.startswith("submitted and accepted as likely faster: ") and first.endswith("x simulated")
    assert chance.endswith(" % of such pairs were measured faster") and advice == "measure it on the card"
    assert found.data["decision"] == "LIKELY_FASTER" and found.data["certificate"] is None
    probability = found.data["probability_faster"]
    assert isinstance(probability, float) and 0.5 < probability < 1
    assert [line.kind for line in read_ledger(tmp_path / "ledger.jsonl")] == ["commit", "result"]


def test_a_wrong_submission_is_not_accepted(box: TaskBox) -> None:
    found = call(box, "submit", kernel=WRONG_VALUES, cause="it is approved")
    assert found.submitted and found.data["verdict"] == "wrong" and found.data["certificate"] is None
    assert "not accepted" in found.text
