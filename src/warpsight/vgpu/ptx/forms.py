"""A kernel of one instruction for an opcode spelling ("form"): what coverage and the tests try the front end with.

`forms.txt` lists the forms that are meant to lower. Operands are written from the spelling alone, so a form of another
list (a census of programs) works as well; one whose operands are not known here is a KeyError. Decides nothing.
"""

from __future__ import annotations

from functools import cache
from importlib import resources

_SIZES = {"e4m3x2": 2, "e5m2x2": 2, "128": 16, "16": 2, "32": 4, "64": 8, "8": 2, "x2": 4}
_OPERANDS = {
    **dict.fromkeys(
        ["not", "cnot", "abs", "neg", "brev", "rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos", "tanh"], 2
    ),
    **dict.fromkeys(
        [
            "add",
            "sub",
            "mul",
            "min",
            "max",
            "and",
            "or",
            "xor",
            "div",
            "rem",
            "copysign",
            "bmsk",
            "addc",
            "subc",
            "mul24",
        ],
        3,
    ),
    **dict.fromkeys(["mad", "madc", "fma", "sad", "mad24"], 4),
}
_FIXED = {
    "bra": "$L", "bra.uni": "$L", "exit": "", "ret": "", "trap": "", "brkpt": "", "nanosleep.u32": "20",
    "bar.sync": "0", "barrier.sync": "0", "bar.warp.sync": "%r1", "bar.arrive": "1, 64",
    "barrier.sync.aligned": "1, 64", "barrier.cta.sync": "%r1, %r2", "barrier.cta.arrive": "1, 64",
    "bar.red.popc.u32": "%r1, 0, %p1", "bar.red.and.pred": "%p2, 0, !%p1", "bar.red.or.pred": "%p2, 0, 64, %p1",
    "griddepcontrol.wait": "",
    "cp.async.commit_group": "", "cp.async.wait_all": "", "cp.async.wait_group": "1", "activemask.b32": "%r1",
    "elect.sync": "%r1|%p1, -1", "fns.b32": "%r1, %r2, %r3, %r4",
}  # fmt: skip
_WMMA_REGISTERS = {
    "f16": {"a": 8, "b": 8, "c": 4, "d": 4}, "f32": {"c": 8, "d": 8}, "bf16": {"a": 4, "b": 4},
    "tf32": {"a": 4, "b": 4},
}  # fmt: skip
_BITS = {"f64": 64, "f32": 32, "tf32": 32, "s32": 32, "f16": 16, "bf16": 16, "s8": 8, "u8": 8}


@cache
def listed_forms() -> tuple[str, ...]:
    """Every form of forms.txt."""
    text = (resources.files("warpsight.vgpu.ptx") / "forms.txt").read_text(encoding="utf-8")
    return tuple(line for line in text.splitlines() if line and not line.startswith("#"))


def kernel_of(form: str, prologue: str = "") -> str:
    """PTX of a kernel `k` whose one instruction has this form; `prologue` stands before it."""
    return (
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .align 16 .b8 k_param_0[64])\n{\n"
        ".reg .pred %p<9>;\n.reg .b16 %rs<50>;\n.reg .b32 %r<90>;\n.reg .b64 %rd<50>;\n.reg .b128 %rq<9>;\n"
        f"{prologue}{{ .param .align 16 .b8 out[64];\n$L:\n{form} {operands(form)};\n}}\nret;\n}}\n"
    )


def operands(form: str) -> str:
    """Operands that fit the form, over the registers that `kernel_of` declares."""
    if form in _FIXED:
        return _FIXED[form]
    base, *words = form.split(".")
    types = [word for word in words if _is_type(word)]
    t = types[-1] if types else "b32"
    if base in _OPERANDS:
        return _arithmetic(t, _OPERANDS[base], wide="wide" in words)
    if base in ("ld", "ldu", "st"):
        return _access(base, words, t)
    if base in ("atom", "red"):
        parts = [*([_reg(t, 1)] if base == "atom" else []), "[%rd20+8]", _reg(t, 3)]
        return ", ".join([*parts, _reg(t, 4)] if "cas" in words else parts)
    if base in ("ldmatrix", "wmma", "mma"):
        return _tensor(base, words, types)
    return _others(base, words, types, t)


def _size(t: str) -> int:
    return 0 if t == "pred" else next(n for end, n in _SIZES.items() if t.endswith(end))


def _reg(t: str, i: int) -> str:
    return {0: "%p", 2: "%rs", 4: "%r", 8: "%rd", 16: "%rq"}[_size(t)] + str(i)


def _is_type(word: str) -> bool:
    digits = word.lstrip("bfustx").rstrip("x2")
    return word in ("pred", "e4m3x2", "e5m2x2") or (
        word[0] in "bfust" and digits in ("8", "16", "32", "64", "128", "1", "3", "6")
    )


def _vector(t: str, n: int, start: int = 1) -> str:
    return "{" + ", ".join(_reg(t, start + i) for i in range(n)) + "}" if n > 1 else _reg(t, start)


def _arithmetic(t: str, count: int, *, wide: bool) -> str:
    regs = [_reg(t, i) for i in range(1, count + 1)]
    if wide:
        wider = f"u{16 * _size(t)}"
        regs = [_reg(wider, 1), *regs[1:3], *([_reg(wider, 4)] if count == 4 else [])]
    return ", ".join(regs)


def _access(base: str, words: list[str], t: str) -> str:
    values = _vector(t, next((int(w[1]) for w in words if w in ("v2", "v4", "v8")), 1))
    hint = ", %rd30" if "L2::cache_hint" in words else ""
    if base == "st":
        return f"{'[out]' if 'param' in words else '[%rd9+16]'}, {values}{hint}"
    return f"{values}, {'[k_param_0]' if 'param' in words else '[%rd9+16]'}{hint}"


def _others(base: str, words: list[str], types: list[str], t: str) -> str:
    r = [_reg(t, i) for i in range(10)]
    first = types[0] if types else "b32"
    then = ", %r4" * any(word in words for word in ("add", "min", "max"))
    combined = any(word in words for word in ("and", "or", "xor"))
    if base == "cvt":
        last = f", {_reg(types[1], 3)}" if first.endswith("x2") and t == "f32" else ""
        return f"{_reg(first, 1)}, {_reg(types[1], 2)}{last}"
    if base == "cp":
        return "[%r1], [%rd1+64], 16" + (", %rd30" if "L2::cache_hint" in words else "")
    if base == "match":
        return f"{'%r1|%p1' if 'all' in words else '%r1'}, {r[2]}, -1"
    table = {
        "mov": f"{r[1]}, {r[2]}", "cvta": "%rd1, %rd2", "setp": f"%p1|%p2, {r[1]}, {r[2]}{', !%p3' * combined}",
        "set": f"{_reg(first, 5)}, {r[1]}, {r[2]}{', %p3' * combined}", "selp": f"{r[1]}, {r[2]}, {r[3]}, %p1",
        "slct": f"{_reg(first, 1)}, {_reg(first, 2)}, {_reg(first, 3)}, {r[4]}", "shl": f"{r[1]}, {r[2]}, %r5",
        "shr": f"{r[1]}, {r[2]}, 3", "clz": f"%r1, {r[2]}", "popc": f"%r1, {r[2]}", "bfind": f"%r1, {r[2]}",
        "bfe": f"{r[1]}, {r[2]}, 4, %r6", "bfi": f"{r[1]}, {r[2]}, {r[3]}, 4, %r6", "prmt": "%r1, %r2, %r3, 0x5410",
        "shf": "%r1, %r2, %r3, %r4", "szext": "%r1, %r2, 8", "lop3": "%r1, %r2, %r3, %r4, 0x96",
        "dp4a": "%r1, %r2, %r3, %r4", "dp2a": "%r1, %r2, %r3, %r4", "vabsdiff2": "%r1, %r2, %r3, %r4",
        "vabsdiff4": "%r1, %r2, %r3, %r4",
        "vshl": "%r1, %r2, %r3" + then, "vshr": "%r1, %r2, %r3" + then,
        "testp": f"%p1, {r[1]}", "isspacep": "%p1, %rd1",
        "shfl": "%r1|%p1, %r2, 1, 31, -1", "redux": "%r1, %r2, -1",
        "vote": "%r1, !%p1, -1" if t == "b32" else "%p2, %p1, -1",
        "prefetch": "[%rd1]", "prefetchu": "[%rd1]", "applypriority": "[%rd1], 128", "discard": "[%rd1], 128",
        "membar": "", "fence": "", "createpolicy": "%rd1, 0f3F800000",
    }  # fmt: skip
    return table[base]


def _tensor(base: str, words: list[str], types: list[str]) -> str:
    if base == "ldmatrix":
        return f"{_vector('b32', int(next(w for w in words if w in ('x1', 'x2', 'x4'))[1]))}, [%r20+32]"
    if base == "wmma" and words[0] == "mma":
        return ", ".join(_vector("b32", 8, 10 * i + 1) for i in range(4))
    if base == "wmma":
        fragment = _vector("b32", _WMMA_REGISTERS[types[0]][words[1]])
        return f"{fragment}, [%rd1], %r40" if words[0] == "load" else f"[%rd1], {fragment}, %r40"
    shape = next(w for w in words if w.startswith("m") and w[1].isdigit())
    m, n, k = (int(x) for x in shape[1:].replace("n", " ").replace("k", " ").split())
    groups: list[str] = []
    for i, (t, elements) in enumerate(zip(types, (m * n, m * k, k * n, m * n), strict=True)):
        rows = elements * _BITS[t] // (32 * max(_BITS[t], 32))
        kind = "%rd" if t == "f64" else "%r"
        groups.append("{" + ", ".join(f"{kind}{10 * i + j + 1}" for j in range(rows)) + "}")
    return ", ".join(groups)
