"""Which PTX forms the virtual GPU runs: every form is tried as a kernel of one instruction, nothing is looked up.

The kernel fills the form's registers from memory with awkward values (zeros, extremes, NaNs, halfway cases, random
bits), runs the form once per thread and writes every register and every array back. The core and the definition run it
on the same bytes; they agree when all memory, the counts and the fault, if there is one (a trap is no accident), are
the same. What a form should compute is not judged here: that is what the definition's own tests are for.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpsight.errors import UnsupportedInstruction, WarpsightError
from warpsight.vgpu import counters, definition, machine
from warpsight.vgpu.bytecode import CONST_WINDOW, LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, Flag, Program
from warpsight.vgpu.ptx import load_ptx
from warpsight.vgpu.ptx.decode import PtxRefused, decode
from warpsight.vgpu.ptx.forms import kernel_of, operands

STEPS = 4000  # a branch to itself must end
CHUNK = 16
_REGISTER_BYTES = 16 * CHUNK  # of one thread
ARRAY_BYTES = 4096  # one for each block in global memory, and one in the space the form accesses
_WIDTHS = {"%rs": 2, "%r": 4, "%rd": 8, "%rq": 16}
_COUNTED = ("warps", "threads", "threads_on")


@dataclass(frozen=True)
class Coverage:
    """What came of one form. `reason` is that of the first step that went wrong, empty when all is well."""

    form: str
    lowers: bool
    core: bool
    definition: bool
    agrees: bool
    reason: str = ""

    @property
    def executed(self) -> bool:
        return self.lowers and self.core and self.definition


@dataclass(frozen=True)
class FormTrial:
    """A form's kernel: `chunks` are the registers it reads from memory, its predicates come after them."""

    form: str
    program: Program
    chunks: tuple[tuple[str, ...], ...]
    threads: int


@dataclass(frozen=True)
class FormOutcome:
    """What one executor made of a trial. `fault` is (kind, instruction, thread), None when there was none."""

    memory: tuple[bytes, ...]
    counts: NDArray[np.int64]
    fault: tuple[str, str, int] | None


def cover(forms: Iterable[str], progress: Callable[[str], None] = lambda _: None) -> list[Coverage]:
    """Try every form once, in the given order."""
    found: list[Coverage] = []
    for form in dict.fromkeys(forms):
        if len(found) % 500 == 0:
            progress(f"{len(found)} forms tried")
        found.append(cover_form(form))
    return found


def cover_form(form: str) -> Coverage:
    """Try one form in the front end, in the core and in the definition, and compare the two."""
    try:
        trial = trial_of(form)
    except UnsupportedInstruction as refused:
        return Coverage(form, False, False, False, False, refused.message)
    except (KeyError, StopIteration, IndexError, ValueError):
        return Coverage(form, False, False, False, False, _why_not_known(form))
    inputs = inputs_of(trial, blocks=1, seed=0)
    core, no_core = _attempt(lambda: run_core(trial, inputs))
    meaning, no_meaning = _attempt(lambda: run_definition(trial, inputs))
    if core is None or meaning is None:
        return Coverage(form, True, core is not None, meaning is not None, False, no_core or no_meaning)
    apart = difference(core, meaning)
    return Coverage(form, True, True, True, not apart, apart)


def _why_not_known(form: str) -> str:
    """Whether it is the instruction that is unknown, or only its operands."""
    try:
        decode(form)
    except PtxRefused as refused:
        return str(refused)
    return "no operands are known to try this form with"


def _attempt(run: Callable[[], FormOutcome]) -> tuple[FormOutcome | None, str]:
    try:
        return run(), ""
    except UnsupportedInstruction as refused:
        return None, refused.message
    except WarpsightError as problem:
        return None, f"{type(problem).__name__}: {problem.message}"


# ---- the kernel of a form


def trial_of(form: str) -> FormTrial:
    """The kernel that runs a form on values from memory. Raises what the front end or the list of operands raise."""
    text = operands(form)
    addresses = set(re.findall(r"\[(%\w+)", text))
    registers = sorted(set(re.findall(r"%(?:rs|rd|rq|r|p)\d+", text)) - addresses - _fixed(form).keys())
    chunks = tuple(
        tuple(named[i : i + max(1, min(4, CHUNK // size))])
        for kind, size in _WIDTHS.items()
        for named in [[r for r in registers if re.fullmatch(rf"{kind}\d+", r)]]
        for i in range(0, len(named), max(1, min(4, CHUNK // size)))
    )
    predicates = tuple(r for r in registers if r.startswith("%p"))
    before, after = _fill_array(form), _dump_array(form)
    loads = "".join(f"ld.global{_vector(c)} {_braces(c)}, [%rd45+{CHUNK * i}];\n" for i, c in enumerate(chunks))
    stores = "".join(f"st.global{_vector(c)} [%rd46+{CHUNK * i}], {_braces(c)};\n" for i, c in enumerate(chunks))
    for i, p in enumerate(predicates):
        at = CHUNK * len(chunks) + 4 * i
        loads += f"ld.global.u32 %r80, [%rd45+{at}];\nsetp.ne.u32 {p}, %r80, 0;\n"
        stores += f"selp.u32 %r80, 1, 0, {p};\nst.global.u32 [%rd46+{at}], %r80;\n"
    fixed = "".join(f"mov.u32 {name}, {value};\n" for name, value in _fixed(form).items())
    places = _PLACES.replace("THREADS", str(_threads(form)))
    kernel = kernel_of(form, places + before + loads + fixed + _addresses(form, addresses))
    head, block, _ = kernel.rpartition("}\nret;\n}\n")
    assert block, "what follows the form goes before the end of its block and the kernel's last return"
    kernel = _outside(form, head + _CALL * form.startswith("st.param") + "}\n" + stores + after + "ret;\n}\n")
    return FormTrial(form, load_ptx(kernel), chunks, _threads(form))


def _threads(form: str) -> int:
    """One warp, or two for the barriers, which are written for 64 threads."""
    return 64 if form.startswith("bar") else 32


_PLACES = f"""mov.u32 %r81, %tid.x;
mov.u32 %r82, %ctaid.x;
mad.lo.u32 %r83, %r82, THREADS, %r81;
ld.param.u64 %rd45, [k_param_0+8];
ld.param.u64 %rd46, [k_param_0+16];
ld.param.u64 %rd47, [k_param_0];
mad.wide.u32 %rd45, %r83, {_REGISTER_BYTES}, %rd45;
mad.wide.u32 %rd46, %r83, {_REGISTER_BYTES}, %rd46;
mad.wide.u32 %rd47, %r82, {ARRAY_BYTES}, %rd47;
"""
# A parameter of a call is only seen by the function that is called: it gives back all words of it as one.
_CALL = f""".param .b32 got;
call (got), take, (out);
ld.param.b32 %r80, [got];
st.global.b32 [%rd46+{_REGISTER_BYTES - 4}], %r80;
"""
_TAKE = """.func (.param .b32 got) take(.param .align 16 .b8 given[64])
{
.reg .b32 %r<9>;
ld.param.v4.b32 {%r1, %r2, %r3, %r4}, [given];
prmt.b32 %r2, %r2, 0, 0x0321;
xor.b32 %r1, %r1, %r2;
prmt.b32 %r3, %r3, %r3, 0x1032;
xor.b32 %r1, %r1, %r3;
xor.b32 %r1, %r1, %r4;
st.param.b32 [got], %r1;
ret;
}
"""


def _vector(chunk: Sequence[str]) -> str:
    kind = chunk[0].rstrip("0123456789")
    return (f".v{4 if len(chunk) == 3 else len(chunk)}" if len(chunk) > 1 else "") + f".b{8 * _WIDTHS[kind]}"


def _braces(chunk: Sequence[str]) -> str:
    spare = {"%rs": "%rs49", "%r": "%r89"}.get(chunk[0].rstrip("0123456789"), "")
    padded = (*chunk, spare) if len(chunk) == 3 else chunk
    return "{" + ", ".join(padded) + "}" if len(padded) > 1 else padded[0]


def _space(form: str) -> str:
    """The space other than global memory that the form accesses."""
    words = set(form.split("."))
    if form.startswith(("cp.async.c", "ldmatrix")):
        return "shared" if {"shared", "shared::cta"} & words else ""
    return next((s for s in ("shared", "local", "const") if {s, f"{s}::cta"} & words and "[" in operands(form)), "")


def _fixed(form: str) -> dict[str, str]:
    """Registers that cannot have any value: a stride in elements, a barrier and its threads, a member mask."""
    if form.startswith(("wmma.load", "wmma.store")):
        return {"%r40": "32"}
    return {"barrier.cta.sync": {"%r1": "3", "%r2": "64"}, "bar.warp.sync": {"%r1": "-1"}}.get(form, {})


def _addresses(form: str, names: set[str]) -> str:
    """Each thread its own place (atomics share eight, matrices one); 16 before a multiple of 32, as forms add 16."""
    inside = _space(form)
    each = {"atom": (7, 64), "red": (7, 64), "wmma": (0, 0), "ldmatrix": (31, 48)}.get(form.split(".")[0], (31, 96))
    each = (1, 32) if inside == "local" else each
    first = {"atom": 8, "red": 8, "wmma": 0, "ldmatrix": 0, "cp": 0}.get(form.split(".")[0], 16)
    lines = f"and.b32 %r84, %r81, {each[0]};\nmad.lo.u32 %r84, %r84, {each[1]}, {first};\n"
    for name in sorted(names - {"%rd48"}):
        if name.startswith("%rd"):
            base = "array" if inside and not form.startswith("cp.") else "%rd47"
            lines += f"mov.u64 %rd48, {base};\ncvt.u64.u32 %rd49, %r84;\nadd.s64 {name}, %rd48, %rd49;\n"
        else:
            lines += f"mov.u32 {name}, %r84;\n"
    return lines if names else ""


_FOUR = "{%r86, %r87, %r88, %r89}"


def _copy_loop(form: str, step: str) -> str:
    """A thread's share of the array, 16 bytes at a time; of a local array, which it has alone, the first bytes."""
    share = ARRAY_BYTES // _threads(form)
    at = "mov.u32 %r85, 0;\n" if _space(form) == "local" else f"mul.lo.u32 %r85, %r81, {share};\n"
    walk = f"cvt.u64.u32 %rd44, %r85;\nadd.s64 %rd49, %rd47, %rd44;\nadd.s64 %rd48, %rd43, %rd44;\n{step}"
    return "mov.u64 %rd43, array;\n" + at + (walk + f"add.u32 %r85, %r85, {CHUNK};\n") * (share // CHUNK)


def _fill_array(form: str) -> str:
    inside = _space(form)
    if inside not in ("shared", "local"):
        return ""
    step = f"ld.global.v4.b32 {_FOUR}, [%rd49];\nst.{inside}.v4.b32 [%rd48], {_FOUR};\n"
    ready = "bar.sync 0;\n" if inside == "shared" else ""
    return f".{inside} .align 128 .b8 array[{ARRAY_BYTES}];\n" + _copy_loop(form, step) + ready


def _dump_array(form: str) -> str:
    inside = _space(form)
    if inside not in ("shared", "local"):
        return ""
    step = f"ld.{inside}.v4.b32 {_FOUR}, [%rd48];\n"
    if inside == "shared":
        step += f"st.global.v4.b32 [%rd49], {_FOUR};\n"
    else:  # threads have an array each and one place to show it: sums that every thread adds to
        step += "".join(f"red.global.add.u32 [%rd49+{4 * i}], %r{86 + i};\n" for i in range(4))
    finish = "cp.async.wait_all;\n" if form.startswith("cp.") else ""
    return (f"{finish}bar.sync 0;\n" if inside == "shared" else "") + _copy_loop(form, step)


def _outside(form: str, kernel: str) -> str:
    """The kernel with what must stand before it: an array of constants, a function to call."""
    if form.startswith("st.param"):
        return kernel.replace(".visible", _TAKE + ".visible", 1)
    if _space(form) != "const":
        return kernel
    content = ", ".join(map(str, np.random.default_rng(1).integers(0, 256, ARRAY_BYTES).tolist()))
    return kernel.replace(".visible", f".const .align 128 .b8 array[{ARRAY_BYTES}] = {{{content}}};\n.visible", 1)


# ---- values


_EDGES_16 = np.array(
    [0, 1, 2, 0x7FFF, 0x8000, 0x8001, 0xFFFF, 0x3C00, 0xBC00, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7C01, 0x7E00, 0xFE55,
     0x03FF, 0x0400, 0x8400, 0x83FF, 0x3800, 0x3E00, 0x4100, 0x3F80, 0xBF80, 0x7F80, 0xFF80, 0x7F7F, 0x7FC0, 0x007F,
     0x0080, 0x4300, 15, 16, 17, 0x7F, 0x80, 0xFF], np.uint16,
)  # fmt: skip
_EDGES_32 = np.array(
    [0, 1, 2, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0xFFFFFFFE, 31, 32, 33, 63, 64, 255, 256, 65535, 65536,
     0x3F800000, 0xBF800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7F800001, 0x7FC00000, 0xFFC12345,
     0x007FFFFF, 0x00800000, 0x80800000, 0x807FFFFF, 0x3F000000, 0x3FC00000, 0x40200000, 0xBF000000, 0x4B000001,
     0x4B800001, 0x4EFFFFFF, 0x4F000000, 0xCF000000, 0xCF000001, 0x4F7FFFFF, 0x4F800000, 0x5F000000, 0x5EFFFFFF,
     0xDF000000, 0x5F7FFFFF, 0x42FF0000, 0x437F8000, 0xC3008000, 0x477FFF80, 0x47000000, 0x477FE000, 0x477FF000,
     0x33000000, 0x33000001, 0x33800000, 0x387FE000, 0x7E800001, 0x7F000000, 0x3C003C00, 0x7C00FC00, 0x7E01FC01,
     0x80000400, 0x3F803F80, 0x7F80FF80], np.uint32,
)  # fmt: skip
_EDGES_64 = np.array(
    [0, 1, 2, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1, 2**31, 2**32, 2**32 - 1, 63, 64, 65, 255, 2**53 + 1, 2**24 + 1,
     0x3FF0 << 48, 0xBFF0 << 48, 0x7FEFFFFFFFFFFFFF, 0xFFEFFFFFFFFFFFFF, 0x7FF0 << 48, 0xFFF0 << 48, 0x7FF0000000000001,
     0x7FF8 << 48, 0xFFF8123456789ABC, 0x000FFFFFFFFFFFFF, 0x0010 << 48, 0x800FFFFFFFFFFFFF, 0x3FE0 << 48, 0x3FF8 << 48,
     0x4004 << 48, 0x41DFFFFFFFE00000, 0x41E0 << 48, 0xC1E0 << 48, 0xC1E0000000100000, 0x43E0 << 48, 0xC3E0 << 48,
     0x43DFFFFFFFFFFFFF, 0x43F0 << 48, 0x47EFFFFFE0000000, 0x47EFFFFFF0000000, 0x47F0 << 48, 0x36A0 << 48,
     0x3690 << 48, 0x3690000000000001, 0x380FFFFFE0000000, 0x40EFFFE0 << 32, 0x40EFFFF0 << 32, 0x3E70 << 48,
     SHARED_WINDOW, SHARED_WINDOW - 1, LOCAL_WINDOW, CONST_WINDOW, PARAM_WINDOW, PARAM_WINDOW + 2**40 - 1], np.uint64,
)  # fmt: skip
_EDGES: dict[int, NDArray[Any]] = {2: _EDGES_16, 4: _EDGES_32, 8: _EDGES_64, 16: _EDGES_64}
_LAYOUTS = {2: ((10, 15), (7, 127)), 4: ((23, 127),), 8: ((52, 1023),)}  # bits of the mantissa, bias
_HALF_BITS = {2: (1, 3), 4: (13, 16, 23), 8: (29, 42, 45, 52)}


def awkward(rng: np.random.Generator, size: int, shape: tuple[int, ...]) -> NDArray[Any]:
    """Bits of `size` bytes: edge values, random bits, floats near one another, halfway cases of narrower types."""
    kind = np.dtype(f"u{size}")
    one, bits = kind.type(1), rng.integers(0, 2 ** (8 * size), shape, dtype=kind)
    mantissa, bias = rng.choice(np.array(_LAYOUTS[size], kind), shape).transpose(-1, *range(len(shape)))
    sign = bits & kind.type(1 << (8 * size - 1))
    denormal = sign | bits & ((one << mantissa) - one)
    exponent = bias + rng.integers(0, 18, shape).astype(kind) - kind.type(10)
    near = denormal | exponent << mantissa
    drop = rng.choice(np.array(_HALF_BITS[size], kind), shape)
    halfway = near >> drop << drop | one << (drop - one)
    small = rng.integers(0, 70, shape).astype(kind)
    which = rng.choice(6, shape, p=[0.32, 0.1, 0.28, 0.15, 0.08, 0.07])
    values = np.choose(which, [rng.choice(_EDGES[size], shape), bits, near, halfway, small, denormal]).astype(kind)
    if size == 4:  # two of 16 bits
        pairs = awkward(rng, 2, (*shape[:-1], 2 * shape[-1])).view(kind)
        values = np.where(rng.random(shape) < 0.15, pairs, values)
    return values


def inputs_of(trial: FormTrial, blocks: int, seed: int) -> tuple[NDArray[np.uint8], ...]:
    """The array, the registers' values and the place for their results, for every thread of so many blocks."""
    rng = np.random.default_rng(seed)
    threads = blocks * trial.threads
    registers = np.zeros((threads, _REGISTER_BYTES), np.uint8)
    before: NDArray[Any] | None = None
    for i, chunk in enumerate(trial.chunks):
        size = min(_WIDTHS[chunk[0].rstrip("0123456789")], 8)
        values = awkward(rng, size, (threads, CHUNK // size))
        again = rng.random(values.shape) < 0.15  # equal operands, and operands of opposite sign
        flip = (rng.random(values.shape) < 0.3).astype(values.dtype) << values.dtype.type(8 * size - 1)
        previous = values[:, :1] if before is None or before.dtype != values.dtype else before[:, :1]
        values = np.where(again, previous ^ flip, values)
        registers[:, CHUNK * i : CHUNK * (i + 1)] = values.view(np.uint8)
        before = values
    at = CHUNK * len(trial.chunks)
    words = rng.integers(0, 2, (threads, (_REGISTER_BYTES - at) // 4), dtype=np.uint32)
    registers[:, at:] = words.view(np.uint8)
    array = awkward(rng, 4, (blocks * ARRAY_BYTES // 4,)).view(np.uint8)
    return array, registers.reshape(-1), np.zeros(registers.size, np.uint8)


# ---- the two runs


def run_core(trial: FormTrial, inputs: tuple[NDArray[np.uint8], ...]) -> FormOutcome:
    memory, arrays = machine.GlobalMemory(), [a.copy() for a in inputs]
    addresses = [memory.add(f"a{i}", a) for i, a in enumerate(arrays)]
    done = machine.launch(
        trial.program, memory, grid=(_blocks(inputs), 1, 1), block=(trial.threads, 1, 1),
        params=_params(trial, addresses), cores=1, max_instructions=STEPS * _blocks(inputs),
    )  # fmt: skip
    fault = done.faults[0] if done.faults else None
    named = (fault.kind, fault.instruction or "", fault.thread[0] if fault.thread else -1) if fault else None
    counts = done.counts[:, [counters.INDEX[name] for name in _COUNTED]].T.astype(np.int64)
    return FormOutcome(tuple(a.tobytes() for a in arrays), _visible(trial, counts), named)


def run_definition(trial: FormTrial, inputs: tuple[NDArray[np.uint8], ...]) -> FormOutcome:
    memory = definition.Memory()
    addresses = [memory.alloc(f"a{i}", a) for i, a in enumerate(inputs)]
    nothing = np.zeros((len(_COUNTED), len(trial.program.code)), np.int64)
    try:
        done = definition.run(
            trial.program, grid=(_blocks(inputs), 1, 1), block=(trial.threads, 1, 1), params=_params(trial, addresses),
            memory=memory, max_instructions=STEPS * _blocks(inputs),
        )  # fmt: skip
        counts, fault = np.stack([done.warps, done.threads, done.threads_on]), None
    except definition.DefinitionFault as raised:
        counts, fault = nothing, (raised.kind, trial.program.texts[raised.instruction], raised.thread)
    content = tuple(memory.read(at, a.size) for at, a in zip(addresses, inputs, strict=True))
    return FormOutcome(content, _visible(trial, counts), fault)


def difference(core: FormOutcome, meaning: FormOutcome) -> str:
    """Words for the first thing in which two outcomes differ, empty when they agree bit for bit."""
    if core.fault or meaning.fault:
        same = core.fault == meaning.fault
        return "" if same else f"fault of the core {core.fault}, of the definition {meaning.fault}"
    for i, (a, b) in enumerate(zip(core.memory, meaning.memory, strict=True)):
        ours, theirs = np.frombuffer(a, np.uint32), np.frombuffer(b, np.uint32)
        if (where := np.flatnonzero(ours != theirs)).size:
            at = int(where[0])
            words = f"the core gives {int(ours[at]):#x}, the definition {int(theirs[at]):#x}"
            return f"{where.size} words differ, first word {at} of array {i}: {words}"
    return "" if np.array_equal(core.counts, meaning.counts) else "how often instructions ran differs"


def _visible(trial: FormTrial, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    return counts[:, (trial.program.code["flags"] & Flag.HIDDEN) == 0]


def _blocks(inputs: tuple[NDArray[np.uint8], ...]) -> int:
    return inputs[0].size // ARRAY_BYTES


def _params(trial: FormTrial, addresses: list[int]) -> bytes:
    tail = bytes(range(40, 80))
    return (struct.pack("<3Q", *addresses) + tail).ljust(trial.program.param_bytes, b"\0")
