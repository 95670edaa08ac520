"""Many conversations with one model: batches are whole, in order, and one bad reply spoils no other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import pytest

from warpsight.models.errors import EmptyReply, ModelError
from warpsight.models.model import OnText, Reply, Request, Usage, UserMessage
from warpsight.models.together import Seat, Together


class Echo:
    """A BatchModel that says what it was asked, and remembers how."""

    name = "echo"

    def __init__(self) -> None:
        self.batches: list[list[str]] = []

    def reply(self, request: Request, on_text: OnText | None = None) -> Reply:
        text = request.messages[-1].text
        if text.startswith("bad"):
            raise EmptyReply("nothing was written", usage=Usage())
        return Reply(text=text, raw="{}", wire="scripted", usage=Usage(), stop_reason="end")

    def reply_batch(self, requests: Sequence[Request]) -> tuple[Reply | ModelError, ...]:
        self.batches.append([request.messages[-1].text for request in requests])
        return tuple(map(self._one, requests))

    def _one(self, request: Request) -> Reply | ModelError:
        try:
            return self.reply(request)
        except EmptyReply as nothing:
            return nothing

    def close(self) -> None:
        """Nothing is held."""


def talk(words: Sequence[str], seat: Seat) -> list[str]:
    return [seat.reply(Request(messages=(UserMessage(text=word),))).text for word in words]


def works(*conversations: Sequence[str]) -> list[Callable[[Seat], list[str]]]:
    return [partial(talk, words) for words in conversations]


def test_those_that_go_on_are_asked_together_in_their_order() -> None:
    model = Echo()
    found = Together(model).run(works(["a1", "a2", "a3"], ["b1"], ["c1", "c2"]))
    assert found == [["a1", "a2", "a3"], ["b1"], ["c1", "c2"]]
    assert model.batches == [["a1", "b1", "c1"], ["a2", "c2"], ["a3"]]


def test_a_bad_reply_is_that_conversation_s_alone() -> None:
    model, ended = Echo(), list[str]()

    def good(seat: Seat) -> list[str]:
        ended.extend(talk(["x", "y"], seat))
        return ended

    with pytest.raises(EmptyReply):
        Together(model).run([good, partial(talk, ["bad"])])
    assert ended == ["x", "y"] and model.batches == [["x", "bad"], ["y"]], "nobody was asked twice"
