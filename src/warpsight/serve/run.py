"""Running the server: over stdin and stdout for one client, or over HTTP on the loopback address for several.

HTTP is only for this machine, and not for every program or web page on it: a request needs the token, and its Host and
Origin must be the loopback address. Ends when the client goes (stdio) or on a signal (HTTP).
"""

from __future__ import annotations

import hmac
import os
import secrets
import socket
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import anyio
from mcp.server.stdio import stdio_server

from warpsight.errors import UsageError
from warpsight.processes import stop
from warpsight.serve.clients import TOKEN_VARIABLE
from warpsight.serve.server import Handlers, build_server
from warpsight.serve.settings import ServeSettings

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK = "127.0.0.1"
PATH = "/mcp"


def serve_stdio(settings: ServeSettings) -> None:
    """Serve one client until it closes our stdin."""

    handlers = Handlers(settings)

    async def serve() -> None:
        server = build_server(handlers)
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    stop.leave_at_once()  # the thread that waits for our stdin cannot be woken
    try:
        anyio.run(serve)
    finally:
        _leave(handlers)


def serve_http(settings: ServeSettings, port: int, environment: Mapping[str, str] = os.environ) -> None:
    """Serve clients on this machine until a signal comes. Port 0 takes a free one; stderr says which."""
    import uvicorn

    token = environment.get(TOKEN_VARIABLE, "")
    listening = _listen(port)
    address = f"http://{LOOPBACK}:{listening.getsockname()[1]}{PATH}"
    handlers = Handlers(settings)
    app = RequireToken(build_server(handlers).streamable_http_app(streamable_http_path=PATH, host=LOOPBACK), token)
    told = f"token: in {TOKEN_VARIABLE}" if token else f"token: {app.token}"
    print(f"serving {address}\n{told}", file=sys.stderr, flush=True)
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=2, access_log=False)
    try:
        uvicorn.Server(config).run(sockets=[listening])
    finally:
        _leave(handlers)


class RequireToken:
    """Lets a request through that carries the token; a token is made where none is given."""

    def __init__(self, app: ASGIApp, token: str = "") -> None:
        self.token = token or secrets.token_urlsafe(24)
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._carries_token(scope):
            headers = [(b"content-type", b"text/plain"), (b"www-authenticate", b"Bearer")]
            await send({"type": "http.response.start", "status": 401, "headers": headers})
            await send({"type": "http.response.body", "body": b"expected the server's token as Authorization: Bearer"})
            return
        await self._app(scope, receive, send)

    def _carries_token(self, scope: Scope) -> bool:
        given = next((value for name, value in scope["headers"] if name.lower() == b"authorization"), b"")
        return hmac.compare_digest(given, f"Bearer {self.token}".encode())


def _leave(handlers: Handlers) -> None:
    """End at once where a call is still at work: its thread may be inside the native core, which aborts when the
    interpreter is taken down around it. Workers in the jail end with their parent."""
    if handlers.busy:
        # Helpers end with us.
        sys.stderr.flush()
        os._exit(stop.code_of_stop() or 0)


def _listen(port: int) -> socket.socket:
    listening = socket.socket()
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((LOOPBACK, port))
        listening.listen()  # before the address is told: who reads it may connect at once
    except OSError as problem:
        listening.close()
        raise UsageError(f"cannot listen on {LOOPBACK}:{port}: {problem.strerror}", hint="--port 0") from None
    return listening
