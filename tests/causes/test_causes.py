"""One dictionary: names are unique, old names are accepted, and every part of the package takes its names from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsight.causes import (
    advice_for,
    aliases,
    answers,
    canonical,
    cause_in,
    causes,
    defects,
    defects_of,
    first_word,
    named,
    require_named,
    with_behind,
)
from warpsight.errors import UsageError
from warpsight.rewrite import CAUSES, rewritten_for

BEFORE = {
    "uncoalesced_access": ("uncoalesced",),
    "double_precision": ("accidental_double",),
    "narrow_access": ("scalar_access",),
    "atomic_contention": ("contended_atomics",),
    "slow_arithmetic": ("division_in_loop", "slow_math"),
    "barriers": ("needless_barriers",),
    "idle_lanes": ("divergence",),
    "no_reuse": ("missing_tile",),
    "no_register_reuse": ("one_output_a_thread",),
    "redundant_access": ("reloads",),
    "loop_overhead": ("missing_unroll",),
}
"""What findings were called before there was one dictionary, and what they are called now."""


@pytest.mark.parametrize(("old", "new"), BEFORE.items())
def test_old_names_of_findings_are_accepted(old: str, new: tuple[str, ...]) -> None:
    assert named(old) == require_named(old) == new
    assert canonical(old) == (new[0] if len(new) == 1 else old)
    assert rewritten_for(old) == new, "and can be rewritten for"


def test_an_alias_is_no_cause_and_what_is_referred_to_is() -> None:
    assert not set(aliases()) & set(causes())
    for cause in causes().values():
        assert set(cause.behind) <= set(causes()) - {cause.name}
        assert cause.first_word == "" or cause.first_word in (*aliases(), *causes())
        assert cause.meaning.endswith(".") and cause.advice.endswith(".")


def test_a_finding_that_says_only_where_time_goes_points_at_what_is_behind_it() -> None:
    assert with_behind("low_occupancy")[1:] == (
        "block_too_small",
        "block_too_large",
        "shared_hog",
        "too_many_registers",
    )
    assert defects_of("low_occupancy") == ["block_too_small", "block_too_large", "shared_hog"]
    assert defects_of("shared_hog") == ["shared_hog"] and defects_of("at_roofline") == []
    assert rewritten_for("low_occupancy") == ("block_too_small", "block_too_large", "shared_hog")
    assert rewritten_for("at_roofline") == ()


def test_every_defect_is_an_answer_and_every_rewrite_has_a_cause() -> None:
    assert answers() == (*defects(), "nothing") and set(CAUSES) <= set(causes())
    assert advice_for("nothing").startswith("Leave it") and "Swap the index order" in advice_for("uncoalesced_access")


def test_a_word_that_nobody_uses_is_refused_with_names_that_come_near() -> None:
    assert named("cosmic_rays") == () and canonical("cosmic_rays") == "cosmic_rays"
    with pytest.raises(UsageError, match="expected a cause") as refused:
        require_named("bank_conflict")
    assert "bank_conflicts" in str(refused.value)


def test_models_of_old_words_are_spoken_to_in_old_words() -> None:
    words = {first_word(name) for name in causes()}
    assert set(BEFORE) <= words and not words & {new[0] for new in BEFORE.values()}
    assert {first_word(name) for name in ("shared_hog", "block_too_small", "too_many_registers")} == {"low_occupancy"}


def test_the_page_of_the_lens_lists_every_cause_with_its_meaning() -> None:
    page = (Path(__file__).parents[2] / "docs" / "lens.md").read_text()
    assert [cause.name for cause in causes().values() if f"| `{cause.name}` | {cause.meaning} |" not in page] == []


def test_a_cause_is_found_in_what_a_model_says() -> None:
    assert cause_in("The cause: Uncoalesced_access at line 7") == "uncoalesced"
    assert cause_in("memory is slow") == "memory is slow"
