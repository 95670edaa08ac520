"""Results kept by content, the least recently used ones dropped first: asking twice costs nothing."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Kept = TypeVar("Kept")


class Keep(Generic[Kept]):
    """At most `most` results of one kind. What raises is not kept."""

    def __init__(self, most: int = 256) -> None:
        self._most = most
        self._kept: OrderedDict[Hashable, Kept] = OrderedDict()

    def get(self, key: Hashable) -> Kept | None:
        """What is kept under this key, if anything."""
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
        return found

    def put(self, key: Hashable, value: Kept) -> Kept:
        self._kept[key] = value
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return value

    def of(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """What is kept under this key, else what `make` gives, kept."""
        found = self.get(key)
        return self.put(key, make()) if found is None else found
