"""The taskset: a task for each kernel, the reward in its parts. The numbers are simulated; no GPU is needed."""

from __future__ import annotations

from collections.abc import Iterator

import verifiers.v1 as vf

from warpsight.bundled import bundled
from warpsight.errors import UsageError
from warpsight.gate.identity import task_sha256
from warpsight.serve.episode import opening, parts_of, task_folders
from warpsight.tasks import read_task
from warpsight_verifiers.state import KernelState
from warpsight_verifiers.tools import KernelToolset, KernelToolsetConfig


class KernelData(vf.TaskData):
    """`folder` is where the task is; `sha256` of its content is what it is known by."""

    folder: str
    sha256: str


class KernelTask(vf.Task[KernelData, KernelState]):
    """Rewards are made of the gate's decision alone: see `parts_of`."""

    @property
    def key(self) -> str:
        return self.data.sha256

    async def setup(self, trace: vf.Trace, runtime: vf.Runtime) -> None:
        trace.state.folder = self.data.folder
        trace.state.conversation = str(trace.id)

    @vf.stop
    async def handed_in(self, trace: vf.Trace) -> bool:
        """The work is over once a kernel was handed in."""
        return trace.state.result is not None

    @vf.reward(weight=1.0)
    async def reward(self, trace: vf.Trace) -> float:
        """Doublings of speed; -1 for a wrong kernel, -0.75 for none."""
        return parts_of(trace.state.result)["reward"]

    @vf.metric
    async def right(self, trace: vf.Trace) -> float:
        return parts_of(trace.state.result)["right"]

    @vf.metric
    async def faster(self, trace: vf.Trace) -> float:
        return parts_of(trace.state.result)["faster"]

    @vf.metric
    async def speed(self, trace: vf.Trace) -> float:
        return parts_of(trace.state.result)["speed"]


class KernelConfig(vf.TasksetConfig):
    tasks: str = ""
    """A task folder, a folder of such, or a corpus file; by default the examples that ship."""
    workers: int = 1
    """Processes that run the tools, for each environment worker."""

    def place(self) -> str:
        found = self.tasks or bundled("tasks")
        if not found:
            raise UsageError("no tasks are named", hint="--env.taskset.tasks FOLDER")
        return str(found)


class KernelTaskset(vf.Taskset[KernelTask, KernelConfig]):
    def load(self) -> Iterator[KernelTask]:
        for folder in task_folders(self.config.place()):
            task = read_task(folder)
            where, known_by = str(folder.resolve()), task_sha256(task)
            data = KernelData(name=task.name, prompt=opening(task), folder=where, sha256=known_by)
            yield KernelTask(data, self.config.task)

    @classmethod
    def toolsets(cls, config: KernelConfig) -> list[vf.Toolset]:
        return [KernelToolset(KernelToolsetConfig(tasks=config.place(), workers=config.workers))]
