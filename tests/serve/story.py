"""One story for every transport: an agent finds a task, looks, tries, errs, mends, and hands in a faster kernel."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp import Client
from mcp.shared.exceptions import MCPError

TILED = """\
// launch: grid=(ceil(C/32), ceil(R/32)) block=(32, 8) shared=0
extern "C" __global__ void transpose(const float* x, float* y, int R, int C) {
    __shared__ float tile[32][33];
    int c = blockIdx.x * 32 + threadIdx.x;
    int r0 = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (r0 + j < R && c < C) tile[threadIdx.y + j][threadIdx.x] = x[(size_t)(r0 + j) * C + c];
    __syncthreads();
    int col = blockIdx.y * 32 + threadIdx.x;
    int row0 = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (row0 + j < C && col < R) y[(size_t)(row0 + j) * R + col] = tile[threadIdx.x][threadIdx.y + j];
}
"""
SLOW = """\
// launch: grid=(1) block=(32) shared=0
extern "C" __global__ void transpose(const float* x, float* y, int R, int C) {
    int c = threadIdx.x;
    for (; c < C; c += 32)
        for (int r = 0; r < R; ++r) {
            y[(size_t)c * R + r] = x[(size_t)r * C + c];
        }
}
"""  # so slow that the time model's own error cannot hide what is gained
WRONG = {"search": "(size_t)c * R + r]", "replace": "(size_t)c * R + r + 1]"}
BROKEN = {"search": "int c =", "replace": "integer c ="}
TASK = {"task": "transpose"}
MINE = {**TASK, "kernel_file": "tasks/transpose/mine.cu"}
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "tasks": ("list_tasks", {}),
    "task": ("read_task", TASK),
    "look": ("profile", TASK),
    "given": ("check", TASK),
    "device": ("device", {**TASK, "gpu": "h100"}),
    "broken": ("compile", {**TASK, "edits": [BROKEN]}),
    "wrong": ("check", {**TASK, "edits": [WRONG]}),
    "compile": ("compile", MINE),
    "right": ("check", MINE),
    "time": ("time", MINE),
    "compare": ("compare", MINE),
    "gain": ("what_if", TASK),
    "rewritten": ("rewrite", {**TASK, "cause": "uncoalesced"}),
    "sass": ("inspect", {**MINE, "view": "sass"}),
    "submit": (
        "submit",
        {**MINE, "cause": "stores 32 sectors a request", "predicts": {"global_store_sectors": "down"}},
    ),
}


@dataclass
class Told:
    """What came of it: results by name, progress by name, and the rest."""

    tools: list[types.Tool] = field(default_factory=list[types.Tool])
    instructions: str = ""
    results: dict[str, types.CallToolResult] = field(default_factory=dict[str, types.CallToolResult])
    progress: dict[str, list[tuple[float, str | None]]] = field(
        default_factory=dict[str, list[tuple[float, str | None]]]
    )
    profile: str = ""
    listed: list[str] = field(default_factory=list[str])
    page: str = ""
    refusals: dict[str, str] = field(default_factory=dict[str, str])
    job: tuple[dict[str, Any], types.CallToolResult] | None = None


async def tell(client: Client, root: Path) -> Told:
    """Everything that the tests look at, in one connection."""
    told = Told(tools=(await client.list_tools()).tools, instructions=client.instructions or "")
    (root / "tasks" / "transpose" / "mine.cu").write_text(TILED)
    for name, (tool, arguments) in CALLS.items():
        seen = told.progress.setdefault(name, [])

        async def note(progress: float, total: float | None, message: str | None, seen: list[Any] = seen) -> None:
            seen.append((progress, message))

        told.results[name] = await finished(client, await client.call_tool(tool, arguments, progress_callback=note))
    told.profile = await read(client, record(told, "look")["documents"][0])
    told.listed = [str(resource.uri) for resource in (await client.list_resources()).resources]
    handle = text(told.results["sass"]).partition('more(handle="')[2].partition('"')[0]
    told.page = text(await client.call_tool("more", {"handle": handle, "page": 2}))
    started = await client.call_tool("check", {**TASK, "gpu": "rtx4090", "wait_seconds": 0})
    running = started.structured_content
    told.job = running, await finished(client, started)
    await refuse(client, told)
    return told


async def finished(client: Client, result: types.CallToolResult) -> types.CallToolResult:
    """The result of a call, also where a busy machine takes longer than the call waits."""
    while not result.is_error and result.structured_content["status"] == "running":
        result = await client.call_tool("job", {"handle": result.structured_content["job"], "wait_seconds": 50})
    return result


async def refuse(client: Client, told: Told) -> None:
    """Calls that must not run: what each is told."""
    calls: dict[str, tuple[str, dict[str, Any]]] = {
        "no task": ("check", {}),
        "outside": ("check", {"task": "/etc"}),
        "above": ("check", {**TASK, "kernel_file": "../outside.cu"}),
        "not a kernel": ("check", {**TASK, "kernel_file": "tasks/transpose/task.toml"}),
        "both": ("check", {**MINE, "kernel": TILED}),
        "unknown argument": ("check", {**TASK, "colour": "red"}),
        "wrong type": ("inspect", {**TASK, "view": 7}),
        "wait": ("check", {**TASK, "wait_seconds": 1e9}),
        "job": ("job", {"handle": "j000000000000"}),
        "job of what": ("job", {"job": "j000000000000"}),
        "large": ("check", {**TASK, "kernel": "/" * (1 << 20) + "/"}),
        "gpu": ("check", {**TASK, "gpu": "abacus"}),
        "counter": ("submit", {**MINE, "cause": "", "predicts": {"speed": "up"}}),
        "edit": ("check", {**TASK, "edits": [{"search": "not there", "replace": ""}]}),
    }
    for name, (tool, arguments) in calls.items():
        found = await client.call_tool(tool, arguments)
        assert found.is_error, name
        told.refusals[name] = text(found)
    for name, asking in {
        "tool": client.call_tool("rm", {}),
        "resource": client.read_resource("file:///etc/passwd"),
        "hash": client.read_resource(f"warpsight://profile/{'0' * 64}"),
    }.items():
        try:
            await asking
        except MCPError as refused:
            told.refusals[name] = refused.message


def text(result: types.CallToolResult) -> str:
    block = result.content[0]
    assert isinstance(block, types.TextContent)
    return block.text


def record(told: Told, name: str) -> dict[str, Any]:
    """The structured content of a call that must have worked."""
    found = told.results[name]
    assert not found.is_error, text(found)
    return found.structured_content


async def read(client: Client, uri: str) -> str:
    body = (await client.read_resource(uri)).contents[0]
    assert isinstance(body, types.TextResourceContents)
    return body.text
