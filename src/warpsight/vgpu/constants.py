"""The numbers of the time model that are not in a GPU's data sheet: each with its unit and where it was published.

All GPUs share them. "Quoted" marks a source that was not read itself but in a text that cites it; where nothing
published was found, the published number that stands in for it is named. The bench `time_ladder` shows what half and
twice of each would do. What must stay true: no number here is fitted to a kernel that the model is judged by.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

CORES = 'Huerta et al., "Analyzing Modern NVIDIA GPU Cores" (MICRO 2025)'
LAB = "3080lab, a public laboratory notebook of an RTX 3080 (GA102), instruction table"
MT4G = "mt4g reports of a V100, an H100 and a T1000"
CODE_LOG = "AmpereArchViaMicroBenchMark, raw log of an RTX 3060 (instruction cache)"
SYNC = "SyncPerformance (IISWC 2024), raw logs of an A100"


def _published(default: float, unit: str, meaning: str, source: str) -> Any:
    return field(default=default, metadata={"unit": unit, "meaning": meaning, "source": source})


@dataclass(frozen=True)
class Constants:
    """What the time model assumes of every GPU; the metadata of each field says what it is and who measured it."""

    launch_us: float = _published(
        3.0, "us", "time of a launch",
        "quoted: null kernels at 2.5 to 3 us on current hosts, 5 us on older ones (vendor forum); on an A100 2.3 us "
        "from the call to the start and 1.4 us for an empty kernel. They span 1 to 5 us by what is counted",
    )  # fmt: skip
    queue_depth: int = _published(
        5, "requests", "memory requests that a scheduler can queue", f"{CORES}, section 5.4 and table 1: 5"
    )
    bank_window_clocks: int = _published(
        3, "clocks", "in which arithmetic reads its registers from two banks, one a clock each",
        f"{CORES}, section 5.3: fixed-latency instructions read their operands in three clocks",
    )  # fmt: skip
    barrier_clocks: int = _published(
        21, "clocks", "from the last warp at a barrier to its release",
        f"{SYNC}: back-to-back barriers take 23, 25, 29, 37, 53, 85 clocks with 1, 2, 4, 8, 16, 32 warps",
    )  # fmt: skip
    barrier_warp_clocks: int = _published(
        2, "clocks", "for each warp that arrives at a barrier",
        "the same logs; quoted: CUDA C++ Programming Guide, 16 threads a clock on 7.x and 8.x",
    )  # fmt: skip
    fence_clocks: int = _published(
        760, "clocks", "a fence of the GPU (__threadfence), with the stores it waits for",
        f"{SYNC}: 0.54 us at 1.41 GHz with one warp; 650 on an RTX 2070 SUPER and 860 on an RTX 4090 in the same logs. "
        "A fence of the block took no time",
    )  # fmt: skip
    fence_system_clocks: int = _published(
        3100, "clocks", "a fence of the whole system (__threadfence_system)",
        f"{SYNC}: 2.2 us; 2300 on the RTX 2070 SUPER, 3200 on the RTX 4090",
    )  # fmt: skip
    constant_clocks: int = _published(
        29, "clocks", "load from constant memory that the small constant cache has", f"{CORES}, table 2: 29"
    )
    constant_l1_bytes: int = _published(
        2048, "bytes", "small constant cache of an SM, in lines of 64 bytes",
        f"{MT4G}: 2112 is the first size that does not fit, lines of 64 bytes; quoted: Jia et al. (2018), 2 KiB",
    )  # fmt: skip
    constant_l15_clocks: int = _published(
        89, "clocks", "load from constant memory that the larger constant cache has, in lines of 256 bytes",
        f"quoted: Jia et al. (2018), 89 on a V100, and (2019), 92 on a T4; {MT4G}: 113, 105, 115",
    )  # fmt: skip
    shuffle_clocks: int = _published(26, "clocks", "shuffle", f"{LAB}: 26; {SYNC}: 25")
    async_copy_clocks: int = _published(
        39, "clocks", "asynchronous copy of what is in L1", f"{CORES}, table 2 (LDGSTS): 39"
    )
    special_clocks: int = _published(
        17, "clocks", "special functions, and conversions, which the same unit does",
        f"{LAB}: 17; Accel-Sim's RTX 3070 configuration has 20; quoted: Jia et al. (2019), 15 on a T4",
    )  # fmt: skip
    bit_count_clocks: int = _published(
        15, "clocks", "bit counts and reversals", "quoted: Jia et al., Dissecting the NVidia Turing T4 GPU (2019), 15"
    )
    fp64_clocks: int = _published(
        8, "clocks", "FP64 where each partition has units of its own",
        "quoted: Jia et al., Dissecting the NVIDIA Volta GPU Architecture (2018), 8",
    )  # fmt: skip
    fp64_shared_clocks: int = _published(
        55, "clocks", "FP64 where the SM has two lanes", f"{LAB}: 55; quoted: Jia et al. (2019), 48 to 54 on a T4"
    )
    tensor_clocks: int = _published(
        25, "clocks", "matrix instructions of 8 clocks on an A100 (m16n8k16 of f16)",
        'Sun et al., "Dissecting Tensor Cores via Microbenchmarks" (TPDS 2023), table 3, read in translation: 24.7',
    )  # fmt: skip
    tensor_small_clocks: int = _published(
        18, "clocks", "matrix instructions of half that size (m16n8k8 of f16)", "the same table: 17.7"
    )
    special_register_clocks: int = _published(
        22, "clocks", "special registers (thread and block indices)",
        "vendor forum, How costly is the S2R instruction: about 22 measured on Pascal; a vendor's engineer: low 20s",
    )  # fmt: skip
    other_clocks: int = _published(
        17, "clocks", "other results with a scoreboard, not from memory",
        "nobody published these few; taken as special_clocks, the unit of variable latency that is not memory",
    )  # fmt: skip
    code_lines_ahead: int = _published(
        8, "lines", "of 128 bytes of code that a scheduler asks for ahead",
        f"{CORES}, section 7.3 and table 5: a stream buffer of 8 agrees best; the real design is not known",
    )  # fmt: skip
    code_line_clocks: int = _published(
        36, "clocks", "between two lines of instructions from L2",
        f"{CODE_LOG}: 35.6, straight code of 160 KiB and more",
    )  # fmt: skip
    atomic_clocks: float = _published(
        1.3, "clocks", "each integer atomic on one address", f"{SYNC}: 108 in 141 clocks, 216 in 282"
    )
    atomic_float_clocks: float = _published(
        3.1, "clocks", "each floating-point atomic on one address", f"{SYNC}: 1728 in 5402 clocks"
    )
    partial_sectors: float = _published(
        4.0, "sectors", "that a partly written sector takes of L2",
        "inferred from published transposes: without shared memory 3.6 to 6.3 times as slow as with padded tiles",
    )  # fmt: skip
    bound_share: float = _published(
        0.6, "of the time", "taken for busy, so that it binds",
        "Nsight Compute, rule of the Speed of Light section: below 60 % of peak latency is the likely problem",
    )  # fmt: skip


PUBLISHED = Constants()


class Constant(NamedTuple):
    """One number as a reader wants it."""

    name: str
    meaning: str
    value: float
    unit: str
    source: str


def listed(constants: Constants = PUBLISHED) -> list[Constant]:
    """All of them, in the order in which they are written."""
    return [
        Constant(f.name, f.metadata["meaning"], getattr(constants, f.name), f.metadata["unit"], f.metadata["source"])
        for f in fields(constants)
    ]
