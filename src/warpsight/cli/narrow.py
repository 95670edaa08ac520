"""Help in a narrow terminal: plain lines, by group, where the boxes would cut options and verbs off.

Typer's boxes need about 70 columns. What must stay true: the same options, verbs and groups stand in both.
"""

from __future__ import annotations

import os
import shutil
from typing import Any

from typer.core import TyperGroup

ROOM = 70
OTHER = "Commands"


def is_narrow() -> bool:
    """Whether the boxes do not fit. A width that cannot be known is wide."""
    return shutil.get_terminal_size((80, 24)).columns < ROOM and "_WARPSIGHT_COMPLETE" not in os.environ


class GroupedVerbs(TyperGroup):
    """Verbs under the headings that the boxes have."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # of typer's own copy of click
        groups: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is None or command.hidden:
                continue
            heading = getattr(command, "rich_help_panel", None)
            said = command.get_short_help_str(limit=200)
            groups.setdefault(heading if isinstance(heading, str) else OTHER, []).append((name, said))
        for heading, rows in groups.items():
            with formatter.section(heading):
                formatter.write_dl(rows)
