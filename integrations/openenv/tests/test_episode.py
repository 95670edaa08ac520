"""The official client plays episodes over HTTP, against the server as it is started by its command."""

from __future__ import annotations

import inspect
import os
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from scripted_server import FASTER_TRANSPOSE

from warpsight_openenv import KernelAction, KernelEnv
from warpsight_openenv.for_trl import ADDRESS, NOTHING_HANDED_IN, KernelTools

ROOT = Path(__file__).parents[3]
WRONG = FASTER_TRANSPOSE.replace("tile[threadIdx.x][threadIdx.y + j]", "tile[threadIdx.y + j][threadIdx.x]")


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    port, data = free_port(), tmp_path_factory.mktemp("data")
    argv = [sys.executable, "-m", "warpsight_openenv.server.app", str(ROOT / "tasks"), "--port", str(port)]
    with subprocess.Popen(argv, env={**os.environ, "WARPSIGHT_DATA": str(data)}) as process:
        try:
            until = time.monotonic() + 300
            while time.monotonic() < until and process.poll() is None:
                with socket.socket() as one:
                    if one.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.2)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            try:
                process.wait(60)
            finally:
                process.kill()


def play(address: str, task: str, kernel: str) -> tuple[str, float | None, dict[str, float]]:
    with KernelEnv(base_url=address).sync() as env:
        begun = env.reset(task=task)
        assert f"void {task}(" in begun.observation.text and not begun.done
        looked = env.step(KernelAction(tool="profile"))
        assert not looked.done and looked.reward is None
        ended = env.step(KernelAction(tool="submit", kernel=kernel, cause="uncoalesced_access"))
        assert ended.done and env.state().step_count == 2
        return looked.observation.text, ended.reward, ended.observation.parts


def test_an_episode_has_its_reward_in_parts(address: str) -> None:
    seen, reward, parts = play(address, "transpose", FASTER_TRANSPOSE)
    assert "sectors" in seen
    assert reward is not None and reward > 1.0 and parts["right"] == parts["faster"] == 1.0
    assert parts["reward"] == reward and parts["speed"] > 1.5


def test_episodes_at_once_do_not_meet(address: str) -> None:
    """Sessions of the same task: one hands in a faster kernel, one a wrong one, one the given one."""
    given = (ROOT / "tasks" / "transpose" / "kernel.cu").read_text()
    with ThreadPoolExecutor(3) as pool:
        asked = [pool.submit(play, address, "transpose", kernel) for kernel in (FASTER_TRANSPOSE, WRONG, given)]
        faster, wrong, same = (one.result() for one in asked)
    assert faster[2]["faster"] == 1.0
    assert wrong[1] == -1.0 and wrong[2]["right"] == 0.0
    assert same[2]["right"] == 1.0 and same[2]["faster"] == 0.0


def test_a_text_that_is_no_kernel_ends_nothing(address: str) -> None:
    with KernelEnv(base_url=address).sync() as env:
        env.reset(task="transpose")
        told = env.step(KernelAction(tool="submit", kernel="nonsense"))
        assert not told.done and told.reward is None and "no such function" in told.observation.text


def test_a_task_that_is_not_there_is_told(address: str) -> None:
    with KernelEnv(base_url=address).sync() as env, pytest.raises(Exception, match="no task"):
        env.reset(task="nonsense")


def test_the_tools_for_trl_earn_the_reward(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ADDRESS, address)
    tools = KernelTools()
    assert "void transpose(" in tools.reset(task="transpose", prompt="a column of the data")
    assert tools.get_reward() == NOTHING_HANDED_IN
    assert "sectors" in tools.profile()
    tools.submit(FASTER_TRANSPOSE, cause="uncoalesced_access")
    assert tools.get_reward() > 1.0
    tools.reset(task="transpose")
    assert tools.get_reward() == NOTHING_HANDED_IN
    for name in ("profile", "check", "time", "rewrite", "submit"):
        method = getattr(tools, name)
        assert all(f"{given}:" in (method.__doc__ or "") for given in inspect.signature(method).parameters)
