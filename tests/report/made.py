"""Runs to look at, made by the real loop and the real store; one of them says everything that could do harm."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from tests.reason.small_box import GOOD, KERNEL, SmallBox, job, turn

from warpsight.models.scripted import ScriptedModel, ScriptedTurn
from warpsight.nouns.run import Run
from warpsight.reason.budget import Budget
from warpsight.reason.job import Opening, Strategy
from warpsight.reason.loop import run_loop
from warpsight.reason.resume import OpenedBox, run_job
from warpsight.runs.sqlite import SqliteStore

SUCCESS, FAILURE, RESUMED, HOSTILE, OPEN = (f"2026010{day}-small-{name}" for day, name in enumerate("abcde", 1))
MANY = "20260107-small-many"
HARM = (
    "</pre></details></main><script>window.harmed = 1</script><img src=x onerror='window.harmed = 1'>"
    '"\'><svg onload="window.harmed = 1"></svg><style>body{display:none}</style><!-- ]]> --> &lt; \x00\x1b \u202e abc'
    "<a href='javascript:window.harmed=1'>x</a><iframe src='http://192.0.2.1/'></iframe><base href='//192.0.2.1'>"
)


def play(folder: Path, run_id: str, turns: tuple[ScriptedTurn, ...], **changes: Any) -> Run:
    with SqliteStore(folder) as store:
        return run_loop(job(run_id, **changes), ScriptedModel(turns), SmallBox(), store)


def make_success(folder: Path) -> Run:
    return play(folder, SUCCESS, GOOD)


def make_failure(folder: Path) -> Run:
    wrong = turn("submit", kernel="// launch: grid=(1) block=(1)\nnothing\n", cause="I guessed", predicts={})
    return play(folder, FAILURE, (turn("check", kernel="broken\n"), wrong))


def make_resumed(folder: Path) -> Run:
    """Stopped when the script ends, and gone on with by another process's model."""
    assert play(folder, RESUMED, GOOD[:3]).outcome == "stopped"
    return play(folder, RESUMED, GOOD)


def make_hostile(folder: Path) -> Run:
    """A kernel, words, reasoning, arguments, a cause and a model's name full of markup."""
    kernel = f"{KERNEL}// {HARM}\n".replace("\x00", "")
    turns = (
        ScriptedTurn(text=HARM, reasoning=HARM, calls=turn("profile", base="given").calls),
        turn("check", HARM, kernel=kernel.replace("stride = 32", "stride = 1")),
        turn(HARM.replace(" ", ""), HARM),
        turn("submit", cause=HARM, predicts={"sectors_per_request": "down", "<b>x</b>": "up"}),
    )
    opening = Opening(system=HARM, user=HARM, kernel=kernel)
    return play(folder, HOSTILE, turns, opening=opening, model=f"scripted:{HARM}", device=HARM)


def make_many(folder: Path, strategy: str) -> Run:
    """Two attempts put together."""

    def opening(kernel: str, note: str) -> Opening:
        return Opening(system="s", user=note, kernel=kernel)

    with SqliteStore(folder) as store:
        asked = job(MANY, strategy=Strategy.model_validate({"name": strategy, "attempts": 2}))
        return run_job(asked, ScriptedModel(GOOD), OpenedBox(SmallBox(), opening), store)


def make_long(folder: Path, steps: int) -> Run:
    """As many steps, with many different kernels, long results and long words."""
    filler = "The stores lie a row apart, so each request touches 32 sectors where 4 would do. " * 40
    lines = "".join(f"// line {i} of a long kernel, which is here to be shown again and again\n" for i in range(60))
    given = KERNEL + lines
    turns = [
        turn("time", filler, kernel=f"{given}// try {i}\n".replace("stride = 32", f"stride = {i % 30 + 1}"))
        for i in range(steps // 3 + 1)
    ]
    opening = Opening(system=filler, user=given, kernel=given)
    return play(folder, "20260109-small-long", tuple(turns), opening=opening, budget=Budget(tool_calls=steps // 3 + 1))


class Outline(HTMLParser):
    """What a parser makes of a page: its elements, its texts by id, its scripts and anything that could act."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.ids: dict[str, str] = {}
        self.links: list[str] = []
        self.acting: list[str] = []
        self.scripts: list[str] = []
        self.policy = ""
        self.text = ""
        self._open: list[tuple[str, str | None]] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append(tag)
        self.acting += [name for name in found if name.startswith("on") or name in ("style", "src", "srcdoc")]
        if tag == "a":
            self.links.append(found.get("href") or "")
        if found.get("http-equiv"):
            self.policy = found.get("content") or ""
        if tag == "script":
            self.scripts.append("")
        if tag not in ("meta", "input", "br", "hr", "link"):
            self._open.append((tag, found.get("id")))
            if found.get("id"):
                assert found["id"] not in self.ids, f"two elements are called {found['id']}"
                self.ids[found["id"] or ""] = ""

    def handle_endtag(self, tag: str) -> None:
        assert self._open and self._open[-1][0] == tag, f"</{tag}> closes {self._open[-1:]}"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1][0] == "script":
            self.scripts[-1] += data
        self.text += data
        for _, name in self._open:
            if name:
                self.ids[name] += data
