"""Tests the integrations against their frameworks, from the package index: `python integrations/try.py [NAME ...]`.

Each gets an environment of its own in build/integrations, with the framework, Warpsight from this checkout and our
tests. It needs a package index and, the first time, minutes. Nothing is installed elsewhere.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
PLACE = ROOT / "build" / "integrations"
TESTING = ("pytest>=9", "pytest-timeout>=2.4")
# Beside the integration. `uv` runs the harness of verifiers; of verl the tools are read from a checkout
# (VERL_SOURCE), since its wheels leave the MCP client out.
NEEDS: dict[str, tuple[str, ...]] = {
    "harbor": (),
    "inspect": ("openai",),
    "openenv": (),
    "skyrl": ("skyrl-gym>=0.4,<0.5",),
    "verifiers": ("uv",),
    "verl": ("fastmcp", "omegaconf"),
}
PACKAGES = ("harbor", "inspect", "openenv", "verifiers")


def prepare(name: str) -> Path:
    """The Python of an environment with all that the tests need."""
    folder = PLACE / name
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    install = [python, "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    own = [str(HERE / name)] if name in PACKAGES else []
    subprocess.run([*install, str(ROOT), *own, *NEEDS[name], *TESTING], check=True)
    return python


def main(asked: list[str]) -> int:
    unknown = [name for name in asked if name not in NEEDS]
    if unknown:
        print(f"no integration {unknown[0]!r}; there are {', '.join(NEEDS)}", file=sys.stderr)
        return 2
    failed: list[str] = []
    for name in asked or NEEDS:
        print(f"== {name}", flush=True)
        words = [prepare(name), "-m", "pytest", "-q", "-c", "pyproject.toml", "tests"]
        environment = {**os.environ, "WARPSIGHT_CACHE": str(ROOT / "build" / "test-cache")}
        if subprocess.run(words, cwd=HERE / name, env=environment).returncode:
            failed.append(name)
    print(f"failed: {', '.join(failed)}" if failed else "all passed")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
