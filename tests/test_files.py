"""A file is written whole or not at all."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from warpsight.files import write_whole

SRC = Path(__file__).parents[1] / "src" / "warpsight"


@pytest.mark.parametrize("durable", [False, True])
def test_a_file_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path, durable: bool) -> None:
    path = tmp_path / "a.txt"
    write_whole(path, "é", durable=durable)
    write_whole(path, b"new", durable=durable, mode=0o600)
    assert path.read_bytes() == b"new" and path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_what_cannot_be_written_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "folder"
    path.mkdir()
    (path / "inside").touch()
    with pytest.raises(OSError, match="folder"):
        write_whole(path, "text")
    assert list(tmp_path.iterdir()) == [path] and list(path.iterdir()) == [path / "inside"]
    with pytest.raises(FileNotFoundError):
        write_whole(tmp_path / "nowhere" / "a", "text")


def test_no_other_part_renames_a_file_into_its_place() -> None:
    """`replace` with one argument is that of a path; folders are renamed by `rename`."""
    found = [
        f"{path.relative_to(SRC)}:{node.lineno}"
        for path in sorted(SRC.rglob("*.py"))
        if path.name != "files.py"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "replace"
        if len(node.args) == 1 and not node.keywords
    ]
    assert not found, "\n".join(found)
