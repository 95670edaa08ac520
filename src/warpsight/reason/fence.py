"""Text that is data: what comes from kernels, compilers, tasks and tools, kept apart from what we say to the model.

`fence` puts it between two lines with more dashes than stand side by side in it, so that no text can close its own
fence. (A hash would do as well, but models take what looks like one for the id of a kernel.) `neutral`
breaks the tags and special tokens that would end a message or start a call. This lowers the chance that a model is led
astray; it is not what keeps a run safe. That is: calls are read only from what the model wrote, only listed tools are
run, and verdicts come from the gate.
"""

from __future__ import annotations

import re

_MARKS = re.compile(
    r"<(?=/?\s*(?:tool_call|tool_response|think|tool_use|function_calls|invoke|antml)\b)"
    r"|<(?=[|｜])"
    r"|\[(?=/?(?:INST|SYS|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS)\])",
    re.IGNORECASE,
)


def neutral(text: str) -> str:
    """The text with a backslash in every mark that some model reads as more than text."""
    return _MARKS.sub(lambda found: found[0] + "\\", text)


def fence(name: str, text: str) -> str:
    """The text as data under a name."""
    body = neutral(text)
    dashes = "-" * (1 + max(2, *(len(run) for run in re.findall("-+", body) or [""])))
    end = "" if body.endswith("\n") else "\n"
    return f"{dashes} begin {name} (data) {dashes}\n{body}{end}{dashes} end {name} (data) {dashes}"
