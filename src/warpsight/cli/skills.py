"""`warpsight skills install`: the skill that tells a coding agent how to use the tools well."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

skills = typer.Typer(
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: warpsight skills install",
)


@skills.command()
def install(
    client: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="claude-code, codex, cursor, vscode; repeat it; else all.")
    ] = None,
    folder: Annotated[
        Path, typer.Option("--dir", metavar="FOLDER", help="A project, or your home folder for all projects.")
    ] = Path(),
    force: Annotated[bool, typer.Option("--force", help="Replace a skill that was changed.")] = False,
) -> None:
    """Write the skill where coding agents look for skills.

    \b
    Examples:
      warpsight skills install
      warpsight skills install --client claude-code --dir ~
    """
    from warpsight.errors import UsageError
    from warpsight.serve.clients import CLIENTS, find_client
    from warpsight.serve.skill import install_skill

    if not folder.is_dir():
        raise UsageError(f"expected a folder, {folder} is none")
    asked = [find_client(name) for name in client or CLIENTS]
    for found in {one.skills: one for one in asked}.values():  # some share a folder
        print(install_skill(found, folder, force=force))


@skills.command()
def show() -> None:
    """Print the skill.

    \b
    Example:
      warpsight skills show
    """
    from warpsight.serve.skill import skill_text

    print(skill_text(), end="")
