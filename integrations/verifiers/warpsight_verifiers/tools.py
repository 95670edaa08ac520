"""The tools, served over MCP to all rollouts of an environment worker: each rollout is a conversation of its own."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from pathlib import Path

import verifiers.v1 as vf

from warpsight.serve.episode import Episode, open_server, task_folders
from warpsight.tools.box import SUBMIT
from warpsight_verifiers.state import KernelState

MOST_EPISODES = 4096


class KernelToolsetConfig(vf.SharedToolsetConfig):
    tasks: str = ""
    """A task folder, a folder of such, or a corpus file; as the taskset's."""
    workers: int = 1
    """Processes that run the tools."""


class KernelToolset(vf.Toolset[KernelToolsetConfig, KernelState]):
    """One server for many rollouts. A `kernel` that is empty means the given one."""

    TOOL_PREFIX = "warpsight"

    async def setup(self) -> None:
        self._episodes: OrderedDict[str, Episode] = OrderedDict()
        self._server = open_server(task_folders(self.config.tasks), workers=self.config.workers)
        self._exit_stack.callback(self._server.close)

    @vf.tool
    async def profile(self, kernel: str = "") -> str:
        """Why is a kernel slow: findings with counters and lines. Look before you edit."""
        return await self._call("profile", kernel=kernel)

    @vf.tool
    async def check(self, kernel: str) -> str:
        """Is a kernel right? It is run on many inputs, also on some that are not shown."""
        return await self._call("check", kernel=kernel)

    @vf.tool
    async def time(self, kernel: str) -> str:
        """How fast is a kernel, compared with the given one?"""
        return await self._call("time", kernel=kernel)

    @vf.tool
    async def rewrite(self, cause: str, kernel: str = "") -> str:
        """Known edits for a cause (the name of a finding), tried; the best is told with its id."""
        return await self._call("rewrite", cause=cause, kernel=kernel)

    @vf.tool
    async def submit(self, kernel: str, cause: str = "") -> str:
        """Hand in the final kernel, as a text or by its id, with the cause that it removes; this ends the work."""
        return await self._call(SUBMIT, kernel=kernel, cause=cause or "not said")

    async def _call(self, tool: str, **arguments: str) -> str:
        episode = self._episode()
        said = await asyncio.to_thread(lambda: episode.call(tool, **arguments))
        self.state.result = episode.result
        return said

    def _episode(self) -> Episode:
        name = self.state.conversation
        found = self._episodes.get(name)
        if found is None:
            found = self._episodes[name] = Episode(self._server, Path(self.state.folder), name)
            if len(self._episodes) > MOST_EPISODES:
                self._episodes.popitem(last=False)
        return found


if __name__ == "__main__":
    KernelToolset.run()
