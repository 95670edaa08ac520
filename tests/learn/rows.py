"""Small corpus rows for the tests of learning and benching: real tasks, measured once and then taken from the cache."""

from __future__ import annotations

from functools import cache

from warpsight.corpus.build import CorpusRow
from warpsight.corpus.families import families
from warpsight.corpus.specs import Spec
from warpsight.corpus.truth import measure


@cache
def small_row(number: int, family: str, defects: tuple[str, ...], gpu: str = "a100") -> CorpusRow:
    """One task at the family's smallest size."""
    found = families()[family]
    size = min(found.sizes, key=lambda axes: sum(axes.values()))
    constants = tuple(constant.find for constant in found.constants)
    spec = Spec(family=family, defects=defects, constants=constants, size=size, gpu=gpu, style_seed=number)
    return CorpusRow(number=number, draw=number, split=found.split, seed=0, spec=spec, truth=measure(spec))


def some_rows() -> list[CorpusRow]:
    """Two tasks of each of three small families."""
    picked = [family for family in families().values() if family.name in ("saxpy", "points", "gather")]
    return [
        small_row(2 * at + which, family.name, (defect,))
        for at, family in enumerate(picked)
        for which, defect in enumerate(list(family.defects)[:2])
    ]


def many_rows() -> list[CorpusRow]:
    """Tens of tasks: one for each defect of four small families."""
    picked = [(name, defect) for name in ("gather", "hash", "points", "saxpy") for defect in families()[name].defects]
    return [small_row(number, name, (defect,)) for number, (name, defect) in enumerate(picked)]
