"""The environment as TRL's GRPOTrainer takes it: `environment_factory=KernelTools`. Its public methods are the tools.

WARPSIGHT_OPENENV names the server. One object plays one episode after another, on a connection of its own.
"""

from __future__ import annotations

import os
from typing import Any

from warpsight_openenv.client import KernelEnv
from warpsight_openenv.models import KernelAction, Tool

ADDRESS = "WARPSIGHT_OPENENV"
NOTHING_HANDED_IN = -0.75


class KernelTools:
    """A row of the data names its `task`; without one the server chooses."""

    def __init__(self) -> None:
        self._env = KernelEnv(base_url=os.environ.get(ADDRESS, "http://127.0.0.1:8000")).sync()
        self._env.connect()
        self._reward = NOTHING_HANDED_IN

    def reset(self, task: str | None = None, **_: Any) -> str:
        self._reward = NOTHING_HANDED_IN
        return self._env.reset(task=task).observation.text

    def get_reward(self) -> float:
        return self._reward

    def profile(self, kernel: str = "") -> str:
        """
        Why is a kernel slow: findings with counters and lines. Look before you edit.

        Args:
            kernel: The kernel's text or id; by default the given one.
        """
        return self._call("profile", kernel=kernel)

    def check(self, kernel: str) -> str:
        """
        Is a kernel right? It is run on many inputs, also on some that are not shown.

        Args:
            kernel: The kernel's text or id.
        """
        return self._call("check", kernel=kernel)

    def time(self, kernel: str) -> str:
        """
        How fast is a kernel, compared with the given one?

        Args:
            kernel: The kernel's text or id.
        """
        return self._call("time", kernel=kernel)

    def rewrite(self, cause: str, kernel: str = "") -> str:
        """
        Known edits for a cause, tried; the best is told with its id.

        Args:
            cause: The name of a finding.
            kernel: The kernel's text or id; by default the given one.
        """
        return self._call("rewrite", cause=cause, kernel=kernel)

    def submit(self, kernel: str, cause: str = "") -> str:
        """
        Hand in the final kernel; this ends the work.

        Args:
            kernel: The kernel's text or id.
            cause: Why the given kernel was slow.
        """
        return self._call("submit", kernel=kernel, cause=cause)

    def _call(self, tool: Tool, **given: str) -> str:
        seen = self._env.step(KernelAction(tool=tool, **{name: value for name, value in given.items() if value}))
        if seen.reward is not None:
            self._reward = seen.reward
        return seen.observation.text
