"""Opens every page in Chromium, light and dark, at phone and desktop width, and looks for faults. `make pages`.

A page must not be wider than the screen, log an error or ask for anything from elsewhere. With axe-core it must have no
serious fault of accessibility. A picture of each is kept, to be looked at. Needs Chromium (Debian's package `chromium`)
and the Python package `playwright`; axe-core from npm (`npm install axe-core`), or WARPSIGHT_AXE names axe.min.js.

What is shown is real: the scripted demo, a program's profile, the outcomes in results/. Exit code 1 where a page has a
fault, 3 where a part is missing.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SIZES = {"phone": (390, 844), "desktop": (1280, 900)}
THEMES = ("light", "dark")
SERIOUS = ("serious", "critical")
DEADLINE_S = 600
ICON = "favicon.ico"  # Chromium asks for it where the policy of the page is put aside for axe
QUIET = ("--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync")  # fmt: skip
PROGRAM = """\
#include <cstdlib>
__global__ void scale(float* x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = a * x[i];
}
__global__ void transpose(const float* x, float* y, int n) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < n && c < n) y[(size_t)c * n + r] = x[(size_t)r * n + c];
}
int main() {
  int n = 256;
  size_t bytes = (size_t)n * n * sizeof(float);
  float *h = (float*)calloc(n * n, sizeof(float)), *x, *y;
  cudaMalloc(&x, bytes);
  cudaMalloc(&y, bytes);
  cudaMemcpy(x, h, bytes, cudaMemcpyHostToDevice);
  for (int k = 0; k < 4; ++k) {
    scale<<<(n * n + 255) / 256, 256>>>(x, 1.01f, n * n);
    transpose<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(x, y, n);
  }
  cudaMemcpy(h, y, bytes, cudaMemcpyDeviceToHost);
  return 0;
}
"""


def main(folder: Path) -> int:
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        chromium = None
    if chromium is None:
        print("needs Chromium and playwright. Try: apt install chromium; pip install playwright", file=sys.stderr)
        return 3
    folder.mkdir(parents=True, exist_ok=True)
    axe = axe_text()
    faults = 0
    with tempfile.TemporaryDirectory() as name, sync_playwright() as started:
        sandbox = ["--no-sandbox"] if os.getuid() == 0 else []  # as root it cannot start; the pages are ours
        browser = started.chromium.launch(executable_path=chromium, args=[*sandbox, *QUIET])
        for page, url in pages(Path(name)):
            for theme in THEMES:
                for size in SIZES:
                    found = look(browser, url, theme, size, folder / f"{page}-{theme}-{size}.png", axe)
                    faults += bool(found)
                    print(f"{page:10} {theme:5} {size:7} {'; '.join(found) or 'fine'}", flush=True)
        browser.close()
    print(f"{faults or 'no'} pages with faults{'' if axe else '; axe-core was not there'}: {folder}")
    return 1 if faults else 0


def axe_text() -> str:
    places = [os.environ.get("WARPSIGHT_AXE", ""), str(ROOT / "node_modules" / "axe-core" / "axe.min.js")]
    file = next((Path(place) for place in places if place and Path(place).is_file()), None)
    return "" if file is None else file.read_text(encoding="utf-8")


def pages(folder: Path) -> Iterator[tuple[str, str]]:
    """Every page there is, with its address: made anew, and served by the local page where it is one of those."""
    data, made = folder / "data", [run_demo(folder, "transpose"), run_demo(folder, "transpose")]
    (folder / "steps.cu").write_text(PROGRAM)
    run(data, "profile", str(folder / "steps.cu"))
    run(data, "bench", "report", *(f"results/{n}.jsonl" for n in ("bench", "made", "typed")), "--html",
        str(folder / "bench.html"), "--corpus", "results/test.jsonl", "--pair", "tools:curated=text:none")  # fmt: skip
    yield "bench", (folder / "bench.html").as_uri()
    yield "report", Path(made[0]["report_file"]).as_uri()
    from warpsight.report.server import Viewer
    from warpsight.runs.programs import list_programs

    viewer = Viewer(data)
    thread = threading.Thread(target=viewer.serve_forever, daemon=True)
    thread.start()
    base = viewer.url.removesuffix("runs")
    try:
        yield "home", viewer.url
        yield "run", f"{base}run/{made[0]['id']}"
        yield "compare", f"{base}compare?run={made[0]['id']}&run={made[1]['id']}"
        yield "program", f"{base}program/{list_programs(data)[0].id}"
        with going_on(data) as name:
            yield "live", f"{base}run/{name}"
    finally:
        viewer.shutdown()
        thread.join()
        viewer.close()


def run_demo(folder: Path, task: str) -> dict[str, Any]:
    words = ("optimize", f"tasks/{task}", "--model", "scripted:demo", "--out", str(folder / "new.cu"), "--json", "-q")
    found = json.loads(run(folder / "data", *words))
    return {**found, "id": Path(found["report_file"]).stem}


@contextlib.contextmanager
def going_on(data: Path) -> Iterator[str]:
    """The id of a run that has shown something and goes on, as long as the block does."""
    from warpsight.runs.sqlite import SqliteStore

    words = (
        sys.executable,
        "-m",
        "warpsight.cli.app",
        "optimize",
        "tasks/matmul_naive",
        "--out",
        str(data / "m.cu"),
        "-q",
    )
    started = subprocess.Popen(
        words, cwd=ROOT, env={**os.environ, "WARPSIGHT_DATA": str(data)},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        for _ in range(DEADLINE_S):
            with SqliteStore(data) as store:
                shown = [one.id for one in store.list_runs(outcome="open") if one.steps]
            if shown or started.poll() is not None:
                break
            time.sleep(1)
        yield shown[0]
    finally:
        started.terminate()
        started.wait(DEADLINE_S)


def run(data: Path, *words: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-m", "warpsight.cli.app", *words], cwd=ROOT, env={**os.environ, "WARPSIGHT_DATA": str(data)},
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=DEADLINE_S, check=True, text=True,
    )  # fmt: skip
    return ran.stdout


def look(browser: Any, url: str, theme: str, size: str, file: Path, axe: str) -> list[str]:
    """What is wrong with a page; a picture of it is kept."""
    wide, high = SIZES[size]
    context = browser.new_context(viewport={"width": wide, "height": high}, color_scheme=theme, bypass_csp=bool(axe))
    page, found = context.new_page(), list[str]()
    page.on("pageerror", lambda problem: found.append(f"error {problem}"))
    page.on("console", lambda said: None if ICON in said.location["url"] else found.append(f"console {said.text}"))
    origin = url.partition("?")[0].rpartition("/")[0].partition("/run")[0]
    page.on("request", lambda request: None if request.url.startswith(origin[:24]) else found.append(request.url))
    page.goto(url)
    page.screenshot(path=str(file), full_page=True)
    if (most := page.evaluate("document.documentElement.scrollWidth")) > wide:
        found.append(f"{most} pixels wide")
    if axe:
        page.add_script_tag(content=axe)
        for fault in page.evaluate("axe.run()")["violations"]:
            if fault["impact"] in SERIOUS:
                found.append(f"{fault['impact']} {fault['id']}: {fault['nodes'][0]['html'][:100]}")
    context.close()
    return found


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "pages"))
