"""The suite budget in small: tries are counted and refused when spent, answers are the table's, rivals are paired."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.learn.rows import small_row

from warpsight.bench.budget_rivals import BUDGET_RIVALS
from warpsight.bench.metrics import share_of_best, within
from warpsight.bench.suite import BenchPlan, run_bench
from warpsight.bench.table import comparison, conditions, report
from warpsight.bench.units import BenchOutcome, BenchUnit
from warpsight.corpus.build import CorpusRow
from warpsight.corpus.outcomes import OutcomeTable, build_outcomes
from warpsight.corpus.specs import plain_of, task_of
from warpsight.errors import UsageError
from warpsight.short.budget_box import BudgetBox
from warpsight.short.prompting import CAUSE, TRY, WHICH
from warpsight.tools.box import SUBMIT
from warpsight.verbs.bench import require_tries


def two_rows() -> list[CorpusRow]:
    return [small_row(0, "saxpy", ("accidental_double",)), small_row(1, "points", ("block_too_small",))]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A corpus and its table, measured once for all tests here."""
    folder = tmp_path_factory.mktemp("budget")
    corpus, table = folder / "rows.jsonl", folder / "table.jsonl"
    corpus.write_text("".join(row.model_dump_json() + "\n" for row in two_rows()))
    build_outcomes(two_rows(), table, steps=2)
    return corpus, table


def box_of(row: CorpusRow, tries: int, table: OutcomeTable | None = None) -> BudgetBox:
    known = None if table is None else lambda way: table.tries_of(row.spec.key, way)
    return BudgetBox(task_of(row.spec), "budget", tries=tries, known=known, plain=plain_of(row.spec))


def test_every_try_is_counted_and_none_is_made_when_all_are_spent(files: tuple[Path, Path]) -> None:
    row = two_rows()[1]
    box = box_of(row, 2, OutcomeTable.read(files[1]))
    assert "block_too_small" in box.can_try
    first = box.call(TRY, {CAUSE: "block_too_small"})
    assert "1 left" in first.text and not first.is_error
    assert "no try was spent" in box.call(TRY, {CAUSE: "bank_conflicts"}).text
    assert box.call(TRY, {CAUSE: "no such cause"}).is_error and box.left == 1
    box.call(TRY, {CAUSE: "block_too_small", WHICH: 2})
    refused = box.call(TRY, {CAUSE: "uncoalesced"})
    own = box.call("time", {"kernel": row.spec.key})
    assert refused.is_error and own.is_error and "all 2 tries are spent: call submit" in refused.text
    done = box.call(SUBMIT, {CAUSE: "block_too_small"})
    assert done.submitted and box.spent.tries == 2 and box.spent.measured == 0
    assert box.spent.speed == max([1.0, *(one.speed for one in box.log)])


def test_what_the_table_says_is_what_the_tools_say(files: tuple[Path, Path]) -> None:
    row, table = two_rows()[0], OutcomeTable.read(files[1])
    known, fresh = box_of(row, 1, table), box_of(row, 1)
    assert known.can_try == fresh.can_try
    cause = known.can_try[0]
    told = [box.call(TRY, {CAUSE: cause}) for box in (known, fresh)]
    assert told[0].text == told[1].text and told[0].made == told[1].made
    assert (known.spent.measured, fresh.spent.measured) == (0, 1)


def test_a_models_own_edit_costs_a_try_and_is_gone_on_from() -> None:
    row = two_rows()[1]
    box = box_of(row, 2)
    faster = task_of(row.spec).kernel.replace("block=(32)", "block=(256)")
    done = box.call("time", {"kernel": faster})
    assert box.left == 1 and not done.is_error
    assert done.made == (faster if box.spent.speed > 1 else None)


def test_rivals_play_by_the_table_and_are_compared_in_pairs(files: tuple[Path, Path], tmp_path: Path) -> None:
    corpus, table = files
    found: list[BenchOutcome] = []
    for rival in BUDGET_RIVALS:
        plan = BenchPlan(
            corpus=corpus, suite="budget", model=f"rival:{rival}", feedback=("curated",), tries=(1, 4), table=table,
            train=table, allow_train=True,
        )  # fmt: skip
        if rival == "ranker":
            with pytest.raises(UsageError, match="tasks of other families"):  # one other family with one task
                run_bench(plan, tmp_path / "ranker.jsonl")
            continue
        found += run_bench(plan, tmp_path / f"{rival}.jsonl")
    assert [one for one in found if one.ended != "submitted" or not one.measured <= one.tries <= one.unit.tries] == []
    sides = conditions(found)
    oracle = sides["budget-4", "rival:oracle", "curated"]
    for (suite, rival, _), some in sides.items():
        assert all(one.best_ratio and one.speed <= one.best_ratio for one in some)
        if suite == "budget-4":
            assert comparison(oracle, some)["log_speedup"]["value"] >= 0, rival
    assert all(within(one) for one in oracle)
    assert report(found).count("rival:findings") == 2 and "of the best known gain" in report(found)


def test_the_share_of_the_best_is_over_all_tasks_together() -> None:
    unit = BenchUnit(suite="budget", model="m", feedback="curated", row=0, tries=1)
    some = [
        BenchOutcome(
            unit=unit.model_copy(update={"row": row}), task=str(row), right_answers=(), verdict="right",
            decision="FASTER", ratio=ratio, best_ratio=best,
        )
        for row, (ratio, best) in enumerate([(2.0, 4.0), (1.0, 1.0), (4.0, 4.0)])
    ]  # fmt: skip
    share = share_of_best(some)
    assert share is not None and share.value == pytest.approx(0.75) and share.low <= 0.75 <= share.high
    assert share_of_best([some[1]]) is None


def test_numbers_of_tries_are_read_strictly() -> None:
    assert require_tries(None, "budget") == (1, 2, 4, 8) and require_tries("4,2", "budget") == (2, 4)
    for words, suite in (("0", "budget"), ("2,x", "budget"), ("2", "optimize")):
        with pytest.raises(UsageError):
            require_tries(words, suite)
    assert require_tries(None, "recommend") == ()
