"""A real HTTP server on loopback that plays a list of answers and keeps what it was asked. It ends with its `with`."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Answer:
    """What to send. `cut` closes the connection in the middle; `stall` sends nothing more until the server ends."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    kind: str = "application/json"
    cut: bool = False
    stall: bool = False
    chunk_bytes: int = 1 << 16


@dataclass(frozen=True)
class Asked:
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Server:
    """Answers in order; the last one is played again for every further request."""

    def __init__(self, answers: Sequence[Answer]) -> None:
        self.asked: list[Asked] = []
        self._answers = list(answers)
        self._lock = threading.Lock()
        self._ending = threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                server.handle(self)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def handle(self, request: BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers.get("content-length", 0)))
        with self._lock:
            answer = self._answers[min(len(self.asked), len(self._answers) - 1)]
            headers = {name.lower(): value for name, value in request.headers.items()}
            self.asked.append(Asked(request.path, headers, body))
        request.send_response(answer.status)
        request.send_header("Content-Type", answer.kind)
        length = len(answer.body) + (1000 if answer.cut or answer.stall else 0)
        request.send_header("Content-Length", str(length))
        request.send_header("Connection", "close")  # else a client may reuse what is closed already, and try again
        for name, value in answer.headers.items():
            request.send_header(name, value)
        request.end_headers()
        try:
            for start in range(0, len(answer.body), answer.chunk_bytes):
                request.wfile.write(answer.body[start : start + answer.chunk_bytes])
                request.wfile.flush()
        except OSError:
            pass  # the client had enough
        if answer.stall:
            self._ending.wait(20)
        request.close_connection = True

    def __enter__(self) -> Server:
        self._thread.start()
        return self

    def __exit__(self, *what: object) -> None:
        self._ending.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


def events(*values: object, names: bool = False) -> bytes:
    """Values as a stream of events; a text is sent as it stands."""
    out: list[str] = []
    for value in values:
        text = value if isinstance(value, str) else json.dumps(value)
        if names and isinstance(value, dict):
            out.append(f"event: {value['type']}\n")
        out.append(f"data: {text}\n\n")
    return "".join(out).encode()


def stream(*values: object, names: bool = False, **more: Any) -> Answer:
    return Answer(events(*values, names=names), kind="text/event-stream; charset=utf-8", **more)
