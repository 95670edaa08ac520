"""How long `warpsight mcp` takes to start: from the start of its process to its first answers, over stdin and stdout.

Wall time, and the processor time of the server up to then; the first start, which may find nothing in the system's
memory, is shown apart.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
STARTS = 7
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}


def start() -> tuple[list[float], list[float]]:
    """Wall and processor seconds until `initialize`, and until `tools/list`, are answered."""
    words = [str(Path(sys.executable).parent / "warpsight"), "mcp", "--root", str(ROOT)]
    wall, processor = list[float](), list[float]()
    began = time.perf_counter()
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        for messages in ((INITIALIZE,), (INITIALIZED, LIST)):
            for message in messages:
                process.stdin.write(json.dumps(message) + "\n")
            process.stdin.flush()
            answer: dict[str, Any] = json.loads(process.stdout.readline())
            assert answer["id"] == messages[-1]["id"] and "result" in answer, answer
            wall.append(time.perf_counter() - began)
            processor.append(processor_seconds(process.pid))
        process.stdin.close()
    return wall, processor


def processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    first, *rest = [start() for _ in range(STARTS)]
    print(f"load {os.getloadavg()[0]:.1f}; the first start: {first[0][0]:.2f} s and {first[0][1]:.2f} s of wall time")
    for at, name in enumerate(("initialize", "tools/list")):
        wall, processor = [w[at] for w, _ in rest], [p[at] for _, p in rest]
        told = f"wall {statistics.median(wall):.2f} s ({min(wall):.2f} to {max(wall):.2f})"
        print(f"  until {name} is answered: {told}, processor {statistics.median(processor):.2f} s, {len(rest)} starts")
