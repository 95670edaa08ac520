"""Several clients of one HTTP server: they do not disturb one another, and one that goes away loses nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from tests.serve.story import TASK, WRONG, finished, text
from tests.serve.transports import http_server, over_http, over_stdio, place


def test_two_clients_at_once_and_one_that_stops_waiting(tmp_path: Path) -> None:
    found: dict[str, Any] = {}

    async def ask(name: str, address: str, arguments: dict[str, Any]) -> None:
        async with over_http(address) as client:
            found[name] = await finished(client, await client.call_tool("check", {**TASK, **arguments}))

    async def run(address: str) -> None:
        async with over_http(address) as client:
            with pytest.raises(MCPError, match=r"(?i)timed? ?out"):
                await client.call_tool("check", TASK, read_timeout_seconds=0.05)
            async with anyio.create_task_group() as group:
                group.start_soon(ask, "wrong", address, {"edits": [WRONG]})
                group.start_soon(ask, "given", address, {})
            # No kernel means the task's own, whatever another client has sent meanwhile.
            found["again"] = await finished(client, await client.call_tool("check", TASK))

    with http_server(place(tmp_path)) as address:
        anyio.run(run, address)
    assert found["wrong"].structured_content["result"]["verdict"] in ("wrong", "fault")
    assert found["given"].structured_content["result"] == found["again"].structured_content["result"]
    assert text(found["given"]) == text(found["again"]) and "right" in text(found["again"])


def test_a_changed_task_is_another_task(tmp_path: Path) -> None:
    served = place(tmp_path)
    file = served.root / "tasks" / "transpose" / "kernel.cu"

    async def run(address: str) -> list[Any]:
        async with over_http(address) as client:
            before = await client.call_tool("compile", TASK)
            file.write_text(file.read_text().replace("block=(32, 8)", "block=(32, 16)").replace("R/8", "R/16"))
            after = await client.call_tool("compile", TASK)
            file.write_text("nonsense")
            return [before, after, await client.call_tool("compile", TASK)]

    with http_server(served) as address:
        before, after, broken = anyio.run(run, address)
    first, second = before.structured_content["result"], after.structured_content["result"]
    assert first["kernel"] != second["kernel"]
    assert "block (32, 8, 1)" in first["launch"] and "block (32, 16, 1)" in second["launch"]
    assert broken.is_error and "no kernel of that name" in text(broken)


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_request_that_is_cancelled_cancels_its_job(tmp_path: Path, transport: str) -> None:
    """The first calls keep the one thread at work; those behind them are cancelled before they begin."""
    served = place(tmp_path)
    found: dict[str, Any] = {}

    async def run(client: Client) -> None:
        begun = [await client.call_tool("check", {**TASK, "gpu": gpu, "wait_seconds": 0}) for gpu in ("a100", "h100")]
        with anyio.move_on_after(0.05):  # the client tells the server that it does not want the answer any more
            await client.call_tool("submit", {**TASK, "cause": "none"})
        last = await client.call_tool("check", {**TASK, "wait_seconds": 0})
        handle = last.structured_content["job"]
        found["stopped"] = await finished(client, await client.call_tool("job", {"handle": handle, "cancel": True}))
        found["begun"] = [await finished(client, result) for result in begun]
        found["again"] = await finished(client, await client.call_tool("check", TASK))

    async def by_stdio() -> None:
        async with over_stdio(served) as client:
            await run(client)

    async def by_http(address: str) -> None:
        async with over_http(address) as client:
            await run(client)

    if transport == "stdio":
        anyio.run(by_stdio)
    else:
        with http_server(served) as address:
            anyio.run(by_http, address)
    assert [result.structured_content["result"]["verdict"] for result in found["begun"]] == ["right", "right"]
    assert found["stopped"].is_error and "the call was cancelled" in text(found["stopped"])
    assert found["again"].structured_content["result"]["verdict"] == "right"
    assert not list(served.data.glob("ledger/*.jsonl")), "the submission never began"
