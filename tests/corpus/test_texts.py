"""Texts: the same seed gives the same tasks, restyling does not reach the machine code, removals are derivable."""

from __future__ import annotations

import itertools
import random
import re

import pytest

from warpsight.corpus.families import families
from warpsight.corpus.removal import difference, removal_edits
from warpsight.corpus.specs import TEST_GPUS, TRAIN_GPUS, Spec, draw_specs, style_of, task_of, text_of
from warpsight.corpus.variants import choose_style, plant, restyle
from warpsight.tasks import read_candidate
from warpsight.toolchain.compile import compile_cuda
from warpsight.tools.edits import apply_edits
from warpsight.vgpu.gpus import find_gpu

SOME = 80


def some_specs(split: str = "train", seed: int = 3, count: int = SOME) -> list[Spec]:
    return list(itertools.islice(draw_specs(seed, "test" if split == "test" else "train"), count))


def test_the_same_seed_gives_the_same_tasks() -> None:
    assert some_specs() == some_specs()
    assert [text_of(s) for s in some_specs()] == [text_of(s) for s in some_specs()]
    assert some_specs(seed=4) != some_specs()


def test_no_task_comes_twice_and_texts_come_again_elsewhere() -> None:
    specs = some_specs(count=300)
    assert len({spec.key for spec in specs}) == len(specs)
    texts = {(s.family, s.defects, s.constants) for s in specs}
    assert len(texts) < 0.8 * len(specs)


def test_the_splits_are_disjoint() -> None:
    train, test = some_specs(), some_specs("test")
    assert not {s.family for s in train} & {s.family for s in test}
    assert {s.gpu for s in train} <= set(TRAIN_GPUS)
    assert set(TEST_GPUS) - set(TRAIN_GPUS), "some GPUs are never trained on"


def test_a_thousand_tasks_are_a_thousand_different_ones() -> None:
    specs = itertools.islice(draw_specs(0, "train"), 1000)
    assert len({(text_of(s), s.gpu, tuple(s.size.items())) for s in specs}) == 1000


@pytest.mark.parametrize("split", ["train", "test"])
def test_the_edits_that_remove_a_defect_apply_and_give_the_text_without_it(split: str) -> None:
    for spec in some_specs(split):
        text = text_of(spec)
        for defect in spec.defects:
            edits = removal_edits(spec, defect)
            assert apply_edits(text, edits) == text_of(spec, without=defect)
            assert sum(len(edit.search) for edit in edits) < 0.9 * len(text), spec.key


def test_a_difference_of_lines_that_repeat_is_widened_until_it_is_found_once() -> None:
    before = "a\nx\nb\nx\nc\n"
    assert apply_edits(before, difference(before, "a\nx\nb\ny\nc\n")) == "a\nx\nb\ny\nc\n"
    assert apply_edits(before, difference(before, "a\nx\nnew\nb\nx\nc\n")) == "a\nx\nnew\nb\nx\nc\n"
    assert apply_edits(before, difference(before, "a\nb\nx\nc\n")) == "a\nb\nx\nc\n"


def _plain(ptx: str) -> str:
    """PTX without what comes from names and lines."""
    ptx = ptx[: ptx.find(".section")] if ".section" in ptx else ptx
    ptx = re.sub(r"^\s*(?:\.loc|\.file|//).*$", "", ptx, flags=re.MULTILINE)
    names = dict.fromkeys(re.findall(r"[A-Za-z_$][\w$]*(?=\[\d)|_Z\w+", ptx))
    for at, name in enumerate(names):
        ptx = re.sub(rf"{re.escape(name)}(?![\w$])", f"name{at}", ptx)
    return re.sub(r"\s+", " ", ptx)


@pytest.mark.parametrize("name", ["row_sum", "gather", "gelu", "conv2d"])
def test_restyling_does_not_change_the_machine_code(name: str) -> None:
    family = families()[name]
    defect = sorted(family.defects)[0]
    text = plant(family, (defect,)) or ""
    other = restyle(text, choose_style(family, random.Random(f"{name} 5")))
    assert other != text
    built = [
        compile_cuda(read_candidate(t, family.task).source, gpu_arch="sm_80", entry=family.task.entry)
        for t in (text, other)
    ]
    assert all(build.ok for build in built)
    assert _plain(built[0].ptx) == _plain(built[1].ptx)


def test_a_new_name_is_never_one_that_a_defect_uses() -> None:
    for spec in some_specs(count=200):
        family = families()[spec.family]
        used = set(re.findall(r"\w+", plant(family, spec.defects, spec.constants) or ""))
        assert not {new for _, new in style_of(spec).renames} & used, spec.key


def test_a_task_is_for_its_own_gpu_and_size() -> None:
    spec = some_specs("test")[0]
    task = task_of(spec)
    assert task.gpu_arch == find_gpu(spec.gpu).arch
    assert [dict(w.axes) for w in task.workloads if w.profile] == [dict(spec.size)]
