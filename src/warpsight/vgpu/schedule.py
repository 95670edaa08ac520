"""Machine code as the scheduler of one SM sees it: the pipe each instruction takes, for how long, what waits for it.

Built from the text and the control bits of every instruction and the rates of a GPU; no number depends on a kernel. The
rows follow `core/sm.hpp` (StaticStep): pipe, kind, stall, write barrier, read barrier, wait mask, path, groups
kept, latency, interval, three operands, line of code.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpsight.vgpu.bytecode import Program
from warpsight.vgpu.constants import PUBLISHED, Constants
from warpsight.vgpu.gpu import Gpu

WARP = 32
REDUX_LANES = 16
REUSE, OPERAND = 0x100, 0x200  # flags of a register that is read
KIND = 1  # the column of what an instruction is
INTERVAL = 9  # the column of the clocks that a pipe is taken
CODE_LINE_BYTES = 128  # of an instruction cache: eight instructions
MOST_LINES = 0xFFFF


class Pipe(IntEnum):
    NONE, FMA, FMA_HEAVY, ALU, SFU, FP64, TENSOR, MEMORY = range(8)


class Path(IntEnum):
    """The way of a load: through L1, past it, or through L1 as data that nobody writes (`__ldg`)."""

    L1, PAST_L1, READ_ONLY = range(3)


class StepKind(IntEnum):
    PLAIN, SHARED_LOAD, SHARED_STORE, SHARED_ATOMIC, GLOBAL_LOAD, GLOBAL_STORE, GLOBAL_ATOMIC = range(7)
    (
        LOCAL_LOAD,
        LOCAL_STORE,
        CONSTANT_LOAD,
        SHUFFLE,
        ASYNC_COPY,
        ASYNC_COMMIT,
        ASYNC_WAIT,
        BARRIER,
        EXIT,
        BRANCH,
        FENCE,
        SLEEP,
    ) = range(7, 19)


STALLS = (
    "selected", "not_selected", "wait", "long_scoreboard", "short_scoreboard", "math_pipe_throttle", "lg_throttle",
    "mio_throttle", "barrier", "branch_resolving", "membar", "no_instruction",
)  # fmt: skip
"""Why a warp does not issue, in the words of Nsight Compute; the order of core/sm.hpp."""

_ALU = frozenset(
    [
        "IADD3",
        "LOP3",
        "SHF",
        "ISETP",
        "LEA",
        "MOV",
        "SEL",
        "PLOP3",
        "IABS",
        "FSETP",
        "FMNMX",
        "IMNMX",
        "PRMT",
        "VOTE",
        "FSEL",
        "BMSK",
        "SGXT",
        "P2R",
        "R2P",
        "HSETP2",
        "HSET2",
        "HMNMX2",
        "FSET",
        "VABSDIFF",
        "VABSDIFF4",
        "ICMP",
        "LOP",
        "CS2R",
        "I2FP",
        "F2FP",
        "VIADD",
        "VIMNMX",
        "VIADDMNMX",
        "VIMNMX3",
        "FSWZADD",
        "QSPC",
        "LEPC",
    ]
)
_FMA = frozenset(["FFMA", "FMUL", "FADD", "FFMA32I", "FMUL32I", "FADD32I", "HFMA2", "HMUL2", "HADD2", "HFMA2_32I"])
_FMA_HEAVY = frozenset(["IMAD", "IDP", "IMUL"])
_SFU = frozenset(["MUFU", "I2F", "F2I", "F2F", "FRND", "FLO", "POPC", "BREV", "FCHK", "I2I"])
_FP64 = frozenset(["DADD", "DMUL", "DFMA", "DSETP"])
_MEMORY: dict[str, StepKind] = {
    "LDG": StepKind.GLOBAL_LOAD, "LD": StepKind.GLOBAL_LOAD, "STG": StepKind.GLOBAL_STORE, "ST": StepKind.GLOBAL_STORE,
    "ATOMG": StepKind.GLOBAL_ATOMIC, "ATOM": StepKind.GLOBAL_ATOMIC,
    "RED": StepKind.GLOBAL_ATOMIC, "REDG": StepKind.GLOBAL_ATOMIC,
    "LDS": StepKind.SHARED_LOAD, "LDSM": StepKind.SHARED_LOAD,
    "STS": StepKind.SHARED_STORE, "ATOMS": StepKind.SHARED_ATOMIC,
    "LDL": StepKind.LOCAL_LOAD, "STL": StepKind.LOCAL_STORE, "LDC": StepKind.CONSTANT_LOAD, "SHFL": StepKind.SHUFFLE,
    "LDGSTS": StepKind.ASYNC_COPY,
    "MOVM": StepKind.SHUFFLE,  # it moves registers from lane to lane; nobody published its time
}  # fmt: skip
_OTHER: dict[str, StepKind] = {
    "BAR": StepKind.BARRIER, "EXIT": StepKind.EXIT, "BRA": StepKind.BRANCH, "BRX": StepKind.BRANCH,
    "JMP": StepKind.BRANCH, "CALL": StepKind.BRANCH, "RET": StepKind.BRANCH,
    "MEMBAR": StepKind.FENCE, "NANOSLEEP": StepKind.SLEEP,
    "LDGDEPBAR": StepKind.ASYNC_COMMIT, "DEPBAR": StepKind.ASYNC_WAIT,
}  # fmt: skip
_CONVERSIONS = frozenset(["MUFU", "I2F", "F2I", "F2F", "FRND", "I2I"])
_BIT_COUNTS = frozenset(["POPC", "FLO", "BREV"])
_MATRIX = frozenset(["HMMA", "IMMA", "DMMA", "BMMA"])
_ATOMIC = frozenset(["ATOM", "ATOMG", "RED", "REDG"])
# Inputs of one f16 matrix instruction that takes twice as long on an A100 as the small ones: m16n8k16.
_LARGE_MACS = {"HMMA": 16 * 8 * 16, "TF32": 16 * 8 * 8, "IMMA": 16 * 8 * 32, "DMMA": 8 * 8 * 4, "BMMA": 16 * 8 * 256}
_SHAPE_MACS = {
    "1688": 16 * 8 * 8,
    "16816": 16 * 8 * 16,
    "16832": 16 * 8 * 32,
    "884": 8 * 8 * 4,
    "8816": 8 * 8 * 16,
    "1684": 16 * 8 * 4,
    "16864": 16 * 8 * 64,
}


_GUARD = re.compile(r"^@!?U?P[T\d]\s+")
_PREDICATE = re.compile(r"!?U?P[T\d]")
_REGISTER = re.compile(r"[-~|!]*R(\d+)(\|?\.reuse)?")
_READS = frozenset((Pipe.FMA, Pipe.FMA_HEAVY, Pipe.ALU))


def mnemonic(text: str) -> tuple[str, tuple[str, ...]]:
    """Base operation and modifiers of an instruction, its guard left out: `@!P0 LDG.E.64 R2, ...` is LDG, (E, 64)."""
    word = _GUARD.sub("", text.strip()).split(" ", 1)[0].rstrip(";")
    base, *mods = word.split(".")
    return base, tuple(mods)


def _per_partition(lanes: int, gpu: Gpu, work: int = 32) -> int:
    """Cycles that one warp instruction of `work` lane operations takes a pipe with `lanes` lanes in the SM."""
    return max(1, -(-work * gpu.schedulers // lanes))


def _tensor_interval(base: str, mods: tuple[str, ...], gpu: Gpu) -> int:
    macs = next((_SHAPE_MACS[m] for m in mods if m in _SHAPE_MACS), 2048)
    kind = (
        "tensor_f64"
        if base == "DMMA"
        else "tensor_s8"
        if base == "IMMA"
        else "tensor_tf32"
        if "TF32" in mods
        else "tensor_f16"
    )
    rate = int(getattr(gpu, kind)) or gpu.fp32_lanes
    return max(1, -(-macs * gpu.schedulers // rate))


def _pipe(base: str, mods: tuple[str, ...], gpu: Gpu) -> tuple[Pipe, int]:
    if base in _MEMORY:
        return Pipe.MEMORY, 1
    if base in _MATRIX:
        return Pipe.TENSOR, _tensor_interval(base, mods, gpu)
    if base in _FMA:
        if base.startswith("H"):
            lanes = gpu.bf16_lanes or gpu.fp16_lanes if any("BF16" in mod for mod in mods) else gpu.fp16_lanes
            return Pipe.FMA, _per_partition(lanes, gpu, 64)
        return Pipe.FMA, _per_partition(gpu.fp32_lanes // fma_units(gpu), gpu)
    if base in _FMA_HEAVY:
        return Pipe.FMA_HEAVY, _per_partition(gpu.fp32_lanes // fma_units(gpu), gpu)
    if base in _ALU:
        return Pipe.ALU, _per_partition(gpu.int32_lanes, gpu)
    # CUDA C++ Programming Guide, throughput of native instructions: 16 results of REDUX a clock on 8.x. For MATCH no
    # published number was found; it is taken as its relative, not as a vote.
    if base in ("REDUX", "MATCH"):
        return Pipe.SFU, _per_partition(REDUX_LANES, gpu)
    if base in _CONVERSIONS and "F64" in mods and base != "MUFU" and gpu.fp64_lanes < gpu.sfu_lanes:
        return Pipe.FP64, _per_partition(gpu.fp64_lanes, gpu)  # the same table: 2 conversions of 64 bits, as FP64
    if base in _SFU:
        return Pipe.SFU, _per_partition(gpu.sfu_lanes, gpu)
    if base in _FP64:
        return Pipe.FP64, _per_partition(gpu.fp64_lanes, gpu)
    return Pipe.NONE, 1


def fma_units(gpu: Gpu) -> int:
    """Two FP32 units of 16 lanes in a partition where the SM has 128 lanes, one where it has 64."""
    return 2 if gpu.fp32_lanes >= 32 * gpu.schedulers else 1


def _latency(base: str, mods: tuple[str, ...], gpu: Gpu, interval: int, constants: Constants) -> int:
    """Clocks until a result that is waited for with a scoreboard is there, memory left out; of a fence, its own."""
    if base == "MEMBAR":
        return constants.fence_system_clocks if "SYS" in mods else constants.fence_clocks if "GPU" in mods else 0
    if base in _MATRIX:
        macs = next((_SHAPE_MACS[m] for m in mods if m in _SHAPE_MACS), 2048)
        large = macs >= _LARGE_MACS["TF32" if "TF32" in mods else base]
        return max(interval, constants.tensor_clocks if large else constants.tensor_small_clocks)
    if base in _FP64:
        own = gpu.fp64_lanes >= 8 * gpu.schedulers
        return constants.fp64_clocks if own else constants.fp64_shared_clocks
    if base in _CONVERSIONS:
        return constants.special_clocks
    if base in _BIT_COUNTS:
        return constants.bit_count_clocks
    return constants.special_register_clocks if base in ("S2R", "S2UR") else constants.other_clocks


class StepRow(NamedTuple):
    """What an instruction is and takes, its control bits left out."""

    pipe: Pipe
    kind: StepKind
    interval: int


def step_row(text: str, gpu: Gpu) -> StepRow:
    """Of one line of machine code."""
    base, mods = mnemonic(text)
    pipe, interval = _pipe(base, mods, gpu)
    kind = _MEMORY.get(base, _OTHER.get(base, StepKind.PLAIN))
    return StepRow(pipe, kind, interval)


def atomic_clocks(program: Program, constants: Constants) -> float:
    """What an atomic costs when many meet at one address: those on floating-point numbers take longer."""
    found = [mnemonic(text) for text in program.texts if text]
    floating = any(
        base in _ATOMIC and any(m.startswith(("F16", "F32", "F64", "BF16")) for m in mods) for base, mods in found
    )
    return constants.atomic_float_clocks if floating else constants.atomic_clocks


def _path(base: str, mods: tuple[str, ...]) -> Path:
    if "STRONG" in mods or base in _ATOMIC or "BYPASS" in mods:
        return Path.PAST_L1
    return Path.READ_ONLY if "CONSTANT" in mods else Path.L1


def step_table(
    program: Program, gpu: Gpu, constants: Constants = PUBLISHED, without: Sequence[str] = ()
) -> NDArray[np.uint16]:
    """One row for each instruction of a machine-code program."""
    assert program.sched is not None, "only machine code has a schedule"
    rows: list[tuple[int, ...]] = []
    known: dict[str, tuple[StepRow, int, Path]] = {}  # by operation: most programs have few, many times
    lines = np.minimum(program.sched["address"] // CODE_LINE_BYTES, MOST_LINES).tolist()
    for i, text in enumerate(program.texts):
        if not text:
            rows.append((0, 0, 1, 7, 7, 0, 0, 0, 0, 1, 0, 0, 0, lines[i]))
            continue
        word = _GUARD.sub("", text.strip()).partition(" ")[0]
        if word not in known:
            base, mods = mnemonic(word)
            row = step_row(word, gpu)
            known[word] = row, _latency(base, mods, gpu, row.interval, constants), _path(base, mods)
        (pipe, kind, interval), latency, path = known[word]
        keep = (
            int(found[1], 16)
            if kind is StepKind.ASYNC_WAIT and (found := re.search(r"SB\d+,\s*(0x[0-9a-f]+)", text))
            else 0
        )
        bits = program.sched[i]
        stall = 1 if "stall counts" in without else int(bits["stall"])
        control = (stall, int(bits["write_bar"]), int(bits["read_bar"]), int(bits["wait_mask"]))
        read = operands_read(text) if pipe in _READS else (0, 0, 0)
        rows.append((pipe, kind, *control, path, keep, latency, interval, *read, lines[i]))
    return np.array(rows, dtype=np.uint16).reshape(-1, 14)


def operands_read(text: str) -> tuple[int, int, int]:
    """Registers of the first three operands that are read, as core/sm.hpp has them; 0 where there is none."""
    given = [word.strip() for word in _GUARD.sub("", text.strip()).partition(" ")[2].rstrip(" ;").split(",")]
    values = [word for word in given if not _PREDICATE.match(word)]
    read = values if _PREDICATE.match(given[0]) else values[1:]
    found = [_REGISTER.match(word) for word in read[:3]]
    codes = [int(m[1]) | OPERAND | (REUSE if m[2] else 0) if m else 0 for m in found] + [0, 0, 0]
    return codes[0], codes[1], codes[2]
