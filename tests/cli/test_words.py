"""Which words are ours and which are for the program that a verb runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from warpsight.cli.app import _ours  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize(
    ("given", "ours"),
    [
        ("run p.cu -v --json", "run"),
        ("run -v p.cu -v", "run -v"),
        ("run --out . -v p.cu -v", "run --out . -v"),
        ("run --out=. p.cu", "run --out=."),
        ("run --show p.cu --json other.cu --json", "run --show p.cu --json"),
        ("run --no-times --driver ./main -v", "run --no-times --driver"),
        ("-v run main.cu", "-v run"),
        ("run -- -v", "run"),
        ("run --out -- p.cu", "run --out"),
        ("run --gpu h100", "run --gpu h100"),
        ("capture --kernel saxpy saxpy.cu --unsafe", "capture --kernel saxpy"),
        ("profile -v -- saxpy.cu -v", "profile -v"),
        ("profile saxpy.cu -v", "profile saxpy.cu -v"),
    ],
)
def test_the_program_and_what_follows_are_not_ours(given: str, ours: str) -> None:
    words = given.split()
    assert _ours(words) == (ours.split(), words[len(ours.split()) :])


def test_what_lies_in_the_folder_plays_no_part(tmp_path: Path) -> None:
    for name in ("run", "h100", "lenient"):
        (tmp_path / name).touch()
    words = ["run", "--gpu", "h100", "-v", "--check", "lenient", "nothing.cu", "-v"]
    ended = subprocess.run(
        [sys.executable, "-m", "warpsight.cli.app", *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2 and "found nothing at nothing.cu" in ended.stderr, ended.stderr
