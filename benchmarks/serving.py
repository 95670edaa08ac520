"""Many conversations with one tool server at once, over HTTP on the loopback address, by the official client.

First each of `clients` conversations checks and submits a kernel of its own, all at once: none may be lost, and each
must end with its own kernel and its own certificate. Then they ask again for what is known, `rate` calls a second, by
the clock and whether answers came or not: latency by percentile, and the memory of the server and its workers. Times
of this part are by the clock, on a machine that must be quiet; the client takes one of its cores. On a machine that is
shared, `first` gives server and client the processor before all others for these seconds (it needs the right to).
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

TOKEN = "a token of the bench"
CLIENTS, RATE, SECONDS = 200, 100, 20
TASK = """\
name = "twice"
description = "y = 2 x"
kernel = "kernel.cu"
entry = "twice"
arguments = [
    { name = "x", dtype = "float32", shape = ["N"], role = "in" },
    { name = "y", dtype = "float32", shape = ["N"], role = "out" },
    { name = "N", dtype = "int32", role = "scalar", value = "N" },
]
workloads = [
    { name = "some", axes = { N = 100 } },
    { name = "profile", axes = { N = 65536 }, profile = true },
    { name = "few", axes = { N = 33 }, hidden = true },
]
[target]
gpu = "a100"
arch = "sm_80"
[axes]
N = { min = 1, max = 1048576 }
[tolerance]
rtol = 0.0
atol = 0.0
"""
REFERENCE = "import numpy as np\n\n\ndef reference(x, N):\n    return {'y': np.float32(2) * x}\n"
GIVEN = """\
// launch: grid=(1) block=(32)
extern "C" __global__ void twice(const float* x, float* y, int N) {
    for (int i = threadIdx.x; i < N; i += 32) y[i] = 2 * x[i];
}
"""
MINE = """\
// launch: grid=(ceil(N/256)) block=(256)
extern "C" __global__ void twice(const float* x, float* y, int N) {{  // of client {number}
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N) y[i] = 2 * x[i];
}}
"""


@dataclass
class Load:
    """What came of it. `seconds` are those of the known calls; `memory` in bytes, by when."""

    clients: int
    lost: list[str] = field(default_factory=list[str])
    mixed: list[str] = field(default_factory=list[str])
    busy: int = 0
    first_seconds: float = 0.0
    cpu_ms: float = 0.0  # of the server's own process, for each known call
    rate: float = 0.0
    seconds: list[float] = field(default_factory=list[float])
    memory: dict[str, int] = field(default_factory=dict[str, int])

    def percentile(self, share: float) -> float:
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


@dataclass(frozen=True)
class Place:
    """What the server reads and writes, and its command line."""

    folder: Path
    workers: int | None = None

    def make(self) -> Place:
        task = self.folder / "root" / "twice"
        task.mkdir(parents=True)
        for name, text in {"task.toml": TASK, "reference.py": REFERENCE, "kernel.cu": GIVEN}.items():
            (task / name).write_text(text)
        return self

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @contextmanager
    def served(self) -> Generator[tuple[str, int]]:
        """The address of a server, and its process."""
        words = [sys.executable, "-m", "warpsight.cli.app", "mcp", "--http", "--port", "0"]
        words += ["--root", str(self.folder / "root")]
        words += [] if self.workers is None else ["--workers", str(self.workers)]
        environment = {**os.environ, "WARPSIGHT_DATA": str(self.data), "WARPSIGHT_MCP_TOKEN": TOKEN}
        with subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True) as process:
            try:
                assert process.stderr is not None
                yield process.stderr.readline().removeprefix("serving ").strip(), process.pid
                process.send_signal(signal.SIGTERM)
                process.wait(30)
            finally:
                process.kill()


async def many(address: str, server: int, *, clients: int, rate: float, seconds: float, first: bool = False) -> Load:
    """All of it, against a server that runs."""
    load, leave = Load(clients), asyncio.Event()
    opened = [asyncio.get_running_loop().create_future() for _ in range(clients)]
    lives = [asyncio.create_task(_live(address, number, one, leave)) for number, one in enumerate(opened)]
    try:
        connected: list[Client] = await asyncio.gather(*opened)
        load.memory["connected"] = memory_of(server)
        started = time.perf_counter()
        await asyncio.gather(*(_work(load, number, one) for number, one in enumerate(connected)))
        load.first_seconds = time.perf_counter() - started
        load.memory["worked"] = memory_of(server)
        if first:
            _go_first(server)
        before = cpu_seconds_of(server)
        await _ask_again(load, connected, rate, seconds)
        load.cpu_ms = 1e3 * (cpu_seconds_of(server) - before) / max(1, len(load.seconds))
        load.memory["asked again"] = memory_of(server)
    finally:
        leave.set()
        await asyncio.gather(*lives, return_exceptions=True)
    return load


async def _live(address: str, number: int, opened: asyncio.Future[Client], leave: asyncio.Event) -> None:
    """One client, from its beginning to its end in one task. Each has a connection of its own; half of them name their
    conversation, half use the handshake with sessions."""
    named = {"Warpsight-Conversation": f"client-{number}"} if number % 2 else {}
    try:
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}", **named}, timeout=600) as http:
            transport = streamable_http_client(address, http_client=http)
            mode = "auto" if number % 2 else "legacy"
            async with Client(transport, mode=mode, read_timeout_seconds=600) as client:
                opened.set_result(client)
                await leave.wait()
    except BaseException as problem:
        if not opened.done():
            opened.set_exception(problem)
        raise


async def _work(load: Load, number: int, client: Client) -> None:
    """One conversation: check, submit by the name `best`, and see that all is its own."""
    kernel = MINE.format(number=number)
    mine = "c" + hashlib.sha256(kernel.encode()).hexdigest()[:6]
    checked = await _finished(load, client, "time", {"task": "twice", "kernel": kernel})
    handed = await _finished(load, client, "submit", {"task": "twice", "base": "best", "cause": f"of {number}"})
    # The first was compared with the given kernel, which was the best then. This one is what is asked again.
    await _finished(load, client, "time", {"task": "twice", "kernel": kernel})
    if checked is None or handed is None:
        load.lost.append(f"client {number}")
        return
    file = Path(handed.get("certificate_file") or "")
    own = hashlib.sha256(kernel.encode()).hexdigest()
    if not file.is_file():
        load.lost.append(f"client {number}: no certificate, {handed}")
    elif checked["kernel"] != mine or handed["kernel"] != mine or kernel not in _texts(file):
        load.mixed.append(f"client {number} ({own}): {checked['kernel']}, {handed['kernel']}, {file.name}")


def _texts(file: Path) -> set[str]:
    """Every text in a certificate: the kernel that it is of stands there."""
    found: set[str] = set()

    def look(value: Any) -> None:
        if isinstance(value, str):
            found.add(value)
        elif isinstance(value, dict):
            for one in cast(dict[str, Any], value).values():
                look(one)
        elif isinstance(value, list):
            for one in cast(list[Any], value):
                look(one)

    look(json.loads(file.read_text()))
    return found


async def _finished(load: Load, client: Client, tool: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
    """The record of a call, waited for; a server that is full is asked again."""
    found = await client.call_tool(tool, arguments)
    while found.is_error and "wait already" in str(found.content):
        load.busy += 1
        await asyncio.sleep(1 + random.random())
        found = await client.call_tool(tool, arguments)
    while not found.is_error and found.structured_content["status"] == "running":
        found = await client.call_tool("job", {"handle": found.structured_content["job"], "wait_seconds": 50})
    if found.is_error:
        load.lost.append(str(found.content)[:300])
        return None
    return cast(dict[str, Any], found.structured_content["result"])


async def _ask_again(load: Load, clients: list[Client], rate: float, seconds: float) -> None:
    """Known calls by the clock: a slow answer delays no call after it."""
    asking: list[asyncio.Task[None]] = []
    started = time.perf_counter()
    for number in range(int(rate * seconds)):
        await asyncio.sleep(max(0.0, started + number / rate - time.perf_counter()))
        which = number % len(clients)
        asking.append(asyncio.create_task(_ask_known(load, which, clients[which])))
    await asyncio.gather(*asking)
    load.rate = len(asking) / (time.perf_counter() - started)


async def _ask_known(load: Load, number: int, client: Client) -> None:
    kernel = MINE.format(number=number)
    started = time.perf_counter()
    found = await client.call_tool("time", {"task": "twice", "kernel": kernel})
    load.seconds.append(time.perf_counter() - started)
    mine = "c" + hashlib.sha256(kernel.encode()).hexdigest()[:6]
    record = None if found.is_error else found.structured_content["result"]
    if record is None:
        load.lost.append(f"client {number}: {str(found.content)[:200]}")
    elif record["kernel"] != mine:
        load.mixed.append(f"client {number}: {str(found.content)[:200]}")


def memory_of(pid: int) -> int:
    """Bytes held by a process and all below it; a page that several share is counted once."""
    below = [int(one) for file in Path(f"/proc/{pid}/task").glob("*/children") for one in file.read_text().split()]
    rolled = Path(f"/proc/{pid}/smaps_rollup").read_text()
    held = 1024 * int(rolled.partition("\nPss:")[2].split()[0])
    return held + sum(memory_of(one) for one in below)


def _go_first(server: int) -> None:
    """Ahead of all ordinary work on this machine, for the two that talk; the workers stay as they are."""
    threads = [int(one.name) for pid in (server, os.getpid()) for one in Path(f"/proc/{pid}/task").iterdir()]
    for thread in threads:
        os.sched_setscheduler(thread, os.SCHED_RR, os.sched_param(1))


def cpu_seconds_of(pid: int) -> float:
    """Of the one process alone."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, words[11:13])) / os.sysconf("SC_CLK_TCK")


def main(argument: str = "") -> Load:
    given = {word.partition("=")[0]: word.partition("=")[2] for word in argument.split(",") if word}
    clients, rate = int(given.get("clients", CLIENTS)), float(given.get("rate", RATE))
    seconds = float(given.get("seconds", SECONDS))
    first = "first" in given
    with tempfile.TemporaryDirectory() as scratch:
        place = Place(Path(scratch)).make()
        with place.served() as (address, server):
            load = asyncio.run(many(address, server, clients=clients, rate=rate, seconds=seconds, first=first))
    print(f"load average {os.getloadavg()[0]:.1f}; {clients} conversations at once, half of them in sessions")
    print(f"lost {len(load.lost)}, mixed {len(load.mixed)}, told to come again {load.busy} times")
    print(f"each checked and submitted its own kernel in {load.first_seconds:.0f} s, all together")
    told = ", ".join(f"p{round(100 * p)} {1e3 * load.percentile(p):.1f}" for p in (0.5, 0.9, 0.95, 0.99))
    print(f"known calls at {load.rate:.0f} a second (n={len(load.seconds)}): {told} ms")
    print("memory: " + ", ".join(f"{when} {held / 1e6:.0f} MB" for when, held in load.memory.items()))
    print(f"processor time of the server for each known call: {load.cpu_ms:.1f} ms")
    for problem in (load.lost + load.mixed)[:5]:
        print(problem)
    return load
