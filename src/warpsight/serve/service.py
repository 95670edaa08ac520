"""What the server does with a call, apart from the protocol: checks what was named, runs the tool as a job, replies.

Decides nothing about kernels: the box does. What must stay true: nothing outside the roots is read, nothing but the
data folder is written, and whatever goes wrong with a call is a reply that says so.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Mapping
from typing import Any, cast

from pydantic import JsonValue, ValidationError

from warpsight.errors import UsageError, WarpsightError
from warpsight.nouns import kernel_id
from warpsight.reason.opening import opening_of
from warpsight.serve.boxes import Boxes
from warpsight.serve.documents import Documents
from warpsight.serve.drafts import NEW_TASK, draft_for_client
from warpsight.serve.jobs import Jobs, Say, ServedCall
from warpsight.serve.listing import (
    ARGUMENTS,
    CANCEL,
    DO,
    ENTRY,
    GPU,
    HANDLE,
    JOB,
    KERNEL_FILE,
    LIST_TASKS,
    MORE,
    NAME,
    PROGRAM,
    READ_TASK,
    REFERENCE,
    REPORT,
    TASK,
    WAIT,
    Listed,
    listing,
)
from warpsight.serve.places import MOST_KERNEL_BYTES, Places
from warpsight.serve.programs import HOW, MOST_ARGUMENTS, RUN_PROGRAM, ProgramCall, run_for_client
from warpsight.serve.reply import ServedReply, refused, shortened
from warpsight.serve.reports import READ_REPORT, report_for_client
from warpsight.serve.settings import DEFAULT_WAIT_SECONDS, LONGEST_WAIT_SECONDS, ServeSettings
from warpsight.tasks import read_task
from warpsight.tools.box import ToolResult
from warpsight.tools.edits import BASE, GIVEN, KERNEL
from warpsight.tools.more import Shelf, more
from warpsight.tools.pages import page_of
from warpsight.tools.task_box import tools
from warpsight.verbs.run_program import DEFAULT_GPU

Arguments = Mapping[str, Any]
_ABOUT_CHARACTERS = 160


class Service:
    """The calls of one server."""

    def __init__(self, settings: ServeSettings) -> None:
        self.tools: dict[str, Listed] = {tool.name: tool for tool in listing()}
        self.documents = Documents(settings.data)
        self.jobs: Jobs[ServedReply] = Jobs()
        self._shelf = Shelf()
        self._places = Places(settings.roots)
        self._boxes = Boxes(settings, self._shelf)

    def start(self, name: str, arguments: Arguments) -> ServedCall[ServedReply]:
        """Begin a call of a listed tool other than `job`."""
        rest = {key: value for key, value in arguments.items() if key != WAIT}
        local: dict[str, Callable[[Arguments], ServedReply]] = {
            LIST_TASKS: self._list_tasks,
            READ_TASK: self._read_task,
            MORE: self._more,
            NEW_TASK: self._new_task,
            READ_REPORT: self._read_report,
        }

        def work(say: Say) -> ServedReply:
            if name == RUN_PROGRAM:
                return told(lambda: self._run_program(rest, say))
            return told(lambda: local[name](rest) if name in local else self._tool(name, rest, say))

        return self.jobs.start(work)

    def find(self, arguments: Arguments) -> ServedCall[ServedReply]:
        """The job that a call of `job` names, cancelled if it asks for that."""
        _require_only(JOB, arguments, (HANDLE, WAIT, CANCEL))
        stop = arguments.get(CANCEL, False)
        if not isinstance(stop, bool):
            raise UsageError(f"{CANCEL}: expected true or false, got {type(stop).__name__}")
        job = self.jobs.find(_word(arguments, HANDLE))
        if stop:
            job.cancel()
        return job

    def _tool(self, name: str, arguments: Arguments, say: Say) -> ServedReply:
        given = dict(arguments)
        folder = self._places.task_folder(_word(given, TASK))
        gpu = _word(given, GPU) if given.get(GPU) is not None else None
        given = {key: value for key, value in given.items() if key not in (TASK, GPU)}
        if KERNEL_FILE in given:
            if KERNEL in given:
                raise UsageError(f"give `{KERNEL}` (the text) or `{KERNEL_FILE}` (a path), not both")
            given[KERNEL] = self._places.kernel_text(_word(given, KERNEL_FILE))
            del given[KERNEL_FILE]
        if KERNEL not in given:
            given.setdefault(BASE, GIVEN)
        elif len(str(given[KERNEL])) > MOST_KERNEL_BYTES:
            raise UsageError(f"expected a kernel of at most {MOST_KERNEL_BYTES} characters, got more")
        box = self._boxes.of(folder, gpu)
        box.session.say = say
        return self._reply(name, box.call(name, given))

    def _reply(self, name: str, found: ToolResult) -> ServedReply:
        """The result in the size of a reply, the rest of it kept."""
        if found.is_error:
            return refused(found.text)
        data, documents = found.data, list[str]()
        title = f"{name} of {data.get('kernel', 'a kernel')}"
        if name == "profile" and data.get("profiled") and found.artefacts:
            documents.append(self.documents.put_profile(found.artefacts[0], f"full {title}"))
        short, cut = shortened(data, tools()[name].output)
        if cut:
            documents.append(self.documents.put_result(name, data, f"whole result: {title}"))
        return ServedReply(found.text, short, tuple(documents), cut)

    def _list_tasks(self, arguments: Arguments) -> ServedReply:
        _require_only(LIST_TASKS, arguments, ())
        rows, lines = list[JsonValue](), list[str]()
        for folder in self._places.tasks():
            try:
                task = read_task(self._places.task_folder(str(folder)))
            except WarpsightError as problem:
                lines.append(f"{folder}: cannot be read: {problem.message}")
                continue
            about = " ".join(task.description.split())[:_ABOUT_CHARACTERS]
            rows.append({"name": task.name, "folder": str(folder)})
            lines.append(f"{folder.name} ({task.gpu}): {about}")
        short, cut = shortened({"tasks": rows}, self.tools[LIST_TASKS].output)
        return ServedReply(self._page("\n".join(lines) or "no task is there"), short, cut=cut)

    def _read_task(self, arguments: Arguments) -> ServedReply:
        _require_only(READ_TASK, arguments, (TASK,))
        folder = self._places.task_folder(_word(arguments, TASK))
        task = read_task(folder)
        data: dict[str, JsonValue] = {
            "name": task.name,
            "folder": str(folder),
            "entry": task.entry,
            "gpu": task.gpu,
            "kernel_file": str(folder / task.kernel_file),
            "kernel": kernel_id(task.kernel),
            "workloads": [workload.name for workload in task.workloads if not workload.hidden],
        }
        return ServedReply(self._page(opening_of(task, ()).user), data)

    def _new_task(self, arguments: Arguments) -> ServedReply:
        _require_only(NEW_TASK, arguments, (NAME, KERNEL_FILE, KERNEL, ENTRY, REFERENCE))
        folder = self._places.new_folder(_word(arguments, NAME))
        if (KERNEL in arguments) == (KERNEL_FILE in arguments):
            raise UsageError(f"give `{KERNEL_FILE}` (a path) or `{KERNEL}` (the text)")
        given = KERNEL_FILE not in arguments
        text = _word(arguments, KERNEL) if given else self._places.kernel_text(_word(arguments, KERNEL_FILE))
        if len(text) > MOST_KERNEL_BYTES:
            raise UsageError(f"expected a kernel of at most {MOST_KERNEL_BYTES} characters, got more")
        return draft_for_client(folder, text, _optional(arguments, ENTRY), _optional(arguments, REFERENCE))

    def _read_report(self, arguments: Arguments) -> ServedReply:
        _require_only(READ_REPORT, arguments, (REPORT, KERNEL))
        return report_for_client(self._places.report(_word(arguments, REPORT)), _optional(arguments, KERNEL))

    def _run_program(self, arguments: Arguments, say: Say) -> ServedReply:
        _require_only(RUN_PROGRAM, arguments, (PROGRAM, ARGUMENTS, DO, GPU))
        words = arguments.get(ARGUMENTS, [])
        if not isinstance(words, list) or not all(isinstance(word, str) for word in cast(list[object], words)):
            raise UsageError(f"{ARGUMENTS}: expected a list of texts")
        how = _optional(arguments, DO) or HOW[0]
        if how not in HOW:
            raise UsageError(f"{DO}: expected one of {', '.join(HOW)}, got {how[:40]!r}")
        target = self._places.program(_word(arguments, PROGRAM))
        asked = ProgramCall(
            target, tuple(cast(list[str], words))[:MOST_ARGUMENTS], how, _optional(arguments, GPU) or DEFAULT_GPU
        )
        return run_for_client(asked, self._places.inside, say)

    def _more(self, arguments: Arguments) -> ServedReply:
        asked = tools()[MORE].arguments.model_validate(dict(arguments))
        answer = more(self._shelf, getattr(asked, "handle"), getattr(asked, "page"))  # noqa: B009
        return ServedReply(answer.text, answer.data.model_dump(mode="json"))

    def _page(self, text: str) -> str:
        found = page_of(text, 1, self._shelf.budget)
        if found.last > 1:
            self._shelf.put(text)
        return found.text


def told(work: Callable[[], ServedReply]) -> ServedReply:
    """The reply of some work, also where it fails: the request is wrong, or the machine under us is."""
    try:
        return work()
    except ValidationError as problem:
        first = problem.errors()[0]
        return refused(f"the arguments do not fit: {'.'.join(map(str, first['loc']))}: {first['msg']}")
    except WarpsightError as problem:
        return refused(str(problem))
    except Exception as problem:
        traceback.print_exception(problem, file=sys.stderr)
        return refused(f"a fault in warpsight, its trace is in the server's log: {type(problem).__name__}")


def waiting_time(arguments: Arguments) -> float:
    """How long the caller wants to wait for the end of a job, in seconds."""
    asked = arguments.get(WAIT, DEFAULT_WAIT_SECONDS)
    if isinstance(asked, bool) or not isinstance(asked, int | float) or not 0 <= asked <= LONGEST_WAIT_SECONDS:
        raise UsageError(f"{WAIT}: expected a number from 0 to {LONGEST_WAIT_SECONDS:g}, got {str(asked)[:40]!r}")
    return float(asked)


def _word(arguments: Arguments, name: str) -> str:
    found = arguments.get(name)
    if not isinstance(found, str) or not found.strip():
        raise UsageError(f"{name}: expected a text, got {'nothing' if found is None else type(found).__name__}")
    return found


def _optional(arguments: Arguments, name: str) -> str | None:
    return _word(arguments, name) if arguments.get(name) is not None else None


def _require_only(tool: str, arguments: Arguments, known: tuple[str, ...]) -> None:
    for name in arguments:
        if name not in known:
            raise UsageError(f"{tool} takes {', '.join(known) or 'no arguments'}; {name[:60]!r} is not one")
