"""The allow-list of compile options."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpsight.errors import UsageError
from warpsight.toolchain.options import ALLOWED, checked_options, with_defaults


@pytest.mark.parametrize(
    ("given_option", "spelled"),
    [
        ("-use_fast_math", "--use_fast_math"),
        ("--use_fast_math", "--use_fast_math"),
        ("-fmad=false", "--fmad=false"),
        ("-ftz=true", "--ftz=true"),
        ("-prec-div=false", "--prec-div=false"),
        ("-prec-sqrt=true", "--prec-sqrt=true"),
        ("-maxrregcount=32", "--maxrregcount=32"),
        ("-default-device", "--device-as-default-execution-space"),
        ("--extra-device-vectorization", "--extra-device-vectorization"),
        ("-std=c++20", "--std=c++20"),
        ("-DTILE=16", "-DTILE=16"),
        ("-DNDEBUG", "-DNDEBUG"),
    ],
)
def test_one_spelling(given_option: str, spelled: str) -> None:
    assert checked_options([given_option]) == (spelled,)


@pytest.mark.parametrize(
    "option",
    ["", "-", "-I/x", "-DX\n-I/x", "-D1X=2", "--fmad", "--fmad=maybe", "--use_fast_math=1", "--std=c++98",
     "--maxrregcount=256", "--maxrregcount=0", "--maxrregcount=-1", "-o", "@file", "--pch", "use_fast_math"],
)  # fmt: skip
def test_refused_by_name(option: str) -> None:
    with pytest.raises(UsageError) as caught:
        checked_options([option])
    assert repr(option) in str(caught.value)


def test_the_same_option_twice_is_refused() -> None:
    with pytest.raises(UsageError, match="--fmad once"):
        checked_options(["-fmad=true", "--fmad=false"])


def test_default_language_version() -> None:
    assert with_defaults(()) == ("--std=c++17",)
    assert with_defaults(("--std=c++20",)) == ("--std=c++20",)


@given(st.text(max_size=40))
def test_nothing_unknown_gets_through(text: str) -> None:
    try:
        (option,) = checked_options([text])
    except UsageError:
        return
    assert option.startswith("-D") or option.partition("=")[0] in ALLOWED
    assert "\n" not in option and "\0" not in option
