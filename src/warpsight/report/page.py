"""A whole page: one file with its style and its small script in it, and a policy that forbids everything else.

The policy names the style and the script by their hashes, so that nothing that got into the page could run or load
anything, even if it got past the escaping. The script only helps with keys: all can be read without it.
"""

from __future__ import annotations

import base64
import functools
import hashlib
from importlib import resources

from warpsight.nouns import Profile
from warpsight.report.bars import bounds_figure, stalls_figure
from warpsight.report.diff import LineCode, diff_table, rows_of, shares_of
from warpsight.report.environment import environment_section
from warpsight.report.findings import counters_section, findings_section, no_counters
from warpsight.report.html import Child, Html, join, tag
from warpsight.report.machine import code_by_line
from warpsight.report.result import OUTCOMES, result_section
from warpsight.report.roof import roofline_figure
from warpsight.report.speed import speed_figure
from warpsight.report.story import Story, model_name
from warpsight.report.transcript import transcript_section
from warpsight.report.tried import tried_section

_PLACES = (
    ("result", "Result"),
    ("charts", "Charts"),
    ("change", "The change"),
    ("findings", "Why"),
    ("counters", "Counters"),
    ("tried", "Tried"),
    ("transcript", "Transcript"),
    ("environment", "Environment"),
)


def report_page(story: Story) -> str:
    """The report of a run as one HTML document."""
    return document(f"{story.run.task}: {story.run.id}", report_body(story))


def report_body(story: Story, top: Child = None) -> Html:
    """What stands between the page's frame: also used by the local page."""
    winner = story.winner
    before, after = story.given.profile, winner.profile if winner else None
    run = story.run
    started = run.started_at[:16].replace("T", " ")
    ended = OUTCOMES.get(run.outcome, run.outcome or "")
    said = f"on {run.device}, by {model_name(run.model)}; {ended}; {started} UTC"
    predicted = [p.counter for p in run.submission.predictions] if run.submission else []
    expected = [name for finding in story.given.findings or () for name in finding.should_move]
    sections = [
        result_section(story),
        _charts(story),
        _change(story),
        findings_section(story.given, winner),
        counters_section(before, after, [*predicted, *expected]),
        tried_section(story),
        transcript_section(story),
        environment_section(story),
    ]
    there = join(*sections)
    places = [tag("a", name, href=f"#{place}") for place, name in _PLACES if f'id="{place}"' in there]
    head = tag("header", top, tag("h1", run.task), tag("p", said), tag("nav", places, aria_label="Sections"))
    return join(head, tag("main", there))


def document(title: str, body: Child, *, live: bool = False) -> str:
    """The page's frame. A live one may ask its own server."""
    style, code = resource("style.css"), script_of(live=live)
    policy = policy_of(live=live)
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", Html(style)),
    )
    page = tag("html", head, tag("body", body, tag("script", Html(code))), lang="en")
    return f"<!doctype html>\n{page}\n"


def policy_of(*, live: bool) -> str:
    """Nothing from anywhere, but this style and this script."""
    style, code = _hash(resource("style.css")), _hash(script_of(live=live))
    rules = ["default-src 'none'", f"style-src '{style}'", f"script-src '{code}'", "base-uri 'none'"]
    rules += ["connect-src 'self'", "form-action 'self'"] if live else ["form-action 'none'"]
    return "; ".join(rules)


def script_of(*, live: bool) -> str:
    return resource("page.js") + resource("zoom.js") + (resource("follow.js") if live else "")


@functools.cache
def resource(name: str) -> str:
    return (resources.files("warpsight.report") / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _charts(story: Story) -> Html:
    winner = story.winner
    before, after = story.given.profile, winner.profile if winner else None
    timings = (a.evaluation.timing for a in story.attempts if a.evaluation)
    source = next((timing.source for timing in timings if timing is not None), "")
    drawn = [
        speed_figure(story.attempts, source),
        roofline_figure(story.attempts, winner.number if winner else None),
        None if before is None else bounds_figure(before, after),
        None if before is None else stalls_figure(before, after),
    ]
    missing = _missing(before)
    return tag("section", tag("h2", "Charts"), tag("div", drawn, class_="figures"), missing, id="charts")


def _missing(before: Profile | None) -> Html | None:
    """Why there is no more to draw."""
    if before is None:
        return tag("p", "The given kernel was not profiled: there are no counters to draw.")
    return (
        tag("p", "This device counts nothing but time: there are no counters to draw.") if no_counters(before) else None
    )


def _change(story: Story) -> Html | None:
    """The whole of the new kernel against the given one, coloured by where time goes."""
    winner = story.winner
    if winner is None:
        return None
    rows = rows_of(story.given.text, winner.text, shares_of(story.given.profile), shares_of(winner.profile))
    code = LineCode(code_by_line(story.given.machine), code_by_line(winner.machine))
    note = (
        "Removed lines have their share of the time in the given kernel, all others in the new one: of the samples in "
        "which a warp stood there and did not issue."
        + (" A line with a triangle opens to its machine code." if code.old or code.new else "")
    )
    table = diff_table(rows, anchor="n", code=code)
    return tag("section", tag("h2", "The change, from given to new"), tag("p", note), table, id="change")
