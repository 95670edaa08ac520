"""The truth: which removals are right, that it is the same each time, and that a look is kept by content."""

from __future__ import annotations

import pytest

from warpsight.causes import NOTHING
from warpsight.corpus.looks import BadDefect, look
from warpsight.corpus.specs import Spec, task_of
from warpsight.corpus.trial import DefectTrial
from warpsight.corpus.truth import measure, right_answers


def spec(
    family: str, defects: tuple[str, ...], size: dict[str, int], gpu: str, constants: tuple[str, ...] = ()
) -> Spec:
    return Spec(family=family, defects=defects, constants=constants, size=size, gpu=gpu, style_seed=1)


def test_the_removal_that_helps_most_is_right_and_ties_are_too() -> None:
    decisions = {"a": "FASTER", "b": "FASTER", "c": "FASTER"}
    assert right_answers(10.0, {"a": 5.0, "b": 5.1, "c": 8.0}, decisions) == ("a", "b")  # type: ignore[arg-type]


def test_a_removal_that_is_likely_faster_is_right_too() -> None:
    assert right_answers(10.0, {"a": 5.0, "b": 10.0}, {"a": "LIKELY_FASTER", "b": "SAME"}) == ("a",)


def test_nothing_is_right_when_no_removal_is_faster_by_a_tie() -> None:
    assert right_answers(10.0, {"a": 9.8, "b": 10.5}, {"a": "SAME", "b": "SLOWER"}) == (NOTHING,)
    assert right_answers(10.0, {"a": 9.5}, {"a": "AMBIGUOUS"}) == (NOTHING,)


def test_the_same_text_has_another_answer_at_another_size() -> None:
    defects = ("too_few_blocks", "uncoalesced")
    large = measure(spec("hash", defects, {"N": 262144}, "a100", ("256",)))
    small = measure(spec("hash", defects, {"N": 4096}, "a100", ("256",)))
    assert large.right == ("too_few_blocks",)
    assert large.decisions["too_few_blocks"] == "FASTER"
    assert small.right != large.right
    assert measure(spec("hash", defects, {"N": 4096}, "a100", ("256",))) == small


def test_a_kernel_that_is_wrong_is_never_timed() -> None:
    task = task_of(spec("saxpy", (), {"N": 4096}, "a100", ("256",)))
    wrong = task.model_copy(update={"kernel": task.kernel.replace("factor * x[i] + y[i]", "factor * x[i] - y[i]")})
    with pytest.raises(BadDefect, match="is not right"):
        look(wrong)


def test_a_defect_that_teaches_nothing_is_named() -> None:
    assert DefectTrial(family="f", defects=("d",), ratios={"a": 0.9, "b": 0.95}).says == "helps everywhere"
    assert DefectTrial(family="f", defects=("d",), ratios={"a": 0.9, "b": 1.05}).says == "matters nowhere"
    assert DefectTrial(family="f", defects=("d",), ratios={"a": 0.9, "b": 1.2}).says == ""
