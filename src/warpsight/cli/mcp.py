"""`warpsight mcp`: the tools for coding agents, over stdio or HTTP here; `mcp config` adds it to a client."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from warpsight.cli.device_argument import DEVICE_HELP, DEVICES
from warpsight.errors import ToolMissing
from warpsight.verbs.mcp import own_command

if TYPE_CHECKING:
    from rich.console import Console

ROOT_HELP = "Only tasks and kernels below this folder are read; can be repeated. By default the current folder."
FEEDBACK_HELP = "What profile and time show: none, time, raw, curated."
FEW_HELP = "Six tools in at most 500 tokens, for agents with a small model."
WORKERS_HELP = "Processes that run the tools: with --http one for each core, else none (0: the server itself)."
HTTP_PORT = 8765

mcp = typer.Typer(
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: warpsight mcp config claude-code --write",
)


@mcp.callback()
def serve(
    ctx: typer.Context,
    http: Annotated[bool, typer.Option("--http", help="HTTP on 127.0.0.1 instead of stdin and stdout.")] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="For --http; 0 takes a free one.")] = HTTP_PORT,
    root: Annotated[list[Path] | None, typer.Option(metavar="FOLDER", help=ROOT_HELP)] = None,
    device: Annotated[str, typer.Option(metavar=DEVICES, help=DEVICE_HELP)] = "virtual",
    feedback: Annotated[str, typer.Option(metavar="MODE", help=FEEDBACK_HELP)] = "curated",
    workers: Annotated[int | None, typer.Option(min=0, metavar="N", help=WORKERS_HELP)] = None,
    few: Annotated[bool, typer.Option("--few", help=FEW_HELP)] = False,
    unsafe: Annotated[
        bool, typer.Option("--unsafe", help="Run without the protections that this system lacks; results say so.")
    ] = False,
) -> None:
    """Serve the tools to a coding agent (Model Context Protocol).

    \b
    Examples:
      warpsight mcp config claude-code --write
      warpsight mcp --root ~/kernels
      WARPSIGHT_MCP_TOKEN=... warpsight mcp --http --port 8765
    """
    if ctx.invoked_subcommand is not None:
        return
    from warpsight.folders import data_folder
    from warpsight.serve.places import Places
    from warpsight.serve.settings import ServeSettings, workers_for
    from warpsight.session.feedback import require_offered

    roots = Places(root or [Path.cwd()]).roots
    count = workers_for(device, http=http, asked=workers)
    settings = ServeSettings(roots, data_folder(), device, require_offered(feedback), unsafe, count, few)
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
    client: Annotated[str, typer.Argument(metavar="CLIENT", help="claude-code, codex, cursor or vscode.")],
    http: Annotated[bool, typer.Option("--http", help="For a server that runs already.")] = False,
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port of that server.")] = HTTP_PORT,
    root: Annotated[list[Path] | None, typer.Option(metavar="FOLDER", help=ROOT_HELP)] = None,
    write: Annotated[bool, typer.Option("--write", help="Write them where the client reads them.")] = False,
    few: Annotated[bool, typer.Option("--few", help=FEW_HELP)] = False,
    user: Annotated[bool, typer.Option("--user", help="For all your projects, not for this one.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace another entry of the same name.")] = False,
) -> None:
    """Print the settings that add this server to a client, or write them where it reads them.

    \b
    Examples:
      warpsight mcp config claude-code --write
      warpsight mcp config codex --write --user
      warpsight mcp config cursor --http
    """
    from warpsight.serve.clients import TOKEN_VARIABLE, find_client, server_words, write_settings

    found = find_client(client)
    roots = tuple(folder.resolve() for folder in root or [])
    words = server_words(own_command(), roots, few=few)
    entry = found.http(f"http://127.0.0.1:{port}/mcp") if http else found.stdio(words)
    file = Path.home() / found.own_file if user else Path(found.file)
    token = f"; put the server's token into {TOKEN_VARIABLE}" if http else ""
    if write:
        changed = write_settings(found, file, entry, force=force)
        print(f"{'wrote' if changed else 'already in'} {file}{token}")
        return
    print(entry)
    print(f"put this into {file}, or add --write{token}", file=sys.stderr)


@mcp.command("tools")
def list_tools(
    few: Annotated[bool, typer.Option("--few", help=FEW_HELP)] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """List the tools that a client is offered, and how many tokens each takes of its model's attention.

    \b
    Example:
      warpsight mcp tools
    """
    from warpsight.cli.output import emit
    from warpsight.serve.listing import few_listing, listing, token_cost

    offered = few_listing() if few else listing()
    rows = [{"tool": tool.name, "title": tool.title, "tokens": token_cost(tool)} for tool in offered]
    total = sum(token_cost(tool) for tool in offered)

    def render(console: Console) -> None:
        for row in rows:
            console.print(f"{row['tokens']:>6}  {row['tool']:<12} {row['title']}", markup=False, highlight=False)
        console.print(f"{total:>6}  in all, estimated high (name, description and arguments)", highlight=False)

    emit({"tools": rows, "tokens": total}, as_json=as_json, render=render)
