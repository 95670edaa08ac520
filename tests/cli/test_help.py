"""Every command's help has an example that the command line would take, and errors name a page that is there."""

from __future__ import annotations

import importlib
import io
import os
import pkgutil
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from tests.docs.commands import leaves, refusal

import warpsight
from warpsight.cli import pages
from warpsight.cli.app import GROUPS, VERBS, main
from warpsight.cli.output import fail
from warpsight.errors import UsageError, WarpsightError

DOCS = Path(__file__).parents[2] / pages.FOLDER
HELPED_BY_THE_VERB = ("WarpsightError", "UsageError", "ToolMissing")  # they come from anywhere


def help_of(words: list[str], monkeypatch: pytest.MonkeyPatch, columns: int = 200) -> str:
    monkeypatch.setenv("COLUMNS", str(columns))
    out = io.StringIO()
    with redirect_stdout(out), pytest.raises(SystemExit) as end:
        main([*words, "--help"])
    assert end.value.code in (0, None)
    return out.getvalue()


@pytest.mark.parametrize("words", [[], *leaves()], ids=lambda words: " ".join(words) or "warpsight")
def test_help_has_an_example_that_works(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    told = help_of(words, monkeypatch)
    examples = re.findall(r"^\s*(?:Examples?: )?(?:[A-Z_]+=\S+ )?(warpsight [^│]+?)\s*$", told, re.MULTILINE)
    assert examples, f"warpsight {' '.join(words)} --help has no example:\n{told}"
    for example in examples:
        asked = shlex.split(example.partition(" >")[0])[1:]
        assert asked[: len(words)] == words or asked[:1] == words[:1], f"{example} is about something else"
        assert refusal(asked, whole=True) is None, f"{example}: {refusal(asked, whole=True)}"


@pytest.mark.parametrize("words", [[], *leaves()], ids=lambda words: " ".join(words) or "warpsight")
def test_help_is_whole_on_a_narrow_terminal(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is cut, and an example can be copied: it stands on one line."""
    told = help_of(words, monkeypatch, columns=80)
    assert "\N{HORIZONTAL ELLIPSIS}" not in told
    examples = re.search(r"Examples?:(.*?)(?:\n\s*\n|Page:|\N{BOX DRAWINGS LIGHT ARC DOWN AND RIGHT})", told, re.DOTALL)
    assert examples is not None
    lines = [line.strip() for line in examples[1].splitlines() if line.strip()]
    assert [line for line in lines if not re.match(r"(?:[A-Z_]+=\S+ )?warpsight ", line)] == []


@pytest.mark.parametrize("verb", [verb.name for verb in VERBS])
def test_help_of_a_verb_names_its_page(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = re.search(r"Page: (\S+)", help_of([verb], monkeypatch))
    assert found is not None and found[1] == pages.page_of_verb(verb)
    assert (DOCS.parent / found[1]).is_file(), f"{found[1]} is not there"


def errors(root: type[WarpsightError]) -> Iterator[type[WarpsightError]]:
    for kind in root.__subclasses__():
        yield kind
        yield from errors(kind)


def test_every_error_leads_to_a_page_that_is_there() -> None:
    for module in pkgutil.walk_packages(warpsight.__path__, "warpsight."):
        if re.search(
            r"\.(errors|failures|ladder|store|replay|records|ledger|certificate|truth|looks|device|traces|raw_kernel|messages|images|contents|triton_ptx|build|pull|recording)$",
            module.name,
        ):
            importlib.import_module(module.name)
    known = {kind for kind in errors(WarpsightError) if kind.__module__.startswith("warpsight.")}
    assert len(known) > 20
    for kind in known:
        named = [parent.__name__ for parent in kind.__mro__ if parent.__name__ in pages.ERRORS]
        assert named or kind.__name__ in HELPED_BY_THE_VERB, f"no page for {kind.__module__}.{kind.__name__}"
    gone = set(pages.ERRORS) - {kind.__name__ for kind in known}
    assert not gone, f"there is no error called {gone}"
    assert all((DOCS / page).is_file() for page in (*pages.ERRORS.values(), pages.ANY))


def test_an_error_is_told_with_its_page(capsys: pytest.CaptureFixture[str]) -> None:
    from warpsight.runs.store import NoSuchRun

    fail(NoSuchRun("no run x", hint="warpsight runs lists them"), as_json=False, verb="show")
    assert capsys.readouterr().err == "error: no run x\n  try: warpsight runs lists them\n  read: docs/runs.md\n"
    fail(UsageError("what?"), as_json=False, verb="bench")
    assert capsys.readouterr().err == "error: what?\n  read: docs/bench.md\n"
    fail(UsageError("what?"), as_json=True, verb=None)
    assert '"page": "docs/index.md"' in capsys.readouterr().out


def test_verbs_are_shown_in_groups() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "warpsight.cli.app", "--help"], capture_output=True, text=True, check=True
    )
    for group, verbs in GROUPS.items():
        below = shown.stdout.partition(f" {group} ")[2].partition("╰")[0]
        assert [word for verb in verbs if (word := verb.name) not in below] == [], group


@pytest.mark.parametrize(
    ("words", "offered"), [("warpsight opt", "optimize"), ("warpsight optimize --strat", "--strategy")]
)
def test_a_shell_completes_verbs_and_their_options(words: str, offered: str) -> None:
    environment = {
        **os.environ, "_WARPSIGHT_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" ")),
    }  # fmt: skip
    code = "import sys; sys.argv[0] = 'warpsight'; from warpsight.cli.app import main; main()"
    ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert offered in ran.stdout.split(), ran.stderr
