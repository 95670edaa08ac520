"""Traces of the suite budget: written from the table, confirmed by it, resumed, and never with a number made up."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.learn.rows import small_row

from warpsight.corpus.build import CorpusRow
from warpsight.corpus.outcomes import build_outcomes
from warpsight.errors import UsageError
from warpsight.learn.budget_traces import BudgetTraces, build_budget_traces
from warpsight.learn.config import Rl, Start, Train
from warpsight.learn.reward import Prices, budget_reward
from warpsight.learn.traces import read_lines, read_traces
from warpsight.nouns.run import Submission
from warpsight.short.budget_box import BudgetSpent
from warpsight.verbs.train import PACKAGES, budget_traces_of


def some_rows() -> list[CorpusRow]:
    return [small_row(0, "saxpy", ("accidental_double",)), small_row(1, "points", ("block_too_small",))]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("traces") / "table.jsonl"
    build_outcomes(some_rows(), file, steps=1)
    return file


def test_traces_try_what_the_table_knows_and_every_number_is_a_tools(table: Path, tmp_path: Path) -> None:
    how = BudgetTraces(table, tries=(1, 2), detours=1.0)
    file = tmp_path / "traces.jsonl"
    kept = build_budget_traces(some_rows(), file, how)
    assert 0 < kept <= 4 and len(list(read_lines(file))) == 4
    for trace in read_traces(file):
        assert trace["suite"] == "budget"
        shown = ""
        for message, learned in zip(trace["messages"], trace["train"], strict=True):
            said = message["content"] + json.dumps(message.get("tool_calls", ""))
            if learned:
                assert set(re.findall(r"\d+\.\d+", said)) <= set(re.findall(r"\d+\.\d+", shown))
            else:
                shown += said
    whole = file.read_text()
    file.write_text("".join(whole.splitlines(keepends=True)[:2]))
    assert build_budget_traces(some_rows(), file, how) == kept and file.read_text() == whole
    with pytest.raises(UsageError, match="has traces of"):
        build_budget_traces(some_rows(), file, BudgetTraces(table, tries=(1, 2), detours=0.5))


def test_without_a_profile_the_oracle_does_not_look(table: Path, tmp_path: Path) -> None:
    file = tmp_path / "text.jsonl"
    assert build_budget_traces(some_rows(), file, BudgetTraces(table, "none", tries=(1,))) > 0
    assert all("profile" not in json.dumps(trace["messages"]) for trace in read_traces(file))


def test_a_task_that_the_table_lacks_and_a_teacher_are_refused(table: Path, tmp_path: Path) -> None:
    other = [small_row(7, "saxpy", ("too_few_blocks",))]
    with pytest.raises(UsageError, match="does not have"):
        build_budget_traces(other, tmp_path / "t.jsonl", BudgetTraces(table))
    for where, teacher in ((None, None), (table, "openai:x")):
        with pytest.raises(UsageError):
            budget_traces_of(where, "curated", "1,2", 0, 0.3, teacher)


def test_a_try_must_bring_more_than_it_costs() -> None:
    said = Submission(cause="uncoalesced", kernel_sha256="0" * 64)

    def earned(speed: float, tries: int, within: bool = True, submission: Submission | None = said) -> float:
        return budget_reward(submission, BudgetSpent(tries=tries, allowed=8, speed=speed), within, 1, Prices())

    assert earned(2.0, 1) > earned(2.0, 2) > earned(1.0, 1) > earned(1.0, 1, within=False)
    assert earned(1.0, 0, within=False) > earned(1.0, 0, submission=None)
    assert earned(1.03, 2) < earned(1.0, 1), "three per cent are not worth a try"
    assert earned(1.2, 2) > earned(1.0, 1)


def test_reinforcement_of_the_suite_budget_needs_a_table(tmp_path: Path) -> None:
    for wrong in ({"suite": "budget"}, {"suite": "recommend", "table": "t"}):
        with pytest.raises(ValueError, match="table"):
            Rl.model_validate({"corpus": "c", "output": "o", **wrong})


@pytest.mark.filterwarnings("ignore")
def test_tuning_and_reinforcement_of_the_suite_budget_run_in_small(table: Path, tmp_path: Path) -> None:
    for name in PACKAGES:
        pytest.importorskip(name)
    from tests.learn.test_train import TINY

    from warpsight.learn.config import Sft
    from warpsight.learn.rl import train_rl
    from warpsight.learn.sft import train_sft

    traces = tmp_path / "traces.jsonl"
    build_budget_traces(some_rows(), traces, BudgetTraces(table, tries=(1, 2)), variants=2)
    train: dict[str, Any] = {"batch": 2, "max_tokens": 2000, "log_steps": 1, "warmup_steps": 0}
    start = Start(scratch=TINY, lora_rank=0, dtype="float32")
    tuned = Sft(traces=(str(traces),), start=start, train=Train(max_steps=1, **train), output=str(tmp_path / "sft"))
    final = train_sft(tuned)
    corpus = tmp_path / "rows.jsonl"
    corpus.write_text("".join(row.model_dump_json() + "\n" for row in some_rows()))
    config = Rl(
        corpus=str(corpus), suite="budget", table=str(table), tries=(1, 2), group=2, resample=0, reply_tokens=24,
        start=Start(weights=str(final), lora_rank=4, dtype="float32"), train=Train(max_steps=1, **train),
        output=str(tmp_path / "rl"),
    )  # fmt: skip
    train_rl(config)
    found = json.loads((tmp_path / "rl" / "summary.json").read_text())
    assert found["steps"] == 1 and found["rollouts"] >= 2 and found["rollouts_an_hour"] > 0
