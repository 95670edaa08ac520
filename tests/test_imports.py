"""What starting up loads: importing the package and asking for help must stay light."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("torch", "triton", "pyopencl", "ray", "transformers", "pydantic", "numpy", "cuda", "platformdirs", "filelock")


def loaded_by(code: str) -> set[str]:
    """The top-level modules a fresh interpreter has after running the code."""
    report = f"{code}\nimport sys\nprint('LOADED', *{{name.partition('.')[0] for name in sys.modules}})"
    run = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, timeout=60, check=True)
    return set(run.stdout.rpartition("LOADED")[2].split())


def run_command(*words: str) -> str:
    return f"""
from warpsight.cli.app import main
try:
    main({list(words)!r})
except SystemExit as end:
    assert end.code in (0, None), end.code
"""


def test_importing_the_package_loads_nothing() -> None:
    bare, ours = loaded_by(""), loaded_by("import warpsight")
    # What finds the package (an editable install has a finder) may use the standard library.
    assert ours - bare - sys.stdlib_module_names == {"warpsight"}


@pytest.mark.parametrize("words", [("--help",), ("-h",), ("--version",)])
def test_help_loads_nothing_heavy(words: tuple[str, ...]) -> None:
    assert not loaded_by(run_command(*words)) & set(HEAVY)


def test_help_loads_no_verb() -> None:
    code = run_command("--help") + "import sys\nprint('VERBS', *[m for m in sys.modules if m.startswith('warpsight.')])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    loaded = set(run.stdout.rpartition("VERBS")[2].split())
    cli = {"warpsight.cli", "warpsight.cli.app", "warpsight.cli.narrow", "warpsight.cli.output", "warpsight.errors"}
    assert loaded == cli | {"warpsight.cli.memory", "warpsight.processes", "warpsight.processes.stop"}
