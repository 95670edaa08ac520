"""The plugin folder for coding agents: what each manifest must hold, and that all say the same."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from warpsight import __version__
from warpsight.serve.skill import skill_text

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "plugins" / "warpsight"
MANIFESTS = (".claude-plugin", ".codex-plugin", ".cursor-plugin")
CATALOGUES = (".claude-plugin", ".agents/plugins", ".cursor-plugin")


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("client", MANIFESTS)
def test_a_manifest_names_parts_that_are_there(client: str) -> None:
    found = read(PLUGIN / client / "plugin.json")
    assert re.fullmatch(r"[a-z][a-z0-9-]*", found["name"]) and found["description"] and found["author"]["name"]
    # Codex wants a version. Elsewhere the commit is the version, so that users get each change.
    assert found.get("version") == (__version__ if client == ".codex-plugin" else None)
    for key in ("skills", "mcpServers"):
        assert found[key].startswith("./") and (PLUGIN / found[key]).exists()
    started = read(PLUGIN / found["mcpServers"])["mcpServers"]["warpsight"]
    assert started["command"] == "warpsight" and started["args"] == ["mcp"]


@pytest.mark.parametrize("client", CATALOGUES)
def test_a_catalogue_leads_to_the_plugin(client: str) -> None:
    found = read(ROOT / client / "marketplace.json")
    (entry,) = found["plugins"]
    source = entry["source"]
    path = source if isinstance(source, str) else source["path"]
    assert found["name"] == entry["name"] == read(PLUGIN / ".claude-plugin" / "plugin.json")["name"]
    assert (ROOT / path).resolve() == PLUGIN
    if client == ".claude-plugin":
        assert path.startswith("./") and found["owner"]["name"]


def test_the_skill_is_the_one_that_the_package_installs() -> None:
    assert (PLUGIN / "skills" / "warpsight" / "SKILL.md").read_text(encoding="utf-8") == skill_text()


def test_all_manifests_say_the_same_of_the_plugin() -> None:
    said = [read(PLUGIN / client / "plugin.json") for client in MANIFESTS]
    for key in ("name", "description", "license", "keywords", "homepage"):
        assert len({json.dumps(one[key]) for one in said}) == 1, key
