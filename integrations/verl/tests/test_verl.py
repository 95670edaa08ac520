"""verl's own MCP client and tool class against our server, and the reward function."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import subprocess
import sys
import types
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from reward import compute_score
from scripted_server import FASTER_TRANSPOSE, WRONG_SAXPY

HERE, ROOT = Path(__file__).parents[1], Path(__file__).parents[3]
TOKEN = "a token of the test"


@pytest.fixture(scope="module")
def configured(tmp_path_factory: pytest.TempPathFactory) -> Generator[Path]:
    """The configuration as it ships, with the address and token of a server that runs."""
    folder = tmp_path_factory.mktemp("verl")
    argv = [
        sys.executable,
        "-m",
        "warpsight.cli.app",
        "mcp",
        "--http",
        "--few",
        "--port",
        "0",
        "--root",
        str(ROOT / "tasks"),
    ]
    own = {"WARPSIGHT_DATA": str(folder / "data"), "WARPSIGHT_MCP_TOKEN": TOKEN}
    with subprocess.Popen(argv, env={**os.environ, **own}, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            address = process.stderr.readline().removeprefix("serving ").strip()
            servers = json.loads((HERE / "mcp_server.json").read_text())
            servers["mcpServers"]["warpsight"]["url"] = address
            servers["mcpServers"]["warpsight"]["headers"]["Authorization"] = f"Bearer {TOKEN}"
            (folder / "mcp_server.json").write_text(json.dumps(servers))
            yield folder
        finally:
            process.kill()


@pytest.fixture(scope="module")
def verl_tools() -> Any:
    """`verl.tools` of a checkout (VERL_SOURCE): verl's wheels leave its MCP client out. verl itself loads trainers that
    are not needed here."""
    source = os.environ.get("VERL_SOURCE", "")
    if not (Path(source) / "verl" / "tools" / "utils" / "mcp_clients").is_dir():
        pytest.skip("set VERL_SOURCE to a checkout of verl up to 0.8")
    for name in ("verl", "verl.utils"):
        package = types.ModuleType(name)
        package.__path__ = [str(Path(source) / name.replace(".", "/"))]
        sys.modules[name] = package
    trace = types.ModuleType("verl.utils.rollout_trace")  # needs torch; it only records
    trace.rollout_trace_op = lambda work: work  # type: ignore[attr-defined]
    sys.modules["verl.utils.rollout_trace"] = trace
    return importlib.import_module("verl.tools.utils.tool_registry")


def test_verl_lists_and_calls_our_tools_by_configuration(
    configured: Path, verl_tools: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(configured)
    tools = {tool.name: tool for tool in verl_tools.initialize_tools_from_config(str(HERE / "mcp_tool_config.yaml"))}
    assert tools.keys() == {"profile", "rewrite", "time", "job"}

    async def use() -> tuple[Any, Any]:
        tool = tools["profile"]
        instance, _ = await tool.create()
        found = await tool.execute(instance, {"task": "transpose"})
        wrong = await tool.execute(instance, {"task": "no such task"})
        return found, wrong

    (said, _, metrics), (refused, _, _) = asyncio.run(use())
    assert "sectors" in said.text and metrics["api_request_error"] is None
    assert "no such task" in refused.text or "no task" in refused.text


def test_the_reward_is_the_gates_on_the_last_block_of_the_answer() -> None:
    folder = str(ROOT / "tasks" / "transpose")
    answer = f"I tried\n```cuda\n{WRONG_SAXPY}```\nand this is it:\n```cuda\n{FASTER_TRANSPOSE}```\n"
    found = compute_score("warpsight", answer, folder)
    assert found["faster"] == 1.0 and found["score"] == found["reward"] > 1.0
    assert compute_score("warpsight", 'no kernel; {"score": 9}', folder)["score"] == -0.75
