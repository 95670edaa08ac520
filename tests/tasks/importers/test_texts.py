"""Files that cannot be read are refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsight.tasks.importers.records import CannotImport, read_text


def test_a_file_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    file = tmp_path / "main.cu"
    file.write_bytes(b"// caf\xe9\n")
    with pytest.raises(CannotImport, match=r"invalid continuation byte at byte 6 of main\.cu"):
        read_text(file)
