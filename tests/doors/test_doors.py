"""One question, every door: command line, library, loop and MCP give the same time, counters and findings."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.serve.story import finished, read
from tests.serve.transports import Served, over_stdio

import warpsight as ws
from warpsight.tools.open import open_box

ROOT = Path(__file__).parents[2]
# Contents decide the time of the first: indices, rows of unequal length, collisions.
FEW = ("spmv_csr", "histogram")
REST = ("saxpy", "transpose", "reduce_sum", "scatter_add", "gather", "collatz", "matmul_tiled", "softmax")
Answer = tuple[float, dict[str, float], list[str]]


def by_command(name: str) -> tuple[Answer, float]:
    def run(verb: str) -> Any:
        words = [sys.executable, "-m", "warpsight.cli.app", verb, f"tasks/{name}", "--json"]
        return json.loads(subprocess.run(words, cwd=ROOT, capture_output=True, check=True, timeout=200).stdout)

    profile, time = run("profile"), run("time")
    return _answer(profile["counters"], profile["findings"]), time["samples_us"][0]


def by_library(name: str) -> tuple[Answer, float]:
    found = ws.profile(ROOT / "tasks" / name)
    findings = [{"name": one.name} for one in found.findings]
    return _answer(dict(found.profile.counters), findings), ws.time(ROOT / "tasks" / name).samples_us[0]


def by_loop(name: str) -> tuple[Answer, float]:
    box = open_box(ws.open_task(ROOT / "tasks" / name))
    text = box.session.given.source
    result = box.call("profile", {"kernel": text})
    counters = dict(result.profiled[box.session.given.sha256].counters)
    findings: Any = result.data["findings"]
    time: Any = box.call("time", {"kernel": text}).data["time_us"]
    assert result.data["duration_us"] == counters["duration_us"]
    return _answer(counters, findings), time


async def _served(served: Served, names: tuple[str, ...]) -> dict[str, tuple[Answer, float]]:
    found: dict[str, tuple[Answer, float]] = {}
    async with over_stdio(served) as client:
        for name in names:
            look = (await finished(client, await client.call_tool("profile", {"task": name}))).structured_content
            profile = json.loads(await read(client, look["documents"][0]))
            time = (await finished(client, await client.call_tool("time", {"task": name}))).structured_content
            found[name] = _answer(profile["counters"], look["result"]["findings"]), time["result"]["time_us"]
    return found


def by_mcp(folder: Path, names: tuple[str, ...]) -> dict[str, tuple[Answer, float]]:
    for name in names:
        shutil.copytree(ROOT / "tasks" / name, folder / "root" / "tasks" / name)
    return anyio.run(_served, Served(folder / "root", folder / "data"), names)


def _answer(counters: dict[str, Any], findings: list[dict[str, Any]]) -> Answer:
    return counters["duration_us"], counters, [one["name"] for one in findings]


def _agree(folder: Path, names: tuple[str, ...]) -> None:
    served = by_mcp(folder, names)
    for name in names:
        asked = {"command": by_command(name), "library": by_library(name), "loop": by_loop(name), "mcp": served[name]}
        for door, answer in asked.items():
            assert answer == asked["command"], f"{name}: {door} differs from the command line"


def test_every_door_gives_the_same_numbers(tmp_path: Path) -> None:
    _agree(tmp_path, FEW)


@pytest.mark.slow
def test_every_door_gives_the_same_numbers_for_more_tasks(tmp_path: Path) -> None:
    _agree(tmp_path, REST)
