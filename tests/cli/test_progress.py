"""Progress is on stderr, only after the patience is over, and never on stdout."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import time

import pytest

from warpsight.cli.progress import counted_on_stderr, lines_on_stderr, progress_on_stderr


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


def test_counting_says_where_it_is_in_plain_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with counted_on_stderr("units", every_seconds=3600) as count:
        for done in range(4, 10):
            count(done, 9)
    shown = capsys.readouterr()
    assert shown.err.splitlines() == ["... 4 of 9 units", "... 9 of 9 units"] and shown.out == ""


def test_counting_tells_how_long_it_will_take(capsys: pytest.CaptureFixture[str]) -> None:
    with counted_on_stderr("units", every_seconds=0) as count:
        count(0, 3)
        count(1, 3)
    assert re.fullmatch(r"\.\.\. 0 of 3 units\n\.\.\. 1 of 3 units, about \d+ s left\n", capsys.readouterr().err)


def test_what_a_trainer_prints_is_progress_and_not_the_result(capsys: pytest.CaptureFixture[str]) -> None:
    with lines_on_stderr():
        print("step 5: loss 1.25")
        print("half a ", end="")
        print("line")
    print("the result")
    shown = capsys.readouterr()
    assert shown.err == "step 5: loss 1.25\nhalf a line\n" and shown.out == "the result\n"


def test_quiet_is_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    with counted_on_stderr("units", quiet=True) as count, lines_on_stderr(quiet=True):
        count(1, 2)
        print("step 5: loss 1.25")
    shown = capsys.readouterr()
    assert shown.out == shown.err == ""


@pytest.mark.parametrize("colour", [True, False])
def test_a_terminal_gets_one_line_that_moves_and_goes_away(colour: bool) -> None:
    """Drawn on a real terminal of its own; with NO_COLOR there is no colour in what it gets."""
    code = """
import time
from warpsight.cli.progress import counted_on_stderr, lines_on_stderr
with counted_on_stderr("units") as count:
    count(3, 9)
    time.sleep(0.3)
with lines_on_stderr():
    print("step 5: loss 1.25")
    time.sleep(0.3)
print("the result")
"""
    said = on_terminal(code, {} if colour else {"NO_COLOR": "1"})
    assert "3/9" in said and "step 5: loss 1.25" in said
    assert "\x1b[?25h" in said, "the cursor is shown again"
    assert ("\x1b[38" in said or "\x1b[3" in said.replace("\x1b[3J", "")) == colour


def on_terminal(code: str, environment: dict[str, str]) -> str:
    """What a terminal is sent while the code runs with its error stream on it."""
    main, other = pty.openpty()
    given = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=other, stdin=other,
        env={**given, "TERM": "xterm-256color", "COLUMNS": "100", **environment},
    )  # fmt: skip
    os.close(other)
    said = b""
    try:
        while True:
            said += os.read(main, 65536)
    except OSError:  # the other end is closed
        pass
    finally:
        os.close(main)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0 and out == b"the result\n"
    return said.decode()
