"""The counters the virtual GPU keeps, read from the one table `core/counters.def`, and what is derived from them.

Raw counters are kept per instruction. Derived ones are pure functions of their sums, so any grouping (kernel, line) has
them too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from warpsight.vgpu.bytecode import OP_NAMES, OPS, Program, Space, T


@dataclass(frozen=True)
class CounterInfo:
    name: str
    unit: str
    meaning: str


def _read_table() -> tuple[CounterInfo, ...]:
    text = (resources.files("warpsight.vgpu") / "core" / "counters.def").read_text(encoding="utf-8")
    rows = re.findall(r'^COUNTER\((\w+), "([^"]*)", "([^"]*)"\)', text, re.MULTILINE)
    return tuple(CounterInfo(*row) for row in rows)


RAW: tuple[CounterInfo, ...] = _read_table()
INDEX: dict[str, int] = {info.name: i for i, info in enumerate(RAW)}

_MIXES = (
    "int", "float", "double", "half", "special", "convert", "move",
    "predicate", "memory", "control", "barrier", "warp", "tensor",
)  # fmt: skip
_SUMS = (
    CounterInfo("instructions", "warps", "instructions executed, counted once per warp"),
    CounterInfo(
        "thread_instructions", "threads", "instructions executed, counted once per thread whose guard was true"
    ),
    CounterInfo("flops", "operations", "floating-point operations; a multiply-add counts as two"),
    CounterInfo(
        "lanes_per_instruction", "threads/warp", "threads that took part in an instruction, on average (32 is best)"
    ),
    CounterInfo("global_load_requests", "requests", "global load instructions of warps"),
    CounterInfo("global_load_sectors", "sectors", "32-byte sectors that global loads touched"),
    CounterInfo("global_load_bytes", "bytes", "bytes that threads asked of global loads"),
    CounterInfo(
        "global_load_efficiency",
        "%",
        "bytes asked over bytes moved by global loads; above 100 when lanes share sectors",
    ),
    CounterInfo("global_load_sectors_per_request", "sectors/request", "sectors of one warp's global load, on average"),
    CounterInfo("global_store_requests", "requests", "global store instructions of warps"),
    CounterInfo("global_store_sectors", "sectors", "32-byte sectors that global stores touched"),
    CounterInfo("global_store_bytes", "bytes", "bytes that threads gave to global stores"),
    CounterInfo("global_store_efficiency", "%", "bytes given over bytes moved by global stores"),
    CounterInfo(
        "global_store_sectors_per_request", "sectors/request", "sectors of one warp's global store, on average"
    ),
    CounterInfo("local_sectors", "sectors", "sectors moved by local memory (spills, indexed local arrays)"),
    CounterInfo("shared_load_requests", "requests", "shared load instructions of warps"),
    CounterInfo("shared_store_requests", "requests", "shared store instructions of warps"),
    CounterInfo("shared_wavefronts", "wavefronts", "passes through shared memory"),
    CounterInfo(
        "shared_bank_conflicts", "wavefronts", "passes beyond what the same requests need without bank conflicts"
    ),
    CounterInfo("branches", "warps", "branch instructions executed by warps"),
    CounterInfo("branches_divergent", "branches", "branches in which lanes of one warp went both ways"),
    CounterInfo("branch_efficiency", "%", "branches in which all lanes of the warp agreed"),
    CounterInfo("barriers", "warps", "block barriers reached by warps"),
    CounterInfo("atomic_requests", "requests", "atomic instructions of warps"),
    CounterInfo("atomic_lanes", "threads", "threads that did an atomic operation"),
    CounterInfo("atomic_passes", "passes", "serial passes of atomics: the most lanes of a warp on one address, summed"),
    *(CounterInfo(f"mix_{mix}", "warps", f"executed instructions of the kind '{mix}'") for mix in _MIXES),
)
DERIVED: dict[str, CounterInfo] = {info.name: info for info in _SUMS}
UNITS: dict[str, str] = {name: info.unit for name, info in DERIVED.items()}

_LOADS = {OPS[n].number for n in ("LD", "LDMATRIX", "CPASYNC", "WMMALD")}
_STORES = {OPS[n].number for n in ("ST", "WMMAST")}
_FLOATS = {12: "half", 13: "half", 16: "half", 17: "half", 14: "float", 15: "double"}


def mix_of(program: Program) -> list[str]:
    """The instruction-mix bucket of every instruction; arithmetic is int, float, double or half by its type."""
    return [
        _FLOATS.get(int(ta), OPS[OP_NAMES[op]].mix)
        if OPS[OP_NAMES[op]].mix in ("int", "float")
        else OPS[OP_NAMES[op]].mix
        for op, ta in zip(program.code["op"], program.code["ta"], strict=True)
    ]


_MMA_FLOPS = dict(enumerate((4096, 2048, 512, 8192, 1024, 2048, 8192, 8192, 8192, 4096, 512)))
"""Twice the products of each MMA shape (docs/bytecode.md)."""


def _flops_per_thread(program: Program) -> NDArray[np.float64]:
    op, ta = program.code["op"], program.code["ta"]
    operations = np.where(op == OPS["FMA"].number, 2.0, 0.0)
    operations[np.isin(op, [OPS[name].number for name in ("ADD", "SUB", "MUL", "DIV", "SQRT", "RCP")])] = 1.0
    return operations * np.isin(ta, list(_FLOATS)) * np.where(np.isin(ta, (T.F16X2, T.BF16X2)), 2.0, 1.0)


def _flops_per_warp(program: Program) -> NDArray[np.float64]:
    shapes = np.array([_MMA_FLOPS.get(int(sub), 0) for sub in program.code["sub"]], dtype=np.float64)
    return shapes * (program.code["op"] == OPS["MMA"].number)


@dataclass(frozen=True)
class Selector:
    """Boolean masks over a program's instructions, made once per program, used for every grouping."""

    masks: Mapping[str, NDArray[np.bool_]]
    flops_per_thread: NDArray[np.float64]
    flops_per_warp: NDArray[np.float64]

    @staticmethod
    def of(program: Program) -> Selector:
        op, wmma = program.code["op"], (OPS["WMMALD"].number, OPS["WMMAST"].number)
        space = np.where(np.isin(op, wmma), program.code["width"], program.code["sub"])
        loads, stores = np.isin(op, list(_LOADS)), np.isin(op, list(_STORES))
        atomics = op == OPS["ATOM"].number
        shared = ((loads | stores | atomics) & (space == Space.SHARED)) | (op == OPS["LDMATRIX"].number)
        copies = op == OPS["CPASYNC"].number
        outside = (space == Space.GLOBAL) | (space == Space.GENERIC)
        masks = {
            "global_load": (loads & outside & ~(op == OPS["LDMATRIX"].number)) | copies,
            "global_store": stores & outside,
            "local": (loads | stores) & (space == Space.LOCAL),
            "shared_load": shared & loads & ~copies,
            "shared_store": (shared & stores) | copies,
            "shared_any": shared | copies | ((loads | stores | atomics) & (space == Space.GENERIC)),
            "branch": (op == OPS["BRA"].number) | (op == OPS["BRX"].number),
            "barrier": op == OPS["BAR"].number,
            "atomic": atomics,
        }
        mix = np.array(mix_of(program))
        masks |= {f"mix_{m}": mix == m for m in set(mix.tolist())}
        return Selector(masks, _flops_per_thread(program), _flops_per_warp(program))


def _ratio(top: int, bottom: int, scale: float = 1.0) -> float:
    return round(scale * top / bottom, 3) if bottom else 0.0


def derive(
    selector: Selector, counts: NDArray[np.uint64], chosen: NDArray[np.bool_] | None = None
) -> dict[str, int | float]:
    """Every derived counter over the chosen instructions (all when None)."""

    def total(counter: str, mask: str | None = None) -> int:
        keep = chosen
        if mask is not None:
            found = selector.masks.get(mask)
            if found is None:
                return 0
            keep = found if keep is None else keep & found
        column = counts[:, INDEX[counter]]
        return int(column.sum() if keep is None else column[keep].sum())

    keep = slice(None) if chosen is None else chosen
    threads, warps = counts[keep, INDEX["threads_on"]], counts[keep, INDEX["warps"]]
    flops = threads @ selector.flops_per_thread[keep] + warps @ selector.flops_per_warp[keep]
    out: dict[str, int | float] = {
        "flops": round(float(flops)),
        "instructions": total("warps"),
        "thread_instructions": total("threads_on"),
        "lanes_per_instruction": _ratio(total("threads"), total("warps")),
    }
    for kind in ("global_load", "global_store"):
        requests, sectors, asked = total("requests", kind), total("sectors", kind), total("bytes", kind)
        out |= {
            f"{kind}_requests": requests,
            f"{kind}_sectors": sectors,
            f"{kind}_bytes": asked,
            f"{kind}_efficiency": _ratio(asked, sectors * 32, 100.0),
            f"{kind}_sectors_per_request": _ratio(sectors, requests),
        }
    wavefronts, ideal = total("wavefronts", "shared_any"), total("wavefronts_ideal", "shared_any")
    branches, divergent = total("warps", "branch"), total("branches_divergent", "branch")
    out |= {
        "local_sectors": total("sectors", "local"),
        "shared_load_requests": total("requests", "shared_load"),
        "shared_store_requests": total("requests", "shared_store"),
        "shared_wavefronts": wavefronts,
        "shared_bank_conflicts": wavefronts - ideal,
        "branches": branches,
        "branches_divergent": divergent,
        "branch_efficiency": _ratio(branches - divergent, branches, 100.0) if branches else 100.0,
        "barriers": total("warps", "barrier"),
        "atomic_requests": total("requests", "atomic"),
        "atomic_lanes": total("atomic_lanes", "atomic"),
        "atomic_passes": total("atomic_passes", "atomic"),
    }
    out |= {name: total("warps", name) for name in DERIVED if name.startswith("mix_")}
    return out
