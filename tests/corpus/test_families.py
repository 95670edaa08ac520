"""Families: what is shipped, and that every defect alone and every pair is right under the gate."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsight.causes import STOP, causes
from warpsight.causes import defects as known_defects
from warpsight.corpus.families import families, find_family
from warpsight.corpus.trial import pairs_that_apply, require_right_planted
from warpsight.corpus.variants import plant
from warpsight.errors import UsageError
from warpsight.lens.findings import arithmetic, global_memory, lanes, on_chip, parallelism, reuse, roof, walking


def test_enough_families_and_kinds() -> None:
    known = families()
    assert len(known) >= 20
    assert sum(family.split == "test" for family in known.values()) >= 7
    used = {kind for family in known.values() for kind in family.defects}
    assert len(used) >= 14
    assert used == set(known_defects()), "a kind that no family plants cannot be the answer"


def test_what_is_tested_was_trained() -> None:
    trained = {kind for f in families().values() if f.split == "train" for kind in f.defects}
    tested = {kind for f in families().values() if f.split == "test" for kind in f.defects}
    assert tested <= trained


def test_every_defect_can_be_planted_alone_and_changes_the_text() -> None:
    for family in families().values():
        assert len(family.defects) >= 5, family.name
        for defect in family.defects:
            text = plant(family, (defect,))
            assert text is not None and text != family.task.kernel, (family.name, defect)


def test_no_comment_gives_a_defect_away() -> None:
    for family in families().values():
        for defect in family.defects:
            lines = (plant(family, (defect,)) or "").split("\n")
            assert not any("//" in line for line in lines[1:]), (family.name, defect)


def test_every_cause_is_a_finding_of_some_detector() -> None:
    modules = (arithmetic, global_memory, lanes, on_chip, parallelism, reuse, roof, walking)
    source = "".join(Path(module.__file__ or "").read_text() for module in modules)
    assert all(f'"{cause}"' in source for cause in causes()) and set(STOP) <= set(causes())


def test_an_unknown_family_is_told() -> None:
    with pytest.raises(UsageError, match="expected a family"):
        find_family("nonsense")


@pytest.mark.parametrize("name, defect", [("saxpy", "scalar_access"), ("hash", "spills"), ("scores", "missing_tile")])
def test_a_planted_kernel_is_right(name: str, defect: str) -> None:
    require_right_planted(find_family(name), (defect,))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(families()))
def test_every_defect_alone_is_right(name: str) -> None:
    family = families()[name]
    require_right_planted(family, ())
    for defect in family.defects:
        require_right_planted(family, (defect,))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(families()))
def test_every_pair_is_right(name: str) -> None:
    family = families()[name]
    for pair in pairs_that_apply(family):
        require_right_planted(family, pair)
