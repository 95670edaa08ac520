"""What the few tools of a small model answer: the real tools' results in few words, and what may be called next.

Every call goes to the task's own tools, so verdicts, times and profiles are the gate's and the lens's. A result of
`rewrite` ends with the profile of the new kernel, or with the causes that were not tried yet: small models call what
they read last. Of a profile only causes are shown that `rewrite` takes. What must stay true: what a feedback mode hides
is hidden here too; what the box remembers changes words and refusals, never a verdict.
"""

from __future__ import annotations

import functools
import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from warpsight.causes import STOP, canonical, causes, with_behind
from warpsight.lens import tokens
from warpsight.models.verbatim import dump
from warpsight.rewrite import rewritable
from warpsight.short.words import MOST_FINDINGS, profile_words, submit_words, time_words
from warpsight.tools.box import SUBMIT, ToolResult, ToolSpec
from warpsight.tools.edits import KERNEL
from warpsight.tools.profile import Found, Profiled
from warpsight.tools.rewrite import Rewritten
from warpsight.tools.submit import Submitted
from warpsight.tools.task_box import TaskBox
from warpsight.tools.time import Timed

REWRITE, CAUSE = "rewrite", "cause"
RESULT_TOKENS = 160
_NO_WORDS = re.compile(r"^  at \W*$\n?", re.MULTILINE)  # a quoted line that is a brace says nothing


class Look(NamedTuple):
    """A profile in few words, and the causes in it that may be called, the first one first. `is_done`: it says that the
    kernel is as fast as it gets, and names nothing to try."""

    words: str
    causes: tuple[str, ...] = ()
    is_done: bool = False


NO_LOOK = Look("")


@functools.cache
def known_causes() -> tuple[str, ...]:
    """Every name that a profile may show and `rewrite` knows something for."""
    can = set(rewritable())
    shown = [
        one.name
        for one in causes().values()
        if not one.vague and one.name not in STOP and can & set(with_behind(one.name))
    ]
    return tuple(dict.fromkeys((*shown, *rewritable())))


def look_at(box: TaskBox, kernel: str, names: Sequence[str]) -> Look:
    """What the profile of a kernel says in few words; nothing where profiles are off."""
    result = box.call("profile", {KERNEL: kernel})
    if result.is_error:
        return NO_LOOK
    found = Profiled.model_validate_json(json.dumps(result.data))
    if not found.profiled:
        return NO_LOOK
    if REWRITE in names:
        shown = found.model_copy(update={"findings": _callable(found.findings), "smaller": _callable(found.smaller)})
    else:
        shown = found
    told = tuple(one.name for one in (*shown.findings, *shown.smaller)[:MOST_FINDINGS] if one.name in known_causes())
    is_done = not told and bool(found.findings) and found.findings[0].name in STOP
    return Look(_NO_WORDS.sub("", profile_words(shown, kernel, smaller=True)), told, is_done)


def _callable(findings: Sequence[Found]) -> tuple[Found, ...]:
    return tuple(one for one in findings if one.name in STOP or one.name in known_causes())


def cut_to(text: str, most: int) -> str:
    """As many whole lines as fit, at least the first."""
    kept: list[str] = []
    for line in text.split("\n"):
        if kept and tokens("\n".join((*kept, line))) > most:
            break
        kept.append(line)
    return "\n".join(kept)


class FewBox:
    """A ToolBox: the calls go to the task's own tools, what they say is made short."""

    def __init__(self, box: TaskBox, specs: Sequence[ToolSpec]) -> None:
        self._box = box
        self._specs = tuple(specs)
        self._names = tuple(spec.name for spec in specs)
        self._tried: defaultdict[str, list[str]] = defaultdict(list)  # causes by the kernel they were tried on

    def specs(self) -> tuple[ToolSpec, ...]:
        return self._specs

    def call(self, name: str, arguments: Mapping[str, JsonValue]) -> ToolResult:
        """One call, by the real tool, unless it is known to be in vain."""
        asked = dict(arguments)
        if why := self.in_vain(name, asked):
            return ToolResult(text=f"error: {why}", is_error=True)
        self._tried[str(asked.get(KERNEL))].append(_cause_of(asked) if name == REWRITE else name)
        if name == SUBMIT:
            asked.setdefault(CAUSE, "not said")
        result = self._box.call(name, asked)
        if result.is_error:
            return result
        return result.model_copy(update={"text": self.said(name, asked, result)})

    def in_vain(self, name: str, asked: Mapping[str, JsonValue]) -> str:
        """Why a call is not run: it would give what it gave before, or hand in what was given with causes left."""
        kernel = str(asked.get(KERNEL))
        if name == REWRITE and (cause := _cause_of(asked)) in self._tried[kernel]:
            return f"{cause} was tried on this kernel. {self.next_words(kernel)}"
        if name != SUBMIT or kernel != self._box.session.given.source:
            return ""
        if look_at(self._box, kernel, self._names).is_done:
            return ""
        if not self._tried[kernel]:
            return f"nothing was tried yet; call {self._names[0]} first. {self.next_words(kernel)}".strip()
        left = REWRITE in self._names and self.left(kernel)
        return f"this is the given kernel, nothing is faster yet. {self.next_words(kernel)}" if left else ""

    def left(self, kernel: str) -> tuple[str, ...]:
        """The causes in the profile of a kernel that were not tried on it."""
        seen = look_at(self._box, kernel, self._names).causes
        return tuple(cause for cause in seen if cause not in self._tried[kernel])

    def next_words(self, kernel: str) -> str:
        """The exact call to make now: small models write what they read last. Without a profile nobody knows it."""
        seen = look_at(self._box, kernel, self._names)
        if seen.is_done:
            return f"Now call {form_of_call(SUBMIT)}."
        if not seen.causes:
            return f"Name another cause, or call {SUBMIT}." if REWRITE in self._names else ""
        left = self.left(kernel)
        after = f" After it: {', '.join(left[1:])}." if left[1:] else ""
        return f"Now call {form_of_call(REWRITE, left[0])}.{after}" if left else f"Now call {form_of_call(SUBMIT)}."

    def said(self, name: str, asked: Mapping[str, JsonValue], result: ToolResult) -> str:
        """A result in few words."""
        record = json.dumps(result.data)
        if name == REWRITE:
            text = self._rewritten(str(asked.get(KERNEL)), Rewritten.model_validate_json(record), result)
        elif name == "time":
            found = Timed.model_validate_json(record)
            text = f"{found.kernel}: {time_words(found)}"
        elif name == SUBMIT:
            text = submit_words(Submitted.model_validate_json(record))
        else:
            text = cut_to(result.text, RESULT_TOKENS)
        return text

    def _rewritten(self, kernel: str, found: Rewritten, result: ToolResult) -> str:
        """Whether it helped, and what is slow now."""
        if not found.found or result.made is None:
            why = "no known fix fits" if not found.tried else "no known fix is right and faster"
            return f"{found.cause}: {why}. {self.next_words(kernel)}"
        told = f"{found.cause}: {found.rewrite} is right"
        if found.ratio is not None:
            told += f", {found.ratio:.2f}x as fast as before"
        if found.ratio_to_given is not None:
            told += f", {found.ratio_to_given:.2f}x as the given kernel"
        seen = look_at(self._box, result.made, self._names)
        told = f"{told}. It is `best` now."
        shown = cut_to(f"{told}\nIts profile:\n{seen.words}", RESULT_TOKENS)
        return f"{shown}\n{self.next_words(result.made)}" if seen.words else told


def form_of_call(tool: str, cause: str = "") -> str:
    """A call as it is written."""
    return dump({"name": tool, "arguments": {CAUSE: cause} if cause else {}})


def _cause_of(asked: Mapping[str, JsonValue]) -> str:
    return canonical(str(asked.get(CAUSE)))
