"""What the server does with a call, apart from the protocol: checks what was named, runs the tool as a job, replies.

Decides nothing about kernels: the box does. What must stay true: nothing outside the roots is read, nothing but the
data folder is written, and whatever goes wrong with a call is a reply that says so.
"""

from __future__ import annotations

import hashlib
import secrets
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import JsonValue, ValidationError

from warpsight.errors import UsageError, WarpsightError
from warpsight.nouns import Evaluation, kernel_id
from warpsight.reason.opening import opening_of
from warpsight.serve.cards import Cards
from warpsight.serve.conversations import UNNAMED, Conversations
from warpsight.serve.documents import Documents
from warpsight.serve.drafts import NEW_TASK, draft_for_client
from warpsight.serve.jobs import Jobs, Later, Say, ServedCall
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
    few_listing,
    listing,
)
from warpsight.serve.places import MOST_KERNEL_BYTES, Places
from warpsight.serve.programs import HOW, MOST_ARGUMENTS, RUN_PROGRAM, ProgramCall, run_for_client
from warpsight.serve.reply import ServedReply, refused, shortened
from warpsight.serve.reports import READ_REPORT, report_for_client
from warpsight.serve.settings import DEFAULT_WAIT_SECONDS, HEADER, LONGEST_WAIT_SECONDS, ServeSettings
from warpsight.serve.workers import ToolWork, Workers
from warpsight.session.keep import Keep
from warpsight.tools.box import SUBMIT, ToolResult
from warpsight.tools.edits import AGAINST, BASE, BEST, GIVEN, KERNEL
from warpsight.tools.memory import KernelMemory
from warpsight.tools.more import Shelf, more
from warpsight.tools.pages import page_of
from warpsight.tools.task_box import Resolved, refusal_of, resolve, tools
from warpsight.verbs.run_program import DEFAULT_GPU

Reply = TypeVar("Reply")
MOST_RESULTS = 4096
TRIM_EVERY = 64
Arguments = Mapping[str, Any]
_ABOUT_CHARACTERS = 160


Begun = ServedReply | Later[ServedReply]
"""What a call that begins comes to: the reply, or the work for it."""


@dataclass(frozen=True)
class KeptReply:
    """A result by content, as every conversation gets it; with the titles of its documents."""

    reply: ServedReply
    titles: tuple[str, ...]
    made: str | None
    evaluation: Evaluation | None


@dataclass(frozen=True)
class _Call:
    """A call in full, of a conversation; `key` is that of its task."""

    asked: Resolved
    key: str
    conversation: str
    memory: KernelMemory


class Service:
    """The calls of one server. Jobs begin in one thread and end in others; what they share is behind one lock."""

    def __init__(self, settings: ServeSettings) -> None:
        self.tools: dict[str, Listed] = {tool.name: tool for tool in (few_listing() if settings.few else listing())}
        self.documents = Documents(settings.data)
        self.workers = Workers(settings)
        self.jobs: Jobs[ServedReply] = Jobs(self.workers.count)
        self.conversations = Conversations()
        self._shelf = Shelf()
        self._places = Places(settings.roots)
        self._cards = Cards(settings.device)
        self._results: Keep[KeptReply] = Keep(MOST_RESULTS)
        self._submitted: Keep[Evaluation] = Keep(MOST_RESULTS)
        self._lock = threading.RLock()
        self._started = 0

    def start(self, name: str, arguments: Arguments, conversation: str = UNNAMED) -> ServedCall[ServedReply]:
        """Begin a call of a listed tool other than `job`."""
        rest = {key: value for key, value in arguments.items() if key != WAIT}
        quick: dict[str, Callable[[Arguments], ServedReply]] = {
            LIST_TASKS: self._list_tasks,
            READ_TASK: self._read_task,
            MORE: self._more,
        }
        slow: dict[str, Callable[[Arguments], ServedReply]] = {
            NEW_TASK: self._new_task,
            READ_REPORT: self._read_report,
        }

        def work(_say: Say) -> Begun:
            if name in quick:
                return told(lambda: quick[name](rest))
            if name in slow:
                return Later(secrets.token_hex(8), lambda _job, _number: told(lambda: slow[name](rest)))
            if name == RUN_PROGRAM:
                return told(lambda: self._run_program(rest))
            return told(lambda: self._tool(name, rest, conversation))

        self._make_room()
        return self.jobs.start(work, conversation or None)

    def documents_of(self, conversation: str) -> dict[str, str]:
        """The documents that were made for a conversation, newest first: address to title."""
        with self._lock:
            return dict(reversed(self.conversations.of(conversation).made.items()))

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

    def _make_room(self) -> None:
        with self._lock:
            self._started += 1
            if self._started % TRIM_EVERY == 0:
                self.conversations.trim(self.jobs.is_open)

    def _tool(self, name: str, arguments: Arguments, conversation: str) -> Begun:
        """The reply where the same was asked before; else the work for it."""
        given = dict(arguments)
        card = self._cards.of(self._places.task_folder(_word(given, TASK)))
        gpu = _word(given, GPU) if given.get(GPU) is not None else None
        given = self._with_kernel({key: value for key, value in given.items() if key not in (TASK, GPU)})
        tool, key = tools()[name], card.key(gpu)
        with self._lock:
            memory = self.conversations.of(conversation).memory(key, card.given)
            known = memory.kernels()
        if conversation == UNNAMED and BEST in (given.get(BASE), given.get(AGAINST), given.get(KERNEL)):
            hint = f"name a kernel by its id, or send the header {HEADER}"
            raise UsageError(f"`{BEST}` needs a conversation with a name", hint=hint)
        asked: list[Resolved] = []
        refused_with = refusal_of(tool, lambda: asked.append(resolve(tool, given, known)) or ToolResult(text=""))
        if refused_with.is_error:
            return refused(refused_with.text)
        call = _Call(asked[0], key, conversation, memory)
        found = self._results.get(f"{key}:{call.asked.key}")
        if found is not None:
            return self._noted(call, found)
        kernel = _digest(call.asked.kernel)
        before = self._submitted.get(f"{key}:{kernel}") if name == SUBMIT else None
        work = ToolWork(card.task, key, gpu, name, call.asked.whole, before)
        same = f"{key}:{SUBMIT}:{kernel}" if name == SUBMIT else f"{key}:{call.asked.key}"  # a kernel is drawn for once
        return Later(same, lambda job, number: told(lambda: self._worked(call, work, job, number)))

    def _worked(self, call: _Call, work: ToolWork, job: ServedCall[ServedReply], number: int) -> ServedReply:
        """In a worker's thread: the work, done and kept."""
        done = self.workers.run(number, work, job.say, lambda: job.cancelled)
        for text in done.aside:
            self._shelf.put(text)
        found = done.result
        kept = KeptReply(*self._reply(work.tool, found), found.made, _lean(found.evaluation))
        with self._lock:
            if not found.is_error:
                self._results.put(f"{work.key}:{call.asked.key}", kept)
            if work.tool == SUBMIT and found.evaluation is not None:
                self._submitted.put(f"{work.key}:{_digest(call.asked.kernel)}", found.evaluation)
        return self._noted(call, kept)

    def _noted(self, call: _Call, kept: KeptReply) -> ServedReply:
        """The reply, once the conversation knows what came by in it."""
        if kept.reply.is_error:
            return kept.reply
        with self._lock:
            call.memory.note(call.asked.kernel, kept.made, kept.evaluation)
            talk = self.conversations.of(call.conversation)
            for address, title in zip(kept.reply.documents, kept.titles, strict=True):
                talk.note_document(address, title)
        return kept.reply

    def _with_kernel(self, given: dict[str, Any]) -> dict[str, Any]:
        """The arguments with the text of a kernel that was named by its file."""
        if KERNEL_FILE in given:
            if KERNEL in given:
                raise UsageError(f"give `{KERNEL}` (the text) or `{KERNEL_FILE}` (a path), not both")
            given[KERNEL] = self._places.kernel_text(_word(given, KERNEL_FILE))
            del given[KERNEL_FILE]
        if KERNEL not in given:
            given.setdefault(BASE, GIVEN)
        elif len(str(given[KERNEL])) > MOST_KERNEL_BYTES:
            raise UsageError(f"expected a kernel of at most {MOST_KERNEL_BYTES} characters, got more")
        return given

    def _reply(self, name: str, found: ToolResult) -> tuple[ServedReply, tuple[str, ...]]:
        """The result in the size of a reply, the rest of it kept; and the titles of its documents."""
        if found.is_error:
            return refused(found.text), ()
        data, documents = found.data, dict[str, str]()
        title = f"{name} of {data.get('kernel', 'a kernel')}"
        if name == "profile" and data.get("profiled") and found.artefacts:
            documents[self.documents.put_profile(found.artefacts[0])] = f"full {title}"
        short, cut = shortened(data, tools()[name].output)
        if cut:
            documents[self.documents.put_result(name, data)] = f"whole result: {title}"
        return ServedReply(found.text, short, tuple(documents), cut), tuple(documents.values())

    def _list_tasks(self, arguments: Arguments) -> ServedReply:
        _require_only(LIST_TASKS, arguments, ())
        rows, lines = list[JsonValue](), list[str]()
        for folder in self._places.tasks():
            try:
                task = self._cards.of(self._places.task_folder(str(folder))).task
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
        task = self._cards.of(folder).task
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

    def _run_program(self, arguments: Arguments) -> Begun:
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

        def work(job: ServedCall[ServedReply], number: int) -> ServedReply:
            return told(
                lambda: self.workers.call(
                    number, _program, asked, self._places.inside, say=job.say, stopped=lambda: job.cancelled
                )
            )

        return Later(secrets.token_hex(8), work)  # files change: nothing is kept

    def _more(self, arguments: Arguments) -> ServedReply:
        asked = tools()[MORE].arguments.model_validate(dict(arguments))
        answer = more(self._shelf, getattr(asked, "handle"), getattr(asked, "page"))  # noqa: B009
        return ServedReply(answer.text, answer.data.model_dump(mode="json"))

    def _page(self, text: str) -> str:
        found = page_of(text, 1, self._shelf.budget)
        if found.last > 1:
            self._shelf.put(text)
        return found.text


def told(work: Callable[[], Reply]) -> Reply | ServedReply:
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


def _lean(found: Evaluation | None) -> Evaluation | None:
    """What a conversation remembers of it."""
    return None if found is None else found.model_copy(update={"profile": None, "findings": ()})


def _digest(text: str | None) -> str:
    return hashlib.sha256((text or "").encode()).hexdigest()


def _program(say: Say, asked: ProgramCall, inside: Callable[[Path], bool]) -> ServedReply:
    return run_for_client(asked, inside, say)


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
