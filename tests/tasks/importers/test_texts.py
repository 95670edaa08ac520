"""Files that cannot be read are refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsight.tasks.importers.records import CannotImport, read_source, read_text


def test_a_file_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    file = tmp_path / "main.cu"
    file.write_bytes(b"// caf\xe9\n")
    with pytest.raises(CannotImport, match=r"invalid continuation byte at byte 6 of main\.cu"):
        read_text(file)


def test_an_old_source_is_read_and_a_binary_is_not(tmp_path: Path) -> None:
    file = tmp_path / "main.cu"
    file.write_bytes(b"// caf\xe9\nint m;\n")
    assert read_source(file) == "// caf\u00e9\nint m;\n"
    file.write_bytes(b"// \xe9\0\n")
    with pytest.raises(CannotImport, match=r"expected UTF-8 text, found invalid continuation byte at byte 3"):
        read_source(file)
