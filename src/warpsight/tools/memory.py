"""The kernels that one conversation may name: the given one, the best so far, the last one, and all it sent, by id.

What must stay true: a name never means a kernel of another conversation, and the room is bounded: the kernels that were
not named for longest go first. Two kernels with one id (it is short) have no id any more.
"""

from __future__ import annotations

from collections import OrderedDict

from warpsight.nouns import Evaluation, kernel_id
from warpsight.tools.edits import BEST, CURRENT, GIVEN

MOST_CHARACTERS = 8_000_000


class KernelMemory:
    """Starts with the given kernel alone. `shared`: of several who do not know one another, so there is no best one."""

    def __init__(self, given: str, *, shared: bool = False, most_characters: int = MOST_CHARACTERS) -> None:
        self._given = self._current = self._best = given
        self._shared = shared
        self._most = most_characters
        self._ratio: float | None = None
        self._kernels: OrderedDict[str, str] = OrderedDict()
        self._ambiguous: set[str] = set()
        self.characters = 0
        self._remember(given)

    def kernels(self) -> dict[str, str]:
        """Every name that means a kernel here."""
        own = {} if self._shared else {CURRENT: self._current, BEST: self._best}
        return {**own, GIVEN: self._given, **self._kernels}

    def note(self, sent: str | None, made: str | None, found: Evaluation | None) -> None:
        """A call came by with the kernel `sent`; the tool may have `made` one, and `found` is of the last of them."""
        for text in (sent, made):
            if text is not None:
                self._current = text
                self._remember(text)
        if sent is not None:
            self._note_best(found, made or sent)

    def _note_best(self, found: Evaluation | None, text: str) -> None:
        """Keep the fastest right kernel, by the gate's decision alone."""
        timing = None if found is None else found.timing
        if timing is None or not timing.improves or timing.ratio is None:
            return
        if self._ratio is None or timing.ratio > self._ratio:
            self._best, self._ratio = text, timing.ratio

    def _remember(self, text: str) -> None:
        name = kernel_id(text)
        if name in self._ambiguous:
            return
        before = self._kernels.pop(name, None)
        if before is not None and before != text:
            self._ambiguous.add(name)
            self.characters -= len(before)
            return
        self._kernels[name] = text
        self.characters += 0 if before is not None else len(text)
        while self.characters > self._most and len(self._kernels) > 1:
            self.characters -= len(self._kernels.popitem(last=False)[1])
