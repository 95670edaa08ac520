"""The reader of shapes: tokens, brackets, statements, loops; and that no text makes it raise."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rewrite.kernels import COPY_LOOP, FACTS

from warpsight.errors import UsageError
from warpsight.rewrite import CAUSES, MOST, rewrites
from warpsight.rewrite.launch import read_launch, with_option, write_launch
from warpsight.rewrite.source import Span, calls, definition, kernel_at, loops, read, splice, statements
from warpsight.rewrite.tokens import tokens

HOSTILE = (
    "",
    "}{)(",
    '// launch: grid=( block=)\nextern "C" __global__ void twice(',
    '#define BODY for (int i = 0; i < N; ++i) { y[i] = x[i] / "',
    '// launch: grid=(1) block=(32)\nextern "C" __global__ void twice(float* y) { y[0] = \'"\'; /* ',
    '// launch: grid=(1) block=(32)\nextern "C" __global__ void twice(float* y, int N) { for (;;) { } do { } }',
    '// launch: grid=(min(, 3)) block=(x)\nextern "C" __global__ void twice(float* y, int N) { y[4 * ] = % / 2; }',
)
PIECES = (
    *COPY_LOOP.split(), "for (", ";", "{", "}", "(", ")", "[", "]", "%", "/", "threadIdx.x", "a[4 * i + 1]", "=",
    "__shared__ float t[32][32];", "__syncthreads();", "atomicAdd(&y[0], 1.0f);", "powf(x, 2.0f)", "float v[8];",
    "// launch: grid=(8) block=(32, 8) shared=64\n", '"', "'", "/*", "*/", "\\", "min(", "step *= 2", "if", "else",
    "#pragma unroll 1\n", "double", "+=",
)  # fmt: skip


def test_tokens_leave_comments_and_strings_whole() -> None:
    found = tokens('a /* x / y */ "b // c" // d\n#define E f\n')
    assert [(t.kind, t.text) for t in found] == [
        ("word", "a"), ("comment", "/* x / y */"), ("string", '"b // c"'), ("comment", "// d"),
        ("directive", "#define E f"),
    ]  # fmt: skip
    assert [t.text for t in tokens("1.5e-3f 0x1Fu .5 a.x i<<=2")] == [
        "1.5e-3f",
        "0x1Fu",
        ".5",
        "a",
        ".",
        "x",
        "i",
        "<<=",
        "2",
    ]


@given(st.text(alphabet=st.sampled_from(list("ab1. /*\"'\\\n#(){}[];<>=+-%&|")), max_size=60))
def test_tokens_are_the_text_between_their_places(text: str) -> None:
    found = tokens(text)
    assert all(text[t.start : t.end] == t.text and t.text for t in found)
    assert all(one.end <= other.start for one, other in itertools.pairwise(found))


def test_statements_and_loops() -> None:
    code = read("void f() { int a = 1; if (a) b(); else { c(); } for (int i = 0; i < 4; ++i) d(i); do { } while (0); }")
    found = kernel_at(read(COPY_LOOP), "twice")
    assert found is not None and kernel_at(code, "f") is None, "no kernel"
    body = Span(5, len(code.tokens) - 1)
    texts = [code.of(one) for one in statements(code, body)]
    assert texts == [
        "int a = 1;", "if (a) b(); else { c(); }", "for (int i = 0; i < 4; ++i) d(i);", "do { } while (0);",
    ]  # fmt: skip
    (loop,) = loops(code)
    assert [code.of(part) for part in loop[1:5]] == ["int i = 0", "i < 4", "++i", "d(i);"] and loop.innermost
    assert [code.of(one) for _, arguments in calls(code, ("d",)) for one in arguments] == ["i"]
    value = definition(code, "a", body)
    assert value is not None and code.of(value) == "1" and definition(code, "i", body) is None, "i gets other values"


def test_edits_that_overlap_are_made_once() -> None:
    code = read("a + b + c")
    whole, part = code.edit(Span(0, 3), "x"), code.edit(Span(2, 3), "y")
    assert splice(code.text, [part, whole]) == "x + c"


def test_a_launch_line_is_written_as_it_was_read() -> None:
    launch = read_launch("// a\n// launch: grid=(ceil(N/(256*4)), min(M, 3)) block=(32, 8)\nint x;")
    assert launch is not None and launch.grid == ("ceil(N/(256*4))", "min(M, 3)") and launch.threads == 256
    made = write_launch("// a\n// launch: grid=(ceil(N/(256*4)), min(M, 3)) block=(32, 8)\nint x;", launch)
    assert made == "// a\n// launch: grid=(ceil(N/(256*4)), min(M, 3)) block=(32, 8) shared=0\nint x;"
    assert read_launch("int x;\n// launch: grid=(1) block=(1)") is None, "below code it is a comment"
    once = with_option(made, "--use_fast_math")
    assert (
        once is not None and "\n// options: --use_fast_math\n" in once and with_option(once, "--use_fast_math") is None
    )


@pytest.mark.parametrize("cause", list(CAUSES))
def test_no_text_makes_a_rewrite_raise(cause: str) -> None:
    draw = random.Random(f"hostile {cause}")
    mixed = [" ".join(draw.choice(PIECES) for _ in range(draw.randint(5, 60))) for _ in range(40)]
    cut = [COPY_LOOP[:at] + COPY_LOOP[at + draw.randint(1, 30) :] for at in range(0, len(COPY_LOOP), 23)]
    whole = [
        f'// launch: grid=(9) block=(64)\nextern "C" __global__ void twice(float* y, int N) {{ {m} }}' for m in mixed
    ]
    for text in (*HOSTILE, *mixed, *cut, *whole):
        found = rewrites(text, cause, FACTS)
        assert len(found) <= MOST and all(one.text != text and one.name for one in found)
        assert len({one.text for one in found}) == len(found)


def test_an_unknown_cause_is_told() -> None:
    with pytest.raises(UsageError, match="expected a cause"):
        rewrites(COPY_LOOP, "cosmic_rays", FACTS)
    assert rewrites("x" * 20_000, "slow_math", FACTS) == ()


def test_the_same_question_has_the_same_answer() -> None:
    for cause in CAUSES:
        assert rewrites(COPY_LOOP, cause, FACTS) == rewrites(COPY_LOOP, cause, FACTS)
