"""A finding is gone when it is not said any more and one of its counters moved as it should."""

from __future__ import annotations

from warpsight.lens.removed import removed_findings
from warpsight.nouns import Evidence, Finding, Profile


def profile(sectors: float) -> Profile:
    return Profile(
        kernel="k", device="virtual", source="simulated", counters={"global_load_sectors": sectors},
        units={"global_load_sectors": "sectors"}, sampled_blocks=1, total_blocks=1,
    )  # fmt: skip


def finding(name: str, *, counter: str = "global_load_sectors") -> Finding:
    evidence = (Evidence(counter=counter, value=1.0, unit="sectors"),)
    return Finding(name=name, message="m", evidence=evidence, suggestion="s", should_move={counter: "down"})


def names(before: list[Finding], after: list[Finding], old: float, new: float) -> list[str]:
    return [one.name for one in removed_findings(before, after, profile(old), profile(new))]


def test_a_finding_that_is_hidden_is_not_gone() -> None:
    assert names([finding("uncoalesced")], [], 1000, 1000) == []
    assert names([finding("uncoalesced")], [], 1000, 990) == [], "a move that is too small to mean anything"
    assert names([finding("uncoalesced")], [], 1000, 2000) == [], "the wrong way"
    assert names([finding("uncoalesced")], [], 1000, 125) == ["uncoalesced"]


def test_a_finding_that_is_still_said_is_not_gone() -> None:
    assert names([finding("uncoalesced")], [finding("uncoalesced")], 1000, 125) == []


def test_without_its_counter_what_is_not_said_counts_as_gone() -> None:
    assert names([finding("tail", counter="waves")], [], 1, 1) == ["tail"]
