"""Who may talk to the HTTP server: this machine, with the token, and no web page."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path

import anyio
import httpx2
import pytest
from tests.serve.transports import TOKEN, http_server, over_http, over_stdio, place

PING = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
    "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
}}  # fmt: skip
GOOD = {"Authorization": f"Bearer {TOKEN}", "Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Generator[str, None, None]:
    with http_server(place(tmp_path_factory.mktemp("guard"))) as found:
        yield found


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Authorization": ""}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": TOKEN}, 401),
        ({"Host": "evil.example"}, 421),
        ({"Origin": "http://evil.example"}, 403),
    ],
)
def test_a_request_needs_the_token_and_the_loopback_address(address: str, headers: dict[str, str], status: int) -> None:
    found = httpx2.post(address, json=PING, headers={**GOOD, **headers}, timeout=60)
    assert found.status_code == status


def test_it_listens_on_the_loopback_address_alone(address: str) -> None:
    port = int(address.rpartition(":")[2].partition("/")[0])
    listening = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    mine = [row[1] for row in listening if row[1].endswith(f":{port:04X}") and row[3] == "0A"]
    assert mine == [f"0100007F:{port:04X}"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_both_eras_of_the_protocol(address: str, tmp_path: Path, mode: str) -> None:
    async def versions() -> tuple[str, str]:
        async with over_http(address, mode) as web, over_stdio(place(tmp_path), mode) as pipe:
            return str(web.protocol_version), str(pipe.protocol_version)

    web, pipe = anyio.run(versions)
    assert web == pipe and (web >= "2026-07-28") == (mode == "auto")


def test_the_handshake_loads_no_tools() -> None:
    code = "import sys, warpsight.serve.run\nprint(*(name for name in sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert "warpsight.serve.server" in loaded.stdout.split()
    assert not {"numpy", "warpsight.tools.task_box", "warpsight.serve.service", "torch"} & set(loaded.stdout.split())


def test_a_server_ends_with_its_client_in_the_middle_of_a_call(tmp_path: Path) -> None:
    served = place(tmp_path)
    with subprocess.Popen(
        served.words, env=served.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdin is not None and process.stdout is not None
            call = '{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "check", "arguments": '
            call += '{"task": "transpose"}, "_meta": {"progressToken": 1}}}'
            for line in (
                str(PING).replace("'", '"'),
                '{"jsonrpc": "2.0", "method": "notifications/initialized"}',
                call,
            ):
                process.stdin.write(line + "\n")
                process.stdin.flush()
            while "checking" not in (line := process.stdout.readline()):
                assert line, "it ended before it began to check"
            children = _children(process.pid)
            process.stdin.close()
            assert process.wait(30) == 0
            until = time.monotonic() + 20  # they are killed with their parent, which takes the kernel a moment
            while any(map(_runs, children)) and time.monotonic() < until:
                time.sleep(0.05)
            assert not [child for child in children if _runs(child)]
        finally:
            process.kill()


def _runs(pid: int) -> bool:
    """Whether a process is there and not merely waiting to be buried by its parent."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def _children(pid: int) -> list[int]:
    """The processes below one, all generations. Threads and processes may end while they are looked at."""
    found: list[int] = []
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            for child in map(int, file.read_text().split()):
                found += [child, *_children(child)]
    return found
