"""A search over several causes: drafts for all, the gate for the best, the next one where the gate refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsight.nouns import Candidate, Check, Evaluation, WorkloadResult
from warpsight.session.search import search, search_all
from warpsight.session.session import Session

TRANSPOSE = Path(__file__).parents[2] / "tasks" / "transpose"
CAUSES = ("missing_tile", "too_few_blocks", "uncoalesced")


@pytest.fixture(scope="module")
def session() -> Session:
    return Session(TRANSPOSE, secret=7)


def test_the_best_of_all_causes_is_judged_and_no_other(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    judged = list[str]()
    evaluation = Session.evaluation

    def noted(self: Session, kernel: Candidate) -> Evaluation:
        judged.append(kernel.sha256)
        return evaluation(self, kernel)

    monkeypatch.setattr(Session, "evaluation", noted)
    found = search_all(session, session.given.source, CAUSES)
    best, other = found["missing_tile"].winner, found["uncoalesced"].winner
    assert best is not None and best.evaluation is not None and best.evaluation.check.verdict == "right"
    assert judged == [best.candidate.sha256]
    assert other is not None and other.evaluation is None and (other.ratio or 0.0) <= (best.ratio or 0.0)
    assert any(one.outcome.startswith("right at the small sizes") for one in found["uncoalesced"].tried)
    assert found["too_few_blocks"].winner is None  # a few blocks of too large a grid are idle; the whole launch is not
    alone = search(session, session.given.source, "missing_tile").winner
    assert alone is not None and (alone.candidate, alone.ratio) == (best.candidate, best.ratio)


def test_where_the_gate_refuses_the_best_the_next_is_judged(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    first = search(session, session.given.source, "missing_tile", drafts=True).winner
    assert first is not None
    failed = WorkloadResult(workload="small", hidden=False, seed=0, ok=False, reason="wrong_values")
    wrong = Check(verdict="wrong", reason="as the test wants it", workloads=(failed,))
    evaluation = Session.evaluation

    def refusing(self: Session, kernel: Candidate) -> Evaluation:
        if kernel == first.candidate:
            return Evaluation(candidate_sha256=kernel.sha256, check=wrong)
        return evaluation(self, kernel)

    monkeypatch.setattr(Session, "evaluation", refusing)
    found = search_all(session, session.given.source, ("missing_tile",))["missing_tile"]
    assert found.winner is not None and found.winner.candidate != first.candidate
    assert found.winner.evaluation is not None and found.winner.evaluation.check.verdict == "right"
    assert [one.outcome for one in found.tried if one.rewrite == first.rewrite.name] == ["wrong"]


def test_the_same_machine_code_is_timed_once(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    simulator = session.simulator
    assert simulator is not None
    timed = list[str]()
    draft = type(simulator).draft_us

    def noted(self: object, build: object, *more: object) -> float | None:
        timed.append(str(more[0]))
        return draft(self, build, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(type(simulator), "draft_us", noted)
    fresh = Session(TRANSPOSE, secret=7)
    moved = fresh.candidate(fresh.given.source + "\n// a comment at the end, and other lines\n\n")
    assert fresh.draft_us() == fresh.draft_us(moved)
    assert len(timed) == 1
