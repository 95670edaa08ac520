"""Traces: real tools in the transcript, only confirmed ones kept, the same from the same seed, resumed after a cut."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from pydantic import JsonValue
from tests.learn.rows import small_row, some_rows

from warpsight.causes import answers
from warpsight.cli.app import main
from warpsight.corpus.build import CorpusRow
from warpsight.corpus.removal import removal_edits
from warpsight.errors import UsageError
from warpsight.learn.oracle import among
from warpsight.learn.tokens import tokens_of
from warpsight.learn.traces import Words, build_traces, confirmed, oracle_run, read_traces, restyled
from warpsight.models.scripted import ScriptedCall, ScriptedModel, ScriptedTurn
from warpsight.models.text_calls import read_calls
from warpsight.nouns.run import Run
from warpsight.session.feedback import Feedback
from warpsight.short.ask import NotAnswered
from warpsight.short.prompting import job_for
from warpsight.short.words import most_of


def helped() -> CorpusRow:
    """A task that one removal makes faster."""
    return next(row for row in some_rows() if row.truth.right != ("nothing",))


def test_an_oracle_looks_and_says_what_was_measured() -> None:
    row = helped()
    run = oracle_run(row, "recommend", "curated", seed=0)
    kinds = [step.kind for step in run.steps]
    assert kinds == ["system", "user", "assistant", "call", "result", "assistant", "call", "result"]
    assert run.steps[3].tool == "profile" and run.steps[4].content.startswith("bound")
    assert run.submission is not None and run.submission.cause in row.truth.right
    assert confirmed(row, "recommend", run)


def test_a_text_only_trace_has_no_look() -> None:
    run = oracle_run(helped(), "recommend", "none", seed=0)
    assert [step.tool for step in run.steps if step.kind == "call"] == ["submit"]


def test_a_look_in_vain_is_told_so_and_answered_from_the_text() -> None:
    row = helped()
    run = oracle_run(row, "recommend", "none", seed=0, words=Words(vain=1.0))
    shown = next(step.content for step in run.steps if step.kind == "result")
    assert shown.startswith("not profiled: profiles are off")
    assert confirmed(row, "recommend", run)


@pytest.mark.parametrize("feedback", ["time", "raw"])
def test_what_a_look_shows_follows_the_feedback(feedback: Feedback) -> None:
    run = oracle_run(helped(), "recommend", feedback, seed=0)
    shown = next(step.content for step in run.steps if step.kind == "result")
    assert shown.startswith("duration_us")
    assert ("busy_dram" in shown) == (feedback == "raw")


def test_an_optimizing_oracle_hands_in_a_kernel_that_the_gate_accepts() -> None:
    row = helped()
    run = oracle_run(row, "optimize", "curated", seed=0)
    assert confirmed(row, "optimize", run)
    assert run.submitted is not None and run.submitted.timing is not None
    assert run.submitted.timing.improves and run.submitted.timing.source == "simulated"


def test_what_is_answered_after_tries_is_what_gave_most() -> None:
    left = "\n[budget left: 3 tool calls]"  # as a conversation has it
    first = "best: uncoalesced 2.05x\nalso: spills 1.10x\n2.25x in all (simulated)" + left
    second = "best: too_few_blocks 3.00x\n6.75x in all (simulated)" + left
    none = "nothing helps\nno rewrite is known: divergence, missing_tile" + left
    assert most_of((first, second)) == ("uncoalesced", "uncoalesced gave most, 2.05x.")
    assert most_of((none, second))[0] == "too_few_blocks"
    assert most_of((none,), ("missing_tile", "spills"))[0] == "missing_tile"
    assert most_of((none,), ("spills",))[0] == most_of((none,))[0] == most_of(())[0] == "nothing"


def test_a_defect_that_helped_is_the_answer_where_another_rewrite_gave_more() -> None:
    told = (
        "best: too_few_blocks 1.12x\nalso: spills 1.04x, reloads 1.06x\n"
        "no rewrite is known: scalar_access, divergence\n1.20x in all with slow_math, spills (simulated)"
    )
    assert among((told,), ("divergence",)) is None, "not known to help"
    assert among((told,), ("reloads",)) == ("reloads", "too_few_blocks gave most, 1.12x; the defect is reloads, 1.06x.")
    assert among((told,), ("slow_math",)) == ("slow_math", "too_few_blocks gave most, 1.12x; the defect is slow_math.")
    assert among((told,), ("too_few_blocks", "reloads")) is None, "what gave most is right"
    assert among((told,), ("nothing",)) is among(("nothing helps",), ("spills",)) is among((), ("spills",)) is None


def test_an_optimizing_oracle_tries_what_it_names_and_says_what_the_tools_showed() -> None:
    run = oracle_run(helped(), "optimize", "curated", seed=0)
    asked = [json.loads(step.content)["causes"] for step in run.steps if step.kind == "call" and step.tool == "rewrite"]
    tried = [step.content for step in run.steps if step.kind == "result" and step.tool == "rewrite"]
    last = [step.content for step in run.steps if step.kind == "assistant"][-1]
    best = re.findall(r"best: (\w+) (\d+\.\d+)x", " ".join(tried))
    assert best and f"{best[0][0]} gave most, {best[0][1]}x" in last
    found = next(step.content for step in run.steps if step.kind == "result" and step.tool == "profile")
    assert len(asked) == 1 and asked[0][-1] == "any" and all(name in found for name in asked[0][:-1])


def test_without_findings_what_stands_in_the_text_is_tried() -> None:
    row = helped()
    run = oracle_run(row, "optimize", "time", seed=0)
    asked = [json.loads(step.content)["causes"] for step in run.steps if step.kind == "call" and step.tool == "rewrite"]
    assert asked == [[*row.spec.defects, "any"]]


def test_the_prompt_is_the_same_whatever_the_feedback() -> None:
    row = helped()
    modes: tuple[Feedback, ...] = ("none", "time", "raw", "curated")
    openings = {run.steps[0].content + run.steps[1].content for run in (_run(row, mode) for mode in modes)}
    assert len(openings) == 1


def test_a_wrong_answer_is_not_confirmed() -> None:
    row = helped()
    run = oracle_run(row, "recommend", "none", seed=0)
    assert run.submission is not None
    wrong = next(kind for kind in answers() if kind not in row.truth.right)
    other = run.model_copy(update={"submission": run.submission.model_copy(update={"cause": wrong})})
    assert not confirmed(row, "recommend", other)


def test_a_file_is_the_same_again_and_goes_on_after_a_cut(tmp_path: Path) -> None:
    rows, whole, cut = some_rows()[:3], tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    assert build_traces(rows, whole, suite="recommend", feedback="none", variants=2) == 6
    cut.write_bytes(whole.read_bytes()[:-200])
    before = cut.read_bytes()
    assert len(list(read_traces(cut))) == 5 and cut.read_bytes() == before, "reading cuts nothing"
    assert build_traces(rows, cut, suite="recommend", feedback="none", variants=2) == 6
    assert _without_clock(cut) == _without_clock(whole)


def test_a_file_of_another_kind_is_neither_read_nor_added_to(tmp_path: Path) -> None:
    row, file = helped(), tmp_path / "t.jsonl"
    line = {"row": 0, "variant": 0, "suite": "recommend", "messages": [{"role": "user", "content": "x"}], "tools": []}
    for text, told in (
        ("garbage", r"1: expected a line of a file of traces, found 'garbage'"),
        (row.model_dump_json(), r"1: expected a line of a file of traces, found .*\(row: Field required"),
        (json.dumps(line), "whether it is learned"),
        (json.dumps({**line, "messages": ["x"], "train": [False]}), r"messages\.0: Input should be"),
    ):
        file.write_text(text + "\n")
        with pytest.raises(UsageError, match=told):
            read_traces(file)
        with pytest.raises(UsageError, match=told):
            build_traces([row], file, suite="recommend", feedback="none")
        assert file.read_text() == text + "\n"
    file.write_text(json.dumps({**line, "train": [False], "more": 1}) + "\n")
    assert list(read_traces(file)) == [{**line, "train": [False], "more": 1}]


def test_without_a_corpus_there_is_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    none, file = tmp_path / "none.jsonl", tmp_path / "traces.jsonl"
    with pytest.raises(SystemExit, match="2"):
        main(["train", "traces", str(none), str(file)])
    assert f"could not read {none}: No such file" in capsys.readouterr().err and not file.exists()


def test_several_processes_write_the_same_file(tmp_path: Path) -> None:
    rows, one, two = some_rows()[:3], tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    build_traces(rows, one, suite="recommend", feedback="none", variants=2)
    build_traces(rows[:1], two, suite="recommend", feedback="none")
    seen: list[tuple[int, int]] = []
    assert build_traces(
        rows, two, suite="recommend", feedback="none", variants=2, processes=2, progress=lambda *at: seen.append(at)
    )
    assert seen == [(number, 6) for number in range(2, 7)]
    assert _without_clock(two) == _without_clock(one)
    with pytest.raises(UsageError, match="one process"):
        build_traces(rows, two, suite="recommend", feedback="none", teacher=ScriptedModel([]), processes=2)


def test_variants_are_other_words_with_the_same_truth(tmp_path: Path) -> None:
    file = tmp_path / "traces.jsonl"
    build_traces([helped()], file, suite="recommend", feedback="none", variants=6)
    users = {trace["messages"][1]["content"] for trace in read_traces(file)}
    said = {trace["messages"][2]["content"] for trace in read_traces(file)}
    assert len(users) > 1 and len(said) > 1
    assert restyled(helped(), 3).truth == helped().truth


def test_a_teacher_that_is_wrong_leaves_no_trace(tmp_path: Path) -> None:
    row = helped()
    wrong = next(kind for kind in answers() if kind not in row.truth.right)
    call = json.dumps({"name": "submit", "arguments": {"cause": wrong}})
    teacher = ScriptedModel([f"<tool_call>{call}</tool_call>"], name="teacher")
    file = tmp_path / "taught.jsonl"
    assert build_traces([row], file, suite="recommend", feedback="none", teacher=teacher, tries=2) == 0
    assert len(file.read_text().splitlines()) == 1


def submits(cause: str, **more: JsonValue) -> ScriptedModel:
    """A teacher as an endpoint has them: its calls are data, not text."""
    look = ScriptedTurn(calls=(ScriptedCall(name="profile"),))
    hand_in = ScriptedTurn(
        text="It is clear.", calls=(ScriptedCall(name="submit", arguments={"cause": cause, **more}),)
    )
    return ScriptedModel([look, hand_in], name="teacher")


def test_the_calls_of_a_teacher_behind_an_endpoint_are_trained_on(tmp_path: Path) -> None:
    row, file = helped(), tmp_path / "taught.jsonl"
    teacher = submits(row.truth.right[0])
    assert build_traces([row], file, suite="recommend", feedback="curated", teacher=teacher) == 1
    (trace,) = read_traces(file)
    found = tokens_of(trace, lambda text, _special: [ord(letter) for letter in text])
    trained = "".join(chr(token) for token, on in zip(found.ids, found.mask, strict=True) if on)
    calls, malformed = read_calls(trained)
    assert [(call.name, json.loads(call.arguments)) for call in calls] == [
        ("profile", {}),
        ("submit", {"cause": row.truth.right[0]}),
    ]
    assert not malformed and "It is clear." in trained and "bound" not in trained


def test_a_teacher_is_kept_only_where_its_kernel_was_measured_to_be_faster(tmp_path: Path) -> None:
    row = helped()
    right = row.truth.right[0]
    edits: list[JsonValue] = [{"search": one.search, "replace": one.replace} for one in removal_edits(row.spec, right)]
    for name, teacher, kept in (
        ("idle", submits(right), 0),  # the right cause, and the kernel as it was
        ("faster", submits(right, edits=edits), 1),
    ):
        file = tmp_path / f"{name}.jsonl"
        assert build_traces([row], file, suite="optimize", feedback="curated", teacher=teacher) == kept, name


@pytest.mark.slow
def test_an_oracle_that_makes_a_detour_goes_back(tmp_path: Path) -> None:
    row = small_row(90, "points", ("slow_math", "uncoalesced"))
    traps = [defect for defect, without in row.truth.without_us.items() if row.truth.time_us / without < 1.03]
    assert traps, "a defect that stands in the text and does not matter"
    run = oracle_run(row, "optimize", "curated", seed=0, words=Words(detours=1.0))
    tries = [json.loads(step.content)["causes"] for step in run.steps if step.tool == "rewrite" and step.kind == "call"]
    assert len(tries) == 2 and tries[0] == traps[:1] and len(tries[1]) > 1
    assert confirmed(row, "optimize", run, types=False)


def test_a_file_of_other_traces_is_not_gone_on_with(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    build_traces([helped()], file, suite="recommend", feedback="none")
    for changed in ({"feedback": "curated"}, {"seed": 5}, {"words": Words(vain=1.0)}):
        with pytest.raises(UsageError, match="another file"):
            build_traces([helped()], file, **{"suite": "recommend", "feedback": "none", **changed})  # type: ignore[arg-type]


def test_a_teacher_that_cannot_be_had_is_no_teacher_that_is_wrong(tmp_path: Path) -> None:
    file, gone = tmp_path / "t.jsonl", ScriptedModel([], name="teacher")
    with pytest.raises(NotAnswered, match="ScriptEnded"):
        build_traces([helped()], file, suite="recommend", feedback="none", teacher=gone)
    assert file.read_text() == "", "it is asked again the next time"


def test_no_traces_with_a_false_diagnosis(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="wrong"):
        build_traces([], tmp_path / "x.jsonl", suite="recommend", feedback="wrong")


def test_the_same_job_for_the_same_question() -> None:
    from warpsight.corpus.specs import task_of

    task = task_of(small_row(0, "saxpy", ("uncoalesced",)).spec)
    assert job_for(task, "recommend", run_id="a", model="m") == job_for(task, "recommend", run_id="a", model="m")


def _run(row: CorpusRow, feedback: Feedback) -> Run:
    return oracle_run(row, "recommend", feedback, seed=0)


def _without_clock(file: Path) -> list[dict[str, object]]:
    return [{**json.loads(line)} for line in file.read_text().splitlines()]
