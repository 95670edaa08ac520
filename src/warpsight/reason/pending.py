"""What was said but is not written yet: steps and records go to the store together, in one transaction.

They are written before anything is asked of the outside again (a reply, a tool) and when the run ends, so what is lost
by a kill is only what follows from the records that are there, or a reply that had come in that very moment.
"""

from __future__ import annotations

from warpsight.nouns.run import Step
from warpsight.runs.store import Record, Store, StoreConflict


class Pending:
    """The entries of one run that wait to be written."""

    def __init__(self, run_id: str, store: Store) -> None:
        self._run_id = run_id
        self._store = store
        self._entries: list[Step | Record] = []

    def add(self, entry: Step | Record) -> None:
        self._entries.append(entry)

    def flush(self) -> None:
        """Returns when everything that was added is durable. After an interrupt the same is written again."""
        if not self._entries:
            return
        try:
            self._store.write(self._run_id, self._entries)
        except StoreConflict:
            self._entries = []  # it will never fit: the run ends with this
            raise
        self._entries = []
