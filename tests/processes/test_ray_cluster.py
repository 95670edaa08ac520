"""Real work on Ray clusters of one to three nodes on this machine: the same bytes, whatever ends in the middle."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from warpsight.processes.on_ray import QUIET

ray: Any = pytest.importorskip("ray", reason="pip install 'warpsight[scale]'")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
COMMAND = [sys.executable, "-m", "warpsight.cli.app"]
TASKS = 3


def build(file: Path, *where: str) -> list[str]:
    return [*COMMAND, "corpus", "build", str(file), "--count", str(TASKS), "--seed", "7", *where]


def environment(address: str | None) -> dict[str, str]:
    return {**os.environ, **QUIET, **({"RAY_ADDRESS": address} if address else {})}


def run(argv: list[str], address: str | None = None) -> None:
    done = subprocess.run(argv, env=environment(address), capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.fixture(scope="module")
def by_processes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What two processes make of it: the corpus, its traces, a bench."""
    folder = tmp_path_factory.mktemp("processes")
    run(build(folder / "corpus.jsonl", "--cores", "2"))
    for argv in rest(folder / "corpus.jsonl", folder, "--processes", "2"):
        run(argv)
    return folder


def rest(corpus: Path, folder: Path, *where: str) -> list[list[str]]:
    return [
        [*COMMAND, "train", "traces", str(corpus), str(folder / "traces.jsonl"), *where],
        [*COMMAND, "bench", "run", str(corpus), str(folder / "bench.jsonl"), "--model", "rival:top-finding",
         "--allow-train", *where],
    ]  # fmt: skip


@pytest.fixture
def cluster() -> Generator[Any]:
    """A head with one core; tests add nodes. Nothing of it is left afterwards."""
    os.environ.update(QUIET)
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    session = Path(made.head_node.get_session_dir_path()).name
    yield made
    made.shutdown()
    until = time.monotonic() + 60
    while (left := of_session(session)) and time.monotonic() < until:
        time.sleep(0.5)
    assert not left, left


def of_session(session: str) -> list[str]:
    """Command lines of what belongs to a cluster, its workers included."""
    found: list[str] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            environ = (folder / "environ").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if session in line or (session in environ and "ray::" in line):
            found.append(f"{folder.name} {line[:200]}")
    return found


def same(one: Path, other: Path) -> bool:
    return one.read_bytes() == other.read_bytes()


def without_clock(file: Path) -> list[dict[str, Any]]:
    return [{key: value for key, value in json.loads(line).items() if key != "seconds"} for line in file.open()]


def test_one_node_two_and_three_give_the_bytes_of_processes(cluster: Any, by_processes: Path, tmp_path: Path) -> None:
    for nodes in (1, 2, 3):
        run(build(tmp_path / f"{nodes}.jsonl", "--on", "ray"), cluster.address)
        assert same(tmp_path / f"{nodes}.jsonl", by_processes / "corpus.jsonl"), nodes
        if nodes < 3:
            cluster.add_node(num_cpus=1)
    for argv in rest(by_processes / "corpus.jsonl", tmp_path, "--on", "ray"):
        run(argv, cluster.address)
    assert same(tmp_path / "traces.jsonl", by_processes / "traces.jsonl")
    assert without_clock(tmp_path / "bench.jsonl") == without_clock(by_processes / "bench.jsonl")


def test_a_node_and_then_the_driver_are_killed(cluster: Any, by_processes: Path, tmp_path: Path) -> None:
    """Nothing is lost, nothing comes twice, and the same command goes on."""
    nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
    file = tmp_path / "corpus.jsonl"
    started = subprocess.Popen(build(file, "--on", "ray"), env=environment(cluster.address), stderr=subprocess.DEVNULL)
    wait_for_line(file)
    raylet = nodes[0].all_processes["raylet"][0].process.pid
    os.kill(raylet, signal.SIGKILL)
    time.sleep(1)
    started.kill()
    started.wait()
    run(build(file, "--on", "ray"), cluster.address)
    assert same(file, by_processes / "corpus.jsonl")


def test_ctrl_c_cancels_what_is_under_way(cluster: Any, tmp_path: Path) -> None:
    file = tmp_path / "corpus.jsonl"
    argv = build(file, "--on", "ray")
    argv[argv.index("--count") + 1] = "1000"
    started = subprocess.Popen(argv, env=environment(cluster.address), stderr=subprocess.PIPE, text=True)
    wait_for_line(file)
    started.send_signal(signal.SIGINT)
    assert started.wait(120) == 130
    os.environ["RAY_ADDRESS"] = cluster.address
    try:
        ray.init(log_to_driver=False)
        until = time.monotonic() + 60
        while ray.available_resources().get("CPU") != 1 and time.monotonic() < until:
            time.sleep(0.5)
        assert ray.available_resources().get("CPU") == 1
    finally:
        ray.shutdown()
        del os.environ["RAY_ADDRESS"]


def wait_for_line(file: Path) -> None:
    until = time.monotonic() + 300
    while not (file.exists() and file.read_bytes().count(b"\n")) and time.monotonic() < until:
        time.sleep(0.1)
    assert file.exists() and file.read_bytes()
