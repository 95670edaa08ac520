"""One episode of an environment: a task, a conversation with the tools, and the reward in its parts.

What every trainer's environment needs, whatever its framework: which tasks there are, how the conversation begins, a
few tools with plain arguments, and what came of it. What must stay true: the reward is made of the gate's decision on
the one kernel that was handed in, and of nothing that the model says.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from warpsight.corpus.build import read_rows
from warpsight.corpus.folder import write_folder
from warpsight.errors import TaskError, UsageError
from warpsight.folders import data_folder
from warpsight.learn.reward import Prices
from warpsight.nouns import Task
from warpsight.nouns.timing import IMPROVEMENTS
from warpsight.reason.opening import opening_of
from warpsight.serve.inside import Talk, ToolServer
from warpsight.serve.listing import TASK
from warpsight.serve.settings import ServeSettings
from warpsight.session.session import Session
from warpsight.tasks import read_task
from warpsight.tools.box import SUBMIT
from warpsight.tools.edits import KERNEL

TOOLS = ("profile", "check", "time", "inspect", "compare", "compile", "device", "what_if", "rewrite", SUBMIT)
ENDED = "error: a kernel was handed in already; the episode is over"
HOW = """\
Make the kernel below faster. Use the tools: `profile` says why it is slow, `check` whether a kernel is right, `time`
how fast it is, `rewrite` tries known edits for a cause. A kernel is given whole, or by the id that a result named.
`submit` hands in your final kernel and ends the work: only what is right and faster counts.
"""


def task_folders(where: Path | str, cache: Path | None = None) -> tuple[Path, ...]:
    """The task folders of a folder of tasks, of one task, or of a corpus file (written out below the data folder)."""
    place = Path(where)
    if place.is_file():
        return _of_corpus(place, cache or data_folder() / "episodes")
    if (place / "task.toml").is_file():
        return (place,)
    found = tuple(sorted(file.parent for file in place.glob("*/task.toml")))
    if not found:
        raise UsageError(f"no tasks at {place}", hint="a task folder, a folder of such, or a corpus file")
    return found


def _of_corpus(file: Path, cache: Path) -> tuple[Path, ...]:
    folders: list[Path] = []
    for row in read_rows(file):
        folder = cache / row.spec.key
        if not (folder / "reference.py").is_file():  # the last file that is written
            write_folder(row.spec, folder)
        folders.append(folder)
    return tuple(folders)


def open_server(folders: Sequence[Path], *, workers: int = 1, unsafe: bool = False) -> ToolServer:
    """A server of these tasks, which ends with this process."""
    roots = tuple(dict.fromkeys(folder.resolve().parent for folder in folders))
    return ToolServer(ServeSettings(roots, data_folder(), workers=workers, unsafe=unsafe))


def opening(task: Task) -> str:
    """The first message: what to do, the task, its kernel. Nothing of hidden workloads stands in it."""
    return f"{HOW}\n{opening_of(task, ()).user}"


class Episode:
    """One conversation about one task; `name` finds it again in the same server."""

    def __init__(self, server: ToolServer, folder: Path, name: str | None = None) -> None:
        self.folder = folder.resolve()
        self.task = read_task(self.folder)
        self.calls = 0
        self.result: dict[str, object] | None = None  # of the kernel that was handed in
        self._talk: Talk = server.talk(name)

    def call(self, tool: str, **arguments: object) -> str:
        """What a tool says. Arguments that are empty are left out: the given kernel is meant."""
        if self.result is not None:
            return ENDED
        if tool not in TOOLS:
            return f"error: no tool {tool[:60]!r}; the tools are {', '.join(TOOLS)}"
        self.calls += 1
        said = {name: value for name, value in arguments.items() if value not in (None, "")}
        reply = self._talk.call(tool, {TASK: str(self.folder), **said})
        if tool == SUBMIT and reply.data is not None:
            self.result = dict(reply.data)
        return reply.text

    def submit(self, kernel: str, cause: str = "") -> str:
        """Hand in the final kernel."""
        return self.call(SUBMIT, **{KERNEL: kernel, "cause": cause or "not said"})

    @property
    def parts(self) -> dict[str, float]:
        return parts_of(self.result)


def grade(folder: Path, kernel: Path, *, unsafe: bool = False) -> dict[str, float]:
    """The parts for a kernel file, by the whole gate with inputs that nothing before has used."""
    with Session(folder, unsafe=unsafe) as session:
        try:
            found = session.compare(kernel)
        except TaskError:  # its first lines are not what they should be: a wrong kernel
            return parts_of({"verdict": "wrong"})
    timing = found.timing
    told: dict[str, object] = {"verdict": found.check.verdict}
    if timing is not None:
        told |= {"decision": timing.decision, "ratio_to_given": timing.ratio}
    return parts_of(told)


def parts_of(result: dict[str, object] | None) -> dict[str, float]:
    """The reward in its parts, from the record of `submit`. `speed` is that of `warpsight bench`: the ratio of a kernel
    that was accepted, else 1."""
    right = result is not None and result.get("verdict") == "right"
    ratio = result.get("ratio_to_given") if result is not None else None
    faster = right and result is not None and result.get("decision") in IMPROVEMENTS
    speed = float(ratio) if faster and isinstance(ratio, int | float) else 1.0
    price = Prices()
    doublings = min(math.log2(speed), price.most_doublings) if faster else 0.0
    earned = price.right + price.per_doubling * doublings if right else price.wrong
    return {
        "handed_in": float(result is not None),
        "right": float(right),
        "faster": float(faster),
        "doublings": doublings,
        "speed": speed,
        "reward": price.no_answer if result is None else earned,
    }
