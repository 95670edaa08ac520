"""An environment for SkyRL: a turn is a call of a tool in <tool_call> tags, the reward comes with `submit`.

Register it as `warpsight` in the entry point (see docs/train-on-a-cluster.md). One tool server for each process; its
workers are processes of their own. `extra_info.folder` of a row is the task's folder.
"""

from __future__ import annotations

import functools
import json
import os
from pathlib import Path
from typing import Any

from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

from warpsight.models.text_calls import read_calls
from warpsight.serve.episode import Episode, open_server, task_folders
from warpsight.serve.inside import ToolServer

NO_CALL = 'Call a tool: <tool_call>{"name": "profile", "arguments": {}}</tool_call>'


@functools.cache
def server() -> ToolServer:
    folders = task_folders(os.environ["WARPSIGHT_TASKS"])
    return open_server(folders, workers=int(os.environ.get("WARPSIGHT_WORKERS", "2")))


class WarpsightEnv(BaseTextEnv):
    def __init__(self, env_config: Any = None, extras: dict[str, Any] | None = None) -> None:
        super().__init__()
        asked = extras or {}
        self.max_turns = int(asked.get("max_turns", 16))
        self._episode = Episode(server(), Path(asked["extra_info"]["folder"]))

    def step(self, action: str) -> BaseTextEnvStepOutput:
        self.turns += 1
        said = self._run(action)
        done = self._episode.result is not None or self.turns >= self.max_turns
        parts = self._episode.parts
        return BaseTextEnvStepOutput(
            observations=[] if done else [{"role": "user", "content": said}],
            reward=parts["reward"] if done else 0.0,
            done=done,
            metadata=dict(parts) if done else {},
        )

    def get_metrics(self) -> dict[str, Any]:
        return dict(self._episode.parts)

    def _run(self, action: str) -> str:
        calls, malformed = read_calls(action)
        if malformed:
            return f"error: {malformed[0].reason}"
        if not calls:
            return NO_CALL
        given = json.loads(calls[0].arguments)
        return self._episode.call(calls[0].name, **{name: str(value) for name, value in given.items()})
