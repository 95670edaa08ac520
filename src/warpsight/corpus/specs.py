"""Which tasks there are: a family, one to three defects, sizes, a GPU and a way of writing, drawn from a seed.

Families and some GPUs are held out: `test` and `fresh` have families that `train` never sees, on any GPU, and GPUs that
`train` never sees. `fresh` is for one look, at the end of a training. Half of the draws repeat an earlier text of the
family at another size or on another GPU, so that the same text often has different answers. The same seed gives the
same tasks on every machine.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping

from warpsight.corpus.families import Family, Split, families
from warpsight.corpus.variants import Style, choose_style, plant, restyle
from warpsight.nouns import Noun, Task, Workload

TRAIN_GPUS = ("a100", "rtx-a6000", "t4", "l4")
TEST_GPUS = ("a100", "rtx-a6000", "rtx-4090", "rtx-2070")  # the last two are never trained on
MAX_DEFECTS = 3
REPEAT_SHARE = 0.5


class Spec(Noun):
    """All that decides one task; its text follows from it."""

    family: str
    defects: tuple[str, ...]
    constants: tuple[str, ...]
    size: Mapping[str, int]
    gpu: str
    style_seed: int

    @property
    def key(self) -> str:
        """What decides the truth: everything but the way of writing."""
        size = ",".join(f"{axis}={value}" for axis, value in sorted(self.size.items()))
        return "|".join((self.family, "+".join(self.defects), "/".join(self.constants), size, self.gpu))

    def same_text(self, other: Spec) -> bool:
        """Whether both have one text, but for the way of writing."""
        mine, theirs = ((s.family, s.defects, s.constants) for s in (self, other))
        return mine == theirs


def draw_specs(seed: int, split: Split) -> Iterator[Spec]:
    """Tasks without end, each family as often as the others, none twice with all but the writing the same."""
    draw = random.Random(f"corpus {seed} {split}")
    pool = [family for family in families().values() if family.split == split]
    seen: set[tuple[object, ...]] = set()
    texts: dict[str, list[Spec]] = {family.name: [] for family in pool}
    for family in itertools.cycle(pool):
        known = texts[family.name]
        again = bool(known) and draw.random() < REPEAT_SHARE
        spec = _elsewhere(draw.choice(known), split, draw) if again else _draw_one(family, split, draw)
        if spec is None:
            continue
        text = plant(family, spec.defects, spec.constants)  # constants that a defect overwrote do not count
        key = (text, tuple(spec.size.items()), spec.gpu)
        if key in seen:
            continue
        seen.add(key)
        if not again:
            known.append(spec)
        yield spec


def style_of(spec: Spec) -> Style:
    """The way this task is written."""
    return choose_style(families()[spec.family], random.Random(f"style {spec.family} {spec.style_seed}"))


def text_of(spec: Spec, without: str | None = None) -> str:
    """The kernel as the model sees it, or the same with one defect removed."""
    kept = [defect for defect in spec.defects if defect != without]
    planted = plant(families()[spec.family], kept, spec.constants)
    if planted is None:
        raise ValueError(f"{spec.key}: these defects cannot stand together without {without}")
    return restyle(planted, style_of(spec))


def plain_of(spec: Spec) -> tuple[str, int]:
    """The kernel before it was restyled, and by how many lines it stands higher there: the compiler makes the same
    code of both, so what was found in one holds for the other."""
    planted = plant(families()[spec.family], spec.defects, spec.constants)
    if planted is None:
        raise ValueError(f"{spec.key}: these defects cannot stand together")
    return planted, int(bool(style_of(spec).heading))


def task_of(spec: Spec, kernel: str | None = None) -> Task:
    """The task as the loop gets it: the slow kernel, and the size that is profiled."""
    from warpsight.vgpu.gpus import find_gpu

    family = families()[spec.family]
    profiled = Workload(name="profile", axes=dict(spec.size), profile=True)
    kept = tuple(w for w in family.task.workloads if not w.profile and w.name != "profile")
    return family.task.model_copy(
        update={
            "kernel": text_of(spec) if kernel is None else kernel,
            "gpu": spec.gpu,
            "gpu_arch": find_gpu(spec.gpu).arch,
            "workloads": (*kept, profiled),
        }
    )


def _draw_one(family: Family, split: Split, draw: random.Random) -> Spec | None:
    wanted = draw.randint(1, min(MAX_DEFECTS, len(family.defects)))
    defects = tuple(sorted(draw.sample(sorted(family.defects), wanted)))
    constants = tuple(draw.choice((c.find, *c.use)) for c in family.constants)
    if not all_subsets_apply(family, defects, constants):
        return None
    return Spec(
        family=family.name,
        defects=defects,
        constants=constants,
        size=draw.choice(family.sizes),
        gpu=draw.choice(gpus_of(split)),
        style_seed=draw.randrange(2**31),
    )


def _elsewhere(spec: Spec, split: Split, draw: random.Random) -> Spec:
    """The same text, written otherwise, at a size and on a GPU of its own."""
    size, gpu = draw.choice(families()[spec.family].sizes), draw.choice(gpus_of(split))
    return spec.model_copy(update={"size": size, "gpu": gpu, "style_seed": draw.randrange(2**31)})


def all_subsets_apply(family: Family, defects: tuple[str, ...], constants: tuple[str, ...] = ()) -> bool:
    """Whether every subset has a text too: removals are tried one by one, and others may follow."""
    subsets = (s for count in range(1, len(defects) + 1) for s in itertools.combinations(defects, count))
    return all(plant(family, subset, constants) is not None for subset in subsets)


def gpus_of(split: Split) -> tuple[str, ...]:
    """The GPUs that tasks of this split are drawn for."""
    return TRAIN_GPUS if split == "train" else TEST_GPUS
