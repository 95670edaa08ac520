"""What each conversation has said: the kernels that it may name for each task, and the documents that it was given.

A conversation has a name: that of its session of the protocol, or one that its client gives. Calls without a name share
one memory, in which kernels go by their ids alone. What must stay true: nothing here is ever seen by another
conversation, and the room is bounded: what was not used for longest is forgotten first.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable

from warpsight.errors import UsageError
from warpsight.tools.memory import KernelMemory

MOST_CONVERSATIONS = 4096
MOST_CHARACTERS = 256_000_000  # of kernels, of all together
MOST_TASKS = 16
MOST_LISTED = 100
NAME = re.compile(r"[A-Za-z0-9._:-]{1,128}")
UNNAMED = ""


def require_name(word: str) -> str:
    """A name that a client gave its conversation."""
    if not NAME.fullmatch(word):
        raise UsageError(
            f"expected a name of a conversation, got {word[:40]!r}", hint="1 to 128 of A-Z a-z 0-9 . _ : -"
        )
    return word


class Conversation:
    """One conversation. `made` are its documents, oldest first: address to title."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.made: OrderedDict[str, str] = OrderedDict()
        self._memories: OrderedDict[str, KernelMemory] = OrderedDict()

    def memory(self, task_key: str, given: str) -> KernelMemory:
        """Its kernels of one task on one GPU."""
        found = self._memories.get(task_key)
        if found is None:
            found = self._memories[task_key] = KernelMemory(given, shared=self.name == UNNAMED)
        self._memories.move_to_end(task_key)
        if len(self._memories) > MOST_TASKS:
            self._memories.popitem(last=False)
        return found

    def note_document(self, address: str, title: str) -> None:
        self.made[address] = title
        self.made.move_to_end(address)
        if len(self.made) > MOST_LISTED:
            self.made.popitem(last=False)

    @property
    def characters(self) -> int:
        return sum(one.characters for one in self._memories.values())


class Conversations:
    """Those that are remembered. `busy` says of which a call is open: they are kept."""

    def __init__(self, most: int = MOST_CONVERSATIONS, most_characters: int = MOST_CHARACTERS) -> None:
        self._most = most
        self._most_characters = most_characters
        self._known: OrderedDict[str, Conversation] = OrderedDict()

    def __len__(self) -> int:
        return len(self._known)

    def of(self, name: str) -> Conversation:
        """The conversation of that name; a new one where none is remembered."""
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = Conversation(name)
        self._known.move_to_end(name)
        return found

    def trim(self, busy: Callable[[str], bool] = lambda _name: False) -> None:
        """Forget what there is no room for."""
        held = sum(one.characters for one in self._known.values())
        for name in list(self._known)[:-1]:
            if len(self._known) <= self._most and held <= self._most_characters:
                return
            if not busy(name):
                held -= self._known.pop(name).characters
