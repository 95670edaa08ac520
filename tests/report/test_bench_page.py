"""The report of a bench says what the outcomes say, holds together, and shows harmful words as text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import command as command
from tests.learn.rows import some_rows
from tests.report.bench_made import DRAWER, FOLLOWER, Made, make_bench
from tests.report.made import HARM, Outline

from warpsight.bench.kept import read_kept, run_name
from warpsight.bench.metrics import diagnosed, difference, mean_of
from warpsight.bench.suite import read_outcomes
from warpsight.bench.units import BenchOutcome, BenchUnit
from warpsight.errors import UsageError
from warpsight.report.bench_charts import compared
from warpsight.report.bench_data import RIGHT, read_bench, sides_of
from warpsight.report.bench_failures import Failure, failures_of, kind_of, missed_by
from warpsight.report.bench_page import bench_page
from warpsight.report.curves import read_training, thinned

Command = Callable[..., Any]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return make_bench(tmp_path_factory.mktemp("bench"))


def outcome(row: int, model: str = "m", *, right: bool = True, suite: str = "recommend", **more: Any) -> BenchOutcome:
    unit = BenchUnit.model_validate(
        {"suite": suite, "model": model, "feedback": more.pop("feedback", "curated"), "row": row}
    )
    fields = {"answer": "spills", "right_answers": ("spills",) if right else ("tail",), "diagnosed": right, **more}
    return BenchOutcome(unit=unit, task=f"saxpy|spills||N={row}|a100", **fields)


def test_the_page_has_every_part_and_every_condition(made: Made, command: Command, tmp_path: Path) -> None:
    page = tmp_path / "bench.html"
    ran = command(
        "bench", "report", str(made.outcomes), "--html", str(page), "--corpus", str(made.corpus),
        "--runs", str(made.runs), "--curves", str(made.training), "--pair", f"{FOLLOWER}:curated={DRAWER}:curated",
        "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert ran.document()["bytes"] == page.stat().st_size < 1 << 20
    found = Outline(page.read_text(encoding="utf-8"))
    assert {"result", "ablation", "results", "families", "curves", "failures", "files"} <= found.ids.keys()
    assert not found.acting and all(link[1:] in found.ids for link in found.links)
    sides = sides_of(read_outcomes(made.outcomes))
    assert [side.feedback for side in sides][:5] == ["none", "time", "raw", "curated", "wrong"]
    for side in sides:
        mean = mean_of(side.outcomes, diagnosed)
        assert (
            f"{100 * mean.value:.1f} % ({100 * mean.low:.1f} to {100 * mean.high:.1f})" in found.ids["table-recommend"]
        )
        assert side.name in found.ids["by-family-recommend"]
    assert all(row.spec.family in found.ids["by-family-recommend"] for row in some_rows())


def test_models_come_before_scripts_and_the_right_answers_come_last() -> None:
    came = ("rival:random", "always-right", "tools", "rival:tries", "text")
    found = [side.model for side in sides_of([outcome(1, model) for model in came])]
    assert found == ["tools", "text", "rival:random", "rival:tries", "always-right"]


def test_pairs_are_those_of_the_metrics(made: Made) -> None:
    bench = read_bench([made.outcomes], pairs=[(f"{FOLLOWER}:curated", f"{DRAWER}:curated")])
    named = {(one.name, other.name): (one, other) for one, other in compared(bench, "recommend")}
    assert next(iter(named)) == (f"{FOLLOWER}:curated", f"{DRAWER}:curated")
    assert len(named) == 1 + 4, "the pair that was asked for, and four kinds of feedback against none"
    one, other = named[f"{FOLLOWER}:curated", f"{FOLLOWER}:none"]
    told = difference(one.outcomes, other.outcomes, diagnosed)
    assert f"{100 * told.value:+.1f} points ({100 * told.low:+.1f} to {100 * told.high:+.1f})" in bench_page(bench)


def test_failures_are_linked_to_the_runs_that_were_kept(made: Made) -> None:
    bench = read_bench([made.outcomes], corpus=made.corpus, runs=read_kept(made.runs))
    failed = failures_of(bench)
    assert failed and all(run_name(failure.outcome.unit) in bench.runs for failure in failed)
    right = [o for side in bench.sides for o in side.outcomes if o.diagnosed]
    assert right and not any(run_name(o.unit) in bench.runs for o in right), "runs that went well are not kept"
    missed = [failure.missed for failure in failed]
    assert missed == sorted(missed, key=lambda value: -(value or 0)) and missed[0] is not None and missed[0] > 1
    page = Outline(bench_page(bench))
    assert "transcript" in page.ids["failures"] and "launch:" in page.ids["f1"], "the kernel stands in the transcript"
    assert "not kept" in Outline(bench_page(read_bench([made.outcomes]))).ids["failures"]


def test_what_a_wrong_answer_cost_is_the_measured_truth(made: Made) -> None:
    row = next(row for row in some_rows() if "nothing" not in row.truth.right)
    said = outcome(row.number, right=False, answer="nothing").model_copy(update={"task": row.spec.key})
    assert missed_by(said, {row.number: row}) == pytest.approx(row.truth.gain)
    assert missed_by(said, {}) is None
    assert missed_by(said.model_copy(update={"task": "another"}), {row.number: row}) is None


def test_a_wrong_kernel_is_worse_than_a_wrong_answer() -> None:
    answers = [
        outcome(0, right=False),
        outcome(1, answer=None, right=False),
        outcome(2, suite="optimize", verdict="wrong", right=False),
    ]
    kinds = [kind_of(one) for one in answers]
    assert kinds == ["wrong answer", "no answer", "wrong kernel"] and kind_of(outcome(3)) is None
    ranked = sorted(
        (Failure(one, kind or "", None) for one, kind in zip(answers, kinds, strict=True)), key=lambda f: f.rank
    )
    assert [failure.kind for failure in ranked] == ["wrong kernel", "no answer", "wrong answer"]


def test_harmful_names_and_answers_are_text(tmp_path: Path) -> None:
    file = tmp_path / "out.jsonl"
    bad = [
        outcome(n, HARM, right=False, answer=HARM).model_copy(update={"task": f"{HARM}|x|{n}|a100"}) for n in range(3)
    ]
    file.write_text("".join(one.model_dump_json() + "\n" for one in bad))
    page = bench_page(read_bench([file]))
    found = Outline(page)
    assert not found.acting and len(found.scripts) == 1 and "window.harmed" in found.text
    assert "iframe" not in found.tags and "img" not in found.tags


def test_measured_and_simulated_times_are_not_in_one_picture(tmp_path: Path) -> None:
    file = tmp_path / "out.jsonl"
    both = [
        outcome(n, f"m{n}", suite="optimize", verdict="right", decision="FASTER", ratio=2.0, source=source)
        for n, source in enumerate(("simulated", "measured"))
    ]
    file.write_text("".join(one.model_dump_json() + "\n" for one in both))
    with pytest.raises(UsageError, match="one picture"):
        bench_page(read_bench([file]))


def test_an_optimize_bench_shows_speeds(tmp_path: Path) -> None:
    file = tmp_path / "out.jsonl"
    fast: dict[str, Any] = {"verdict": "right", "decision": "FASTER", "source": "simulated"}
    some = [
        outcome(row, suite="optimize", feedback=mode, ratio=speed, **fast)
        for mode, speed in (("none", 1.1), ("curated", 2.2))
        for row in range(4)
    ]
    file.write_text("".join(one.model_dump_json() + "\n" for one in some))
    found = Outline(bench_page(read_bench([file])))
    assert "2.20×" in found.ids["result"] and "2.00× (2.00 to 2.00), 4 tasks" in found.ids["result"]
    assert "fast_1.5" in found.ids["table-optimize"] and "Times are simulated." in found.ids["ablation"]


def test_what_is_missing_is_said(made: Made, tmp_path: Path, command: Command) -> None:
    with pytest.raises(UsageError, match="no outcomes of nobody:raw"):
        read_bench([made.outcomes], pairs=[("nobody:raw", f"{FOLLOWER}:none")])
    with pytest.raises(UsageError, match="curves of a training"):
        read_training(tmp_path)
    ran = command("bench", "report", str(made.outcomes), "--html", str(tmp_path / "x.html"), "--pair", "one")
    assert ran.code == 2 and "ONE=OTHER" in ran.err


def test_curves_keep_their_ends(made: Made) -> None:
    points = [(float(n), float(n * n)) for n in range(1001)]
    short = thinned(points)
    assert len(short) <= 402 and short[0] == points[0] and short[-1] == points[-1]
    assert read_training(made.training).logged.keys() == {"loss", "reward"}


def test_a_share_is_told_in_percent() -> None:
    found = RIGHT.of([outcome(0), outcome(1, right=False)])
    assert found.value == 50.0 and found.tasks == 2


def test_a_budget_is_drawn_as_curves_over_tries(tmp_path: Path) -> None:
    unit = BenchUnit(suite="budget", model="tools", feedback="curated", row=0, tries=1)
    file = tmp_path / "budget.jsonl"
    found = [
        BenchOutcome(
            unit=unit.model_copy(update={"row": row, "tries": tries, "model": model}), task=f"f|{row}|a100",
            answer="uncoalesced", right_answers=("uncoalesced",), diagnosed=True, verdict="right", decision="FASTER",
            ratio=1.0 + tries, source="simulated", best_ratio=9.0, within=tries > 1,
        )
        for model in ("tools", "rival:random") for tries in (1, 8) for row in range(3)
    ]  # fmt: skip
    file.write_text("".join(one.model_dump_json() + "\n" for one in found))
    page = bench_page(read_bench([file]))
    section = page.partition('id="budget"')[2].partition("</section>")[0]
    assert section.count("<polyline") == 3 * 2 and 'href="#budget"' in page
    assert "tools:curated" in section and "100.0 % (100.0 to 100.0)" in section
    file.write_text(outcome(0).model_dump_json() + "\n")
    assert 'id="budget"' not in bench_page(read_bench([file]))
