"""`warpsight view`: the stored runs as a local page: list, filter, open, compare, follow a run that goes on."""

from __future__ import annotations

import json
import webbrowser
from typing import Annotated

import typer


def view(
    port: Annotated[int, typer.Option(min=0, max=65535, help="On 127.0.0.1; 0 takes a free one.")] = 0,
    no_open: Annotated[bool, typer.Option("--no-open", help="Only print the address, open no browser.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the address as one JSON document.")] = False,
) -> None:
    """Show the runs in a browser, on this machine alone. The address holds a secret: who has it can read all runs.

    \b
    Examples:
      warpsight view
      warpsight view --port 8080 --no-open
    """
    from warpsight.folders import data_folder
    from warpsight.report.server import Viewer

    viewer = Viewer(data_folder(), port)
    typer.echo(json.dumps({"url": viewer.url}) if as_json else f"{viewer.url}\nCtrl-C ends it.")
    if not no_open:
        webbrowser.open(viewer.url)
    try:
        viewer.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        viewer.close()
