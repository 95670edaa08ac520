"""Random control flow: nested branches, loops of a different length in each lane, break, continue, return.

A program is a small tree; it is written as CUDA and walked in Python for each thread. Lanes that part must meet
again with the right values, whatever the compiler made of the branches.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.vgpu.run import constant, honest

I32, U32 = np.int32, np.uint32
MASK = 0xFFFFFFFF
Node = tuple[Any, ...]


class Leave(Exception):
    """break, continue or return, on its way up."""


def tree(rng: np.random.Generator, depth: int, in_loop: bool) -> list[Node]:
    body: list[Node] = []
    for _ in range(int(rng.integers(1, 4))):
        kind = rng.choice(["mix", "if", "loop", "leave"], p=[0.4, 0.3, 0.2, 0.1])
        number = int(rng.integers(1, 1000))
        if kind == "if" and depth:
            body.append(
                ("if", number, int(rng.integers(2, 5)), tree(rng, depth - 1, in_loop), tree(rng, depth - 1, in_loop))
            )
        elif kind == "loop" and depth:
            body.append(("loop", depth, int(rng.integers(2, 7)), tree(rng, depth - 1, True)))
        elif kind == "leave":
            words = ["return", "break", "continue"] if in_loop else ["return"]
            body.append(("leave", str(rng.choice(words)), number))
        else:
            body.append(("mix", number))
    return body


def as_cuda(body: list[Node]) -> str:
    lines: list[str] = []
    for node in body:
        match node:
            case ("mix", n):
                lines.append(f"v = v * 1664525u + {n}u + (v >> 7);")
            case ("if", n, m, yes, no):
                lines.append(f"if ((v ^ {n}u) % {m}u == 0u) {{ {as_cuda(yes)} }} else {{ {as_cuda(no)} }}")
            case ("loop", d, m, inner):
                lines.append(
                    f"for (unsigned i{d} = 0, n{d} = v % {m}u; i{d} < n{d}; i{d}++) {{ v += i{d}; {as_cuda(inner)} }}"
                )
            case ("leave", "return", n):
                lines.append(f"if (v % 11u == {n % 11}u) {{ y[t] = v; return; }}")
            case ("leave", word, n):
                lines.append(f"if (v % 3u == {n % 3}u) {word};")
            case _:
                raise AssertionError(node)
    return "\n".join(lines)


def walk(body: list[Node], v: int) -> int:
    """The value of `v` after the body; raises Leave(word, v) on the way out of it."""
    for node in body:
        match node:
            case ("mix", n):
                v = v * 1664525 + n + (v >> 7) & MASK
            case ("if", n, m, yes, no):
                v = walk(yes if (v ^ n) % m == 0 else no, v)
            case ("loop", _, m, inner):
                v = loop(inner, v % m, v)
            case ("leave", "return", n):
                if v % 11 == n % 11:
                    raise Leave("return", v)
            case ("leave", word, n):
                if v % 3 == n % 3:
                    raise Leave(word, v)
            case _:
                raise AssertionError(node)
    return v


def loop(inner: list[Node], rounds: int, v: int) -> int:
    for i in range(rounds):
        try:
            v = walk(inner, v + i & MASK)
        except Leave as way:
            word, v = way.args
            if word == "return":
                raise
            if word == "break":
                break
    return v


def expected(body: list[Node], v: int) -> int:
    try:
        return walk(body, v) ^ 1
    except Leave as way:
        return way.args[1]


@pytest.mark.parametrize("seed", range(12))
def test_lanes_part_and_meet_again(seed: int) -> None:
    body = tree(np.random.default_rng(seed), depth=4, in_loop=False)
    source = f"""
extern "C" __global__ void k(const unsigned *x, unsigned *y) {{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = x[t];
    {as_cuda(body)}
    y[t] = v ^ 1u;
}}"""
    x = np.random.default_rng(100 + seed).integers(0, 2**32, 192).astype(U32)
    y = honest(source, {"x": constant(x), "y": np.zeros(192, U32)}, grid=2, block=96)["y"]
    np.testing.assert_array_equal(y, [expected(body, int(v)) for v in x])
