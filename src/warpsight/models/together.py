"""Many loops, one model: each conversation runs in a thread of its own, and their questions go to the model as batches.

A batch is asked when every conversation that is still going on waits for a reply, in the order of the conversations, so
the same conversations give the same batches however fast their tools are. The loop knows nothing of it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

from warpsight.models.model import BatchModel, OnText, Reply, Request

Result = TypeVar("Result")


class Together:
    """A Model for each of several conversations, over one that answers in batches."""

    def __init__(self, model: BatchModel) -> None:
        self._model = model
        self._ready = threading.Condition()
        self._going: set[int] = set()
        self._asked: dict[int, Request] = {}
        self._replies: dict[int, Reply | BaseException] = {}

    def run(self, works: Sequence[Callable[[Seat], Result]]) -> list[Result]:
        """Run all; each gets its own seat as its model. An error in one is raised after all have ended."""
        results: dict[int, Result] = {}
        errors: dict[int, BaseException] = {}
        self._going = set(range(len(works)))

        def sit(number: int, work: Callable[[Seat], Result]) -> None:
            try:
                results[number] = work(Seat(self, number, self._model.name))
            except BaseException as problem:
                errors[number] = problem
            finally:
                with self._ready:
                    self._going.discard(number)
                    self._ask_if_all_wait()

        threads = [threading.Thread(target=sit, args=(number, work)) for number, work in enumerate(works)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if errors:
            raise errors[min(errors)]
        return [results[number] for number in range(len(works))]

    def ask(self, number: int, request: Request) -> Reply:
        """Wait until all have asked, then for the reply."""
        with self._ready:
            self._asked[number] = request
            self._ask_if_all_wait()
            while number not in self._replies:
                self._ready.wait()
            found = self._replies.pop(number)
        if isinstance(found, BaseException):
            raise found
        return found

    def _ask_if_all_wait(self) -> None:
        if not self._asked or set(self._asked) != self._going:
            return
        order = sorted(self._asked)
        requests = [self._asked.pop(number) for number in order]
        replies: Sequence[Reply | BaseException]
        try:
            replies = self._model.reply_batch(requests)
        except Exception as problem:
            replies = [problem] * len(requests)
        self._replies.update(zip(order, replies, strict=True))
        self._ready.notify_all()


class Seat:
    """The Model of one conversation."""

    def __init__(self, table: Together, number: int, name: str) -> None:
        self.name = name
        self._table = table
        self._number = number

    def reply(self, request: Request, on_text: OnText | None = None) -> Reply:
        return self._table.ask(self._number, request)

    def close(self) -> None:
        """Nothing is held: the model belongs to the table."""
