"""The ledger: a chain that holds across processes and crashes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from warpsight.gate.ledger import START, BrokenLedger, Ledger, read_ledger

APPEND = """
import sys
from pathlib import Path
from warpsight.gate.ledger import Ledger
ledger = Ledger(Path(sys.argv[1]))
for i in range(25):
    ledger.append("result", {"who": sys.argv[2], "i": i})
"""


def test_lines_are_chained(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "run")
    lines = [ledger.append("commit", {"n": n}) for n in range(3)]
    assert read_ledger(ledger.path) == tuple(lines)
    assert [line.prev for line in lines] == [START, lines[0].hash, lines[1].hash]
    assert ledger.count("commit", "n", "1") == 1 and ledger.count("result", "n", "1") == 0


def test_two_processes_append_to_one_chain(tmp_path: Path) -> None:
    both = [subprocess.Popen([sys.executable, "-c", APPEND, str(tmp_path), who]) for who in ("a", "b")]
    assert [process.wait(60) for process in both] == [0, 0]
    lines = read_ledger(Ledger(tmp_path).path)
    assert len(lines) == 50 and {line.body["who"] for line in lines} == {"a", "b"}
    assert Ledger(tmp_path).count("result", "who", "a") == 25


@pytest.mark.parametrize("kept", [0, 1, 40])
def test_a_torn_last_line_is_cut_off(tmp_path: Path, kept: int) -> None:
    ledger = Ledger(tmp_path)
    first = ledger.append("commit", {"n": 1})
    whole = ledger.path.read_bytes()
    ledger.append("commit", {"n": 2})
    ledger.path.write_bytes(whole + ledger.path.read_bytes()[len(whole) :][:kept])
    assert ledger.append("commit", {"n": 3}).prev == first.hash
    assert [line.body["n"] for line in read_ledger(ledger.path)] == [1, 3]


def test_what_was_removed_reordered_or_changed_is_found(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    for n in range(4):
        ledger.append("commit", {"n": n})
    rows = ledger.path.read_bytes().splitlines(keepends=True)
    for wrong in (rows[1:], rows[:1] + rows[2:], [rows[1], rows[0], *rows[2:]], [*rows, rows[0]], [rows[0][:-1]]):
        ledger.path.write_bytes(b"".join(wrong))
        with pytest.raises(BrokenLedger):
            read_ledger(ledger.path)
    ledger.path.write_bytes(b"".join(rows[:3]) + rows[3].replace(b'"n":3', b'"n":4'))
    with pytest.raises(BrokenLedger, match="its hash"):
        read_ledger(ledger.path)
    with pytest.raises(BrokenLedger):
        ledger.append("commit", {"n": 5})
