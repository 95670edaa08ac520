"""A server process with a folder of its own, reached by the official client over stdio or HTTP."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "warpsight.cli.app", "mcp"]
TOKEN = "a token that only the test knows"
Connect = Callable[[], AbstractAsyncContextManager[Client]]


@dataclass(frozen=True)
class Served:
    """What a server may read, where it writes, and its environment."""

    root: Path
    data: Path

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "WARPSIGHT_CACHE") if name in os.environ}
        return {**kept, "WARPSIGHT_DATA": str(self.data), "WARPSIGHT_MCP_TOKEN": TOKEN}

    @property
    def words(self) -> list[str]:
        return [*COMMAND, "--root", str(self.root)]


def place(folder: Path) -> Served:
    """A root with one task, of which the test may change everything."""
    shutil.copytree(ROOT / "tasks" / "transpose", folder / "root" / "tasks" / "transpose")
    return Served(folder / "root", folder / "data")


@asynccontextmanager
async def over_stdio(served: Served, mode: str = "auto") -> AsyncGenerator[Client, None]:
    words = served.words
    started = StdioServerParameters(command=words[0], args=words[1:], env=served.environment, cwd=served.root)
    async with Client(started, mode=mode, read_timeout_seconds=120) as client:
        yield client


@contextmanager
def http_server(served: Served) -> Generator[str, None, None]:
    """The address of a server that runs until the block is left, and then ends by itself within seconds."""
    words = [*served.words, "--http", "--port", "0"]
    with subprocess.Popen(words, env=served.environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            yield process.stderr.readline().removeprefix("serving ").strip()
            process.send_signal(signal.SIGTERM)
            process.wait(20)
        finally:
            process.kill()


@asynccontextmanager
async def over_http(address: str, mode: str = "auto") -> AsyncGenerator[Client, None]:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx2.AsyncClient(headers=headers, timeout=120) as http:
        transport = streamable_http_client(address, http_client=http)
        async with Client(transport, mode=mode, read_timeout_seconds=120) as client:
            yield client
