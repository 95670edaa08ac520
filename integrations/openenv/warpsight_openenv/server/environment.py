"""The environment: one episode for each session, all on one tool server. The reward comes with the last observation."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

from openenv.core.env_server.interfaces import Environment

from warpsight.errors import UsageError
from warpsight.serve.episode import Episode, opening
from warpsight.serve.inside import ToolServer
from warpsight_openenv.models import KernelAction, KernelObservation, KernelState


class KernelEnvironment(Environment[KernelAction, KernelObservation, KernelState]):
    """Episodes end with `submit`, or after `most_calls`."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, server: ToolServer, folders: Sequence[Path], most_calls: int = 32) -> None:
        super().__init__()
        self._server = server
        self._folders = {folder.name: folder for folder in folders}
        self._most = most_calls
        self._episode: Episode | None = None
        self._state = KernelState()

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, task: str | None = None, **_: Any
    ) -> KernelObservation:
        """The task, its kernel and how to go about it."""
        name = task or random.Random(seed).choice(sorted(self._folders))
        if name not in self._folders:
            raise UsageError(f"no task {name[:60]!r}", hint=f"one of {', '.join(sorted(self._folders)[:20])}")
        self._episode = Episode(self._server, self._folders[name])
        self._state = KernelState(episode_id=episode_id or str(uuid4()), step_count=0, task=name)
        return KernelObservation(text=opening(self._episode.task), task=name)

    def step(self, action: KernelAction, timeout_s: float | None = None, **_: Any) -> KernelObservation:
        """What the tool says; the reward once the episode is over, else none."""
        if self._episode is None:
            raise UsageError("expected `reset` before `step`")
        episode = self._episode
        text = episode.call(action.tool, **_arguments(action))
        self._state.step_count = episode.calls
        done = episode.result is not None or episode.calls >= self._most
        seen = KernelObservation(text=text, task=self._state.task, done=done)
        if done:
            seen.parts = episode.parts
            seen.reward = episode.parts["reward"]
        return seen

    @property
    def state(self) -> KernelState:
        return self._state


def _arguments(action: KernelAction) -> dict[str, str | None]:
    cause = action.cause or ("not said" if action.tool == "submit" else None)
    return {"kernel": action.kernel, "cause": cause, "view": action.view}
