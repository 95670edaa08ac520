"""Makes the picture in the README: the demo is run, its report opened in Chromium, and the top of it kept as PNG.

`make picture`. Needs Chromium (Debian's package `chromium`). What is shown is a real run of the scripted demo on the
virtual GPU; nothing is drawn by hand.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FILE = HERE / "report.png"
SIZE = (1160, 985)
MOST_BYTES = 200_000
DEADLINE_S = 300


def main() -> int:
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        print("Chromium is needed. Try: apt install chromium", file=sys.stderr)
        return 3
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        photograph(chromium, report_of_the_demo(folder), folder / "report.png")
        size = (folder / "report.png").stat().st_size
        if size > MOST_BYTES:
            print(f"expected a picture of at most {MOST_BYTES} bytes, it has {size}", file=sys.stderr)
            return 1
        shutil.copyfile(folder / "report.png", FILE)
    print(f"{FILE.relative_to(ROOT)} ({size / 1000:.0f} kB)")
    return 0


def report_of_the_demo(folder: Path) -> Path:
    """Run the demo with a store of its own."""
    words = ("optimize", "tasks/transpose", "--model", "scripted:demo", "--out", str(folder / "new.cu"), "--json", "-q")
    ran = subprocess.run(
        [sys.executable, "-m", "warpsight.cli.app", *words],
        cwd=ROOT,
        env={**os.environ, "WARPSIGHT_DATA": str(folder / "data")},
        stdout=subprocess.PIPE,
        timeout=DEADLINE_S,
        check=True,
    )
    return Path(json.loads(ran.stdout)["report_file"])


def photograph(chromium: str, page: Path, file: Path) -> None:
    """The top of the page, in the light theme."""
    sandbox = ["--no-sandbox"] if os.getuid() == 0 else []  # as root it cannot start; the page is ours
    quiet = [
        "--headless",
        "--disable-gpu",
        "--hide-scrollbars",
        "--no-first-run",
        f"--user-data-dir={file.parent}/profile",
    ]
    shot = [f"--window-size={SIZE[0]},{SIZE[1]}", f"--screenshot={file}", page.as_uri()]
    subprocess.run([chromium, *sandbox, *quiet, *shot], capture_output=True, timeout=DEADLINE_S, check=True)


if __name__ == "__main__":
    sys.exit(main())
