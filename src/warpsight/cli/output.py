"""What a command prints and how it ends: a JSON document or text on stdout, errors on stderr, one table of exit codes.

Loads rich only when text is to be shown. What must stay true: with --json, stdout is exactly one JSON document, also
when the command fails; and exit code 1 always means that the thing asked about is wrong, never that we are.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from warpsight.errors import WarpsightError

if TYPE_CHECKING:
    from rich.console import Console


_AGAIN = "the same command goes on"
GO_ON = {
    "bench": _AGAIN, "corpus": _AGAIN, "train": _AGAIN,
    "optimize": "`warpsight resume last` goes on", "resume": "`warpsight resume last` goes on",
    "tune": "`warpsight tune --resume last` goes on",
}  # fmt: skip


class ExitCode(IntEnum):
    """How a command ends."""

    FINE = 0
    WRONG = 1
    USAGE = 2
    TOOL_MISSING = 3
    UNPROVEN = 4
    BROKEN = 5


def emit(document: Any, *, as_json: bool, render: Callable[[Console], None]) -> None:
    """Print the result: the document as JSON, or what `render` draws on a rich console."""
    missing = _missing_protections()
    if as_json:
        whole: Any = json.loads(json.dumps(document, allow_nan=False, default=_plain))
        if missing:
            whole = {**(whole if isinstance(whole, dict) else {"result": whole}), "unsafe": list(missing)}
        print(json.dumps(whole, indent=2, allow_nan=False))
        return
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    render(console)
    if missing:
        console.print(f"unsafe: ran without these protections: {', '.join(missing)}", style="bold red", markup=False)


def _missing_protections() -> tuple[str, ...]:
    """What the jail lacked, where a person said to go on without it; nothing is probed otherwise."""
    if not os.environ.get("WARPSIGHT_UNSAFE"):
        return ()
    from warpsight.jail import require_protections
    from warpsight.jail.worker import told_unsafe

    if not told_unsafe():
        return ()
    return require_protections(unsafe=True)


def fail(problem: BaseException, *, as_json: bool, verb: str | None = None) -> int:
    """Report an error on stderr, with the page that helps, and return the exit code it means. Anything unforeseen is
    our fault, with its trace."""
    from warpsight.cli.memory import as_memory_problem
    from warpsight.cli.pages import page_of_error, way_to

    page: str | None = None
    if not isinstance(problem, WarpsightError):
        problem = as_memory_problem(problem) or problem
    if isinstance(problem, WarpsightError):
        message, hint, code = problem.message, problem.hint, problem.exit_code
        page = way_to(page_of_error(problem, verb))
        print(f"error: {problem}\n  read: {page}", file=sys.stderr)
    else:
        message, code = f"{type(problem).__name__}: {problem}", int(ExitCode.BROKEN)
        hint = "this is a fault in warpsight: please report it with the trace"
        traceback.print_exception(problem, file=sys.stderr)
        print(f"error: {message}\n  {hint}", file=sys.stderr)
    if as_json:
        error = {"kind": type(problem).__name__, "message": message, "hint": hint, "page": page, "exit_code": code}
        print(json.dumps({"error": error}, indent=2))
    return code


def say_stopped(signal: str, verb: str | None) -> None:
    """Say on stderr that a signal ended the command, and how to go on."""
    more = GO_ON.get(verb or "", "")
    print(f"stopped by {signal}; what was finished is kept{more and '; '}{more}", file=sys.stderr)


def _plain(value: Any) -> Any:
    """JSON for the records, else the text. Through JSON itself, since only there infinities and NaN become strings."""
    dump = getattr(value, "model_dump_json", None)
    return json.loads(dump()) if dump is not None else str(value)
