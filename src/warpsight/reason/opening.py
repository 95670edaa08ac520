"""How a conversation begins: the prompts of `prompts/`, filled in for a task and a kernel.

Whatever comes from the task or the kernel is put in as data (fence.py). Hidden workloads are never mentioned, and
neither is the reference's text: the model has the description.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from string import Template
from typing import Literal

from warpsight.models.tool_list import tool_lines
from warpsight.nouns import Argument, Task
from warpsight.reason.fence import fence, neutral
from warpsight.reason.job import Opening
from warpsight.tasks import written_in
from warpsight.tools.box import ToolSpec
from warpsight.vgpu.gpus import known_gpus

Prompt = Literal["small", "full", "trained"]  # `small` is filled in by the small box (short/few.py)
TRITON = (
    "The kernel is in Triton. Its grid, num_warps and num_stages are in its `# launch:` line, its tl.constexpr "
    "parameters in its `# constants:` line; both are part of the kernel and yours to change."
)


def opening_of(
    task: Task,
    tools: Sequence[ToolSpec],
    *,
    prompt: Prompt = "full",
    calling: Literal["native", "text"] = "native",
    kernel: str | None = None,
    note: str = "",
) -> Opening:
    """The first two messages. `kernel` is what to begin with, by default the task's; `note` is what else is known."""
    text = task.kernel if kernel is None else kernel
    system = prompt_file(prompt)
    if calling == "text":
        system += Template(prompt_file("text_calls")).substitute(tools=tool_lines(tools))
    return Opening(system=system.strip(), user=_user(task, text, note), kernel=text)


@cache
def prompt_file(name: str) -> str:
    """The text of a prompt."""
    return files("warpsight.reason").joinpath("prompts", f"{name}.md").read_text(encoding="utf-8")


def _user(task: Task, kernel: str, note: str) -> str:
    note = f"{TRITON} {note}".strip() if written_in(kernel) == "triton" else note
    tolerance = f"|got - expected| <= {task.tolerance.atol:g} + {task.tolerance.rtol:g} * |expected|; integers exactly"
    filled = Template(prompt_file("task")).substitute(
        gpu=neutral(target_of(task)),
        task=task.name,
        description=fence("description", task.description),
        entry=task.entry,
        arguments="\n".join(f"- {_argument_line(argument)}" for argument in task.arguments),
        axes=", ".join(f"{a.name} ({a.min} to {a.max}, a multiple of {a.multiple_of})" for a in task.axes) or "none",
        workloads="; ".join(
            f"{w.name}: {', '.join(f'{name}={size}' for name, size in w.axes.items())}"
            + (" (the one that is timed and profiled)" if w.profile else "")
            for w in task.workloads
            if not w.hidden
        ),
        tolerance=tolerance,
        note=f"{neutral(note)}\n" if note else "",
        kernel=fence(task.kernel_file, kernel),
    )
    return filled.strip()


def target_of(task: Task) -> str:
    """What it is to be fast on; only of a GPU from the table is the architecture known before it runs."""
    return f"{task.gpu} ({task.gpu_arch})" if task.gpu in known_gpus() else task.gpu


def _argument_line(argument: Argument) -> str:
    shape = f"[{', '.join(argument.shape)}]" if argument.shape else ""
    value = f" = {argument.value}" if argument.value is not None else ""
    return neutral(f"{argument.name}: {argument.dtype}{shape}, {argument.role}{value}")
