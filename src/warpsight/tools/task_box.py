"""The tools of one task as a ToolBox: the one object that the loop, the MCP server and the command line call.

Turns names and edits into whole kernels, runs the function, cuts its words to size and keeps the result by content.
The loop resolves names itself (it must be able to after a restart); what this box remembers is for the other doors.
What must stay true: only tools of the list run, only with arguments that fit, and the same call gives the same result.
"""

from __future__ import annotations

import functools
import hashlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from pydantic import JsonValue, ValidationError

from warpsight.errors import UsageError, WarpsightError
from warpsight.nouns import Noun
from warpsight.plugins import Plugin, Seam
from warpsight.session.keep import Keep
from warpsight.session.session import Session
from warpsight.session.until import OutOfTime
from warpsight.tools import check, compare, compile, device, inspect, more, profile, rewrite, submit, time, what_if
from warpsight.tools.ahead import WorkAhead
from warpsight.tools.answer import Answer, result_of
from warpsight.tools.box import ToolResult, ToolSpec, cut_result
from warpsight.tools.describe import Described, Schema, describe
from warpsight.tools.edits import KERNEL, EditFailed, offer_all, offer_edits, whole_kernel
from warpsight.tools.form import form_of
from warpsight.tools.memory import KernelMemory
from warpsight.tools.more import Shelf
from warpsight.tools.pages import PAGE_TOKENS, page_of, pages

# The order in which they are shown.
FUNCTIONS: tuple[Callable[..., Answer[Noun]], ...] = (
    profile.profile, check.check, time.time, compile.compile, inspect.inspect, compare.compare, device.device,
    what_if.what_if, rewrite.rewrite, more.more, submit.submit,
)  # fmt: skip
ADDED = Seam("tool", "warpsight.tools")
_TOLD_EXIT_CODES = (1, 2)  # the kernel or the request is wrong, not the machine


@functools.cache
def tools() -> Mapping[str, Described]:
    """Our tools by name, then those that other packages add by entry points `warpsight.tools`."""
    found = {tool.name: tool for tool in map(describe, FUNCTIONS)}
    for plugin in ADDED.installed():
        added = plugin.tried(lambda p=plugin, known=tuple(found): _added(p, known), None)
        found |= {} if added is None else {added.name: added}
    return found


def _added(plugin: Plugin, known: Sequence[str]) -> Described:
    tool = describe(plugin.value)
    if tool.name != plugin.name or tool.name in known:
        raise ValueError(f"expected a function named {plugin.name}, that no other tool is; it is named {tool.name}")

    def guarded(*arguments: Any, **named: Any) -> Answer[Noun]:
        try:
            return tool.function(*arguments, **named)
        except WarpsightError:
            raise
        except Exception as problem:
            told = f"{tool.name} of {plugin.package} failed: {type(problem).__name__}: {problem}"
            raise UsageError(told) from problem

    return replace(tool, function=guarded)


@functools.cache
def specs() -> tuple[ToolSpec, ...]:
    """What a model is told of the tools."""
    return offer_all([found.spec for found in tools().values()])


@dataclass(frozen=True)
class Resolved:
    """One call in full: `whole` are the arguments with texts instead of names, `key` what its result depends on."""

    tool: Described
    whole: dict[str, JsonValue]
    key: str

    @property
    def kernel(self) -> str | None:
        text = self.whole.get(KERNEL)
        return text if isinstance(text, str) else None


def resolve(tool: Described, arguments: Mapping[str, JsonValue], kernels: Mapping[str, str]) -> Resolved:
    """The call with every name replaced by what it means; what does not fit raises, see `refusal_of`."""
    takes_kernel = KERNEL in tool.arguments.model_fields
    whole = whole_kernel(arguments, kernels, tool.spec) if takes_kernel else dict(arguments)
    tool.arguments.model_validate(whole)
    key = hashlib.sha256(json.dumps([tool.name, whole], sort_keys=True).encode()).hexdigest()
    return Resolved(tool, whole, key)


def refusal_of(tool: Described, work: Callable[[], ToolResult]) -> ToolResult:
    """The result of `work`. A request that cannot be run is a result that says so; a broken machine raises."""
    try:
        return work()
    except EditFailed as problem:
        return _refused(str(problem))
    except ValidationError as problem:
        return _refused(_misfit(tool, problem))
    except OutOfTime as problem:
        return cut_result(problem)
    except WarpsightError as problem:
        if problem.exit_code not in _TOLD_EXIT_CODES:
            raise
        return _refused(str(problem))


class TaskBox:
    """The tools on one session. Calls run one at a time, whichever thread they come from."""

    def __init__(
        self,
        session: Session,
        shelf: Shelf | None = None,
        budget_tokens: int = PAGE_TOKENS,
        only: Mapping[str, Described] | None = None,
        ahead: bool = False,
    ) -> None:
        self._session = session
        self.ahead = WorkAhead(session) if ahead else None
        self._tools = tools() if only is None else only
        self.shelf = shelf or Shelf(budget_tokens)
        self._results: Keep[ToolResult] = Keep(most=512)
        self._lock = threading.RLock()
        self._memory = KernelMemory(session.given.source)

    @property
    def session(self) -> Session:
        """The session, for whoever asks for it alone: work ahead is given up."""
        if self.ahead is not None:
            self.ahead.end()
        return self._session

    def specs(self) -> tuple[ToolSpec, ...]:
        return offer_all([tool.spec for tool in self._tools.values()])

    def output_schema(self, name: str) -> Schema:
        """The JSON schema of a tool's `data`."""
        return self._tools[name].output

    def kernels(self) -> dict[str, str]:
        """The kernels that may be named here: current, best, given, and every one that came by, by its id."""
        return self._memory.kernels()

    def call(self, name: str, arguments: Mapping[str, JsonValue]) -> ToolResult:
        """Run one call. A request that cannot be run is a result that says so; a broken machine raises."""
        tool = self._tools.get(name)
        if tool is None:
            return _refused(f"no tool {name[:80]!r}; the tools are {', '.join(self._tools)}")
        with self._lock:
            if self.ahead is not None:
                self.ahead.end()
            return refusal_of(tool, lambda: self._call(tool, arguments))

    def perform(self, name: str, whole: Mapping[str, JsonValue]) -> ToolResult:
        """Run a call that `resolve` made, for a caller that remembers its own kernels."""
        tool = self._tools[name]
        with self._lock:
            if self.ahead is not None:
                self.ahead.end()
            done = refusal_of(tool, lambda: self._run(tool, _fields(tool, whole)))
            self._go_on(whole.get(KERNEL), done)
            return done

    def close(self) -> None:
        """End what the device holds, if anything."""
        close = getattr(self.session.device, "close", None)  # and with it what works ahead
        if close is not None:
            close()

    def _call(self, tool: Described, arguments: Mapping[str, JsonValue]) -> ToolResult:
        asked = resolve(tool, arguments, self.kernels())
        found = self._results.get(asked.key)
        if found is None:
            found = self._results.put(asked.key, self._run(tool, _fields(tool, asked.whole)))
        self._memory.note(asked.kernel, found.made, found.evaluation)
        self._go_on(asked.kernel, found)
        return found

    def _go_on(self, kernel: JsonValue, done: ToolResult) -> None:
        """While nobody asks: what is likely to be asked of the kernel that this call was about, or made."""
        about = done.made or kernel
        if self.ahead is not None and isinstance(about, str) and not (done.is_error or done.submitted):
            self.ahead.begin(about)

    def _run(self, tool: Described, given: dict[str, Any]) -> ToolResult:
        if tool.name == more.more.__name__:
            return result_of(answer := more.more(self.shelf, **given), answer.text)
        answer = tool.function(self._session, **given)
        if len(pages(answer.text, self.shelf.budget)) == 1:
            return result_of(answer, answer.text)
        self.shelf.put(answer.text)
        first = page_of(answer.text, 1, self.shelf.budget)
        return result_of(answer, first.text, more=(answer.text.encode(),))


def _fields(tool: Described, whole: Mapping[str, JsonValue]) -> dict[str, Any]:
    asked = tool.arguments.model_validate(dict(whole))
    return {field: getattr(asked, field) for field in tool.arguments.model_fields}


def _refused(why: str) -> ToolResult:
    return ToolResult(text=f"error: {why}", is_error=True)


def _misfit(tool: Described, problem: ValidationError) -> str:
    told = [f"{'.'.join(map(str, error['loc']))}: {error['msg']}" for error in cast(list[Any], problem.errors())[:5]]
    form = form_of(offer_edits(tool.spec).parameters)
    return f"the arguments of {tool.name} do not fit: {'; '.join(told)}; the form is {form}"
