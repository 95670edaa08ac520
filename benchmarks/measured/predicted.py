"""One measured launch on the virtual GPU: build, draft of its time at the measured clock, and what it counts.

An Outcome is plain numbers, kept in a file by what it depends on: the kernel's text, configuration, launch, data sheet,
compiler and the sources of the model. So a run that was cut off goes on, and a second run costs seconds.
"""

from __future__ import annotations

import itertools
import json
import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

import warpsight.vgpu
from benchmarks.measured.sets import MeasuredSet, Row
from warpsight.devices.device import Value
from warpsight.devices.machine_code import machine_code, time_launch
from warpsight.devices.memory import lay_out
from warpsight.errors import WarpsightError
from warpsight.tasks import LaunchSize
from warpsight.toolchain import packages
from warpsight.toolchain.cache import content_key
from warpsight.toolchain.compile import compile_cuda
from warpsight.vgpu import machine
from warpsight.vgpu.bytecode import OPS, Program
from warpsight.vgpu.counters import INDEX, Selector, derive
from warpsight.vgpu.gpu import Gpu
from warpsight.vgpu.gpus import find_gpu
from warpsight.vgpu.timemodel import PredictedTime

SOURCES = (".py", ".cpp", ".hpp", ".h", ".def")
NOT_THE_MODEL = ("gpu.py", "gpus.py", "model_error.py")


@dataclass(frozen=True)
class Outcome:
    """What the model says of a row, or in `failed` why it says nothing."""

    failed: str = ""
    time_us: float = 0.0
    bound: str = ""
    shares: dict[str, float] = field(default_factory=dict[str, float])
    launch_us: float = 0.0
    occupancy: float = 0.0
    spread: float = 0.0
    registers: int = 0
    local_bytes: int = 0
    spill_bytes: int = 0
    counts: dict[str, float] = field(default_factory=dict[str, float])
    notes: tuple[str, ...] = ()
    cpu_seconds: float = 0.0


def gpu_of(one: MeasuredSet) -> Gpu:
    return find_gpu(one.gpu).at_clock(one.mhz)


def outcome_of(one: MeasuredSet, row: Row, source: str, without: Sequence[str] = ()) -> Outcome:
    """The model's word on a row. What it cannot do is an outcome as well."""
    gpu, values = gpu_of(one), one.values()
    try:
        build = compile_cuda(source, gpu_arch=gpu.arch, options=one.defines(row), entry=one.entry)
        if not build.ok:
            return Outcome(failed=f"does not compile: {build.diagnostics[0].message}")
        code = machine_code(build.cubin, one.entry)
        if code.program is None:
            return Outcome(failed=code.reason)
        start = time.process_time()
        p = time_launch(code.program, build, gpu, values, row.size, without=without)
        seconds = time.process_time() - start
        counts = {} if without else counted(code.program, values, row.size)
    except WarpsightError as refused:
        return Outcome(failed=refused.message)
    usage = next(e for e in build.entries if e.name == one.entry)
    return Outcome(
        time_us=p.time_us,
        bound=p.bound,
        shares=p.shares,
        launch_us=p.time_us - p.cycles / gpu.boost_mhz,
        occupancy=p.occupancy.fraction,
        spread=p.spread,
        registers=usage.registers,
        local_bytes=usage.local_bytes,
        spill_bytes=usage.spill_store_bytes + usage.spill_load_bytes,
        counts=counts | _traffic(p, counts),
        notes=p.notes,
        cpu_seconds=seconds,
    )


def _traffic(p: PredictedTime, counts: dict[str, float]) -> dict[str, float]:
    """Sectors between SMs, L2 and DRAM; each way where the model tells them apart."""
    stored = counts.get("global_store_sectors", 0.0) + counts.get("local_store_sectors", 0.0)
    found = {"dram_sectors": p.dram_bytes / 32, "l2_sectors": p.l2_bytes / 32}
    found |= {"l2_write_sectors": stored, "l2_read_sectors": p.l2_bytes / 32 - stored}
    apart = {"dram_read_bytes": "dram_read_sectors", "dram_write_bytes": "dram_write_sectors"}
    return found | {name: getattr(p, field) / 32 for field, name in apart.items() if hasattr(p, field)}


COUNTED = (
    "instructions", "flops", "global_load_requests", "global_store_sectors", "shared_wavefronts", "local_sectors",
)  # fmt: skip


def counted(program: Program, values: Sequence[Value], size: LaunchSize) -> dict[str, float]:
    """Counts of the whole launch from one block of each sort: inside the grid, and at its far ends."""
    memory, params, _ = lay_out(program, values, read_in_place=True)
    selector, total = Selector.of(program), dict.fromkeys((*COUNTED, "local_store_sectors"), 0.0)
    stores = selector.masks["local"] & (program.code["op"] == OPS["ST"].number)
    for block, weight in sorts_of_blocks(size.grid):
        done = machine.launch(
            program, memory, grid=size.grid, block=size.block, params=params,
            dynamic_shared_bytes=size.shared_bytes, blocks=[block],
        )  # fmt: skip
        found = derive(selector, done.counts) | {
            "local_store_sectors": int(done.counts[stores, INDEX["sectors"]].sum())
        }
        total = {name: total[name] + weight * found[name] for name in total}
    return total


def sorts_of_blocks(grid: tuple[int, int, int]) -> list[tuple[int, int]]:
    """(a block, how many it stands for): along each axis the last one apart from the others."""
    axes = [[(0, n - 1), (n - 1, 1)] if n > 1 else [(0, 1)] for n in grid]
    return [
        (x + grid[0] * (y + grid[1] * z), math.prod((a, b, c))) for (x, a), (y, b), (z, c) in itertools.product(*axes)
    ]


def model_key() -> str:
    """A hash of what the model is made of; data sheets are not in it, each goes with its rows."""
    root = Path(warpsight.vgpu.__file__).parent
    files = sorted(path for path in root.rglob("*") if path.suffix in SOURCES and path.name not in NOT_THE_MODEL)
    return content_key(*(part for path in files for part in (path.name, path.read_bytes())))


def row_key(one: MeasuredSet, row: Row, source: str, model: str, without: Sequence[str] = ()) -> str:
    sheet = gpu_of(one).model_dump_json(exclude={"sources", "aliases", "note", "name", "load_mhz"})
    launch = json.dumps([one.entry, row.size, list(without)])
    return content_key("2", source, *one.defines(row), launch, sheet, packages.compiler_identity(), model)


class Kept:
    """Outcomes in a file of JSON lines that is only appended to; a line that was cut off is left out."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._known: dict[str, Outcome] = {}
        for line in file.read_text(encoding="utf-8").splitlines() if file.is_file() else ():
            try:
                entry = json.loads(line)
                self._known[entry["key"]] = Outcome(**{**entry["outcome"], "notes": tuple(entry["outcome"]["notes"])})
            except (ValueError, KeyError, TypeError):
                continue

    def get(self, key: str) -> Outcome | None:
        return self._known.get(key)

    def put(self, key: str, outcome: Outcome) -> None:
        self._known[key] = outcome
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a", encoding="utf-8") as out:
            out.write(json.dumps({"key": key, "outcome": asdict(outcome)}, default=_plain) + "\n")


def _plain(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else value
