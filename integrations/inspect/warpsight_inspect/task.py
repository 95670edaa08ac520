"""The Inspect task: a sample for each kernel, the tools, and a score in its parts. The numbers are simulated."""

from __future__ import annotations

import asyncio
import atexit
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver, use_tools
from inspect_ai.tool import Tool, tool
from inspect_ai.util import StoreModel, store_as
from pydantic import Field

from warpsight.bundled import bundled
from warpsight.errors import UsageError
from warpsight.gate.identity import task_sha256
from warpsight.serve.episode import Episode, open_server, opening, parts_of, task_folders
from warpsight.serve.inside import ToolServer
from warpsight.tasks import read_task

PARTS = ("reward", "right", "faster", "doublings", "speed", "handed_in")


class KernelStore(StoreModel):
    """Of one sample: its conversation with the tools, the task's folder, and what came of the kernel handed in."""

    conversation: str = Field(default_factory=lambda: uuid4().hex)
    folder: str = ""
    result: dict[str, Any] | None = None


class Episodes:
    """The open episodes of one task, by conversation."""

    def __init__(self, server: ToolServer) -> None:
        self._server = server
        self._open: dict[str, Episode] = {}

    async def call(self, name: str, **arguments: str) -> str:
        store = store_as(KernelStore)
        episode = self._open.get(store.conversation)
        if episode is None:
            episode = self._open[store.conversation] = Episode(self._server, Path(store.folder), store.conversation)
        said = await asyncio.to_thread(lambda: episode.call(name, **arguments))
        if episode.result is not None:
            store.result = episode.result
            del self._open[store.conversation]
        return said


@tool
def profile(episodes: Episodes) -> Tool:
    async def execute(kernel: str = "") -> str:
        """Why is a kernel slow: findings with counters and lines. Look before you edit.

        Args:
            kernel: The kernel's text or id; by default the given one.
        """
        return await episodes.call("profile", kernel=kernel)

    return execute


@tool
def check(episodes: Episodes) -> Tool:
    async def execute(kernel: str) -> str:
        """Is a kernel right? It is run on many inputs, also on some that are not shown.

        Args:
            kernel: The kernel's text or id.
        """
        return await episodes.call("check", kernel=kernel)

    return execute


@tool
def time(episodes: Episodes) -> Tool:
    async def execute(kernel: str) -> str:
        """How fast is a kernel, compared with the given one?

        Args:
            kernel: The kernel's text or id.
        """
        return await episodes.call("time", kernel=kernel)

    return execute


@tool
def rewrite(episodes: Episodes) -> Tool:
    async def execute(cause: str, kernel: str = "") -> str:
        """Known edits for a cause, tried; the best is told with its id.

        Args:
            cause: The name of a finding.
            kernel: The kernel's text or id; by default the given one.
        """
        return await episodes.call("rewrite", cause=cause, kernel=kernel)

    return execute


@tool
def submit_kernel(episodes: Episodes) -> Tool:
    async def execute(kernel: str, cause: str = "") -> str:
        """Hand in the final kernel; this ends the work.

        Args:
            kernel: The kernel's text or id.
            cause: Why the given kernel was slow.
        """
        return await episodes.call("submit", kernel=kernel, cause=cause or "not said")

    return execute


@solver
def begin() -> Solver:
    """Say to the tools which task the sample is about."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.store_as(KernelStore).folder = state.metadata["folder"]
        return state

    return solve


@scorer(metrics={name: [mean(), stderr()] for name in PARTS})
def gate() -> Scorer:
    """What the gate decided on the kernel that was handed in."""

    async def score(state: TaskState, target: Target) -> Score:
        result = state.store_as(KernelStore).result
        parts: Mapping[str, float] = parts_of(result)
        told = "no kernel was handed in" if result is None else f"{result['verdict']} {result.get('decision', '')}"
        return Score(value={name: parts[name] for name in PARTS}, explanation=told)

    return score


@task
def faster_kernels(tasks: str = "", workers: int = 1, turns: int = 24) -> Task:
    """Make each kernel faster. `tasks` is a folder of tasks or a corpus file, by default the examples that ship."""
    place = tasks or bundled("tasks")
    if not place:
        raise UsageError("no tasks are named", hint="-T tasks=FOLDER")
    folders = task_folders(place)
    server = open_server(folders, workers=workers)
    atexit.register(server.close)
    episodes = Episodes(server)
    tools = [made(episodes) for made in (profile, check, time, rewrite, submit_kernel)]
    return Task(
        dataset=MemoryDataset([_sample(folder) for folder in folders]),
        solver=[begin(), use_tools(*tools), generate()],
        scorer=gate(),
        message_limit=2 * turns + 1,
    )


def _sample(folder: Path) -> Sample:
    found = read_task(folder)
    words = opening(found).replace("`submit`", "`submit_kernel`")
    return Sample(id=found.name, input=words, metadata={"sha256": task_sha256(found), "folder": str(folder.resolve())})
