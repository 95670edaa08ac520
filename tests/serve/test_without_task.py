"""Tools that work on a file and on no task, and prompts, as the official client uses them."""

from __future__ import annotations

import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from tests.lens.profilers.recorded import ROCPROFV3_COUNTERS
from tests.serve.story import finished, text
from tests.serve.transports import ROOT, Served, over_stdio, place

from warpsight.errors import ToolMissing
from warpsight.programs.build import require_compiler
from warpsight.serve.prompts import PROMPTS
from warpsight.tasks import read_task

KERNEL = """\
__global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}
"""
REFERENCE = "def reference(x):\n    return 2 * x\n"
PROGRAM = """\
#include <cstdio>
__global__ void fill(int *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = i; }
int main(int argc, char **argv) {
    int *x, last = 0;
    cudaMalloc(&x, 4096);
    fill<<<8, 256>>>(x, argc > 1 ? 1024 : 2048);
    cudaMemcpy(&last, x + 1023, 4, cudaMemcpyDeviceToHost);
    printf("last %d\\n", last);
}
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Served:
    found = place(tmp_path_factory.mktemp("loose"))
    (found.root / "twice.cu").write_text(KERNEL)
    (found.root / "fill.cu").write_text(PROGRAM)
    (found.root / "peeks.cu").write_text('#include "../secret/words.h"\nint main() {}\n')
    (found.root.parent / "secret").mkdir()
    (found.root.parent / "secret" / "words.h").write_text("// not for clients\n")
    (found.root / "counters.csv").write_text(ROCPROFV3_COUNTERS)
    return found


def in_client(served: Served, work: Callable[[Client], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        async with over_stdio(served) as client:
            return await work(client)

    return anyio.run(run)


async def call(client: Client, tool: str, **arguments: Any) -> types.CallToolResult:
    return await finished(client, await client.call_tool(tool, arguments))


def test_a_kernel_becomes_a_task_that_is_right(served: Served) -> None:
    async def work(client: Client) -> list[types.CallToolResult]:
        made = await call(client, "new_task", name="twice", kernel_file="twice.cu", reference=REFERENCE)
        again = await call(client, "new_task", name="twice", kernel_file="twice.cu")
        outside = await call(client, "new_task", name="../twice", kernel_file="twice.cu")
        return [made, again, outside, await call(client, "check", task="twice")]

    made, again, outside, checked = in_client(served, work)
    assert not made.is_error and "float32 x['n'] in" in text(made) and "guessed: the launch line" in text(made)
    task = read_task(Path(made.structured_content["result"]["folder"]))
    assert task.entry == "twice" and (served.root / "tasks" / "twice" / "reference.py").read_text() == REFERENCE
    assert again.is_error and "there already" in text(again)
    assert outside.is_error and "expected a name" in text(outside)
    assert checked.structured_content["result"]["verdict"] == "right", text(checked)


def test_a_triton_kernel_is_a_path_too(served: Served) -> None:
    pytest.importorskip("triton")
    folder = served.root / "tasks" / "triton_vector_add"
    shutil.copytree(ROOT / "tasks" / "triton_vector_add", folder)
    text_of = (folder / "kernel.py").read_text()
    (served.root / "mine.py").write_text(text_of)
    (served.root / "wrong.py").write_text(text_of.replace("x + y", "x - y"))

    async def work(client: Client) -> list[types.CallToolResult]:
        files = ("mine.py", "wrong.py")
        return [await call(client, "check", task="triton_vector_add", kernel_file=name) for name in files]

    right, wrong = in_client(served, work)
    assert right.structured_content["result"]["verdict"] == "right", text(right)
    assert wrong.structured_content["result"]["verdict"] == "wrong", text(wrong)


def test_a_report_is_read_by_path(served: Served) -> None:
    async def work(client: Client) -> list[types.CallToolResult]:
        return [
            await call(client, "read_report", report="counters.csv", kernel="divide_kernel"),
            await call(client, "read_report", report="twice.cu"),
            await call(client, "read_report", report="../../etc/passwd"),
        ]

    found, other, outside = in_client(served, work)
    record = found.structured_content["result"]
    assert record["source"] == "measured" and record["counters"]["dram_bytes"] == 12583424
    assert other.is_error and "expected a report" in text(other)
    assert outside.is_error and "no report" in text(outside)


def test_a_program_is_run_checked_and_profiled(served: Served) -> None:
    try:
        require_compiler()
    except ToolMissing as missing:
        pytest.skip(str(missing))

    async def work(client: Client) -> list[types.CallToolResult]:
        ways = [
            await call(client, "run_program", program="fill.cu", arguments=["small"], how=how)
            for how in ("profile", "run")
        ]
        faulty = await call(client, "run_program", program="fill.cu", how="check")
        return [*ways, faulty, await call(client, "run_program", program="peeks.cu")]

    profiled, ran, faulty, peeks = in_client(served, work)
    assert profiled.structured_content["result"]["kernels"][0]["time_us"] > 0 and "simulated" in text(profiled)
    assert "| last 1023" in text(ran) and ran.structured_content["result"]["exit_code"] == 0
    assert ran.structured_content["result"]["kernels"][0]["time_us"] is None
    assert "fault in fill, line 2" in text(faulty) and faulty.structured_content["result"]["faults"]
    assert peeks.is_error and "outside of the allowed folders" in text(peeks)


def test_every_prompt_is_filled_in_and_names_tools_that_are_listed(served: Served) -> None:
    async def work(client: Client) -> tuple[list[types.Prompt], dict[str, str], set[str], list[str]]:
        prompts = (await client.list_prompts()).prompts
        texts: dict[str, str] = {}
        for prompt in prompts:
            filled = await client.get_prompt(prompt.name, {one.name: "my `thing`" for one in prompt.arguments or ()})
            content = filled.messages[0].content
            assert isinstance(content, types.TextContent)
            texts[prompt.name] = content.text
        refused: list[str] = []
        for name, arguments in (("nothing", {}), ("optimise_kernel", {}), ("optimise_kernel", {"file": "x"})):
            try:
                await client.get_prompt(name, arguments)
            except MCPError as problem:
                refused.append(problem.message)
        return prompts, texts, {tool.name for tool in (await client.list_tools()).tools}, refused

    prompts, texts, tools, refused = in_client(served, work)
    assert [prompt.name for prompt in prompts] == list(PROMPTS)
    for name, filled in texts.items():
        assert "`my 'thing'`" in filled, name
        named = {word for word in filled.split("`")[1::2] if word.isidentifier()}
        assert named and named <= tools, (name, named - tools)
    assert [any(word in said for said in refused) for word in ("no prompt", "expected a task", "takes task")] == [
        True
    ] * 3
