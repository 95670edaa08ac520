"""Every supported opcode spelling lowers: a one-instruction kernel is written for each form of forms.txt, with operands that fit the form.

The list is our own; where the census of public CUDA programs lies beside the repository, its forms are checked too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from warpsight.errors import UnsupportedInstruction
from warpsight.vgpu.bytecode import OP_NAMES, Flag, Program
from warpsight.vgpu.ptx import load_ptx

HERE = Path(__file__).parent
FORMS = [line for line in (HERE / "forms.txt").read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
CENSUS = HERE.parents[3] / "shared" / "data" / "ptx_census.json"

SIZES = {"128": 16, "16": 2, "32": 4, "64": 8, "8": 2, "x2": 4}
THREE = ("add", "sub", "mul", "min", "max", "and", "or", "xor", "div", "rem", "copysign", "bmsk", "addc", "subc", "mul24")
FOUR = ("mad", "madc", "fma", "sad", "mad24")
TWO = ("not", "cnot", "abs", "neg", "brev", "rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos", "tanh")
FIXED = {
    "bra": "$L", "bar.sync": "0", "barrier.sync": "0", "bar.warp.sync": "%r1", "activemask.b32": "%r1", "exit": "", "ret": "", "trap": "",
    "brkpt": "", "nanosleep.u32": "20", "cp.async.commit_group": "", "cp.async.wait_all": "", "cp.async.wait_group": "1",
    "bar.arrive": "1, 64", "bar.red.popc.u32": "%r1, 0, %p1", "bar.red.and.pred": "%p2, 0, !%p1", "bar.red.or.pred": "%p2, 0, 64, %p1",
    "barrier.sync.aligned": "1, 64", "barrier.cta.sync": "%r1, %r2", "barrier.cta.arrive": "1, 64", "elect.sync": "%r1|%p1, -1",
    "fns.b32": "%r1, %r2, %r3, %r4", "griddepcontrol.wait": "", "bra.uni": "$L",
}  # fmt: skip
WIDE_FRAGMENT = {"f16": {"a": 8, "b": 8, "c": 4, "d": 4}, "f32": dict.fromkeys("cd", 8), "bf16": dict.fromkeys("ab", 4), "tf32": dict.fromkeys("ab", 4)}


def size(t: str) -> int:
    return 0 if t == "pred" else next(n for end, n in SIZES.items() if t.endswith(end))


def reg(t: str, i: int) -> str:
    return {0: "%p", 2: "%rs", 4: "%r", 8: "%rd", 16: "%rq"}[size(t)] + str(i)


def is_type(word: str) -> bool:
    return word == "pred" or word.lstrip("bfustx").rstrip("x2") in ("8", "16", "32", "64", "128", "1", "3", "6") and word[0] in "bfust"


def vector(t: str, n: int, start: int = 1) -> str:
    return "{" + ", ".join(reg(t, start + i) for i in range(n)) + "}" if n > 1 else reg(t, start)


def memory_operands(base: str, words: list[str], t: str) -> str:
    n = next((int(w[1]) for w in words if w in ("v2", "v4", "v8")), 1)
    address = "[k_param_0]" if "param" in words and base == "ld" else "[out]" if "param" in words else "[%rd9+16]"
    hint = ", %rd30" if "L2::cache_hint" in words else ""
    return (f"{vector(t, n)}, {address}" if base == "ld" else f"{address}, {vector(t, n)}") + hint


def operands(form: str) -> str:
    if form in FIXED:
        return FIXED[form]
    base, *words = form.split(".")
    types = [w for w in words if is_type(w)]
    t = types[-1] if types else "b32"
    count = 4 if base in FOUR else 3 if base in THREE else 2 if base in TWO else 0
    if count:
        regs = [reg(t, i) for i in range(1, count + 1)]
        if "wide" in words:
            wide = f"u{16 * size(t)}"
            regs[0] = reg(wide, 1)
            regs[3:] = [reg(wide, 4)] if count == 4 else []
        return ", ".join(regs)
    if base in ("ld", "st"):
        return memory_operands(base, words, t)
    return special_operands(form, base, words, types, t)


def special_operands(form: str, base: str, words: list[str], types: list[str], t: str) -> str:
    r = [reg(t, i) for i in range(10)]
    first = types[0] if types else "b32"
    combined = any(w in words for w in ("and", "or", "xor"))
    if base == "cvt":
        pair = types[0].endswith("x2")
        return f"{reg(first, 1)}, {reg(types[1], 2)}" + (f", {reg(types[1], 3)}" if pair else "")
    table = {
        "mov": f"{r[1]}, {r[2]}", "cvta": "%rd1, %rd2", "setp": f"%p1|%p2, {r[1]}, {r[2]}" + (", !%p3" if combined else ""),
        "set": f"{reg(first, 5)}, {r[1]}, {r[2]}" + (", %p3" if combined else ""), "selp": f"{r[1]}, {r[2]}, {r[3]}, %p1",
        "slct": f"{reg(first, 1)}, {reg(first, 2)}, {reg(first, 3)}, {r[4]}", "shl": f"{r[1]}, {r[2]}, %r5", "shr": f"{r[1]}, {r[2]}, 3",
        "clz": f"%r1, {r[2]}", "popc": f"%r1, {r[2]}", "bfind": f"%r1, {r[2]}", "bfe": f"{r[1]}, {r[2]}, 4, %r6", "bfi": f"{r[1]}, {r[2]}, {r[3]}, 4, %r6",
        "prmt": "%r1, %r2, %r3, 0x5410", "shf": "%r1, %r2, %r3, %r4", "szext": "%r1, %r2, 8", "lop3": "%r1, %r2, %r3, %r4, 0x96",
        "dp4a": "%r1, %r2, %r3, %r4", "dp2a": "%r1, %r2, %r3, %r4", "vabsdiff2": "%r1, %r2, %r3, %r4", "vabsdiff4": "%r1, %r2, %r3, %r4",
        "testp": f"%p1, {r[1]}", "isspacep": "%p1, %rd1", "shfl": "%r1|%p1, %r2, 1, 31, -1", "redux": "%r1, %r2, -1", "match": f"%r1, {r[2]}, -1",
        "vote": "%r1, !%p1, -1" if t == "b32" else "%p2, %p1, -1", "prefetch": "[%rd1]", "prefetchu": "[%rd1]", "applypriority": "[%rd1], 128",
        "discard": "[%rd1], 128", "membar": "", "fence": "", "createpolicy": "%rd1, 0f3F800000",
    }  # fmt: skip
    if base == "match" and "all" in words:
        return f"%r1|%p1, {r[2]}, -1"
    if base in ("atom", "red"):
        result = [] if base == "red" else [r[1]]
        return ", ".join([*result, "[%rd20+8]", r[3], *([r[4]] if "cas" in words else [])])
    if base == "cp":
        return "[%r1], [%rd1+64], 16" + (", %rd30" if "L2::cache_hint" in words else "")
    return table[base] if base in table else tensor_operands(base, words, types)


def tensor_operands(base: str, words: list[str], types: list[str]) -> str:
    if base == "ldmatrix":
        return f"{vector('b32', int(next(w for w in words if w in ('x1', 'x2', 'x4'))[1]))}, [%r20+32]".replace("{%r1}", "%r1")
    if base == "wmma" and words[0] != "mma":
        n = WIDE_FRAGMENT[types[0]][words[1]]
        return f"{vector('b32', n)}, [%rd1], %r40" if words[0] == "load" else f"[%rd1], {vector('b32', n)}, %r40"
    if base == "wmma":
        return ", ".join(vector("b32", n, 10 * i + 1) for i, n in enumerate((8, 8, 8, 8)))
    shape = next(w for w in words if w.startswith("m") and w[1].isdigit())
    m, n, k = (int(x) for x in shape[1:].replace("n", " ").replace("k", " ").split())
    groups = []
    for i, (t, elements) in enumerate(zip(types, (m * n, m * k, k * n, m * n), strict=True)):
        bits = {"f64": 64, "f32": 32, "tf32": 32, "s32": 32, "f16": 16, "bf16": 16, "s8": 8, "u8": 8}[t]
        rows = elements * bits // (32 * max(bits, 32))
        groups.append("{" + ", ".join(("%rd" if t == "f64" else "%r") + str(10 * i + j + 1) for j in range(rows)) + "}")
    return ", ".join(groups)


def kernel(instruction: str) -> str:
    return (
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .align 16 .b8 k_param_0[64])\n{\n.reg .pred %p<9>;\n.reg .b16 %rs<50>;\n"
        ".reg .b32 %r<90>;\n.reg .b64 %rd<50>;\n.reg .b128 %rq<9>;\n{ .param .align 16 .b8 out[64];\n$L:\n"
        f"{instruction};\n}}\nret;\n}}\n"
    )


def lowered(form: str) -> Program:
    program = load_ptx(kernel(f"{form} {operands(form)}"))
    counted = [i for i in range(len(program.code)) if not program.code[i]["flags"] & Flag.HIDDEN]
    assert len(counted) == 2, "one instruction and the kernel's ret are counted, steps of one instruction are not"
    assert OP_NAMES[program.code[counted[-1]]["op"]] == "EXIT"
    return program


def refused(forms: Iterable[str]) -> list[str]:
    found = list[str]()
    for form in forms:
        try:
            lowered(form)
        except UnsupportedInstruction as e:
            found.append(f"{form}: {e.message}")
    return found


@pytest.mark.parametrize("base", sorted({form.split(".")[0] for form in FORMS}))
def test_every_listed_form_lowers(base: str) -> None:
    assert refused(form for form in FORMS if form.split(".")[0] == base) == []


@pytest.mark.skipif(not CENSUS.exists(), reason="the census of public programs is not beside this repository")
def test_every_form_of_the_census_lowers() -> None:
    census = json.loads(CENSUS.read_text(encoding="utf-8"))["forms"]
    forms = [form for form in census if not form.startswith("tex.")]
    assert len(forms) > 500
    assert refused(forms) == []
