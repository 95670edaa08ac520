"""`warpsight mcp`: the tools for coding agents, over stdio or HTTP on this machine; `mcp config` prints settings."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from warpsight.cli.device_argument import DEVICE_HELP, DEVICES
from warpsight.errors import ToolMissing
from warpsight.verbs.mcp import own_command

ROOT_HELP = "Only tasks and kernels below this folder are read; can be repeated. By default the current folder."
FEEDBACK_HELP = "What profile and time show: none, time, raw, curated."
HTTP_PORT = 8765

mcp = typer.Typer(
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: warpsight mcp config claude-code > .mcp.json",
)


@mcp.callback()
def serve(
    ctx: typer.Context,
    http: Annotated[bool, typer.Option("--http", help="HTTP on 127.0.0.1 instead of stdin and stdout.")] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="For --http; 0 takes a free one.")] = HTTP_PORT,
    root: Annotated[list[Path] | None, typer.Option(metavar="FOLDER", help=ROOT_HELP)] = None,
    device: Annotated[str, typer.Option(metavar=DEVICES, help=DEVICE_HELP)] = "virtual",
    feedback: Annotated[str, typer.Option(metavar="MODE", help=FEEDBACK_HELP)] = "curated",
    unsafe: Annotated[
        bool, typer.Option("--unsafe", help="Run without the protections that this system lacks; results say so.")
    ] = False,
) -> None:
    """Serve the tools to a coding agent (Model Context Protocol).

    \b
    Examples:
      warpsight mcp config claude-code > .mcp.json
      warpsight mcp --root ~/kernels
      WARPSIGHT_MCP_TOKEN=... warpsight mcp --http --port 8765
    """
    if ctx.invoked_subcommand is not None:
        return
    from warpsight.folders import data_folder
    from warpsight.serve.places import Places
    from warpsight.serve.settings import ServeSettings
    from warpsight.session.feedback import require_offered

    roots = Places(root or [Path.cwd()]).roots
    settings = ServeSettings(roots, data_folder(), device, require_offered(feedback), unsafe)
    try:
        from warpsight.serve.run import serve_http, serve_stdio
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.partition(".")[0] not in ("mcp", "mcp_types", "anyio", "uvicorn"):
            raise
        raise ToolMissing(f"the package {missing.name} is not installed", hint="pip install 'mcp>=2,<3'") from None
    try:
        serve_http(settings, port) if http else serve_stdio(settings)
    except KeyboardInterrupt:
        raise typer.Exit from None


@mcp.command()
def config(
    client: Annotated[str, typer.Argument(metavar="CLIENT", help="claude-code, codex or cursor.")],
    http: Annotated[bool, typer.Option("--http", help="For a server that runs already.")] = False,
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port of that server.")] = HTTP_PORT,
    root: Annotated[list[Path] | None, typer.Option(metavar="FOLDER", help=ROOT_HELP)] = None,
) -> None:
    """Print the settings that add this server to a client; where they belong is said on stderr.

    \b
    Examples:
      warpsight mcp config claude-code > .mcp.json
      warpsight mcp config codex >> .codex/config.toml
      warpsight mcp config cursor --http
    """
    from warpsight.serve.clients import TOKEN_VARIABLE, find_client, server_words

    found = find_client(client)
    if http:
        print(found.http(f"http://127.0.0.1:{port}/mcp"))
        print(f"put this into {found.file}, and the server's token into {TOKEN_VARIABLE}", file=sys.stderr)
        return
    roots = tuple(folder.resolve() for folder in root or [])
    print(found.stdio(server_words(own_command(), roots)))
    print(f"put this into {found.file} of the project, or into the same file in your home folder", file=sys.stderr)
