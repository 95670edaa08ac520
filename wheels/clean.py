"""Install a wheel into a new virtual environment outside of the repository, and try it there.

    python wheels/clean.py dist/NAME.whl [PYTHON ...]

For each PYTHON (by default the one that runs this) there is one environment, gone afterwards. Exit code 1 when any
fails.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

SMOKE = Path(__file__).with_name("smoke.py")


def tried(wheel: Path, python: str) -> bool:
    """Whether the wheel installs and works on this Python."""
    with tempfile.TemporaryDirectory(prefix="warpsight-wheel-") as folder:
        own = Path(folder) / "bin" / "python"
        steps = (
            [python, "-m", "venv", folder],
            [str(own), "-m", "pip", "--disable-pip-version-check", "install", "--quiet", str(wheel)],
            [str(own), "-I", str(SMOKE)],
        )
        for step in steps:
            print("$", *step, flush=True)
            if subprocess.run(step, cwd=folder).returncode != 0:
                return False
    return True


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(str(__doc__))
    wheel = Path(sys.argv[1]).resolve()
    pythons = sys.argv[2:] or [sys.executable]
    failed = [python for python in pythons if not tried(wheel, python)]
    if failed:
        sys.exit(f"{wheel.name} does not work with: {', '.join(failed)}")


if __name__ == "__main__":
    main()
