"""Every command of the README and of docs/ is run here, or says beside it why it cannot be; none may be out of date.

The commands of a page are run in their order, in a folder of their own that has the example tasks and what
`prepared.py` puts there.
"""

from __future__ import annotations

import ast
import importlib
import os
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.docs.commands import PAGES, ROOT, Command, commands_of, inline_commands, leaves, make_targets, refusal
from tests.docs.prepared import PREPARED, stands_for

from warpsight.cli.app import main

RUN_PAGES = [page for page in PAGES if any(c.program == "warpsight" and c.mark is None for c in commands_of(page))]
# What these do is tested elsewhere too, and takes longer than a page should in `make test`.
SLOW_PAGES = (
    *("docs/runs.md", "docs/report.md", "docs/tools.md", "docs/corpus.md", "docs/time-model.md"),
    *("docs/opencl.md", "docs/triton.md", "docs/tune.md", "docs/importing.md"),
)
# Packages that need not be there.
NEEDED = {"docs/opencl.md": "pyopencl", "docs/triton.md": "triton", "docs/importing.md": "torch"}


def refused(command: Command, *, whole: bool) -> str | None:
    if command.program == "make":
        wanted = [word for word in command.words if "=" not in word]
        unknown = [word for word in wanted if word not in make_targets()]
        return f"make has no {unknown[0]}" if unknown or not wanted else _bench_sections(command)
    return refusal(command.words, whole=whole)


def _bench_sections(command: Command) -> str | None:
    if command.words[0] != "bench":
        return None
    sections = re.findall(r'^    "(\w+)": ', (ROOT / "benchmarks" / "__main__.py").read_text(), re.MULTILINE)
    asked = [word.removeprefix("ARGS=").partition(":")[0] for word in command.words if word.startswith("ARGS=")]
    unknown = [name for part in asked for name in part.split() if name.partition(":")[0] not in sections]
    return f"there is no benchmark {unknown[0]}" if unknown else None


@pytest.mark.parametrize("page", PAGES)
def test_every_command_is_one_that_there_is(page: str) -> None:
    wrong = [f"{c}\n  {why}" for c in commands_of(page) if (why := refused(c, whole=True)) is not None]
    wrong += [f"{c}\n  {why}" for c in inline_commands(page) if (why := refused(c, whole=False)) is not None]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("page", PAGES)
def test_what_make_does_is_marked(page: str) -> None:
    """These tests are themselves run by make, so they do not run it."""
    bare = [str(c) for c in commands_of(page) if c.program == "make" and c.mark is None]
    assert not bare, f"say how long they take, (takes minutes) or (takes hours): {bare}"


def test_every_verb_is_on_some_page() -> None:
    told = {
        c.words[0] for page in PAGES for c in (*commands_of(page), *inline_commands(page)) if c.program == "warpsight"
    }
    verbs = {words[0] for words in leaves()}
    assert verbs <= told, f"no page says how to use {verbs - told}"


@pytest.mark.parametrize("page", PAGES)
def test_python_on_a_page_imports_what_there_is(page: str) -> None:
    for block in re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("warpsight"):
                module = importlib.import_module(node.module or "")
                missing = [name.name for name in node.names if not hasattr(module, name.name)]
                assert not missing, f"{page}: {node.module} has no {missing[0]}"


def test_the_model_of_the_page_about_extending_is_one() -> None:
    from warpsight.models.model import Request, UserMessage

    (block,) = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs/extending.md").read_text(), re.DOTALL | re.MULTILINE)
    names: dict[str, Any] = {}
    exec(block, names)
    reply = names["mine"].reply(Request(messages=(UserMessage(text="Make it faster."),)))
    assert names["mine"].name == "mine" and [call.name for call in reply.calls] == ["profile"]


def _runs(folder: Path, capfd: pytest.CaptureFixture[str]) -> Callable[..., int]:
    def run(*words: str) -> int:
        with pytest.raises(SystemExit) as end:
            main([stands_for(word, folder) for word in words])
        code = end.value.code
        return code if isinstance(code, int) else 0

    return run


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=pytest.mark.slow if page in SLOW_PAGES else ()) for page in RUN_PAGES]
)
def test_the_commands_of_a_page_run(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    if page in NEEDED:
        pytest.importorskip(NEEDED[page])
    for name in ("tasks", "configs"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WARPSIGHT_DATA", str(tmp_path / "data"))
    run = _runs(tmp_path, capfd)
    if page in PREPARED:
        PREPARED[page](tmp_path, run)
    capfd.readouterr()
    for command in commands_of(page):
        if command.program != "warpsight" or command.mark is not None:
            continue
        _set(command, monkeypatch)
        code = run(*command.words)
        shown = capfd.readouterr()
        assert code == 0, f"{command} ended with {code}\n{shown.out}\n{shown.err}"
        assert shown.out.strip(), f"{command} said nothing"
        if (into := re.search(r" > (\S+)$", command.text)) is not None:
            Path(into[1]).write_text(shown.out)


def _set(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables that stand before a command."""
    for word in shlex.split(command.text):
        name, equals, value = word.partition("=")
        if not equals or not name.isupper():
            break
        monkeypatch.setitem(os.environ, name, value)  # type: ignore[arg-type]
