"""Progress is on stderr, only after the patience is over, and never on stdout."""

from __future__ import annotations

import time

import pytest

from warpsight.cli.progress import progress_on_stderr


def test_a_quick_command_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_on_stderr(patience_seconds=30) as say:
        say("compiling")
        say("workload small")
    shown = capsys.readouterr()
    assert shown.out == shown.err == ""


def test_a_slow_one_says_what_it_is_at_and_what_follows(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_on_stderr(patience_seconds=0.05) as say:
        say("compiling")
        say("workload large")
        for _ in range(200):
            time.sleep(0.05)
            if (shown := capsys.readouterr()).err:
                break
        assert shown.err == "... workload large\n" and shown.out == ""
        say("workload odd")
    after = capsys.readouterr()
    assert after.err == "... workload odd\n" and after.out == ""


def test_nothing_is_shown_after_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyError), progress_on_stderr(patience_seconds=0.2) as say:
        say("compiling")
        raise KeyError("the work failed")
    time.sleep(0.4)
    assert capsys.readouterr().err == ""
