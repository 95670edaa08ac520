"""A captured task is a task: every verb takes its folder."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.capture.conftest import Capture
from tests.cli.conftest import command  # noqa: F401  # pyright: ignore[reportUnusedImport]
from tests.serve.story import finished, text
from tests.serve.transports import Served, over_stdio

from warpsight.tools.open import open_box

Command = Callable[..., Any]
ORIGIN = "captured from kernels.cu 500: launch 1 of weighted (kernels.cu:8)"


@pytest.fixture
def folder(captured: Capture) -> str:
    return str(captured("weighted").folder)


def test_check_and_profile_say_where_it_came_from(command: Command, folder: str) -> None:  # noqa: F811
    checked = command("check", folder, "--workload", "recorded", "--cores", "1")
    assert checked.code == 0 and "right: " in checked.out and ORIGIN in checked.out
    profiled = command("profile", folder, columns=160)
    assert profiled.code == 0 and ORIGIN in profiled.out and "findings" in profiled.out


def test_the_tools_of_models_and_agents_take_it(captured: Capture) -> None:
    box = open_box(captured("weighted"), seed=3)
    try:
        assert "right, on all shown and hidden workloads" in box.call("check", {"kernel": "given"}).text
        assert not box.call("profile", {"kernel": "given"}).is_error
    finally:
        box.close()


def test_agents_take_it_over_mcp(captured: Capture, tmp_path: Path) -> None:
    """Looked at, checked as it is and with a mistake, by the server as a process."""
    shutil.copytree(captured("weighted").folder, tmp_path / "root" / "weighted")
    task = {"task": "weighted"}
    wrong = {**task, "edits": [{"search": "FACTOR 3", "replace": "FACTOR 4"}]}

    async def asked() -> list[str]:
        async with over_stdio(Served(tmp_path / "root", tmp_path / "data")) as client:
            calls = (("read_task", task), ("check", task), ("check", wrong), ("profile", task))
            return [text(await finished(client, await client.call_tool(tool, given))) for tool, given in calls]

    read, right, mistaken, profiled = anyio.run(asked)
    assert "Task `weighted`" in read and "right, on all shown and hidden workloads" in right
    assert "right, on all" not in mistaken and "wrong" in mistaken
    assert profiled.startswith(right.split(":")[0]) and "duration_us" in profiled and "gains are" in profiled


@pytest.mark.slow
def test_verbs_that_look_for_something_faster(command: Command, folder: str, tmp_path: Path) -> None:  # noqa: F811
    tuned = command("tune", folder, "--tries", "3")
    assert tuned.code in (0, 1) and "3 of" in tuned.out
    rewritten = command("rewrite", folder, "--out", str(tmp_path / "new.cu"))
    assert rewritten.code in (0, 1) and ("no rewrite" in rewritten.out or (tmp_path / "new.cu").is_file())
    optimized = command("optimize", folder, "--model", "guided", "--json", "--quiet")
    told = json.loads(optimized.out)
    assert told["run"]["outcome"] == "submitted" and told["run"]["task"] == "weighted"
    rows = tmp_path / "rows.jsonl"
    benched = command("bench", "run", folder, str(rows), "--suite", "optimize", "--model", "guided", "--box", "full")
    assert benched.code == 0 and len(rows.read_text().splitlines()) == 1
