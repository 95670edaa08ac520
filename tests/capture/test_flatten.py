"""One text of a source and its headers: conditions evaluated, macros left, every line with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsight.capture.flatten import flatten, without_comments


def flat(folder: Path, text: str, **macros: str) -> str:
    (folder / "a.cu").write_text(text)
    return flatten(folder / "a.cu", [folder], macros).text


def test_headers_stand_in_place_and_once(tmp_path: Path) -> None:
    (tmp_path / "b.h").write_text("#pragma once\nint b;\n")
    text = flat(tmp_path, '#include "b.h"\n#include "b.h"\n#include <cstdio>\nint a;\n')
    assert text.split() == ["int", "b;", "#include", "<cstdio>", "int", "a;"]


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("1", True), ("0", False), ("defined(SIZE)", True), ("!defined SIZE", False), ("SIZE > 3 && SIZE < 5", True),
        ("SIZE == 4 || OTHER", True), ("OTHER", False), ("(SIZE*2)%3 == 2", True), ("SIZE / 3 == 1", True),
        ("__CUDA_ARCH__ >= 700", True), ("__has_include(<x>)", False), ("SIZE << 2", False), ("ALIAS == 4", True),
        ("9**9**9**9", False), ("0x10u == 0x10", True),
    ],
)  # fmt: skip
def test_conditions(tmp_path: Path, condition: str, holds: bool) -> None:
    text = flat(tmp_path, f"#define ALIAS SIZE\n#if {condition}\nyes\n#else\nno\n#endif\nend\n", SIZE="4")
    assert ("yes" in text, "no" in text) == (holds, not holds)
    assert "end" in text


def test_branches_that_are_left_out_do_nothing(tmp_path: Path) -> None:
    nested = "#if 0\n#define X 1\n#if 1\nwrong\n#endif\n#elif 1\nright\n#else\nwrong\n#endif\n#ifdef X\nwrong\n#endif\n"
    assert flat(tmp_path, nested).split() == ["right"]


def test_lines_keep_their_places(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text("/* two\nlines */ int a; // end\n#define LONG 1 + \\\n  2\nint b;\n")
    found = flatten(tmp_path / "a.cu", [], {})
    assert [(line.line, line.text.strip()) for line in found.lines if line.text.strip()] == [
        (2, "int a;"), (3, "#define LONG 1 + \\\n  2"), (5, "int b;")
    ]  # fmt: skip


def test_comments_in_texts_stay() -> None:
    assert without_comments('"//x" // y\n\'"\' /* z */ a') == '"//x"  \n\'"\'   a'
