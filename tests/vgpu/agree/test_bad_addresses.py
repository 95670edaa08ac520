"""Accesses in which some lanes are wrong in one way and some in another: both executors see it.

Offsets are drawn: most lanes stand well, a few are misaligned, past the end, before the start, in the gap between
arrays, or in an array that must not be written.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from tests.vgpu.agree.both import Made, run_both
from tests.vgpu.run import constant

from warpsight.vgpu.bytecode import Program
from warpsight.vgpu.ptx import load_ptx

BYTES = 1024
KERNEL = """.version 8.0
.target sm_80
.address_size 64
.const .align 16 .b8 fixed[1024] = {1, 2, 3};
.visible .entry k(.param .u64 x, .param .u64 bad, .param .u64 out, .param .u64 off)
{
.reg .pred %p<3>;
.reg .b32 %r<20>;
.reg .b64 %rd<20>;
.shared .align 16 .b8 tile[1024];
.local .align 16 .b8 mine[1024];
ld.param.u64 %rd1, [x];
ld.param.u64 %rd2, [off];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd3, %r1, 8;
add.s64 %rd4, %rd2, %rd3;
ld.global.u64 %rd5, [%rd4];
BASE
add.s64 %rd6, %rd7, %rd5;
cvt.u32.u64 %r2, %rd6;
mov.u32 %r4, 5;
mov.u32 %r5, 6;
and.b32 %r9, %r1, 7;
setp.ne.u32 %p1, %r9, 3;
OPERATION
ret;
}
"""
BASES = {
    "global": "mov.u64 %rd7, %rd1;",
    "shared": "mov.u64 %rd7, tile;",
    "local": "mov.u64 %rd7, mine;",
    "const": "mov.u64 %rd7, fixed;",
    "generic": """mov.u64 %rd8, tile;
cvta.shared.u64 %rd9, %rd8;
and.b32 %r8, %r1, 4;
setp.eq.u32 %p2, %r8, 0;
selp.b64 %rd7, %rd1, %rd9, %p2;""",
}
OPERATIONS = {
    "load": "ld.SPACE.u32 %r3, [%rd6];",
    "guarded load": "@%p1 ld.SPACE.u32 %r3, [%rd6];",
    "load of 16 bytes": "ld.SPACE.v4.u32 {%r10, %r11, %r12, %r13}, [%rd6];",
    "load with offset": "ld.SPACE.u16 %r3, [%rd6+6];",
    "store": "st.SPACE.u32 [%rd6], %r4;",
    "store of a byte": "st.SPACE.u8 [%rd6], %r4;",
    "store of 8 bytes": "st.SPACE.v2.u32 [%rd6], {%r4, %r5};",
    "atomic": "atom.SPACE.add.u32 %r3, [%rd6], %r4;",
    "reduction": "red.SPACE.max.u64 [%rd6], %rd5;",
    "copy from": "mov.u32 %r6, tile; mad.lo.u32 %r6, %r1, 16, %r6; cp.async.cg.shared.global [%r6], [%rd6], 16;",
    "copy to": "mad.wide.u32 %rd10, %r1, 16, %rd1; cp.async.ca.shared.global [%r2], [%rd10], 8;",
    "matrix": "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r2];",
}
PLACES = {
    **dict.fromkeys(("load", "guarded load", "load of 16 bytes", "load with offset"), tuple(BASES)),
    **dict.fromkeys(("store", "store of a byte", "store of 8 bytes"), ("global", "shared", "local", "generic")),
    **dict.fromkeys(("atomic", "reduction"), ("global", "shared", "generic")),
    "copy from": ("global",), "copy to": ("shared",), "matrix": ("shared",),
}  # fmt: skip
CASES = [(operation, space) for operation, spaces in PLACES.items() for space in spaces]


@cache
def program(operation: str, space: str) -> Program:
    text = OPERATIONS[operation].replace("SPACE.", "" if space == "generic" else f"{space}.")
    return load_ptx(KERNEL.replace("BASE", BASES[space]).replace("OPERATION", text.replace("; ", ";\n")))


READ_ONLY = BYTES + 4096
"""From the start of `x` to that of `bad`, the read-only array after it."""
WILD = (1, 2, 4, 6, 8, 12, BYTES, BYTES + 16, 3 * BYTES, -16, -4096, 2**33, READ_ONLY)
"""Each is wrong in one way at most: inside but misaligned, or aligned but elsewhere."""


def good_offsets(rng: np.random.Generator) -> np.ndarray:
    """Multiples of 16 inside: side by side, spread, or in any order."""
    good = 16 + np.arange(32) * 4 * int(rng.integers(4, 8)) % (BYTES - 64) // 16 * 16
    return good if rng.random() < 0.7 else rng.permutation(good)


def run(operation: str, space: str, off: np.ndarray) -> tuple[Made, Made]:
    x = np.zeros(BYTES, np.uint8)
    return run_both(program(operation, space), {"x": x, "bad": constant(x), "out": x, "off": off.astype(np.int64)})


@pytest.mark.parametrize(("operation", "space"), CASES)
def test_one_wrong_lane_is_named_alike(operation: str, space: str) -> None:
    rng = np.random.default_rng(1)
    kinds: set[str] = set()
    for wild in WILD:
        off = good_offsets(rng)
        off[rng.integers(32)] = wild
        core, meaning = run(operation, space, off)
        assert core.fault == meaning.fault, (wild, off.tolist())
        kinds.add(core.fault[0] if core.fault else "none")
        if core.fault is None:
            assert all(np.array_equal(core.arrays[n], meaning.arrays[n]) for n in core.arrays), off.tolist()
    assert "out_of_bounds" in kinds and len(kinds) > 1


@pytest.mark.parametrize(("operation", "space"), CASES)
def test_of_many_wrong_lanes_the_core_blames_one_that_is_wrong(operation: str, space: str) -> None:
    """Which one is left open; alone, it must be wrong by the definition too, and in the same way."""
    rng = np.random.default_rng(2)
    for _ in range(12):
        good = good_offsets(rng)
        off = np.where(rng.random(32) < 0.2, rng.choice(WILD, 32), good)
        core, meaning = run(operation, space, off)
        assert (core.fault is None) == (meaning.fault is None), off.tolist()
        if core.fault is not None:
            lane = core.fault[3]
            alone = np.where(np.arange(32) == lane, off, good)
            assert run(operation, space, alone)[1].fault == core.fault, off.tolist()
