"""Reads the commands out of the pages, and asks the command line itself whether it knows them.

A command is a line in a code block that begins with `warpsight` or `make` (variables may stand before it, a backslash
joins lines, `#` begins a comment). A mark in its comment says that the test cannot run it, and why: `(needs a GPU)`. A
line of the block that is only a comment marks all that follow it. Words in capitals stand for what the reader has.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from warpsight.cli.app import VERBS, build_app

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "CONTRIBUTING.md", *sorted(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md")))
MARKS = (
    "needs a GPU",
    "needs a key",
    "needs cuda-core",  # from pip, which some tests have
    "needs nvcc",  # from pip, which the tests of whole programs have
    "needs a server",  # of a language model
    "needs a report",  # of a profiler that is not here
    "needs the local model",  # torch and weights, more than a gigabyte
    "takes minutes",
    "takes hours",
    "until Ctrl-C",
)
_MARK = re.compile(rf"\(({'|'.join(MARKS)})[^)]*\)")
_COMMAND = re.compile(r"(?:[A-Z_]+=\S+ )*(warpsight|make)(?: |$)")
_INLINE = re.compile(r"`((?:[A-Z_]+=\S+ )?(?:warpsight|make) [^`\n]+)`")


@dataclass(frozen=True)
class Command:
    """One command of a page. `mark` says why a test cannot run it."""

    page: str
    line: int
    text: str
    mark: str | None

    @property
    def words(self) -> list[str]:
        """The words after `warpsight` or `make`; without what a shell would do with the output."""
        words = shlex.split(self.text.partition(" >")[0])
        return words[next(i for i, word in enumerate(words) if word in ("warpsight", "make")) + 1 :]

    @property
    def program(self) -> str:
        found = _COMMAND.match(self.text)
        assert found is not None
        return found[1]

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: {self.text}"


def commands_of(page: str) -> list[Command]:
    """Every command in the code blocks of a page."""
    return [command for block in blocks(page) for command in _in_block(page, block)]


def inline_commands(page: str) -> list[Command]:
    """Commands in the sentences and tables of a page; they are looked at, and not run."""
    return [
        Command(page, number, found, None)
        for number, text in enumerate((ROOT / page).read_text().splitlines(), 1)
        if not text.startswith("    ")
        for found in _INLINE.findall(text)
    ]


def blocks(page: str) -> Iterator[list[tuple[int, str]]]:
    """Fenced blocks and indented ones, each as its lines with their numbers."""
    fenced, block = False, list[tuple[int, str]]()
    for number, text in enumerate((ROOT / page).read_text().splitlines(), 1):
        if text.startswith("```"):
            yield block
            fenced, block = not fenced, []
        elif fenced or text.startswith("    "):
            block.append((number, text.strip()))
        elif block:
            yield block
            block = []
    yield block


def _in_block(page: str, block: list[tuple[int, str]]) -> Iterator[Command]:
    over, joined, start = None, "", 0
    for number, text in block:
        start = start if joined else number
        joined += text.removesuffix("\\")
        if text.endswith("\\"):
            continue
        command, comment = _split(joined)
        joined = ""
        mark = _MARK.search(comment)
        if not command:
            over = mark[1] if mark else None
        elif _COMMAND.match(command):
            yield Command(page, start, command, mark[1] if mark else over)


def _split(text: str) -> tuple[str, str]:
    """A line and its comment; a `#` inside of a word or quotes begins none."""
    found = re.search(r"(?:^|\s)#\s?(.*)$", text)
    return (text[: found.start()].strip(), found[1]) if found else (text.strip(), "")


def refusal(words: list[str], *, whole: bool) -> str | None:
    """Why the command line would refuse these words; None when it takes them. `whole`: arguments must be there too."""
    app: Any = typer.main.get_command(build_app(words))
    name, words = "warpsight", list(words)
    context: Any = app.make_context(name, [], resilient_parsing=True)
    command: Any = app
    while hasattr(command, "commands"):
        if not words or words[0].startswith("-"):
            break
        if words[0] not in command.commands:
            return None if command is not app and not command.no_args_is_help else f"no command {words[0]!r}"
        name = words.pop(0)
        context, command = (
            command.make_context(name, [], parent=context, resilient_parsing=True),
            command.commands[name],
        )
    if not whole:
        words = words[: words.index("--")] if "--" in words else words  # what follows is the program's
        known = {option for parameter in command.get_params(context) for option in parameter.opts}
        unknown = [word for word in words if word.startswith("--") and word.partition("=")[0] not in known]
        return f"no option {unknown[0]}" if unknown else None
    if hasattr(command, "commands") and not words and command.no_args_is_help:
        return "it needs a sub-command"
    return _parsed(command, name, words, context)


def _parsed(command: Any, name: str, words: list[str], parent: Any) -> str | None:
    """What the parser itself says; asking for help or the version is an end, not a refusal."""
    try:
        command.make_context(name, list(words), parent=parent).close()
    except Exception as problem:
        if type(problem).__name__ == "Exit":
            return None
        if (told := getattr(problem, "format_message", None)) is not None:
            return str(told())
        raise
    return None


def make_targets() -> set[str]:
    """What `make` knows."""
    text = (ROOT / "Makefile").read_text()
    named = re.search(r"^\.PHONY:(.*)$", text, re.MULTILINE)
    assert named is not None
    return set(named[1].split())


def leaves() -> list[list[str]]:
    """Every command that can be run: verbs, and the sub-commands of those that have some."""
    found: list[list[str]] = []
    for verb in VERBS:
        command: Any = typer.main.get_command(build_app([verb.name])).commands[verb.name]  # type: ignore[attr-defined]
        subs = getattr(command, "commands", {})
        found += [[verb.name], *([verb.name, name] for name in subs)]
    return found
