"""`more`: the rest of a result that was too long to show at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from pydantic import Field

from warpsight.errors import UsageError
from warpsight.nouns import Noun
from warpsight.session.keep import Keep
from warpsight.tools.answer import Answer
from warpsight.tools.pages import PAGE_TOKENS, handle_of, page_of

Handle = Annotated[str, Field(max_length=32, description="it stands under the result")]
PageNumber = Annotated[int, Field(ge=1, le=10_000, description="the first was shown already")]


class Shelf:
    """Long texts by handle. `find` looks in what an earlier process stored, for runs that are gone on with."""

    def __init__(self, budget: int = PAGE_TOKENS, find: Callable[[str], str | None] = lambda _handle: None) -> None:
        self.budget = budget
        self._find = find
        self._texts: Keep[str] = Keep(most=1024)

    def put(self, text: str) -> str:
        handle = handle_of(text)
        self._texts.put(handle, text)
        return handle

    def get(self, handle: str) -> str | None:
        return self._texts.get(handle) or self._find(handle)


class MoreText(Noun):
    """One page of a long result."""

    handle: str
    page: int
    pages: int


def more(shelf: Shelf, handle: Handle, page: PageNumber = 2) -> Answer[MoreText]:
    """The next page of a result that was cut."""
    text = shelf.get(handle)
    if text is None:
        raise UsageError(f"no result has the handle {handle!r}", hint="call the tool again: it costs nothing twice")
    found = page_of(text, page, shelf.budget)
    return Answer(found.text, MoreText(handle=handle, page=found.number, pages=found.last))
