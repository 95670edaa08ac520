"""The bench in small: real tasks, real tools, rivals as models; resumed, paired, and refused where it would mislead."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import cast

import pytest
from tests.learn.rows import some_rows

from warpsight.bench.metrics import alike, by_task, diagnosed, difference, faster_than, log_speed, mean_of, summary_of
from warpsight.bench.rivals import answer_of, most_common
from warpsight.bench.suite import BenchPlan, asked_of, jobs_of, read_outcomes, run_bench, units_of, work, work_with
from warpsight.bench.table import comparison, conditions, report
from warpsight.bench.units import BenchOutcome, BenchUnit
from warpsight.cli.app import main
from warpsight.corpus.folder import write_folder
from warpsight.errors import UsageError
from warpsight.models.scripted import ScriptedCall, ScriptedModel, ScriptedTurn
from warpsight.processes.executor import Processes
from warpsight.session.feedback import Feedback
from warpsight.short.ask import NotAnswered


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(row.model_dump_json() + "\n" for row in some_rows()))
    return file


def plan_of(corpus: Path, model: str, feedback: tuple[Feedback, ...] = ("curated",)) -> BenchPlan:
    return BenchPlan(corpus=corpus, suite="recommend", model=model, feedback=feedback, train=corpus, allow_train=True)


def test_a_rival_that_follows_findings_really_looks(corpus: Path, tmp_path: Path) -> None:
    found = run_bench(plan_of(corpus, "rival:top-finding"), tmp_path / "out.jsonl")
    assert len(found) == len(some_rows())
    assert all(outcome.tool_calls == 1 and outcome.ended == "submitted" for outcome in found)
    assert all(outcome.diagnosed == (outcome.answer in outcome.right_answers) for outcome in found)


def test_a_rival_that_tries_hands_in_what_the_gate_accepts(corpus: Path, tmp_path: Path) -> None:
    plan = BenchPlan(
        corpus=corpus, suite="optimize", model="rival:tries", feedback=("curated",), count=2, allow_train=True
    )
    found = run_bench(plan, tmp_path / "out.jsonl")
    assert all(outcome.ended == "submitted" and outcome.is_right for outcome in found)
    assert all(outcome.tool_calls >= 1 and outcome.source == "simulated" for outcome in found)
    again = run_bench(plan, tmp_path / "again.jsonl")  # from what was kept of the same calls
    assert _plain(again) == _plain(found)


def test_a_rival_that_tries_without_a_look_makes_one_call(corpus: Path, tmp_path: Path) -> None:
    plan = BenchPlan(
        corpus=corpus, suite="optimize", model="rival:any", feedback=("curated",), count=2, allow_train=True
    )
    found = run_bench(plan, tmp_path / "out.jsonl")
    assert all(outcome.ended == "submitted" and outcome.is_right and outcome.tool_calls == 1 for outcome in found)


def test_rounds_go_on_from_the_faster_kernel_and_never_lose_what_was_gained(corpus: Path, tmp_path: Path) -> None:
    plan = BenchPlan(
        corpus=corpus, suite="optimize", model="rival:tries", feedback=("curated",), count=2, allow_train=True
    )
    once = run_bench(plan, tmp_path / "once.jsonl")
    more = run_bench(dataclasses.replace(plan, rounds=2), tmp_path / "more.jsonl")
    for one, two in zip(once, more, strict=True):
        assert two.is_right and two.speed >= one.speed
        gained = one.speed > 1
        assert two.tool_calls > one.tool_calls if gained else two.tool_calls == one.tool_calls
        assert two.answer == one.answer or two.speed > one.speed**2, "only a larger step changes what is said"


def test_the_most_common_answer_is_as_right_as_it_is_common(corpus: Path, tmp_path: Path) -> None:
    found = run_bench(plan_of(corpus, "rival:most-common"), tmp_path / "out.jsonl")
    common = most_common(corpus)
    share = sum(common in row.truth.right for row in some_rows()) / len(some_rows())
    assert mean_of(found, diagnosed).value == pytest.approx(share)


def test_a_run_goes_on_after_a_kill_and_asks_nothing_twice(corpus: Path, tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    run_bench(plan_of(corpus, "rival:random"), whole)
    lines = whole.read_text().splitlines(keepends=True)
    cut.write_text("".join(lines[:2]) + lines[2][:40])
    counted: list[int] = []
    run_bench(plan_of(corpus, "rival:random"), cut, progress=lambda done, _all: counted.append(done))
    assert counted == list(range(2, len(lines) + 1))
    assert cut.read_text().startswith("".join(lines[:2])), "whole lines stay as they are"
    assert _plain(read_outcomes(cut)) == _plain(read_outcomes(whole))


def test_modes_are_measured_on_the_same_tasks(corpus: Path, tmp_path: Path) -> None:
    found = run_bench(plan_of(corpus, "rival:top-finding", ("none", "curated", "wrong")), tmp_path / "out.jsonl")
    sides = conditions(found)
    assert len({tuple(by_task(some, diagnosed)) for some in sides.values()}) == 1
    assert report(found).count("rival:top-finding") == 3
    one, other = (sides["recommend", "rival:top-finding", mode] for mode in ("curated", "none"))
    assert comparison(one, other)["accuracy"]["tasks"] == len(some_rows())


def test_units_run_in_other_processes_with_the_same_outcomes(corpus: Path, tmp_path: Path) -> None:
    from functools import partial

    plan = plan_of(corpus, "rival:random")
    here = run_bench(plan, tmp_path / "out.jsonl")
    there = Processes(1).run(partial(work, plan), [(outcome.unit,) for outcome in here])
    assert _plain([outcome for job in there for outcome in job]) == _plain(here)


def test_the_lines_stand_in_the_order_of_the_units_once_all_are_there(corpus: Path, tmp_path: Path) -> None:
    plan, file = plan_of(corpus, "rival:random"), tmp_path / "out.jsonl"
    found = run_bench(plan, file)
    other = found[0].model_copy(update={"unit": found[0].unit.model_copy(update={"model": "another"})})
    lines = [outcome.model_dump_json() for outcome in reversed(found)]
    file.write_text("\n".join([lines[0], other.model_dump_json(), *lines[1:-1]]) + "\n")
    assert len(run_bench(plan, file)) == len(found)
    now = read_outcomes(file)
    assert now[1] == other
    assert [outcome.unit for outcome in now if outcome != other] == [outcome.unit for outcome in found]


def test_a_local_model_gets_batches_of_one_mode_and_others_one_unit_at_a_time(corpus: Path) -> None:
    modes: tuple[Feedback, ...] = ("curated", "none")
    units = units_of(plan_of(corpus, "local", modes))
    batches = jobs_of(plan_of(corpus, "local", modes), units, 2)
    assert {unit.key for job in batches for unit in job} == {unit.key for unit in units}
    assert max(map(len, batches)) == 2 and all(len({unit.feedback for unit in job}) == 1 for job in batches)
    assert all(len(job) == 1 for job in jobs_of(plan_of(corpus, "rival:random", modes), units, 2))


def test_results_of_another_model_or_of_other_tasks_are_not_gone_on_with(corpus: Path, tmp_path: Path) -> None:
    plan, file = plan_of(corpus, "rival:random"), tmp_path / "out.jsonl"
    found = run_bench(plan, file)
    assert all(outcome.trained_on for outcome in found), "the rows are of training families, and every line says so"
    for changed in ({"temperature": 0.5}, {"rounds": 2}):
        with pytest.raises(UsageError, match="another adapter"):
            run_bench(dataclasses.replace(plan, **changed), file)
    turned = tmp_path / "turned.jsonl"
    rows = some_rows()
    swapped = [row.model_copy(update={"number": other.number}) for row, other in zip(rows, rows[::-1], strict=True)]
    turned.write_text("".join(row.model_dump_json() + "\n" for row in swapped))
    with pytest.raises(UsageError, match="not the one in the results"):
        run_bench(dataclasses.replace(plan, corpus=turned), file)


def test_an_adapter_is_known_by_its_weights_and_not_by_its_name(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "adapter_model.safetensors").write_bytes(b"one")
    plan = dataclasses.replace(plan_of(corpus, "local"), adapter=tmp_path)
    first = asked_of(plan)
    (tmp_path / "adapter_model.safetensors").write_bytes(b"two")
    asked_of.cache_clear()
    assert asked_of(plan) != first


def test_a_model_that_cannot_be_had_is_no_wrong_answer(corpus: Path, tmp_path: Path) -> None:
    plan, unit = plan_of(corpus, "scripted"), BenchUnit(suite="recommend", model="m", feedback="none", row=0)
    with pytest.raises(NotAnswered, match="ScriptEnded"):
        work_with(plan, unit, ScriptedModel([], name="gone"))


def test_false_diagnoses_are_the_same_however_many_tasks_are_asked(corpus: Path, tmp_path: Path) -> None:
    plan = plan_of(corpus, "rival:top-finding", ("wrong",))
    few = run_bench(dataclasses.replace(plan, count=2), tmp_path / "few.jsonl")
    assert _plain(few) == _plain(run_bench(plan, tmp_path / "all.jsonl"))[: len(few)]


def test_tasks_that_are_trained_on_are_refused(corpus: Path, tmp_path: Path) -> None:
    plan = BenchPlan(corpus=corpus, suite="recommend", model="rival:random", feedback=("curated",))
    with pytest.raises(UsageError, match="trained on"):
        run_bench(plan, tmp_path / "out.jsonl")


def outcome(
    row: int, *, right: bool = True, ratio: float = 1.0, verdict: str = "right", model: str = "m"
) -> BenchOutcome:
    decision = "FASTER" if ratio > 1.03 else "SAME"
    return BenchOutcome(
        unit=BenchUnit(suite="optimize", model=model, feedback="curated", row=row), task=f"t{row}", answer="spills",
        right_answers=("spills",) if right else ("tail",), diagnosed=right, verdict=verdict,
        decision=decision if verdict == "right" else "", ratio=ratio if verdict == "right" else None,
        source="simulated" if verdict == "right" else "",
    )  # fmt: skip


def test_a_wrong_kernel_counts_as_no_gain_and_not_as_absent() -> None:
    found = summary_of([outcome(0, ratio=4.0), outcome(1, verdict="wrong")])
    assert found["right"] == 0.5
    assert found["fast_p"] == {"1": 0.5, "1.2": 0.5, "1.5": 0.5, "2": 0.5}
    assert mean_of([outcome(0, ratio=4.0), outcome(1, verdict="wrong")], log_speed, geometric=True).value == 2.0


def test_a_likely_faster_kernel_counts_with_its_ratio() -> None:
    sure = outcome(0, ratio=1.5)
    assert sure.model_copy(update={"decision": "LIKELY_FASTER"}).speed == sure.speed == 1.5
    assert sure.model_copy(update={"decision": "AMBIGUOUS"}).speed == 1.0


def test_fast_p_is_strict() -> None:
    assert faster_than(1.5)(outcome(0, ratio=1.5)) == 0 and faster_than(1.5)(outcome(0, ratio=1.51)) == 1


def test_pairs_show_a_difference_that_means_alone_hide() -> None:
    # Hard and easy tasks alternate; one model is right on one task more of each kind.
    base = [outcome(row, right=row % 2 == 0) for row in range(40)]
    better = [outcome(row, right=row % 2 == 0 or row < 20) for row in range(40)]
    found = difference(better, base, diagnosed)
    assert found.value == pytest.approx(0.25) and found.low > 0.1
    apart = mean_of(better, diagnosed).low < mean_of(base, diagnosed).high
    assert apart, "the intervals of the two alone overlap"


def test_what_two_have_alike_is_counted_on_the_tasks_that_both_have() -> None:
    one = [outcome(0, ratio=2.0), outcome(1, ratio=1.5), outcome(2), outcome(3)]
    other = [outcome(0, ratio=2.001), outcome(1, ratio=1.4), outcome(2).model_copy(update={"answer": "tail"})]
    assert alike(one, other) == {"pairs": 3, "same_answer": 2, "as_fast": 2}


def test_a_share_of_the_roofline_is_over_all_right_kernels_or_not_told() -> None:
    known, wrong = outcome(0).model_copy(update={"roofline_share": 0.5}), outcome(1, verdict="wrong")
    assert summary_of([known, wrong])["roofline_share"] == 0.5
    assert summary_of([known, wrong, outcome(2)])["roofline_share"] is None


def test_answers_are_counted_the_most_common_first() -> None:
    said = ("tail", "spills", None, "nothing", "spills")
    found = summary_of([outcome(row).model_copy(update={"answer": answer}) for row, answer in enumerate(said)])
    assert list(cast("dict[str, int]", found["answers"]).items()) == [("spills", 2), ("nothing", 1), ("tail", 1)]
    assert found["answered"] == 0.8


def test_the_same_number_of_another_corpus_is_another_task() -> None:
    elsewhere = [one.model_copy(update={"task": f"other {one.task}"}) for one in (outcome(0), outcome(1))]
    with pytest.raises(UsageError, match="no task in common"):
        difference([outcome(0), outcome(1)], elsewhere, diagnosed)


def test_intervals_are_the_same_again_and_narrow_with_tasks() -> None:
    few, many = ([outcome(row, right=row % 2 == 0) for row in range(count)] for count in (10, 200))
    assert mean_of(few, diagnosed) == mean_of(few, diagnosed)
    widths = [mean_of(some, diagnosed).high - mean_of(some, diagnosed).low for some in (few, many)]
    assert widths[1] < widths[0] / 2


def test_measured_and_simulated_times_are_never_one_number() -> None:
    measured = outcome(1, ratio=2.0).model_copy(update={"source": "measured"})
    with pytest.raises(UsageError, match="one number"):
        summary_of([outcome(0, ratio=2.0), measured])


def test_a_finding_points_at_its_kind_and_the_roofline_at_nothing() -> None:
    assert answer_of(["bank_conflicts"], skip_unknown=False) == "bank_conflicts"
    assert answer_of(["at_roofline", "bank_conflicts"], skip_unknown=True) == "nothing"
    assert answer_of(["no_tensor_cores", "bank_conflicts"], skip_unknown=True) == "bank_conflicts"
    assert answer_of(["no_tensor_cores", "bank_conflicts"], skip_unknown=False) == "nothing"


REPORT, COMPARE = ("report",), ("compare", "--one", "m:curated", "--other", "n:curated", "--suite", "optimize")


def test_who_reads_the_file_of_a_running_bench_leaves_it_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "out.jsonl"
    lines = [outcome(row, model=model).model_dump_json() + "\n" for row in range(2) for model in "mn"]
    file.write_text("".join(lines) + lines[0][:40])
    before = file.read_bytes()
    for verb, *options in (REPORT, COMPARE):
        with pytest.raises(SystemExit, match="0"):
            main(["bench", verb, str(file), *options])
    assert len(read_outcomes(file)) == 4 and file.read_bytes() == before


def test_a_table_of_the_first_tasks_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "out.jsonl"
    file.write_text("".join(outcome(row).model_dump_json() + "\n" for row in range(5)))
    with pytest.raises(SystemExit, match="0"):
        main(["bench", "report", str(file), "--count", "3", "--json"])
    assert [one["tasks"] for one in json.loads(capsys.readouterr().out)["conditions"]] == [3]
    with pytest.raises(SystemExit, match="2"):
        main(["bench", "report", str(file), "--count", "3", "--html", str(tmp_path / "page.html")])


@pytest.mark.parametrize("words", [REPORT, COMPARE], ids=lambda words: words[0])
def test_a_file_that_has_no_outcomes_is_refused_with_its_line(
    words: tuple[str, ...], corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    garbage, none = tmp_path / "garbage.jsonl", tmp_path / "none.jsonl"
    garbage.write_text(outcome(0).model_dump_json() + "\ngarbage\n")
    for file, told in (
        (garbage, f"{garbage}:2: expected an outcome of a bench, found 'garbage'"),
        (corpus, f"{corpus}:1: expected an outcome of a bench, found '{{"),
        (none, f"could not read {none}"),
    ):
        with pytest.raises(SystemExit, match="2"):
            main(["bench", words[0], str(file), *words[1:]])
        err = capsys.readouterr().err
        assert told in err and "Traceback" not in err


def test_a_bench_needs_its_corpus_and_adds_to_no_other_kind_of_file(corpus: Path, tmp_path: Path) -> None:
    out, before = tmp_path / "out.jsonl", corpus.read_bytes()
    with pytest.raises(UsageError, match=r"could not read .*none\.jsonl"):
        run_bench(plan_of(tmp_path / "none.jsonl", "rival:random"), out)
    assert not out.exists()
    with pytest.raises(UsageError, match=r"rows\.jsonl:1: expected an outcome"):
        run_bench(plan_of(corpus, "rival:random"), corpus)
    assert corpus.read_bytes() == before


def _plain(outcomes: list[BenchOutcome]) -> list[dict[str, object]]:
    """Without the clock."""
    return sorted((o.model_dump(exclude={"seconds"}) for o in outcomes), key=lambda found: str(found["unit"]))


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """Two tasks as folders, as somebody has them who wrote or imported them: no defect is known."""
    place = tmp_path / "mine"
    for row in some_rows()[:2]:
        write_folder(row.spec, place / f"task_{row.number}")
    return place


def test_task_folders_are_benched_with_the_short_tools_and_not_scored(folders: Path, tmp_path: Path) -> None:
    plan = BenchPlan(corpus=folders, suite="optimize", model="rival:any", feedback=("curated",))
    found = run_bench(plan, tmp_path / "out.jsonl")
    assert len(found) == 2 and all(one.is_right and one.right_answers == () and not one.trained_on for one in found)
    told = summary_of(found)
    assert told["accuracy"] is None and told["right"] == 1.0 and told["source"] == "simulated"
    assert "| - |" in report(found) and comparison(found, found)["accuracy"] is None
    one = next(folders.iterdir())
    assert len(run_bench(dataclasses.replace(plan, corpus=one), tmp_path / "one.jsonl")) == 1
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="no tasks in"):
        run_bench(dataclasses.replace(plan, corpus=tmp_path / "empty"), tmp_path / "none.jsonl")


def test_all_ten_tools_are_a_condition_of_their_own(folders: Path, corpus: Path, tmp_path: Path) -> None:
    turns = (
        ScriptedTurn(text="Look.", calls=(ScriptedCall(name="profile", arguments={"base": "given"}),)),
        ScriptedTurn(text="", calls=(ScriptedCall(name="rewrite", arguments={"cause": "low_occupancy"}),)),
        ScriptedTurn(text="", calls=(ScriptedCall(name="submit", arguments={"cause": "it was block_too_small"}),)),
    )
    for place in (folders, corpus):
        plan = BenchPlan(
            corpus=place, suite="optimize", model="scripted", feedback=("curated",), box="full", count=1, calls=5,
            allow_train=True,
        )  # fmt: skip
        found = work_with(plan, units_of(plan)[0], ScriptedModel(turns))
        assert found.answer == "block_too_small" and found.ended == "submitted" and found.is_right
        assert found.diagnosed == ("block_too_small" in found.right_answers) and found.tool_calls == 2
        assert list(conditions([found])) == [("optimize", "scripted (ten tools)", "curated")]
    again = BenchOutcome.model_validate_json(found.model_dump_json())
    assert again == found and again.unit.key != again.unit.model_copy(update={"box": "short"}).key
    with pytest.raises(UsageError, match="full box"):
        units_of(dataclasses.replace(plan, suite="recommend"))


def test_units_of_the_short_tools_are_written_as_before() -> None:
    unit = BenchUnit(suite="recommend", model="m", feedback="none", row=3)
    assert "box" not in unit.model_dump() and unit.key == "recommend|m|none|3|0"
