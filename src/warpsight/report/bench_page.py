"""The report of a bench: one self-contained HTML file, in the frame of all reports. Puts the parts together."""

from __future__ import annotations

from pathlib import Path

from warpsight import __version__
from warpsight.report.bench_answers import QUESTION, answers_section
from warpsight.report.bench_budget import budget_section
from warpsight.report.bench_charts import colours, means_figure, pairs_figure
from warpsight.report.bench_data import Bench, kind_of_model, measures_of
from warpsight.report.bench_failures import failures_section
from warpsight.report.bench_tables import families_section, results_section
from warpsight.report.curves import curve_figures
from warpsight.report.html import Html, join, tag
from warpsight.report.page import document
from warpsight.report.write import write_page

_PLACES = (
    ("result", "Answer"),
    ("budget", "Tries"),
    ("ablation", "Feedback"),
    ("results", "Table"),
    ("families", "Families"),
    ("curves", "Learning"),
    ("failures", "Failures"),
    ("files", "Files"),
)


def write_bench_report(bench: Bench, file: Path) -> int:
    """Write the page, and return its size in bytes."""
    return write_page(bench_page(bench), file)


def bench_page(bench: Bench) -> str:
    """The page as one HTML document."""
    sections = join(
        answers_section(bench),
        budget_section(bench),
        _claims(bench),
        results_section(bench),
        families_section(bench),
        _curves(bench),
        failures_section(bench),
        _files(bench),
    )
    places = [tag("a", name, href=f"#{place}") for place, name in _PLACES if f'id="{place}"' in sections]
    models = len({side.model for side in bench.sides if kind_of_model(side.model) == 0})
    tasks = len({o.task for side in bench.sides for o in side.outcomes})
    said = (
        f"{models} models under {len(bench.sides)} conditions with scripts beside them, on {tasks} tasks that nobody "
        "was trained on; times of the virtual GPU are simulated"
    )
    head = tag("header", tag("h1", QUESTION), tag("p", said), tag("nav", places, aria_label="Sections"))
    return document("Bench", join(head, tag("main", sections)))


def _claims(bench: Bench) -> Html:
    """One chart for each claim: how good each condition is, and what feedback brings."""
    number, parts = colours(bench), list[Html]()
    for suite in bench.suites:
        source, figures = bench.source(suite), list[Html | None]()
        for shown in measures_of(suite, bench.of_suite(suite)):
            timed = source if shown.geometric else ""
            sides = bench.of_suite(suite)
            figures.append(means_figure(sides, shown, number, timed, f"{shown.title}: every condition"))
            figures.append(pairs_figure(bench, suite, shown, f"{shown.title}: what the feedback changes"))
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
