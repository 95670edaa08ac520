"""Simple rivals, each a real Model that goes through the same loop and the same tools as any other.

`most-common` says what is right most often in a training corpus; `top-finding` profiles and follows the first finding
blindly; `known-finding` follows the first one that points at any answer; `tries` has all tried that the findings point
at and what may help any kernel, and says what gave most (suite `optimize`); `any` does so without a profile, so what it
lacks is what the profile brings; `random` draws. A tuned model that does not beat the others has learned nothing; one
that beats `tries` reads the text too.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from warpsight.causes import NOTHING, STOP, answers, defects_of
from warpsight.corpus.build import read_rows
from warpsight.errors import UsageError
from warpsight.models.model import Model, Request, ToolMessage
from warpsight.models.scripted import ScriptedModel
from warpsight.models.text_calls import CLOSE, OPEN
from warpsight.short.prompting import ANY, CAUSE, CAUSES, MOST_CAUSES, REWRITE
from warpsight.short.words import most_of
from warpsight.tools.box import SUBMIT

RIVALS = ("most-common", "top-finding", "known-finding", "tries", "any", "random")
PREFIX = "rival:"
PROFILE = f'{OPEN}{{"name": "profile", "arguments": {{}}}}{CLOSE}'


def open_rival(name: str, *, train: Path | None = None, seed: int = 0) -> Model:
    """The rival of that name; `most-common` needs the corpus that others are trained on."""
    if name == "most-common":
        if train is None:
            raise UsageError("rival most-common needs a training corpus", hint="--train FILE")
        common = most_common(train)
        return ScriptedModel(lambda _request: _submit(common), name=PREFIX + name)
    if name == "random":
        return ScriptedModel(lambda request: _submit(_drawn(request, seed)), name=PREFIX + name)
    if name in ("top-finding", "known-finding"):
        return ScriptedModel(_follow(skip_unknown=name == "known-finding"), name=PREFIX + name)
    if name == "tries":
        return ScriptedModel(_try_findings, name=PREFIX + name)
    if name == "any":
        return ScriptedModel(_try_any, name=PREFIX + name)
    raise UsageError(f"expected a rival of {', '.join(RIVALS)}, got {name!r}")


def most_common(train: Path) -> str:
    """The answer that is right most often."""
    found = Counter(kind for row in read_rows(train) for kind in row.truth.right)
    if not found:
        raise UsageError(f"no tasks in {train}")
    return found.most_common(1)[0][0]


def answer_of(findings: Sequence[str], *, skip_unknown: bool) -> str:
    """The first answer that the first finding points at; of all findings in turn if unknown ones are skipped."""
    for name in findings:
        pointed = defects_of(name)
        if pointed or name in STOP or not skip_unknown:
            return pointed[0] if pointed else NOTHING
    return NOTHING


def _follow(*, skip_unknown: bool) -> Callable[[Request], str]:
    def play(request: Request) -> str:
        shown = _shown(request)
        return _submit(answer_of(_findings(shown[0]), skip_unknown=skip_unknown)) if shown else PROFILE

    return play


def _try_findings(request: Request) -> str:
    shown = _shown(request)
    if not shown:
        return PROFILE
    pointing = [name for name in dict.fromkeys(_findings(shown[0])) if defects_of(name)][: MOST_CAUSES - 1]
    return _submit(most_of(shown[1:])[0]) if shown[1:] else _call(REWRITE, {CAUSES: [*pointing, ANY]})


def _try_any(request: Request) -> str:
    shown = _shown(request)
    return _submit(most_of(shown)[0]) if shown else _call(REWRITE, {CAUSES: [ANY]})


def _shown(request: Request) -> list[str]:
    """What the tools answered so far."""
    return [message.text for message in request.messages if isinstance(message, ToolMessage)]


def _findings(profile: str) -> list[str]:
    """The names of the findings of a profile in few words."""
    return [line.split()[0].rstrip(":") for line in profile.splitlines()[1:] if line and line[0].isalpha()]


def _drawn(request: Request, seed: int) -> str:
    return random.Random(f"{seed} {request.messages[1].model_dump_json()}").choice(answers())


def _submit(answer: str) -> str:
    return _call(SUBMIT, {CAUSE: answer})


def _call(tool: str, arguments: Mapping[str, object]) -> str:
    return f"{OPEN}{json.dumps({'name': tool, 'arguments': arguments})}{CLOSE}"
