"""Settings and skills for each client."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from warpsight.cli.app import main
from warpsight.serve.clients import CLIENTS, TOKEN_VARIABLE
from warpsight.serve.listing import listing
from warpsight.serve.server import INSTRUCTIONS
from warpsight.serve.skill import skill_text

KEYS = {"codex": "mcp_servers", "vscode": "servers"}


def run(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as end:
        main(words)
    shown = capfd.readouterr()
    return (end.value.code if isinstance(end.value.code, int) else 0), shown.out, shown.err


@pytest.mark.parametrize("client", list(CLIENTS))
def test_settings_are_what_the_client_reads(client: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capfd, "mcp", "config", client, "--root", str(tmp_path))
    assert code == 0 and CLIENTS[client].file in err
    document = tomllib.loads(out) if client == "codex" else json.loads(out)
    entry = document[KEYS.get(client, "mcpServers")]["warpsight"]
    assert Path(entry["command"]).name == "warpsight" and entry["args"] == ["mcp", "--root", str(tmp_path)]
    code, out, err = run(capfd, "mcp", "config", client, "--http", "--port", "9000")
    document = tomllib.loads(out) if client == "codex" else json.loads(out)
    entry = document[KEYS.get(client, "mcpServers")]["warpsight"]
    assert code == 0 and entry["url"] == "http://127.0.0.1:9000/mcp"
    assert TOKEN_VARIABLE in str(entry) and TOKEN_VARIABLE in err


@pytest.mark.parametrize("client", list(CLIENTS))
def test_settings_are_written_beside_what_is_there(
    client: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    toml, key = client == "codex", KEYS.get(client, "mcpServers")
    path = tmp_path / CLIENTS[client].file
    path.parent.mkdir(exist_ok=True)
    path.write_text(
        '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "o"\n'
        if toml
        else f'{{"theme": "dark", "{key}": {{"other": {{"command": "o"}}}}}}'
    )

    def servers(where: Path = path) -> dict[str, Any]:
        text = where.read_text()
        return (tomllib.loads(text) if toml else json.loads(text))[key]

    assert run(capfd, "mcp", "config", client, "--write")[0] == 0
    assert servers()["other"]["command"] == "o" and servers()["warpsight"]["args"] == ["mcp"]
    assert ("# mine" if toml else '"theme": "dark"') in path.read_text()
    once = path.read_text()
    code, out, _ = run(capfd, "mcp", "config", client, "--write")
    assert code == 0 and "already in" in out and path.read_text() == once
    code, _, err = run(capfd, "mcp", "config", client, "--write", "--root", str(tmp_path))
    assert code == 2 and "--force" in err and path.read_text() == once
    assert run(capfd, "mcp", "config", client, "--write", "--root", str(tmp_path), "--force")[0] == 0
    assert servers()["warpsight"]["args"] == ["mcp", "--root", str(tmp_path)] and servers()["other"]
    path.write_text("[[[")
    code, _, err = run(capfd, "mcp", "config", client, "--write")
    assert code == 2 and "cannot be read" in err and path.read_text() == "[[["
    assert run(capfd, "mcp", "config", client, "--write", "--user")[0] == 0
    assert servers(tmp_path / "home" / CLIENTS[client].own_file)["warpsight"]["args"] == ["mcp"]


def test_what_each_tool_costs_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capfd, "mcp", "tools", "--json")
    told = json.loads(out)
    assert [row["tool"] for row in told["tools"]] == [tool.name for tool in listing()]
    assert told["tokens"] == sum(row["tokens"] for row in told["tools"]) < 5500


def test_the_few_for_small_models_cost_little(capfd: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capfd, "mcp", "tools", "--few", "--json")
    told = json.loads(out)
    assert "rewrite" in {row["tool"] for row in told["tools"]} and told["tokens"] <= 500
    assert '"--few"' in run(capfd, "mcp", "config", "claude-code", "--few")[1]


def test_an_unknown_client_is_refused(capfd: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capfd, "mcp", "config", "emacs")
    assert code == 2 and "claude-code, codex, cursor" in err


def test_a_wrong_root_or_mode_is_refused_before_anything_is_served(capfd: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capfd, "mcp", "--root", "/nowhere")
    assert code == 2 and "expected a folder to serve" in err
    code, _, err = run(capfd, "mcp", "--feedback", "wrong")
    assert code == 2 and "refused outside the bench" in err


def test_skills_are_written_where_each_client_looks(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capfd, "skills", "install", "--dir", str(tmp_path))
    files = [Path(line) for line in out.splitlines()]
    assert code == 0 and [str(file.relative_to(tmp_path)) for file in files] == [
        ".claude/skills/warpsight/SKILL.md", ".agents/skills/warpsight/SKILL.md", ".cursor/skills/warpsight/SKILL.md",
    ]  # fmt: skip
    assert all(file.read_text() == skill_text() for file in files)
    assert run(capfd, "skills", "install", "--dir", str(tmp_path))[0] == 0
    files[0].write_text("mine")
    code, _, err = run(capfd, "skills", "install", "--client", "claude-code", "--dir", str(tmp_path))
    assert code == 2 and "--force" in err and files[0].read_text() == "mine"
    assert run(capfd, "skills", "install", "--client", "claude-code", "--dir", str(tmp_path), "--force")[0] == 0
    assert files[0].read_text() == skill_text() and not list(files[0].parent.glob(".new-*"))


def test_the_skill_has_a_head_and_names_only_tools_that_exist() -> None:
    head, _, body = skill_text().removeprefix("---\n").partition("\n---\n")
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    assert fields["name"] == "warpsight" and len(fields["description"]) <= 1024
    tools = {tool.name for tool in listing()}
    for name in (
        "list_tasks",
        "read_task",
        "profile",
        "inspect",
        "check",
        "time",
        "compare",
        "submit",
        "job",
        "device",
    ):
        assert name in tools and f"`{name}" in body
    for name in ("profile", "check", "time", "submit", "job"):
        assert f"`{name}`" in INSTRUCTIONS
