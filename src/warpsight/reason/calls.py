"""What the model wrote as a call, made into one that can be run, or into the words that tell it what is wrong.

Only tools in the list are called, only with arguments that fit their schema; nothing is repaired or guessed. The calls
come from what the model itself wrote in its last turn: text from results, kernels or tasks is never read here. A reply
without native calls may have them in its text, in tags or a code fence; of those only the first is run, since the model
wrote on without its result. What is told of a reply that cannot be used shows the exact form of a call.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

from pydantic import JsonValue

from warpsight.models.model import MalformedCall, Reply, ToolCall
from warpsight.models.text_calls import CLOSE, OPEN, read_written
from warpsight.nouns.base import Noun
from warpsight.reason.schema import problems
from warpsight.tools.box import ToolSpec
from warpsight.tools.form import form_of

MAX_ARGUMENT_CHARACTERS = 1 << 20
MAX_CALLS_IN_A_REPLY = 16
_SHOWN_PROBLEMS = 5


class ReadCall(Noun):
    """One call of a reply. `problem` says why it is not run; then there are no arguments. `in_text` says that the
    model wrote it into its text, so that no native result can answer it."""

    id: str
    tool: str
    written: str
    in_text: bool = False
    arguments: dict[str, JsonValue] | None = None
    problem: str = ""


class Reading(Noun):
    """What a reply asks for. `problem` is what is said after the results, if any: about calls that could not be read,
    or about a reply that makes none."""

    calls: tuple[ReadCall, ...] = ()
    problem: str = ""


def read_reply(
    reply: Reply, specs: Sequence[ToolSpec], *, most: int = MAX_CALLS_IN_A_REPLY, id_prefix: str = "text_"
) -> Reading:
    """The calls of a reply, each good or with its problem; or what is wrong with the reply. At most so many are run."""
    known = {spec.name: spec for spec in specs}
    found, malformed, in_text = reply.calls, reply.malformed, False
    if not found and not malformed:
        found, malformed = read_written(reply.text, id_prefix)
        in_text, most = True, 1
    seen: set[str] = set()
    calls: list[ReadCall] = []
    for call in found:
        if call.id not in seen:  # one id has one result: a second call under it was never asked for
            calls.append(read_call(call, known).model_copy(update={"in_text": in_text}))
        seen.add(call.id)
    calls[most:] = [
        call.model_copy(update={"arguments": None, "problem": _too_many(most, len(calls))}) for call in calls[most:]
    ]
    if calls and not malformed:
        return Reading(calls=tuple(calls))
    problem = _problem_of(reply, malformed, tuple(specs))
    return Reading(calls=tuple(calls), problem=problem)


def _too_many(most: int, found: int) -> str:
    if most == 1:
        return f"not run: only the first of the {found} calls of your reply is; read its result, then make the next"
    return f"not run: a reply may have {most} calls, this one has {found}"


def text_calls_of(reply: Reply, id_prefix: str) -> Reply:
    """A reply whose calls stand in its text, with them read. Nothing after the first call counts: it had no result."""
    end = reply.text.find(CLOSE)
    text = reply.text[: end + len(CLOSE)] if end >= 0 else reply.text
    if end < 0 and OPEN in text and reply.stop_reason not in ("length", "time"):
        text += CLOSE  # we asked to stop at this tag, and providers leave out the tag they stopped at
    calls, malformed = read_written(text, id_prefix)
    return reply.model_copy(update={"text": text, "calls": calls, "malformed": malformed})


def read_call(call: ToolCall, known: Mapping[str, ToolSpec]) -> ReadCall:
    """One call against the schema of its tool."""

    def bad(problem: str) -> ReadCall:
        return ReadCall(id=call.id, tool=call.name, written=call.arguments, problem=problem)

    spec = known.get(call.name)
    if spec is None:
        return bad(f"no tool {call.name[:80]!r}; the tools are {', '.join(known)}")
    try:
        arguments = strict_json(call.arguments)
    except ValueError as problem:
        return bad(f"the arguments of {call.name} are not JSON: {problem}")
    if not isinstance(arguments, dict):
        return bad(f"the arguments of {call.name}: expected a JSON object; the form is {form_of(spec.parameters)}")
    found = problems(arguments, spec.parameters)
    if found:
        more = f"; and {len(found) - _SHOWN_PROBLEMS} more" if len(found) > _SHOWN_PROBLEMS else ""
        told = f"{'; '.join(found[:_SHOWN_PROBLEMS])}{more}; the form is {form_of(spec.parameters)}"
        return bad(f"the arguments of {call.name} do not fit: {told}")
    return ReadCall(id=call.id, tool=call.name, written=call.arguments, arguments=arguments)


def strict_json(text: str) -> JsonValue:
    """The value of a JSON text; ValueError for NaN, for a key given twice, for what is too long or too deep."""
    if len(text) > MAX_ARGUMENT_CHARACTERS:
        raise ValueError(f"expected at most {MAX_ARGUMENT_CHARACTERS} characters, found {len(text)}")
    try:
        value: Any = json.loads(text, parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=_no_repeats)
        json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except UnicodeEncodeError:
        raise ValueError("half of a character (a lone surrogate) is no text") from None
    return cast(JsonValue, value)


def call_form(specs: Sequence[ToolSpec]) -> str:
    """A call of the first of these tools, as a model that makes no native calls may write it. In a code fence: tags
    that stand outside of what a model wrote are broken everywhere."""
    spec = specs[0]
    return f'```json\n{{"name": "{spec.name}", "arguments": {form_of(spec.parameters)}}}\n```'


def _problem_of(reply: Reply, malformed: Sequence[MalformedCall], specs: Sequence[ToolSpec]) -> str:
    """What is wrong with a reply, and how a call looks."""
    names = ", ".join(spec.name for spec in specs)
    form = f"Write one call, exactly in this form:\n{call_form(specs)}"
    if malformed:
        return f"A call could not be read: {malformed[0].reason}. The tools are {names}. {form}"
    if reply.stop_reason in ("length", "time"):
        return f"Your reply was cut at its limit before it made a call. Be shorter. {form}"
    if reply.stop_reason == "refused":
        return "You declined to answer. Go on with a call, or submit what you have."
    if not reply.text.strip() and not reply.reasoning.strip():
        return f"Your reply was empty. Make a call. {form}"
    return f"Your reply made no call. Call one of {names}; call submit when you are done. {form}"


def _finite(text: str) -> float:
    if math.isinf(value := float(text)):
        raise ValueError(f"{text[:40]} is too large")
    return value


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} is given twice")
    return found
