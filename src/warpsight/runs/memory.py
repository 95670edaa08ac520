"""A Store that forgets: for replay, for training, and wherever a run need not survive its process."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager

from warpsight.errors import UsageError
from warpsight.nouns.run import Run, Step
from warpsight.runs.store import Ending, NoSuchRun, Record, RunBusy, RunSummary, StoreConflict, ended, summary_of


class MemoryStore:
    """A Store in this process. It may be given records to begin with, which makes a run that needs no outside."""

    def __init__(self, run_id: str = "", records: Iterable[Record] = ()) -> None:
        self._runs: dict[str, Run] = {}
        self._steps: dict[str, list[Step]] = {}
        self._records: dict[tuple[str, str], Record] = {(run_id, r.key): r for r in records}
        self._artefacts: dict[str, bytes] = {}
        self._held: set[str] = set()

    def create_run(self, run: Run) -> None:
        there = self._runs.setdefault(run.id, run)
        self._steps.setdefault(run.id, [])
        if (there.task, there.model, there.job) != (run.task, run.model, run.job):
            raise StoreConflict(f"run {run.id} is there already and was asked for something else")

    @contextmanager
    def hold(self, run_id: str) -> Generator[None]:
        if run_id in self._held:
            raise RunBusy(f"run {run_id} is being worked on")
        self._held.add(run_id)
        try:
            yield
        finally:
            self._held.discard(run_id)

    def write(self, run_id: str, entries: Sequence[Step | Record]) -> None:
        steps, records = list(self._steps[run_id]), dict(self._records)
        for entry in entries:
            if isinstance(entry, Record):
                if records.setdefault((run_id, entry.key), entry) != entry:
                    raise StoreConflict(f"run {run_id}: another {entry.kind} is already recorded under {entry.key}")
                continue
            if entry.index > len(steps):
                raise StoreConflict(f"run {run_id}: expected step {len(steps)} next, got step {entry.index}")
            if entry.index == len(steps):
                steps.append(entry)
            elif steps[entry.index] != entry:
                raise StoreConflict(f"run {run_id}: step {entry.index} comes again as another one")
        self._steps[run_id], self._records = steps, records

    def recorded(self, run_id: str, key: str) -> Record | None:
        return self._records.get((run_id, key))

    def records(self, run_id: str) -> tuple[Record, ...]:
        mine = (record for (owner, _), record in self._records.items() if owner == run_id)
        return tuple(sorted(mine, key=lambda record: (record.step, record.key)))

    def finish(self, run_id: str, ending: Ending) -> None:
        self._runs[run_id] = ended(self._header(run_id), ending)

    def read(self, run_id: str) -> Run:
        return self._header(run_id).model_copy(update={"steps": tuple(self._steps[run_id])})

    def list_runs(
        self,
        *,
        task: str | None = None,
        model: str | None = None,
        outcome: str | None = None,
        parent: str | None = None,
        limit: int | None = None,
    ) -> tuple[RunSummary, ...]:
        def fits(run: Run) -> bool:
            pairs = ((task, run.task), (model, run.model), (outcome, run.outcome or "open"), (parent, run.parent))
            return all(wanted is None or wanted == found for wanted, found in pairs)

        newest = sorted((r for r in self._runs.values() if fits(r)), key=lambda r: (r.started_at, r.id), reverse=True)
        return tuple(summary_of(run, len(self._steps[run.id])) for run in newest[:limit])

    def put(self, content: bytes) -> str:
        name = hashlib.sha256(content).hexdigest()
        self._artefacts[name] = content
        return name

    def kept(self) -> tuple[bytes, ...]:
        """Every artefact."""
        return tuple(self._artefacts.values())

    def get(self, sha256: str) -> bytes:
        try:
            return self._artefacts[sha256]
        except KeyError:
            raise UsageError(f"no artefact {sha256}") from None

    def _header(self, run_id: str) -> Run:
        try:
            return self._runs[run_id]
        except KeyError:
            raise NoSuchRun(f"no run {run_id}") from None
