"""Options that several verbs share, with the words that help shows."""

from __future__ import annotations

from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
FirstTasks = Annotated[int | None, typer.Option(min=1, help="Only the first tasks.")]
