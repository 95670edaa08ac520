"""The loss mask: no token that the model did not write is trained on. Shown with a tokenizer of characters."""

from __future__ import annotations

import pytest
from tests.learn.rows import some_rows

from warpsight.learn.tokens import Tokens, fit_of, tokens_of, tokens_of_run
from warpsight.learn.traces import oracle_run
from warpsight.nouns.run import Run
from warpsight.runs.hf import hf_row
from warpsight.session.feedback import Feedback


def characters(text: str, special: bool) -> list[int]:
    """Every character a token; those of special tokens are told apart by their sign."""
    return [-ord(letter) if special else ord(letter) for letter in text]


def written(run: Run) -> str:
    return "".join(step.content for step in run.steps if step.kind == "assistant")


@pytest.mark.parametrize("feedback", ["none", "raw", "curated"])
def test_what_is_trained_on_is_what_the_model_wrote(feedback: Feedback) -> None:
    run = oracle_run(some_rows()[0], "recommend", feedback, seed=1)
    found = tokens_of(hf_row(run), characters)
    trained = "".join(chr(token) for token, on in zip(found.ids, found.mask, strict=True) if on)
    assert trained == written(run)


def test_results_prompts_and_marks_are_in_the_text_and_not_trained_on() -> None:
    run = oracle_run(some_rows()[0], "recommend", "curated", seed=1)
    found = tokens_of(hf_row(run), characters)
    put_in = "".join(chr(abs(token)) for token, on in zip(found.ids, found.mask, strict=True) if not on)
    for step in run.steps[:-1]:
        if step.kind in ("system", "user", "result"):
            assert step.content in put_in
    assert all(token > 0 for token, on in zip(found.ids, found.mask, strict=True) if on)


def test_nothing_follows_the_last_written_token() -> None:
    found = tokens_of(hf_row(oracle_run(some_rows()[0], "recommend", "curated", seed=1)), characters)
    assert found.mask[-1] == 1


def test_a_run_and_its_row_have_the_same_tokens() -> None:
    run = oracle_run(some_rows()[0], "recommend", "curated", seed=1)
    plain = run.model_copy(update={"steps": tuple(step.model_copy(update={"raw": None}) for step in run.steps)})
    assert tokens_of_run(plain, characters) == tokens_of(hf_row(run), characters)


def test_a_row_whose_mask_was_changed_is_refused() -> None:
    row = hf_row(oracle_run(some_rows()[0], "recommend", "none", seed=1))
    row["train"][1] = True
    with pytest.raises(ValueError, match="assistant"):
        tokens_of(row, characters)


def test_a_turn_that_was_refused_is_in_the_text_and_not_trained_on() -> None:
    row = hf_row(oracle_run(some_rows()[0], "recommend", "curated", seed=1))
    turns = [at for at, message in enumerate(row["messages"]) if message["role"] == "assistant"]
    whole = tokens_of(row, characters)
    row["train"][turns[0]] = False
    found = tokens_of(row, characters)
    trained = "".join(chr(token) for token, on in zip(found.ids, found.mask, strict=True) if on)
    assert found.ids == whole.ids and trained == row["messages"][turns[1]]["content"]


def test_what_is_left_out_is_counted_by_why() -> None:
    short, long = Tokens([7] * 3, [0, 1, 1]), Tokens([7] * 9, [0] * 8 + [1])
    empty, long_and_empty = Tokens([7] * 3, [0] * 3), Tokens([7] * 9, [0] * 9)
    found = fit_of([short, long, empty, short, long_and_empty], max_tokens=8)
    assert found.kept == [short, short]
    assert (found.too_long, found.nothing_to_learn) == (1, 2)
