"""Little memory is told as that: with the limit and what to do, as a broken machine and not as a fault of ours."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from warpsight.cli.memory import as_memory_problem
from warpsight.cli.output import fail

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("megabytes", [150, 300, 420])
def test_a_limit_on_memory_is_named(megabytes: int) -> None:
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({megabytes << 20}, {megabytes << 20}))"
    start = "import sys\nsys.argv = ['warpsight', 'check', 'vector_add']\nfrom warpsight.cli.app import main\nmain()"
    code = f"{limit}\n{start}"
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.returncode in (0, 5) and "Traceback" not in ended.stderr, ended.stderr
    if ended.returncode == 5:
        assert "memory" in ended.stderr and "fault in warpsight" not in ended.stderr
    assert megabytes > 384 or f"{megabytes} MB (ulimit -v)" in ended.stderr


def test_memory_is_found_behind_other_errors(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        try:
            raise OSError(errno.ENOMEM, "Cannot allocate memory")
        except OSError as inner:
            raise ValueError("could not open") from inner
    except ValueError as problem:
        assert fail(problem, as_json=False) == 5
    assert "not enough memory" in capsys.readouterr().err
    assert as_memory_problem(ImportError("x.so: failed to map segment from shared object")) is not None
    assert as_memory_problem(ValueError("other")) is None and as_memory_problem(OSError(errno.ENOENT, "")) is None
