"""The `warpsight` command: a table of verbs, each loaded only when it is asked for.

A verb is a module `warpsight.cli.<name>` with a function (or a typer app) of the same name, plus one line in VERBS.
Help is made from the table alone, so `warpsight --help` loads none of the parts. Errors become exit codes in
`output.fail`.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Annotated, NamedTuple, get_args, get_type_hints

import typer
from typer.models import OptionInfo

from warpsight import __version__
from warpsight.cli import output
from warpsight.cli.memory import keep_freed_memory, require_memory
from warpsight.cli.narrow import GroupedVerbs, is_narrow
from warpsight.processes import stop

UNSAFE = "--unsafe"
UNSAFE_HELP = "Go on without the protections that this system lacks (`doctor` lists them); every result then says so."
PASSES_ON = {"allow_interspersed_args": False}
VERBOSE = ("-v", "--verbose")
VERBOSE_HELP = "Print events on stderr, a line each: compiles, cache hits, workers, launches."
START = "Example: warpsight demo\n\nPages: warpsight docs"
WITH_MODELS = ("optimize", "resume", "bench", "train", "mcp")


class Verb(NamedTuple):
    """One sub-command: its name, which is also its module where none is named, and the line that help shows."""

    name: str
    help: str
    module: str = ""
    passes_on: bool = False  # what stands after its first argument is for a program


GROUPS: dict[str, tuple[Verb, ...]] = {
    "Make a kernel faster": (
        Verb(
            "demo", "Make an example kernel faster, to see what that looks like; needs no model and no GPU (simulated)."
        ),
        Verb("optimize", "Let a model make a kernel faster: it profiles, edits, checks and times."),
        Verb("rewrite", "Try the known rewrites for a finding, or for all; the best is checked and timed (simulated)."),
        Verb("tune", "Search the launch and the named constants of a kernel; no model takes part."),
    ),
    "See why it is slow": (
        Verb(
            "profile", "What a kernel does and where time goes, by source line: simulated, measured or from a report."
        ),
        Verb("diagnose", "Why a kernel is slow: findings with evidence, source line and what to try (simulated)."),
        Verb("sass", "The machine code of a kernel: how often each instruction ran, and where warps waited."),
        Verb("explain", "What a counter or a finding means."),
        Verb("run", "Run a whole CUDA program without a GPU: a .cu file, a folder or a binary.", "run", True),
    ),
    "Prove that it is right and faster": (
        Verb("check", "Is a kernel right? Run it on every size, compare with the reference, look for faults."),
        Verb("time", "How long a kernel takes: simulated, or measured on this machine (OpenCL, CUDA, HIP)."),
        Verb("compare", "Is a kernel right, and faster than another? With --ledger a winner gets a certificate."),
        Verb("verify", "Does a certificate hold? Compute every hash and number again; --rerun runs the kernels too."),
        Verb("keys", "Show the key that signs this machine's certificates, and trust keys of others."),
        Verb(
            "guard",
            "Keep a repository's kernels right and fast: a baseline to commit, a verdict on each change (simulated).",
        ),
    ),
    "Make tasks": (
        Verb("new", "Make a task folder to start from."),
        Verb("capture", "One launch of a program's kernel becomes a task, to make it faster.", "capture", True),
        Verb(
            "import", "Read tasks that others wrote: KernelBench, HeCBench, GPU MODE, flashinfer-trace.", "import_task"
        ),
    ),
    "Look at runs": (
        Verb("runs", "List the stored runs, newest first."),
        Verb("show", "Show a run step by step: what was said and done, and how it ended."),
        Verb("report", "Write one HTML file about a run: result, charts, changes, reasons, transcript."),
        Verb("view", "Look at the stored runs in a browser: list, compare, follow one that goes on."),
        Verb("resume", "Go on with a run that was interrupted."),
        Verb("replay", "Repeat a stored run from its records, without model and device, and compare."),
        Verb("export", "Write a run as ATIF JSON, as a training row or as flashinfer-trace."),
    ),
    "Models, training, measurements": (
        Verb("models", "Fetch larger weights for --model local:NAME: list, pull and verify, remove."),
        Verb("corpus", "Generate tasks with planted defects, of which the right answer is known (simulated)."),
        Verb("train", "Train a model: write traces from a corpus, tune on them, reinforce."),
        Verb("bench", "How well models find causes and make kernels faster, on tasks they never saw (simulated)."),
    ),
    "Coding agents": (
        Verb("mcp", "Serve the tools to a coding agent over MCP: stdio, or HTTP on this machine."),
        Verb("skills", "Install the skill that tells a coding agent how to use the tools."),
    ),
    "This machine, these pages": (
        Verb("doctor", "Say what is installed, what is missing and how to get it."),
        Verb("gpus", "Show known GPUs, their data sheets, and how many blocks of a kernel fit on them."),
        Verb("vgpu", "The virtual GPU: which PTX it runs."),
        Verb("docs", "List these pages, or print one."),
    ),
}
VERBS = tuple(verb for group in GROUPS.values() for verb in group)


def build_app(argv: Sequence[str]) -> typer.Typer:
    """The command tree for these arguments: the verb they name is loaded, the others are only names and help."""
    narrow = is_narrow()
    app = typer.Typer(
        name="warpsight",
        cls=GroupedVerbs,
        rich_markup_mode=None if narrow else "rich",
        help="Lets a language model see the GPU: compiles, checks, times and profiles kernels, with a GPU or without.",
        epilog=START,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    asked = _verb_of(_being_completed() or argv)
    for group, verb in ((group, verb) for group, verbs in GROUPS.items() for verb in verbs):
        if verb.name != asked:
            app.command(verb.name, help=verb.help, rich_help_panel=group)(_placeholder)
            continue
        module = verb.module or verb.name  # `import` is a word that Python keeps for itself
        loaded = getattr(importlib.import_module(f"warpsight.cli.{module}"), module)
        page = _page_line(verb.name)
        if isinstance(loaded, typer.Typer):
            loaded.rich_markup_mode = app.rich_markup_mode
            example = loaded.info.epilog
            more = f"{example}\n\n{page}" if isinstance(example, str) else page
            app.add_typer(loaded, name=verb.name, help=verb.help, epilog=more, rich_help_panel=group)
        else:
            passed_on = PASSES_ON if verb.passes_on else None
            app.command(verb.name, epilog=page, context_settings=passed_on, rich_help_panel=group)(loaded)
    return app


def main(argv: Sequence[str] | None = None) -> None:
    """Run one command and leave with its exit code. As the program itself, signals are handled too."""
    if argv is None:
        stop.install()
        gc.set_threshold(20_000, 20, 20)  # a command makes much that stays: looking through it again costs a twentieth
        keep_freed_memory()
        if _verb_of(sys.argv[1:]) not in WITH_MODELS:  # the others multiply no matrices, and its threads spin
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")  # else every installed package is looked through
    words = list(sys.argv[1:] if argv is None else argv)
    ours, theirs = _ours(words)
    if UNSAFE in ours:  # before or after the verb: it is about the machine, not about the question
        os.environ["WARPSIGHT_UNSAFE"] = "1"
    if any(word in VERBOSE for word in ours):
        os.environ["WARPSIGHT_VERBOSE"] = "1"  # for the processes of a pool, too
    words = [*(word for word in ours if word != UNSAFE and word not in VERBOSE), *theirs]
    if os.environ.get("WARPSIGHT_VERBOSE", "") not in ("", "0"):
        from warpsight.events import print_events

        print_events()
    try:
        require_memory()
        build_app(words)(args=words, prog_name="warpsight")
    except BaseException as problem:
        if (code := stop.code_of_stop()) is not None:  # whatever else came of it, a signal was the cause
            output.say_stopped(stop.name_of_stop(), _verb_of(words))
            sys.exit(code)
        if not isinstance(problem, Exception):
            raise
        sys.exit(output.fail(problem, as_json="--json" in ours, verb=_verb_of(words)))


def _ours(words: list[str]) -> tuple[list[str], list[str]]:
    """The words that are for us, and those of the program that a verb runs: its options are its own.

    Theirs begin at `--`, and of a verb that runs a program at its first word that is neither an option of ours nor the
    value of one. What is there on the disk plays no part.
    """
    verb = next((verb for verb in VERBS if verb.passes_on and verb.name == _verb_of(words)), None)
    end = words.index("--") if "--" in words else len(words)
    if verb is None:
        return words[:end], words[end:]
    with_value = _options_with_value(verb)
    at = words.index(verb.name) + 1
    while at < end:
        if not words[at].startswith("-"):
            return words[:at], words[at:]
        at += 2 if words[at] in with_value else 1
    return words[:end], words[end:]


def _options_with_value(verb: Verb) -> set[str]:
    """The options of a verb after which another word belongs to them."""
    module = importlib.import_module(f"warpsight.cli.{verb.module or verb.name}")
    found: set[str] = set()
    for name, annotation in get_type_hints(getattr(module, verb.module or verb.name), include_extras=True).items():
        kind, *said = get_args(annotation) or (None,)
        if said and isinstance(said[0], OptionInfo) and kind is not bool:
            found |= {*(said[0].param_decls or ()), f"--{name.replace('_', '-')}"}
    return found


def _being_completed() -> list[str]:
    """The words that a shell asks us to complete; none where it does not."""
    if "_WARPSIGHT_COMPLETE" not in os.environ:
        return []
    return (os.environ.get("_TYPER_COMPLETE_ARGS") or os.environ.get("COMP_WORDS", "")).split()[1:]


def _verb_of(argv: Sequence[str]) -> str | None:
    return next((word for word in argv if not word.startswith("-")), None)


def _page_line(verb: str) -> str:
    from warpsight.cli.pages import page_of_verb, way_to  # here, so that help alone loads nothing more

    return f"Page: {way_to(page_of_verb(verb))}"


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"warpsight {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    unsafe: Annotated[bool, typer.Option(UNSAFE, help=UNSAFE_HELP)] = False,
    verbose: Annotated[bool, typer.Option(*VERBOSE, help=VERBOSE_HELP)] = False,
) -> None:
    """Options that stand before any verb."""


def _placeholder() -> None:
    raise AssertionError("a verb was run that the arguments did not name")


if __name__ == "__main__":
    main()
