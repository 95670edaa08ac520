"""Coding agents that are known: where each keeps its MCP servers and its skills, and the snippet that adds this one.

Formats as documented by the clients in November 2026. Only makes text; `warpsight skills install` writes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warpsight.errors import UsageError

NAME = "warpsight"
TOKEN_VARIABLE = "WARPSIGHT_MCP_TOKEN"
_STARTUP_SECONDS, _TOOL_SECONDS = 20, 60
Words = list[str]


@dataclass(frozen=True)
class Client:
    """One coding agent. `skills` is the folder for skills in a project or a home folder; "" where it has none."""

    name: str
    file: str
    skills: str
    stdio: Callable[[Words], str]
    http: Callable[[str], str]


def _json(key: str, entry: dict[str, Any]) -> str:
    return json.dumps({key: {NAME: entry}}, indent=2)


def _bearer(variable: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {variable}"}


def _codex_stdio(words: Words) -> str:
    return "\n".join(
        (
            f"[mcp_servers.{NAME}]",
            f"command = {json.dumps(words[0])}",
            f"args = {json.dumps(words[1:])}",
            f"startup_timeout_sec = {_STARTUP_SECONDS}",
            f"tool_timeout_sec = {_TOOL_SECONDS}",
        )
    )


def _codex_http(url: str) -> str:
    return f'[mcp_servers.{NAME}]\nurl = {json.dumps(url)}\nbearer_token_env_var = "{TOKEN_VARIABLE}"'


CLIENTS = {
    client.name: client
    for client in (
        Client(
            "claude-code",
            ".mcp.json",
            ".claude/skills",
            lambda words: _json("mcpServers", {"type": "stdio", "command": words[0], "args": words[1:]}),
            lambda url: _json("mcpServers", {"type": "http", "url": url, "headers": _bearer(f"${{{TOKEN_VARIABLE}}}")}),
        ),
        Client("codex", ".codex/config.toml", ".agents/skills", _codex_stdio, _codex_http),
        Client(
            "cursor",
            ".cursor/mcp.json",
            ".cursor/skills",
            lambda words: _json("mcpServers", {"type": "stdio", "command": words[0], "args": words[1:]}),
            lambda url: _json("mcpServers", {"url": url, "headers": _bearer(f"${{env:{TOKEN_VARIABLE}}}")}),
        ),
    )
}


def find_client(word: str) -> Client:
    """A client by its name."""
    if word not in CLIENTS:
        raise UsageError(f"no client {word[:60]!r} is known", hint=f"one of {', '.join(CLIENTS)}")
    return CLIENTS[word]


def server_words(command: str, roots: tuple[Path, ...]) -> Words:
    """The command line that starts the server for a client."""
    return [command, "mcp", *(word for root in roots for word in ("--root", str(root)))]
