"""Expressions are exact arithmetic; any other text, however hostile, is refused quickly."""

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from warpsight.tasks.expressions import MAX_CHARACTERS, MAX_MAGNITUDE, ExpressionError, evaluate

AXES = {"N": 1000, "M": 7, "Z": 0}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("N", 1000),
        ("ceil(N/256)", 4),
        ("ceil(N / M)", 143),
        ("cdiv(N, 256)", 4),
        ("floor(N/256)", 3),
        ("N // 3", 333),
        ("N % M", 6),
        ("min(N, M)*2 + max(1, 2, 3)", 17),
        ("(N + 15) // 16 * 16", 1008),
        ("-(-5)", 5),
        ("+3", 3),
        ("N / 8", 125),
        ("N/3*3", 1000),
        (" 4 * M ", 28),
        ("1_000", 1000),
        ("ceil((3*N)/(2*M))", 215),
        (str(MAX_MAGNITUDE), MAX_MAGNITUDE),
    ],
)
def test_values(text: str, value: int) -> None:
    assert evaluate(text, AXES) == value


HOSTILE = [
    "",
    " ",
    "N**2",
    "9**9**9**9",
    "2**N",
    "1 << 40",
    "N.real",
    "N if N else 1",
    "lambda: 1",
    "[1]",
    "(1, 2)",
    "(N for N in N)",
    "__import__('os').system('true')",
    "__import__(N)",
    "open(N)",
    "ceil(ceil)",
    "ceil",
    "min(N)",
    "min()",
    "max(*N)",
    "min(N, M, key=N)",
    "cdiv(1, 2, 3)",
    "ceil(N)(M)",
    "N = 3",
    "N := 3",
    "(N := 3)",
    "N == 3",
    "not N",
    "~N",
    "N and M",
    "N @ M",
    "True",
    "None",
    "1.5",
    "1e9",
    "0x10",
    "1or 2",
    "1j",
    "'N'",
    "f'{N}'",
    "N\n+1",
    "N # comment",
    "N;M",
    "K",
    "\u2115",
    "\uff2e",
    "N\x00",
    "/",
    "N +",
    "(N",
    "N)",
    "N N",
    "N/0",
    "N // Z",
    "N % Z",
    "cdiv(N, Z)",
    "N/3",
    "7/2",
    "await N",
    "yield",
    "9" * 100,
    "*".join(["9999999999"] * 15),
    "9223372036854775807 * 9223372036854775807",
    "(" * 90 + "1" + ")" * 90 + "*",
    "-" * 150 + "1",
    "(" * 100 + "N" + ")" * 100 + "+" * 10,
    "+".join(["1"] * 99),
    "ceil(" * 30 + "N" + ")" * 30,
    "N" * (MAX_CHARACTERS + 1),
    "1/" * 60 + "999999",
    "/".join(["1"] + ["9999999967"] * 12),
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts_are_refused(text: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        evaluate(text, AXES)
    assert caught.value.expected and caught.value.found
    assert len(str(caught.value)) < 600


@given(st.text(alphabet="NMZ0123456789+-*/%(), ceilfordvmnax_", max_size=60))
@example("1if 1else 2")
@example("N_M")
def test_any_text_ends_in_an_int_or_a_refusal(text: str) -> None:
    try:
        value = evaluate(text, AXES)
    except ExpressionError:
        return
    assert type(value) is int
    assert abs(value) <= MAX_MAGNITUDE


@given(st.integers(0, 10**9), st.integers(1, 10**6))
def test_ceil_of_a_division_is_exact(a: int, b: int) -> None:
    axes = {"A": a, "B": b}
    assert evaluate("ceil(A/B)", axes) == evaluate("cdiv(A, B)", axes) == -(-a // b)
    big = {"A": MAX_MAGNITUDE - a, "B": b}  # where floats would round
    assert evaluate("ceil(A/B)", big) == -(-big["A"] // b)
    assert evaluate("A // B", big) == math.floor(big["A"] // b)
