"""Each defect of a family alone, at every size on some GPUs: does it matter anywhere, and is it a trap elsewhere?

For whoever writes a family. A defect that never costs anything, or that helps everywhere, teaches the wrong thing.
Simulated times.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence

from warpsight.corpus.families import Family, find_family
from warpsight.corpus.looks import BadDefect, require_right
from warpsight.corpus.specs import Spec
from warpsight.corpus.truth import look_at
from warpsight.corpus.variants import plant
from warpsight.gate.kernel import build_candidate
from warpsight.nouns import Noun
from warpsight.tasks import read_candidate

MATTERS, HELPS = 1.1, 0.97


class DefectTrial(Noun):
    """Time with some defects over the time of the fast kernel, by (GPU, size)."""

    family: str
    defects: tuple[str, ...]
    ratios: Mapping[str, float]

    @property
    def says(self) -> str:
        """What is wrong with the defect as a teacher, or nothing."""
        if all(ratio < HELPS for ratio in self.ratios.values()):
            return "helps everywhere"
        return "" if any(ratio >= MATTERS for ratio in self.ratios.values()) else "matters nowhere"


def try_family(name: str, gpus: Sequence[str], *, pairs: bool = False, say: Callable[[str], None]) -> list[DefectTrial]:
    """Each defect of a family alone at every size; with `pairs` also two together, each at the first size."""
    family = find_family(name)
    found: list[DefectTrial] = []
    for defects in (*((defect,) for defect in family.defects), *(pairs_that_apply(family) if pairs else ())):
        say(", ".join(defects))
        found.append(try_together(family, defects, gpus, sizes=1 if len(defects) > 1 else None))
    return found


def try_together(
    family: Family, defects: tuple[str, ...], gpus: Sequence[str], sizes: int | None = None
) -> DefectTrial:
    """These defects together, at the first `sizes` sizes (all when None)."""
    ratios: dict[str, float] = {}
    for gpu, size in itertools.product(gpus, family.sizes[:sizes]):
        spec = Spec(
            family=family.name,
            defects=defects,
            constants=tuple(constant.find for constant in family.constants),
            size=size,
            gpu=gpu,
            style_seed=0,
        )
        where = f"{gpu} " + " ".join(f"{axis}={value}" for axis, value in size.items())
        ratios[where] = look_at(spec, defects).boost_us / look_at(spec, ()).boost_us
    return DefectTrial(family=family.name, defects=defects, ratios=ratios)


def require_right_planted(family: Family, defects: tuple[str, ...], gpu_arch: str | None = None) -> None:
    """The gate's check alone, without a time; BadDefect unless it says right."""
    text = plant(family, defects)
    if text is None:
        raise BadDefect(f"{family.name}: {', '.join(defects)} cannot be planted together")
    task = family.task.model_copy(update={"kernel": text})
    candidate = read_candidate(text, task)
    require_right(task, candidate, build_candidate(task, candidate, gpu_arch=gpu_arch))


def pairs_that_apply(family: Family) -> Iterator[tuple[str, str]]:
    """Pairs of defects that can stand together."""
    for pair in itertools.combinations(sorted(family.defects), 2):
        if plant(family, pair) is not None:
            yield pair
