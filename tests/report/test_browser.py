"""Reports and the local page in a real browser: nothing but the file is asked for, no error, no harm, in both themes.

Skipped where there is no Chromium (Debian's package `chromium`) or no `playwright` (its browsers are not needed).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from tests.reason.small_box import GOOD, job
from tests.report.bench_made import make_bench
from tests.report.made import (
    FAILURE,
    HOSTILE,
    OPEN,
    RESUMED,
    SUCCESS,
    make_failure,
    make_hostile,
    make_resumed,
    make_success,
)
from tests.report.test_program_page import timeline

from warpsight.bench.kept import read_kept
from warpsight.models.scripted import ScriptedModel
from warpsight.nouns import Profile
from warpsight.reason.loop import run_loop
from warpsight.report.bench_answers import QUESTION
from warpsight.report.bench_data import read_bench
from warpsight.report.bench_page import write_bench_report
from warpsight.report.html import Html, join
from warpsight.report.page import document
from warpsight.report.program_timeline import timeline_figure
from warpsight.report.roof import roofline_figure
from warpsight.report.server import Viewer
from warpsight.report.story import Attempt
from warpsight.report.write import write_report
from warpsight.runs.sqlite import SqliteStore

sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")

PAGES = Path(__file__).parents[2] / "docs" / "pictures" / "pages.py"
AXE = os.environ.get("WARPSIGHT_AXE") or (PAGES.parents[2] / "node_modules" / "axe-core").is_dir()
PHONE, DESKTOP = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
HEADS = {SUCCESS: "4.50×", FAILURE: "No kernel was found", RESUMED: "4.50×", HOSTILE: "4.50×"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("data")
    for make in (make_success, make_failure, make_resumed, make_hostile):
        make(found)
    return found


@pytest.fixture(scope="module")
def bench_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = make_bench(tmp_path_factory.mktemp("bench"))
    bench = read_bench([made.outcomes], corpus=made.corpus, trainings=[made.training], runs=read_kept(made.runs))
    file = made.outcomes.with_suffix(".html")
    write_bench_report(bench, file)
    return file


@pytest.fixture(scope="module")
def browser() -> Generator[Any]:
    with sync_api.sync_playwright() as started:
        # As root, Chromium's own sandbox cannot start; the pages are ours and the network is not used.
        arguments = ["--no-sandbox"] if os.getuid() == 0 else []
        found = started.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield found
        found.close()


class Watched:
    """A page, with what it asked for and what went wrong in it."""

    def __init__(self, browser: Any, **settings: Any) -> None:
        self.context = browser.new_context(**settings)
        self.page = self.context.new_page()
        self.asked: list[str] = []
        self.wrong: list[str] = []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("pageerror", lambda problem: self.wrong.append(str(problem)))
        self.page.on("console", lambda said: self.wrong.append(said.text))


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
@pytest.mark.parametrize(
    "run_id", [SUCCESS, FAILURE, RESUMED, HOSTILE], ids=["success", "failure", "resumed", "hostile"]
)
def test_a_report_opens_alone_and_says_its_facts(
    browser: Any, folder: Path, tmp_path: Path, run_id: str, size: dict[str, int], theme: str
) -> None:
    file = tmp_path / "report.html"
    with SqliteStore(folder) as store:
        write_report(store, run_id, file)
    watched = Watched(browser, viewport=size, color_scheme=theme)
    page = watched.page
    page.goto(file.as_uri())
    assert page.inner_text("#card-ratio strong").startswith(HEADS[run_id])
    assert page.locator("svg").count() >= 1 and page.locator("main > section").count() >= 4
    assert page.evaluate("window.harmed") is None
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], "the page is wider than the screen"
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(15, 19, 24)"
    assert dark == (theme == "dark")
    assert watched.asked == [file.as_uri()] and watched.wrong == []
    watched.context.close()


def test_all_can_be_read_without_script(browser: Any, folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    with SqliteStore(folder) as store:
        write_report(store, SUCCESS, file)
    watched = Watched(browser, java_script_enabled=False)
    watched.page.goto(file.as_uri())
    assert watched.page.inner_text("#card-ratio strong") == "4.50×"
    watched.page.click("#s4 summary")
    assert watched.page.locator("#s4 pre").is_visible()
    watched.context.close()


def test_keys_and_links_lead_through_the_transcript(browser: Any, folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    with SqliteStore(folder) as store:
        write_report(store, SUCCESS, file)
    page = Watched(browser).page
    page.goto(file.as_uri())
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.closest('details').id") == "s1"
    page.keyboard.press("k")
    assert page.evaluate("document.activeElement.closest('details').id") == "s0"
    page.keyboard.press("o")
    assert page.locator("details.step:not([open])").count() == 0
    page.click("#tried td a[href='#a1']")
    assert page.locator("#a1").get_attribute("open") is not None
    page.click("#a1 a[href='#s4']")
    assert page.locator("#s4").get_attribute("open") is not None
    page.context.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_the_report_of_a_bench_opens_alone_and_says_its_facts(
    browser: Any, bench_file: Path, size: dict[str, int], theme: str
) -> None:
    watched = Watched(browser, viewport=size, color_scheme=theme)
    page = watched.page
    page.goto(bench_file.as_uri())
    assert page.inner_text("h1") == QUESTION and "n = " in page.inner_text("#result .card")
    assert page.locator("#ablation svg[role=group]").count() == 2 and page.locator("#curves svg").count() == 2
    marks = page.locator("#ablation svg[role=group]").first.locator("g")
    assert marks.count() == 6, "a mark for each condition"
    filled = page.evaluate("getComputedStyle(document.querySelector('#ablation .dot')).fill")
    assert filled not in ("none", "rgb(0, 0, 0)"), "marks have the colour of their model"
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], "the page is wider than the screen"
    page.click("#failures a[href='#f1']")
    assert page.locator("#f1 pre").first.is_visible()
    assert watched.asked[0] == bench_file.as_uri() and len({url.partition("#")[0] for url in watched.asked}) == 1
    assert watched.wrong == []
    watched.context.close()


@pytest.fixture
def viewer(folder: Path) -> Generator[Viewer]:
    made = Viewer(folder)
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.close()


def test_view_lists_opens_compares_and_saves(browser: Any, viewer: Viewer) -> None:
    watched = Watched(browser)
    page = watched.page
    page.goto(viewer.url)
    assert page.locator("#runs li.run").count() >= 4 and page.locator("#runs svg.spark").count() >= 3
    page.fill("input[name=words]", "small-a faster")
    assert page.locator("#runs li.run:visible").count() == 1, "the search works while one types"
    page.click("text=Filter")
    assert page.locator("#runs li.run").count() == 1 and "1 of" in page.inner_text("header")
    page.click("#runs h3 a")
    assert page.inner_text("#card-ratio strong") == "4.50×"
    with page.expect_download() as saved:
        page.click("text=save as one file")
    assert saved.value.suggested_filename == f"{SUCCESS}.html"
    page.click("text=all runs")
    for run_id in (SUCCESS, FAILURE):
        page.check(f"input[value='{run_id}']")
    page.click("text=Compare two runs")
    assert "4.500× simulated" in page.inner_text("#facts")
    page.goto(f"{viewer.url[:-4]}run/{HOSTILE}")
    assert page.evaluate("window.harmed") is None
    own = f"http://127.0.0.1:{viewer.port}/{viewer.token}/"
    assert all(url.startswith(own) for url in watched.asked) and watched.wrong == []
    watched.context.close()


def test_the_home_page_shows_a_new_run_and_keeps_what_was_ticked(browser: Any, tmp_path: Path) -> None:
    make_success(tmp_path)
    made = Viewer(tmp_path)
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    try:
        watched = Watched(browser)
        watched.page.goto(made.url)
        watched.page.check(f"input[value='{SUCCESS}']")
        watched.page.fill("input[name=words]", "small")
        make_failure(tmp_path)
        watched.page.wait_for_selector(f"input[value='{FAILURE}']", timeout=30_000)
        assert watched.page.is_checked(f"input[value='{SUCCESS}']")
        assert watched.page.input_value("input[name=words]") == "small" and watched.wrong == []
        watched.context.close()
    finally:
        made.shutdown()
        thread.join()
        made.close()


def test_the_roofline_and_the_timeline_are_looked_into(browser: Any, tmp_path: Path) -> None:
    """Hover and focus tell, levels come and go, zoom makes new ticks and `all` brings the old ones back."""
    file = tmp_path / "charts.html"
    file.write_text(document("charts", join(roofline_chart(), timeline_figure(timeline().events, "a caption"))))
    watched = Watched(browser)
    page = watched.page
    page.goto(file.as_uri())
    roof, line = page.locator("figure").first, page.locator("figure.timeline")
    assert roof.locator(".level.dram").is_visible() and not roof.locator(".level.l2 .says").first.is_visible()
    roof.locator("input[value=l2]").check()
    roof.locator(".level.l2 circle").first.hover()
    assert "of the roof there" in roof.locator(".readout").inner_text()
    roof.locator(".level.dram a").first.focus()
    assert "byte of DRAM" in roof.locator(".readout").inner_text()
    for chart in (roof, line):
        before = chart.locator(".ticks").inner_html()
        chart.locator("button[data-zoom=in]").click()
        chart.locator("button[data-zoom=in]").click()
        assert chart.locator(".ticks").inner_html() != before and chart.locator(".ticks text").count() >= 2
        chart.locator("button[data-zoom=all]").click()
        assert chart.locator(".ticks").inner_html() == before
    line.locator("rect.span").nth(1).hover()
    assert "add<16>" in line.locator(".readout").inner_text() and watched.wrong == []
    watched.context.close()


def roofline_chart() -> Html:
    """Two kernels as a profile of a real GPU gives them."""
    counters = {"duration_us": 20.0, "flops": 4e6, "dram_bytes": 1e6, "l2_bytes": 4e6, "global_load_sectors": 2e5}
    profiles = [
        Profile(
            kernel="k", device="virtual", source="simulated", gpu="a100", counters={**counters, "duration_us": time},
            units=dict.fromkeys(counters, "x"), sampled_blocks=1, total_blocks=1,
        )
        for time in (20.0, 9.0)
    ]  # fmt: skip
    drawn = roofline_figure([Attempt(n, f"text {n}", "run", profile=p) for n, p in enumerate(profiles)], 1)
    assert drawn is not None
    return drawn


def test_view_follows_a_run_that_goes_on(browser: Any, viewer: Viewer, folder: Path) -> None:
    """The page is open while the loop works; it shows each step as it is stored, and how the run ends."""
    from tests.reason.small_box import SmallBox

    at_step, seen = threading.Event(), threading.Event()

    class Waiting(SmallBox):
        def call(self, name: str, arguments: Any) -> Any:
            if name == "time":
                at_step.set()
                assert seen.wait(60)
            return super().call(name, arguments)

    def work() -> None:
        with SqliteStore(folder) as store:
            run_loop(job(OPEN), ScriptedModel(GOOD), Waiting(), store)

    worker = threading.Thread(target=work)
    worker.start()
    try:
        assert at_step.wait(60)
        watched = Watched(browser)
        page = watched.page
        page.goto(f"{viewer.url[:-4]}run/{OPEN}")
        assert page.inner_text("#card-ratio strong") == "No faster kernel yet"
        assert page.locator("#s7").count() == 1 and page.locator("#s19").count() == 0
        page.click("#s0 summary")
    finally:
        seen.set()
        worker.join()
    page.wait_for_selector("#s19", state="attached", timeout=30_000)
    page.wait_for_function("document.querySelector('#card-ratio strong').textContent === '4.50×'", timeout=30_000)
    assert page.locator("#s0").get_attribute("open") is not None, "what was open stays open"
    assert watched.wrong == []
    watched.context.close()


@pytest.mark.slow
@pytest.mark.skipif(not AXE, reason="needs axe-core (npm install axe-core), or WARPSIGHT_AXE")
def test_every_page_is_accessible_and_fits(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, str(PAGES), str(tmp_path)], capture_output=True, text=True, check=False, timeout=900
    )
    assert ran.returncode == 0 and "axe-core was not there" not in ran.stdout, ran.stdout + ran.stderr
    assert len(list(tmp_path.glob("*.png"))) == 6 * 4
