"""What comes from outside a run, each thing asked for once: what is recorded is not asked for again.

A run is a function of its job and of these records, so running it again up to its last record is resuming it, and
running it with no outside at all is replaying it. What it cost is recorded with each; seconds are measured here.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import NamedTuple

from warpsight.errors import WarpsightError
from warpsight.models.errors import BadReply
from warpsight.models.model import Reply, Usage, add_usage
from warpsight.nouns.base import Noun
from warpsight.nouns.run import Spent
from warpsight.reason.pending import Pending
from warpsight.runs.store import Record, Store
from warpsight.session.until import OutOfTime
from warpsight.tools.box import ToolResult, cut_result

Clock = Callable[[], float]
# A tool may say so with an error as well as with a result: the kernel or the request is wrong, not the machine.
_TOLD_EXIT_CODES = (1, 2)


class ModelAnswer(NamedTuple):
    """A reply, or why there is none that can be used, and what it cost. `known` is False without token counts."""

    reply: Reply | None
    problem: str
    spent: Spent
    known: bool


class ToolOutcome(NamedTuple):
    """A result with the hashes of its artefacts, and what it cost."""

    result: ToolResult
    artefacts: tuple[str, ...]
    spent: Spent


class _Stored(Noun):
    """The body of a record of a result; artefacts are hashes."""

    result: ToolResult
    artefacts: tuple[str, ...]


class RunJournal:
    """The records of one run."""

    def __init__(self, run_id: str, store: Store, pending: Pending, clock: Clock = time.monotonic) -> None:
        self._run_id = run_id
        self._store = store
        self._pending = pending
        self._clock = clock

    def reply(self, key: str, step: int, ask: Callable[[], Reply]) -> ModelAnswer:
        """The recorded answer under this key, or a new one, recorded. Errors other than a bad reply pass through."""
        record = self._store.recorded(self._run_id, key)
        if record is None:
            self._pending.flush()
            began = self._clock()
            try:
                reply = ask()
                body, kind = reply.model_dump_json(), "reply"
                usage = add_usage(reply.usage, reply.wasted)
            except BadReply as problem:
                body, kind = json.dumps({"problem": problem.message, "known": problem.usage.known}), "bad_reply"
                usage = add_usage(problem.usage, problem.wasted)
            spent = _spent_of(usage, self._clock() - began)
            record = Record(key=key, kind=kind, step=step, body=body, spent=spent)
            self._pending.add(record)
        if record.kind == "bad_reply":
            said = json.loads(record.body)
            return ModelAnswer(None, str(said["problem"]), record.spent, bool(said["known"]))
        reply = Reply.model_validate_json(record.body)
        return ModelAnswer(reply, "", record.spent, reply.usage.known)

    def result(self, key: str, step: int, *, charged: bool, run: Callable[[], ToolResult]) -> ToolOutcome:
        """The recorded result under this key, or a new one, recorded."""
        record = self._store.recorded(self._run_id, key)
        if record is None:
            self._pending.flush()
            began = self._clock()
            result = _told(run)
            artefacts = [self._store.put(content) for content in result.artefacts]
            spent = Spent(tool_calls=int(charged), seconds=max(0.0, self._clock() - began))
            body = f'{{"result":{result.model_dump_json(exclude={"artefacts"})},"artefacts":{json.dumps(artefacts)}}}'
            record = Record(key=key, kind="result", step=step, body=body, spent=spent)
            self._pending.add(record)
        stored = _Stored.model_validate_json(record.body)  # what is used is what was recorded, also the first time
        return ToolOutcome(stored.result, stored.artefacts, record.spent)


def _told(run: Callable[[], ToolResult]) -> ToolResult:
    """A result also where the tool raised because of the kernel or the arguments; a broken machine passes through."""
    try:
        return run()
    except OutOfTime as problem:
        return cut_result(problem)
    except WarpsightError as problem:
        if problem.exit_code not in _TOLD_EXIT_CODES:
            raise
        return ToolResult(text=f"error: {problem}", is_error=True)


def _spent_of(usage: Usage, seconds: float) -> Spent:
    return Spent(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        seconds=max(0.0, seconds),
        cost_usd=usage.cost_usd,
    )
