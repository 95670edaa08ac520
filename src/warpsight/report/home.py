"""The home page of the local view: runs as cards, kept profiles of programs, search. Markup only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from warpsight.errors import WarpsightError
from warpsight.report.html import Html, join, tag
from warpsight.report.program_page import duration
from warpsight.report.story import model_name
from warpsight.report.trail import TimedKernel, best_of, sparkline
from warpsight.runs.programs import KeptProgram
from warpsight.runs.store import RunSummary
from warpsight.vgpu.gpus import find_gpu

A_PAGE = 48
_LONG = 60
# (class, words) by how a run ended; a faster kernel comes before these.
_STATES = {
    "submitted": ("", "no faster kernel"),
    "at_roofline": ("", "ended at the roofline"),
    "budget_spent": ("unclear", "budget spent"),
    "gave_up": ("wrong", "gave up"),
    "broken": ("wrong", "broken off"),
    "stopped": ("unclear", "stopped, can be resumed"),
}


class RunCard(NamedTuple):
    """A run, and what was timed in it."""

    line: RunSummary
    trail: tuple[TimedKernel, ...]


class HomePage(NamedTuple):
    """All that the page shows: cards of one page of runs, how many fit, what is searched for."""

    cards: Sequence[RunCard]
    fit: int
    every: int
    page: int
    programs: Sequence[KeptProgram]
    wanted: Mapping[str, str]
    choices: Mapping[str, Sequence[str]]


def home_body(found: HomePage) -> Html:
    """The header with what there is, the search, the cards."""
    runs = f"{found.fit} of {_count(found.every, 'run')}" if found.fit < found.every else _count(found.every, "run")
    kept = f", {_count(len(found.programs), 'program')}" if found.programs else ""
    jumps = [tag("a", "Runs", href="#runs"), tag("a", "Programs", href="#programs")] if found.programs else None
    head = tag(
        "header",
        tag("h1", "Warpsight"),
        tag("p", f"{runs}{kept}, newest first"),
        None if jumps is None else tag("nav", jumps, aria_label="Sections"),
    )
    search = _search(found.wanted, found.choices)
    return join(head, search, tag("main", _runs(found), _programs(found.programs)))


def _runs(found: HomePage) -> Html:
    if not found.cards:
        return tag("section", tag("h2", "Runs"), tag("p", "No run fits.", id="none"), id="runs")
    cards = tag("ul", [_card(card) for card in found.cards], class_="runs")
    button = tag("p", tag("button", "Compare two runs"), " Tick two of them first.", class_="compare")
    form = tag("form", cards, button, action="compare", method="get")
    return tag("section", tag("h2", "Runs"), form, _pages(found), id="runs")


def _card(card: RunCard) -> Html:
    line = card.line
    kind, state = state_of(line)
    ratio = best_of(card.trail) if line.best_ratio is None else line.best_ratio
    better = kind in ("faster", "likely") or (line.outcome is None and ratio > 1)
    speed = tag("strong", f"{ratio:.2f}×" if better else "–", class_="speed" if better else "speed none")
    source = line.best_source or ("simulated" if line.device.startswith("virtual") else "")
    facts = (gpu_words(line.device), source if better else "", _cut(model_name(line.model)))
    when = line.started_at[:16].replace("T", " ")
    spent = f"{when} UTC · {_seconds(line.spent.seconds)}{_count(line.spent.tool_calls, 'call')}"
    box = tag("label", tag("input", type="checkbox", name="run", value=line.id), " compare", class_="pick")
    return tag(
        "li",
        tag("h3", tag("a", line.task, href=f"run/{line.id}")),
        tag("span", state, class_=f"state {kind}".strip()),
        tag("div", speed, sparkline(card.trail), class_="shown"),
        tag("p", " · ".join(filter(None, facts))),
        tag("p", spent, class_="dim"),
        tag("p", tag("code", line.id), class_="dim id"),
        box,
        class_="run",
        data_words=words_of(line),
    )


def words_of(line: RunSummary) -> str:
    """What a search looks through, here and in the browser."""
    kind, state = state_of(line)
    said = (line.id, line.task, line.model, gpu_words(line.device), state, line.outcome or kind, line.reason)
    return " ".join(said).lower()


def state_of(line: RunSummary) -> tuple[str, str]:
    """How a run stands, as a class and in words."""
    if line.outcome is None:
        return "open", "running, or cut off"
    if line.decision == "FASTER":
        return "faster", "faster"
    if line.decision == "LIKELY_FASTER":
        return "likely", "likely faster"
    return _STATES.get(line.outcome, ("", line.outcome))


def gpu_words(device: str) -> str:
    """The GPU's name where the device is a virtual one."""
    kind, _, key = device.partition(":")
    try:
        return find_gpu(key).name if kind == "virtual" and key else _cut(device)
    except WarpsightError:
        return _cut(device)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _cut(text: str) -> str:
    return text if len(text) <= _LONG else f"{text[:_LONG]}…"


def _seconds(value: float) -> str:
    return f"{value:.0f} s · " if value >= 1 else ""


def _search(wanted: Mapping[str, str], choices: Mapping[str, Sequence[str]]) -> Html:
    words = tag(
        "label", "search", tag("input", type="search", name="words", value=wanted.get("words", ""),
                               placeholder="task, GPU, model, state"),
    )  # fmt: skip
    fields = [
        tag("label", name, tag("select", _options(values, wanted.get(name, "")), name=name))
        for name, values in choices.items()
    ]
    return tag("form", words, fields, tag("button", "Filter"), action="runs", method="get", class_="filters",
               role="search")  # fmt: skip


def _options(values: Sequence[str], chosen: str) -> list[Html]:
    return [tag("option", _cut(value or "any"), value=value, selected=value == chosen) for value in ("", *values)]


def _pages(found: HomePage) -> Html | None:
    last = -(-found.fit // A_PAGE)
    if last < 2:
        return None
    kept = "&".join(f"{name}={_quoted(value)}" for name, value in found.wanted.items() if value)
    links = [
        tag("a", told, href=f"runs?{kept}{'&' if kept else ''}page={to}")
        for told, to in (("newer", found.page - 1), ("older", found.page + 1))
        if 1 <= to <= last
    ]
    return tag("p", f"page {found.page} of {last} ", [join(" ", link) for link in links], class_="pages")


def _quoted(text: str) -> str:
    from urllib.parse import quote

    return quote(text, safe="")


def _programs(programs: Sequence[KeptProgram]) -> Html | None:
    if not programs:
        return None
    cards = [_program(one) for one in programs]
    return tag("section", tag("h2", "Programs"), tag("ul", cards, class_="runs"), id="programs")


def _launches(one: KeptProgram) -> str:
    return f"{one.launches:,} launch{'' if one.launches == 1 else 'es'} of {_count(one.kernels, 'kernel')}"


def _program(one: KeptProgram) -> Html:
    gain = "" if one.first_gain is None else f", about {one.first_gain:.2f}× for the whole program"
    first = f"{one.first_finding}{gain}" if one.first_finding else "nothing to change that a rule knows"
    return tag(
        "li",
        tag("h3", tag("a", _cut(one.program), href=f"program/{one.id}")),
        tag("div", tag("strong", duration(one.whole_us), class_="speed none"), class_="shown"),
        tag("p", f"{gpu_words(f'virtual:{one.gpu}')} · simulated · {_launches(one)}"),
        tag("p", first),
        tag("p", f"{one.at[:16].replace('T', ' ')} UTC", class_="dim"),
        class_="run",
        data_words=f"{one.program} {one.gpu} {one.first_finding}".lower(),
    )
