"""Files of lines: a reader changes nothing, a writer cuts half a line and no more, and what is no record is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsight.errors import UsageError
from warpsight.nouns.base import Noun
from warpsight.runs.lines import cut_half_line, read_records, whole_lines


class Said(Noun):
    number: int
    text: str = ""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Two lines, and half of a third."""
    found = tmp_path / "said.jsonl"
    found.write_bytes(b'{"number": 0}\n{"number": 1}\n{"num')
    return found


def test_reading_leaves_half_a_line_where_it_is(file: Path) -> None:
    before, written = file.read_bytes(), file.stat().st_mtime_ns
    assert whole_lines(file) == [b'{"number": 0}', b'{"number": 1}']
    assert [said.number for said in read_records(file, Said, "a number")] == [0, 1]
    assert file.read_bytes() == before and file.stat().st_mtime_ns == written


def test_what_a_reader_saw_half_is_whole_when_its_writer_goes_on(file: Path) -> None:
    with file.open("ab") as out:
        assert len(read_records(file, Said, "a number")) == 2
        out.write(b'ber": 2}\n')
    assert [said.number for said in read_records(file, Said, "a number")] == [0, 1, 2]


def test_a_writer_cuts_half_a_line_in_place_and_no_whole_one(file: Path) -> None:
    node = file.stat().st_ino
    cut_half_line(file)
    assert file.read_bytes() == b'{"number": 0}\n{"number": 1}\n' and file.stat().st_ino == node
    written = file.stat().st_mtime_ns
    cut_half_line(file)
    assert file.stat().st_mtime_ns == written, "there was nothing to cut"


def test_half_a_first_line_leaves_an_empty_file_and_no_file_stays_none(tmp_path: Path) -> None:
    first, none = tmp_path / "first.jsonl", tmp_path / "none.jsonl"
    first.write_bytes(b'{"num')
    cut_half_line(first)
    cut_half_line(none)
    assert first.read_bytes() == b"" and not none.exists()


def test_only_a_newline_ends_a_line(file: Path) -> None:
    said = Said(number=0, text="one\u2028two\x85three\x0cfour\nfive\r")
    file.write_text(said.model_dump_json() + "\n", encoding="utf-8")
    assert read_records(file, Said, "a number") == [said]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b"garbage", "'garbage' (Invalid JSON: expected value)"),
        (b"\xff\x00\x1b[2J", r"\x00\x1b[2J' (Invalid JSON"),
        (b"", "'' (Invalid JSON: EOF while parsing a value)"),
        (b"[" * 5000, "[[[[' (Invalid JSON: recursion limit exceeded)"),
        (b"7", "'7' (Input should be an object)"),
        (b'{"text": "x"}', "(number: Field required)"),
        (b'{"number": 1, "other": 2}', "(other: Extra inputs are not permitted)"),
    ],
)
def test_a_line_that_is_no_record_is_named(file: Path, line: bytes, told: str) -> None:
    file.write_bytes(b'{"number": 0}\n' + line + b"\n")
    with pytest.raises(UsageError) as refused:
        read_records(file, Said, "a number", hint="count")
    assert refused.value.message.startswith(f"{file}:2: expected a number, found ") and told in refused.value.message
    assert refused.value.hint == "count" and len(refused.value.message) < len(str(file)) + 300


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    for file, told in ((tmp_path / "none.jsonl", "No such file"), (tmp_path, "Is a directory")):
        with pytest.raises(UsageError, match=f"could not read {file}: {told}"):
            read_records(file, Said, "a number")
