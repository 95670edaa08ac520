"""SkyRL's own registry makes the environment, and an episode earns what the gate decides."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import skyrl_gym
from scripted_server import FASTER_TRANSPOSE
from skyrl_gym.envs import register

ROOT = Path(__file__).parents[3]


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("WARPSIGHT_TASKS", str(ROOT / "tasks"))
    monkeypatch.setenv("WARPSIGHT_DATA", str(tmp_path))
    monkeypatch.setenv("WARPSIGHT_WORKERS", "1")
    register(id="warpsight", entry_point="env:WarpsightEnv")
    extras = {"extra_info": {"folder": str(ROOT / "tasks" / "transpose")}, "max_turns": 4}
    return skyrl_gym.make("warpsight", env_config={}, extras=extras)


def call(name: str, **arguments: str) -> str:
    return f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"


def test_an_episode(made: Any) -> None:
    prompt = [{"role": "user", "content": "make it faster"}]
    assert made.init(prompt)[0] == prompt
    no_call = made.step("I think about it")
    assert "Call a tool" in no_call["observations"][0]["content"] and not no_call["done"]
    seen = made.step(call("profile"))
    assert "sectors" in seen["observations"][0]["content"] and seen["reward"] == 0.0
    ended = made.step(call("submit", kernel=FASTER_TRANSPOSE, cause="uncoalesced_access"))
    assert ended["done"] and ended["reward"] > 1.0 and ended["metadata"]["faster"] == 1.0
