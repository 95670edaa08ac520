"""The one transcript of a run: typed, only appended to, for both ways of calling.

It is kept in two forms that always say the same: steps, which are stored, and messages, which are sent. A turn of the
model goes back as it came (`raw`). In the `text` way, and for a call that stood in a text, results stand in
`<tool_response>` tags. What must stay true: what the model wrote is in `assistant` (and, in parts, `call`) steps and
what was put in is in all others, so what is trained on is decided here, where it is known, and not found out later.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from warpsight.models.model import (
    AssistantMessage,
    Message,
    Reply,
    SystemMessage,
    ToolMessage,
    UserMessage,
    turn_of,
)
from warpsight.models.text_calls import RESULT_CLOSE, RESULT_OPEN
from warpsight.nouns.run import Step
from warpsight.reason.calls import ReadCall
from warpsight.reason.fence import neutral
from warpsight.reason.pending import Pending


class Transcript:
    """The steps of one run."""

    def __init__(self, run_id: str, pending: Pending, calling: Literal["native", "text"]) -> None:
        self._pending = pending
        self._calling = calling
        self._steps: list[Step] = []
        self._messages: list[Message] = []
        self._digest = hashlib.sha256(run_id.encode())

    def __len__(self) -> int:
        return len(self._steps)

    @property
    def steps(self) -> tuple[Step, ...]:
        return tuple(self._steps)

    @property
    def messages(self) -> tuple[Message, ...]:
        """What is sent to the model."""
        return tuple(self._messages)

    def key(self, kind: str) -> str:
        """A name for what comes next, made of all that came before: the same again only after the same again."""
        digest = self._digest.copy()
        digest.update(kind.encode())
        return digest.hexdigest()

    def system(self, text: str) -> None:
        self._append(kind="system", content=text)
        self._messages.append(SystemMessage(text=text))

    def user(self, text: str) -> None:
        self._append(kind="user", content=text)
        self._messages.append(UserMessage(text=text))

    def assistant(self, reply: Reply) -> None:
        """A turn of the model. In the text way only the text counts: what came after the first call was cut off."""
        raw = reply.raw if self._calling == "native" else None
        self._append(kind="assistant", content=reply.text, reasoning=reply.reasoning, raw=raw)
        self._messages.append(turn_of(reply) if self._calling == "native" else AssistantMessage(text=reply.text))

    def call(self, call: ReadCall) -> None:
        self._append(kind="call", content=call.written, tool=call.tool, call_id=call.id)

    def result(self, call: ReadCall, text: str, *, is_error: bool, artefacts: Iterable[str] = ()) -> None:
        """What a call gave. It is data: marks that would be more than text are broken."""
        safe = neutral(text)
        answered = self._calling == "native" and not call.in_text  # else no server knows the call
        content = safe if answered else f"{RESULT_OPEN}\n{safe}\n{RESULT_CLOSE}"
        self._append(
            kind="result",
            content=content,
            tool=call.tool,
            call_id=call.id,
            is_error=is_error,
            artefacts=tuple(artefacts),
        )
        if answered:
            self._messages.append(ToolMessage(call_id=call.id, name=call.tool, text=content, is_error=is_error))
        else:
            self._messages.append(UserMessage(text=content))

    def _append(self, **fields: Any) -> None:
        step = Step(index=len(self._steps), **fields)
        self._pending.add(step)
        self._steps.append(step)
        self._digest.update(step.model_dump_json().encode() + b"\n")


def transcript_bytes(steps: Sequence[Step]) -> bytes:
    """The transcript as bytes, one JSON line a step: equal bytes, equal conversations."""
    return b"".join(step.model_dump_json().encode() + b"\n" for step in steps)
