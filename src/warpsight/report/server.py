"""The local page over the store: on the loopback address alone, behind a random token, and it writes nothing.

Threats: another program or user of this machine that guesses the port (the token is in every path), a web page in the
same browser (Host, Origin and Sec-Fetch-Site are looked at, so neither rebinding nor a cross-site request gets in; no
cookies, no referrer), text in the store (escaped, and a policy without foreign scripts). Files are never served: a path
names a page or a run in the store, nothing else. It does not protect from programs of the same user, who can read the
store anyway.
"""

from __future__ import annotations

import hmac
import json
import secrets
import sys
import traceback
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from warpsight.errors import BrokenMachine, UsageError, WarpsightError
from warpsight.report.compare_page import compare_body
from warpsight.report.home import A_PAGE, HomePage, RunCard, home_body, words_of
from warpsight.report.html import Html, tag
from warpsight.report.page import document, policy_of, report_body, report_page
from warpsight.report.program_page import program_body, program_page
from warpsight.report.readonly import ReadOnlyStore
from warpsight.report.story import read_story
from warpsight.report.trail import TimedKernel, trail_of
from warpsight.runs.programs import list_programs, read_program
from warpsight.runs.store import NoSuchRun, RunSummary, Store

HOST = "127.0.0.1"
SECONDS = 30.0  # for a request to arrive
MOST_FIELDS = 20
_FILTERS = ("task", "model", "outcome")


class _RequestRefused(Exception):
    """A request that is not answered, with the status and the words for it."""

    def __init__(self, status: HTTPStatus, words: str) -> None:
        super().__init__(words)
        self.status, self.words = status, words


class Viewer:
    """The server. `url` holds the token; `serve_forever` blocks until `close` or Ctrl-C."""

    def __init__(self, folder: Path, port: int = 0) -> None:
        ReadOnlyStore(folder).close()
        self.token = secrets.token_urlsafe(24)
        bound = type("Bound", (_Handler,), {"pages": Pages(folder), "token": self.token})
        try:
            self._server = ThreadingHTTPServer((HOST, port), bound)
        except OSError as problem:
            raise BrokenMachine(f"cannot listen on {HOST}:{port}: {problem}", hint="give another --port") from problem
        self._server.daemon_threads = True
        self.port = self._server.server_port
        self.url = f"http://{HOST}:{self.port}/{self.token}/runs"

    def serve_forever(self) -> None:
        self._server.serve_forever(poll_interval=0.2)

    def close(self) -> None:
        self._server.server_close()

    def shutdown(self) -> None:
        """End `serve_forever` from another thread."""
        self._server.shutdown()


class PageAnswer(NamedTuple):
    """A page, or a file of the page where it is `saved_as` one."""

    text: str
    kind: str = "text/html"
    saved_as: str = ""
    live: bool = True


class Pages:
    """What each path shows. Every page opens the store anew, so it is as new as the request."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._trails: dict[str, tuple[tuple[int, str | None], tuple[TimedKernel, ...]]] = {}

    def page(self, path: str, query: dict[str, list[str]]) -> PageAnswer:
        """What a path below the token shows."""
        kind, _, rest = path.partition("/")
        if kind == "program" and rest:
            return PageAnswer(self._program(rest))
        if kind == "file":
            return self._file(rest)
        if path == "state":
            return PageAnswer(json.dumps({"state": self._moved()}), "application/json")
        with ReadOnlyStore(self.folder) as store:
            if path == "runs":
                return PageAnswer(self._runs(store, query))
            if path == "compare":
                return PageAnswer(self._compare(store, query.get("run", [])))
            if kind == "run":
                return PageAnswer(self._run(store, rest))
            if kind == "state":
                return PageAnswer(self._state(store, rest), "application/json")
        raise _RequestRefused(HTTPStatus.NOT_FOUND, "there is no such page")

    def _runs(self, store: Store, query: dict[str, list[str]]) -> str:
        state = self._moved()  # before the look: what comes after it is told the next time
        wanted = {name: query.get(name, [""])[0] for name in (*_FILTERS, "words")}
        asked = query.get("page", ["1"])[0]
        page = int(asked) if asked.isdecimal() and len(asked) < 6 else 1
        every = [line for line in store.list_runs() if line.parent is None]
        choices = {
            "task": sorted({line.task for line in every}),
            "model": sorted({line.model for line in every}),
            "outcome": sorted({line.outcome or "open" for line in every}),
        }
        fit = [line for line in every if _fits(line, wanted)]
        page = max(1, min(page, -(-len(fit) // A_PAGE)))
        cards = [RunCard(line, self._trail(store, line)) for line in fit[(page - 1) * A_PAGE : page * A_PAGE]]
        programs = list_programs(self.folder) if page == 1 and not any(wanted.values()) else ()
        body = home_body(HomePage(cards, len(fit), len(every), page, programs, wanted, choices))
        mark = tag("div", id="live", data_state=state, data_from="state", data_every="3000", hidden=True)
        return document("Warpsight", (body, mark), live=True)

    def _trail(self, store: Store, line: RunSummary) -> tuple[TimedKernel, ...]:
        """Looked up once for each state of a run."""
        state = (line.steps, line.outcome)
        known = self._trails.get(line.id)
        if known is None or known[0] != state or line.outcome is None:
            known = self._trails[line.id] = (state, trail_of(store, line.id))
        return known[1]

    def _moved(self) -> str:
        """Something that changes whenever anything was stored."""
        files = ("runs.db", "runs.db-wal", "programs")
        told = [(self.folder / name).stat().st_mtime_ns if (self.folder / name).exists() else 0 for name in files]
        return "-".join(map(str, told))

    def _run(self, store: Store, run_id: str) -> str:
        story = read_story(store, _known(store, run_id), self.folder)
        body = report_body(story, _way_back(f"../file/run/{run_id}"))
        going = story.run.outcome is None
        state = json.loads(self._state(store, run_id))["state"]
        mark = tag("div", id="live", data_state=state, data_from=f"../state/{run_id}", hidden=True) if going else None
        return document(f"{story.run.task}: {run_id}", (body, mark), live=True)

    def _program(self, name: str) -> str:
        found = read_program(self.folder, name)
        return document(found.run.program, program_body(found, _way_back(f"../file/program/{name}")), live=True)

    def _file(self, path: str) -> PageAnswer:
        """The same as one file that can be shared: it asks nobody anything."""
        kind, _, name = path.partition("/")
        if kind == "program" and name:
            return PageAnswer(program_page(read_program(self.folder, name)), saved_as=f"{name}.html", live=False)
        if kind == "run" and name:
            with ReadOnlyStore(self.folder) as store:
                story = read_story(store, _known(store, name), self.folder)
            return PageAnswer(report_page(story), saved_as=f"{story.run.id}.html", live=False)
        raise _RequestRefused(HTTPStatus.NOT_FOUND, "there is no such page")

    def _state(self, store: Store, run_id: str) -> str:
        """Something that changes whenever the page of the run would."""
        lines = [store.read(_known(store, run_id))]
        steps = [len(lines[0].steps), *(line.steps for line in store.list_runs(parent=run_id))]
        return json.dumps({"state": f"{lines[0].outcome or 'open'} {sum(steps)}"})

    def _compare(self, store: Store, chosen: list[str]) -> str:
        if len(chosen) != 2:
            raise _RequestRefused(HTTPStatus.BAD_REQUEST, f"choose two runs, not {len(chosen)}")
        one, other = (read_story(store, _known(store, run_id), self.folder) for run_id in chosen)
        return document("Two runs", compare_body(one, other), live=True)


def _way_back(file: str) -> Html:
    """What stands above a page: the way home, and the page as a file."""
    return tag("p", tag("a", "all runs", href="../runs"), tag("a", "save as one file", href=file), class_="way")


def _fits(line: RunSummary, wanted: dict[str, str]) -> bool:
    found = {"task": line.task, "model": line.model, "outcome": line.outcome or "open"}
    words = words_of(line)
    same = all(not wanted[name] or wanted[name] == found[name] for name in _FILTERS)
    return same and all(word in words for word in wanted["words"].lower().split())


def _known(store: Store, run_id: str) -> str:
    """The id, if the store has it: nothing that came by a request is used for anything else."""
    try:
        return store.read(run_id).id
    except NoSuchRun:
        raise _RequestRefused(HTTPStatus.NOT_FOUND, "there is no such run") from None


class _Handler(BaseHTTPRequestHandler):
    """One request: refused unless it comes from this machine's own browser with the token."""

    pages: Pages
    token: str
    timeout = SECONDS
    server_version, sys_version = "warpsight", ""

    def do_GET(self) -> None:
        try:
            self._send(HTTPStatus.OK, self._answer())
        except _RequestRefused as refused:
            self._send(refused.status, _plain(refused.words))
        except UsageError as problem:
            self._send(HTTPStatus.NOT_FOUND, _plain(str(problem)))
        except WarpsightError as problem:
            self._send(HTTPStatus.INTERNAL_SERVER_ERROR, _plain(str(problem)))
        except ConnectionError:
            pass  # the reader went away
        except Exception as problem:
            traceback.print_exception(problem, file=sys.stderr)
            words = f"a fault in warpsight, its trace is where `warpsight view` was started: {type(problem).__name__}"
            self._send(HTTPStatus.INTERNAL_SERVER_ERROR, _plain(words))

    def do_HEAD(self) -> None:
        self.do_GET()

    def _answer(self) -> PageAnswer:
        self._require_own_origin()
        try:
            parts = urlsplit(self.path)
        except ValueError:
            raise _RequestRefused(HTTPStatus.BAD_REQUEST, "this is no address") from None
        token, _, path = unquote(parts.path).removeprefix("/").partition("/")
        if not hmac.compare_digest(token.encode(), self.token.encode()):
            raise _RequestRefused(
                HTTPStatus.FORBIDDEN, "the address lacks its secret: use the one that `warpsight view` printed"
            )
        try:
            query = parse_qs(parts.query, max_num_fields=MOST_FIELDS)
        except ValueError:
            raise _RequestRefused(HTTPStatus.BAD_REQUEST, f"the address has more than {MOST_FIELDS} fields") from None
        return self.pages.page(path, query)

    def _require_own_origin(self) -> None:
        port = self.connection.getsockname()[1]
        own = {f"{HOST}:{port}", f"localhost:{port}"}
        host, origin = self.headers.get("Host", ""), self.headers.get("Origin")
        if host not in own:
            raise _RequestRefused(HTTPStatus.FORBIDDEN, "asked under another name than this machine's")
        if origin is not None and origin not in {f"http://{name}" for name in own}:
            raise _RequestRefused(HTTPStatus.FORBIDDEN, "asked by another page")
        if self.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            raise _RequestRefused(HTTPStatus.FORBIDDEN, "asked by another page")

    def _send(self, status: HTTPStatus, answer: PageAnswer) -> None:
        body = answer.text.encode(errors="replace")
        self.send_response(status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Security-Policy", f"{policy_of(live=answer.live)}; frame-ancestors 'none'")
        self.send_header("Content-Type", f"{answer.kind}; charset=utf-8")
        if answer.saved_as:  # an id of the store: letters, digits, dots and dashes
            self.send_header("Content-Disposition", f'attachment; filename="{answer.saved_as}"')
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the paths hold the token."""


def _plain(words: str) -> PageAnswer:
    return PageAnswer(f"{words}\n", "text/plain")


_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
