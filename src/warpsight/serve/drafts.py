"""`new_task`: a task folder from a kernel that a client has, drafted by its text.

The only tool that writes below a root, and only into a folder that is not there yet. It takes a text or a file for the
kernel, and a text for the reference; both run in the jail like those of every task.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import JsonValue

from warpsight.serve.reply import ServedReply
from warpsight.tasks import read_task
from warpsight.tasks.draft import draft_task
from warpsight.tasks.draft_text import write_draft
from warpsight.tools.describe import Schema

NEW_TASK = "new_task"
OUTPUT: Schema = {"type": "object", "additionalProperties": True}


def draft_for_client(folder: Path, text: str, entry: str | None, reference: str | None) -> ServedReply:
    """Write the folder; what was guessed, and what is left to do."""
    draft = draft_task(text, entry)
    write_draft(folder, folder.name, draft, reference)
    task = read_task(folder)
    arguments = [f"{one.dtype} {one.name}{list(one.shape) if one.shape else ''} {one.role}" for one in task.arguments]
    lines = [f"made {folder}: kernel {task.entry}, arguments {'; '.join(arguments)}"]
    lines += [f"guessed: {guess}" for guess in draft.guesses]
    law = "your reference" if reference else "the kernel itself, as original.cu"
    lines.append(f"right is what {law} says; next: mend what was guessed wrongly in task.toml, then `check` it")
    data: dict[str, JsonValue] = {
        "task": task.name, "folder": str(folder), "entry": task.entry, "guesses": list(draft.guesses),
        "files": ["task.toml", task.kernel_file, task.reference_file],
    }  # fmt: skip
    return ServedReply("\n".join(lines), data)
