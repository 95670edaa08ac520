"""The report of a bench: one self-contained HTML file, in the frame of all reports. Puts the parts together."""

from __future__ import annotations

from pathlib import Path

from warpsight import __version__
from warpsight.bench.apply import CEILING
from warpsight.report.bench_charts import ablation_figure, colours, compared, difference_words, pairs_figure
from warpsight.report.bench_data import Bench, measures_of
from warpsight.report.bench_failures import failures_section
from warpsight.report.bench_tables import families_section, results_section
from warpsight.report.curves import curve_figures
from warpsight.report.html import Html, join, tag
from warpsight.report.page import document
from warpsight.report.write import write_page

_PLACES = (
    ("result", "Result"),
    ("ablation", "Ablation"),
    ("results", "Table"),
    ("families", "Families"),
    ("curves", "Learning"),
    ("failures", "Failures"),
    ("files", "Files"),
)
_MOST_CARDS = 6


def write_bench_report(bench: Bench, file: Path) -> int:
    """Write the page, and return its size in bytes."""
    return write_page(bench_page(bench), file)


def bench_page(bench: Bench) -> str:
    """The page as one HTML document."""
    sections = join(
        _result(bench),
        _ablation(bench),
        results_section(bench),
        families_section(bench),
        _curves(bench),
        failures_section(bench),
        _files(bench),
    )
    places = [tag("a", name, href=f"#{place}") for place, name in _PLACES if f'id="{place}"' in sections]
    models = len({side.model for side in bench.sides})
    tasks = len({o.task for side in bench.sides for o in side.outcomes})
    said = f"{len(bench.sides)} conditions: {models} models, {tasks} tasks; times of the virtual GPU are simulated"
    head = tag("header", tag("h1", "Bench"), tag("p", said), tag("nav", places, aria_label="Sections"))
    return document("Bench", join(head, tag("main", sections)))


def _result(bench: Bench) -> Html:
    """The conditions with the best means, and the differences that answer whether looking helps."""
    parts: list[Html] = []
    for suite in bench.suites:
        shown = measures_of(suite)[0]
        sides = [(shown.of(side.outcomes), side) for side in bench.of_suite(suite)]
        ranked = sorted(sides, key=lambda pair: (pair[1].model == CEILING, -pair[0].value))  # nobody is always right
        cards = [
            tag(
                "div",
                tag("strong", shown.say(found.value)),
                tag(
                    "span", f"{side.model}, feedback {side.feedback}; {shown.say(found.low)} to {shown.say(found.high)}"
                ),
                class_="card big" if at == 0 else "card",
            )
            for at, (found, side) in enumerate(ranked[:_MOST_CARDS])
        ]
        differences = [tag("li", difference_words(one, other, shown)) for one, other in compared(bench, suite)]
        parts.append(tag("h2", f"{shown.title}, suite {suite}"))
        parts.append(tag("div", cards, class_="cards"))
        if differences:
            parts.append(tag("p", "In pairs, on the same tasks:", class_="lead"))
            parts.append(tag("ul", differences, class_="differences"))
    return tag("section", parts, id="result")


def _ablation(bench: Bench) -> Html:
    number, parts = colours(bench), list[Html]()
    for suite in bench.suites:
        source, figures = bench.source(suite), list[Html | None]()
        for shown in measures_of(suite, bench.of_suite(suite)):
            timed = source if shown.geometric else ""
            figures.append(ablation_figure(bench.of_suite(suite), shown, number, timed))
            figures.append(pairs_figure(bench, suite, shown))
        title = tag("h3", f"Suite {suite}") if len(bench.suites) > 1 else None
        parts.append(join(title, tag("div", figures, class_="figures")))
    says = "The same tasks and seeds; only what a look shows differs. With “wrong” it shows another kernel's findings."
    return tag("section", tag("h2", "What the feedback brings"), tag("p", says), parts, id="ablation")


def _curves(bench: Bench) -> Html | None:
    figures = curve_figures(bench.trainings)
    if not figures:
        return None
    return tag("section", tag("h2", "Learning curves"), tag("div", figures, class_="figures"), id="curves")


def _files(bench: Bench) -> Html:
    rows = [tag("tr", tag("th", name, scope="row"), tag("td", tag("code", sha))) for name, sha in bench.files.items()]
    rows.append(tag("tr", tag("th", "warpsight", scope="row"), tag("td", __version__)))
    made = tag("table", tag("tbody", rows), class_="facts")
    says = "Every number follows from these outcomes; their sha256:"
    return tag("section", tag("h2", "Files"), tag("p", says), tag("div", made, class_="wide"), id="files")
