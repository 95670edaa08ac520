"""A model that plays a script: for demonstrations, tests and replays, with no network and no weights.

A script is a list of turns, or a function from the request to a turn. The turn to play is the number of assistant turns
in the request, so a run that was broken off goes on where it was, in another process too. A turn may fail first
(`fails`), once for each object, and then play. It is a real Model: the loop cannot tell it from another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, JsonValue, TypeAdapter, ValidationError

from warpsight.errors import UsageError
from warpsight.models.errors import (
    BadReply,
    CutReply,
    EmptyReply,
    ModelError,
    ModelRefused,
    ModelUnavailable,
    ScriptEnded,
)
from warpsight.models.model import AssistantMessage, OnText, Reply, Request, StopReason, ToolCall, Usage
from warpsight.models.text_calls import read_calls
from warpsight.models.verbatim import dump, parse
from warpsight.nouns.base import Count, Noun

FAILURES: dict[str, type[ModelError]] = {
    "unavailable": ModelUnavailable,
    "refused": ModelRefused,
    "bad": BadReply,
    "empty": EmptyReply,
    "cut": CutReply,
}


class ScriptedCall(Noun):
    """A call to make. `arguments` as a text is sent as it is, malformed or not; `argument_files` are read from disk."""

    name: str
    arguments: dict[str, JsonValue] | str = Field(default_factory=dict)
    argument_files: dict[str, str] = Field(default_factory=dict)
    id: str | None = None


class ScriptedTurn(Noun):
    """One reply. Calls may also stand in the text, between `<tool_call>` tags."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    fails: Literal["unavailable", "refused", "bad", "empty", "cut"] | None = None
    stop_reason: StopReason | None = None
    input_tokens: Count | None = None
    output_tokens: Count | None = None


def _turn(value: object) -> object:
    return ScriptedTurn(text=value) if isinstance(value, str) else value


Script = Sequence[ScriptedTurn | str] | Callable[[Request], ScriptedTurn | str]
_TURNS = TypeAdapter(tuple[Annotated[ScriptedTurn, BeforeValidator(_turn)], ...])


class ScriptedModel:
    def __init__(self, script: Script, name: str = "scripted") -> None:
        self.name = name
        self._script = script if callable(script) else _TURNS.validate_python(tuple(script))
        self._failed: set[int] = set()

    def reply(self, request: Request, on_text: OnText | None = None) -> Reply:
        played = sum(isinstance(m, AssistantMessage) for m in request.messages)
        turn = self._turn_at(played, request)
        if turn.fails is not None and played not in self._failed:
            self._failed.add(played)
            raise FAILURES[turn.fails](f"turn {played} of the script fails with `{turn.fails}`")
        if on_text is not None and turn.text:
            on_text(turn.text)
        return _reply_of(turn, played)

    def _turn_at(self, played: int, request: Request) -> ScriptedTurn:
        if callable(self._script):
            turn = self._script(request)
            return ScriptedTurn(text=turn) if isinstance(turn, str) else turn
        if played >= len(self._script):
            raise ScriptEnded(
                f"expected at most {len(self._script)} replies from the script `{self.name}`, one more was asked for",
                hint="end the script with a call of `submit`",
            )
        return self._script[played]

    def close(self) -> None:
        """Nothing is held."""


def _reply_of(turn: ScriptedTurn, played: int) -> Reply:
    calls = tuple(
        ToolCall(
            id=call.id if call.id is not None else f"call_{played}_{number}",
            name=call.name,
            arguments=call.arguments if isinstance(call.arguments, str) else dump(call.arguments),
        )
        for number, call in enumerate(turn.calls)
    )
    written, malformed = read_calls(turn.text, id_prefix=f"call_{played}_text_")
    calls += written
    given = turn.input_tokens is not None or turn.output_tokens is not None
    return Reply(
        text=turn.text,
        reasoning=turn.reasoning,
        calls=calls,
        malformed=malformed,
        raw=dump({"text": turn.text, "reasoning": turn.reasoning, "calls": [c.model_dump() for c in calls]}),
        wire="scripted",
        usage=Usage(input_tokens=turn.input_tokens or 0, output_tokens=turn.output_tokens or 0, known=given),
        stop_reason=turn.stop_reason or ("calls" if calls else "end"),
    )


def shipped_script(name: str) -> Path | None:
    """The file of a script that comes with the package, by its bare name; `demo` makes the task `transpose` faster."""
    folder = Path(__file__).parent / "scripts"
    file = folder / f"{name}.json"
    return file if file.parent == folder and file.is_file() else None


def read_script(path: Path) -> ScriptedModel:
    """The scripted model of a JSON file: a list of turns, each an object or a plain text."""
    try:
        turns = _TURNS.validate_python(parse(path.read_text(encoding="utf-8")))
        turns = tuple(
            turn.model_copy(update={"calls": tuple(_with_files(call, path.parent) for call in turn.calls)})
            for turn in turns
        )
    except OSError as problem:
        raise UsageError(f"could not read {problem.filename}: {problem.strerror}") from None
    except (ValueError, ValidationError) as problem:
        raise UsageError(
            f"expected a JSON list of turns in {path}, found: {problem}", hint='[{"text": "...", "calls": [...]}]'
        ) from None
    return ScriptedModel(turns, name=f"scripted:{path.name}")


def _with_files(call: ScriptedCall, folder: Path) -> ScriptedCall:
    if not call.argument_files:
        return call
    if isinstance(call.arguments, str):
        raise ValueError(f"the call of `{call.name}` has arguments as text, so files cannot be added")
    read: dict[str, JsonValue] = {
        name: (folder / file).read_text(encoding="utf-8") for name, file in call.argument_files.items()
    }
    return call.model_copy(update={"arguments": call.arguments | read, "argument_files": {}})
