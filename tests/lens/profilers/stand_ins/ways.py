"""How a stand-in for a vendor's tool behaves, apart from its work; and how it is put into a folder of a PATH.

The ways are those that the vendors or their users describe. `as documented` does the work; the others fail as the tool
of that name does.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Literal

Way = Literal["as documented", "forbidden", "hangs", "localised", "ends early", "no driver", "sees nothing"]
ROOT = Path(__file__).parents[4]
VERSIONS = {
    "ncu": "NVIDIA (R) Nsight Compute Command Line Profiler\nVersion 2026.3.1.0 (build 36400000) (public-release)",
    "nsys": "NVIDIA Nsight Systems version 2026.3.1.90-263135795000v0",
    "nvprof": "nvprof: NVIDIA (R) Cuda command line profiler\nRelease version 12.9.79 (21)",
    "compute-sanitizer": "NVIDIA (R) Compute Sanitizer\nVersion 2026.3.0.0 (build 36300000) (public-release)",
    "rocprofv3": "    version: 1.1.0\n    system_name: Linux",
}


def put(folder: Path, name: str, *, way: Way = "as documented", gpu: str = "a100", marks: Path | None = None) -> None:
    """The tool of that name in this folder. `marks` gets the process numbers of one that hangs."""
    module = "amd" if name == "rocprofv3" else "nvidia"
    text = (
        f"#!{sys.executable}\nimport sys\nsys.path[:0] = [{str(ROOT)!r}, {str(ROOT / 'src')!r}]\n"
        f"if sys.argv[1:] == ['--version']:\n    print({VERSIONS[name]!r})\n    sys.exit(0)\n"
        f"from tests.lens.profilers.stand_ins import {module}\n"
        f"sys.exit({module}.TOOLS[{name!r}](sys.argv[1:], {way!r}, {gpu!r}, {str(marks or '')!r}))\n"
    )
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


def hang(marks: str) -> None:
    """For ever, with a child that does the same, as a tool that waits for a program which waits for it."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    if marks:
        Path(marks).write_text(f"{os.getpid()} {child.pid}")
    time.sleep(600)


def end_early() -> None:
    """As one that the system ends for its memory."""
    sys.stdout.flush()
    os.kill(os.getpid(), signal.SIGKILL)


def number(value: float, way: Way, digits: int = 2) -> str:
    """1,234.50, and 1.234,50 where the locale says so."""
    text = f"{value:,.{digits}f}" if digits else f"{round(value):,}"
    return text.translate(str.maketrans(",.", ".,")) if way == "localised" else text
