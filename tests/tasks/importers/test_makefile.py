"""Makefiles are read, not run: variables, conditionals, rules, and what is left out."""

from __future__ import annotations

import pytest
from tests.tasks.importers.programs import MAKEFILE

from warpsight.tasks.importers.hecbench.flags import read_flags
from warpsight.tasks.importers.hecbench.makefile import read_makefile


def test_the_usual_file() -> None:
    found = read_makefile(MAKEFILE.format(sources="main.cu util.cu", flags="-std=c++14 -I../include", arguments="7 15"))
    assert found.program == "main"
    assert found.sources == ("main.cu", "util.cu")
    assert found.flags == ("-std=c++14", "-I../include", "-Xcompiler", "-Wall", "-arch=sm_60", "-O3")
    assert found.run == (("./main", "7", "15"),)
    assert found.skipped == ()


def test_what_is_given_wins() -> None:
    text = MAKEFILE.format(sources="main.cu", flags="", arguments="1")
    assert "-DDEBUG" in read_makefile(text, {"DEBUG": "yes"}).flags
    assert "-arch=sm_90" in read_makefile(text, {"ARCH": "sm_90"}).flags


@pytest.mark.parametrize(
    ("lines", "flags"),
    [
        ("A = yes\nifeq ($(A),yes)\nCFLAGS = -DX\nelse\nCFLAGS = -DY\nendif", ("-DX",)),
        ("A = no\nifeq ($(A),yes)\nCFLAGS = -DX\nelse\nCFLAGS = -DY\nendif", ("-DY",)),
        ('A = b\nifneq "$(A)" "b"\nCFLAGS = -DX\nendif', ()),
        ("ifdef A\nCFLAGS = -DX\nelse ifeq ($(B),)\nCFLAGS = -DZ\nendif", ("-DZ",)),
        ("ifndef A\nifeq (1,2)\nCFLAGS = -DX\nendif\nCFLAGS += -DW\nendif", ("-DW",)),
        ("CFLAGS ?= -DA\nCFLAGS ?= -DB", ("-DA",)),
        ("B = $(A)\nA = -DLATE\nCFLAGS = $(B)", ("-DLATE",)),
        ("A = -DOLD\nCFLAGS := $(A)\nA = -DNEW", ("-DOLD",)),
        ("CFLAGS = -DA \\\n  -DB", ("-DA", "-DB")),
        ("CFLAGS = ${A} $(A) # comment\nA = -DA", ("-DA", "-DA")),
        ("CFLAGS = -DNAME='\"a b\"'", ('-DNAME="a b"',)),
    ],
)
def test_assignments_and_conditionals(lines: str, flags: tuple[str, ...]) -> None:
    assert read_makefile(lines).flags == flags


def test_nothing_is_run_and_the_rest_is_told() -> None:
    found = read_makefile("CFLAGS = -DX $(shell touch /tmp/never)\ninclude other.mk\nsource = a.cu")
    assert found.flags == ("-DX",)
    assert any("shell" in one for one in found.skipped) and "include other.mk" in found.skipped


def test_a_variable_that_names_itself_ends() -> None:
    assert read_makefile("A = $(A) x\nCFLAGS = $(A)").flags == ()


def test_sources_without_a_variable_come_from_the_rules() -> None:
    rules = "main: a.o\n\tnvcc a.o\na.o: a.cu a.h\n\tnvcc -c a.cu\n"
    found = read_makefile(f"{rules}run: main\n\t@LD=1 ./main -n 3 data/x.bin\n")
    assert found.sources == ("a.cu",)
    assert found.run == (("./main", "-n", "3", "data/x.bin"),)


def test_flags_are_sorted_out() -> None:
    words = "-std=c++20 -DA -DB=2 -I inc -Iother -Xcompiler -Wall -arch=sm_60 -O3 -use_fast_math -rdc=true --weird -lm"
    found = read_flags(words.split())
    assert found.defines == ("-DA", "-DB=2") and found.folders == ("inc", "other")
    assert found.options == ("--std=c++20", "--use_fast_math")
    assert found.separate and "--weird" in found.left_out and "-O3" not in found.left_out


def test_options_of_nvcc_alone_are_kept_for_it() -> None:
    found = read_flags(["--extended-lambda", "--expt-relaxed-constexpr", "-expt-extended-lambda", "--extended-lambda"])
    assert found.nvcc_alone == ("--extended-lambda", "--expt-relaxed-constexpr", "-expt-extended-lambda")
    assert found.options == () and found.left_out == ()
