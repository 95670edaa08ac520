"""Coding agents that are known: where each keeps its MCP servers and its skills, and the snippet that adds this one.

Formats as documented by the clients in November 2026. What is in a settings file besides this server stays as it is.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from warpsight.errors import BrokenMachine, UsageError
from warpsight.files import write_whole

NAME = "warpsight"
TOKEN_VARIABLE = "WARPSIGHT_MCP_TOKEN"
_TABLE = re.compile(rf"^\[mcp_servers\.{NAME}\][^\n]*\n(?:(?!\[)[^\n]*\n?)*", re.MULTILINE)
_STARTUP_SECONDS, _TOOL_SECONDS = 20, 60
Words = list[str]


@dataclass(frozen=True)
class Client:
    """One coding agent. `file` is its settings in a project, `own_file` those in a home folder; `skills` is the folder
    for skills in either."""

    name: str
    file: str
    own_file: str
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
            ".claude.json",
            ".claude/skills",
            lambda words: _json("mcpServers", {"type": "stdio", "command": words[0], "args": words[1:]}),
            lambda url: _json("mcpServers", {"type": "http", "url": url, "headers": _bearer(f"${{{TOKEN_VARIABLE}}}")}),
        ),
        Client("codex", ".codex/config.toml", ".codex/config.toml", ".agents/skills", _codex_stdio, _codex_http),
        Client(
            "cursor",
            ".cursor/mcp.json",
            ".cursor/mcp.json",
            ".cursor/skills",
            lambda words: _json("mcpServers", {"type": "stdio", "command": words[0], "args": words[1:]}),
            lambda url: _json("mcpServers", {"url": url, "headers": _bearer(f"${{env:{TOKEN_VARIABLE}}}")}),
        ),
        Client(
            "vscode",
            ".vscode/mcp.json",
            ".config/Code/User/mcp.json",
            ".agents/skills",
            lambda words: _json("servers", {"type": "stdio", "command": words[0], "args": words[1:]}),
            lambda url: _json(
                "servers", {"type": "http", "url": url, "headers": _bearer(f"${{env:{TOKEN_VARIABLE}}}")}
            ),
        ),
    )
}


def find_client(word: str) -> Client:
    """A client by its name."""
    if word not in CLIENTS:
        raise UsageError(f"no client {word[:60]!r} is known", hint=f"one of {', '.join(CLIENTS)}")
    return CLIENTS[word]


def server_words(command: str, roots: tuple[Path, ...], *, few: bool = False) -> Words:
    """The command line that starts the server for a client."""
    return [command, "mcp", *(["--few"] if few else []), *(word for root in roots for word in ("--root", str(root)))]


def write_settings(client: Client, path: Path, entry: str, *, force: bool = False) -> bool:
    """Put a client's entry for this server into its settings file; False where it is there already.

    Another entry of the same name is replaced only by force. A file that is not what it should be is refused.
    """
    before = _settings(path)
    try:
        after = (_with_table if path.suffix == ".toml" else _with_key)(before, entry, force)
    except ValueError as problem:
        raise UsageError(f"{path} cannot be read: {problem}", hint="mend it, or leave --write out") from None
    if after is None:
        raise UsageError(f"{path} has another server called {NAME}", hint="--force replaces it")
    if after == before:
        return False
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, after, mode=(path.stat().st_mode & 0o777) if path.exists() else 0o644)
    except OSError as problem:
        raise BrokenMachine(f"cannot write {path}: {problem.strerror}", hint="--dir FOLDER") from None
    return True


def _settings(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8") if path.exists() else ""
    except (OSError, UnicodeDecodeError) as problem:
        raise UsageError(f"{path} cannot be read: {problem}", hint="mend it, or leave --write out") from None


def _with_key(before: str, entry: str, force: bool) -> str | None:
    """JSON with our server in it; None where another one has its name."""
    whole: Any = json.loads(before) if before.strip() else {}
    if not isinstance(whole, dict):
        raise ValueError("expected a JSON object")
    settings = cast(dict[str, Any], whole)
    ((key, ours),) = json.loads(entry).items()
    servers: Any = settings.get(key, {})
    if not isinstance(servers, dict):
        raise ValueError(f"expected an object under {key}")
    known = cast(dict[str, Any], servers)
    if known.get(NAME) == ours[NAME]:
        return before
    if NAME in known and not force:
        return None
    return json.dumps({**settings, key: {**known, **ours}}, indent=2, ensure_ascii=False) + "\n"


def _with_table(before: str, entry: str, force: bool) -> str | None:
    """TOML with our table at its end; comments and order of the rest stay."""
    found, ours = (tomllib.loads(text).get("mcp_servers", {}).get(NAME) for text in (before, entry))
    if found == ours:
        return before
    if found is not None:
        if not force:
            return None
        before = _TABLE.sub("", before)
        if tomllib.loads(before).get("mcp_servers", {}).get(NAME) is not None:
            raise ValueError(f"the table of {NAME} is written in a way that is not changed here; take it out by hand")
    gap = "" if not before.strip() else "\n" if before.endswith("\n") else "\n\n"
    return f"{before}{gap}{entry}\n"
