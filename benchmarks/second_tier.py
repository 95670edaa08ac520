"""Would compiling hot kernels pay? Of the programs of results/programs-rows.jsonl: who runs a kernel for long enough.

A second tier compiles a kernel to native code before it goes on. A try with LLVM took 0.15 to 1.1 s a kernel and ran
1.7 to 7.8 times as fast, so it paid from about 0.6 s of interpretation of one kernel (break-even). Rows have the warp
instructions of a whole run; here they are shared out evenly among its kernels, and all to one of them, which is the
most that any kernel can have. Processor seconds follow from the interpreter's rate. `second_tier:FILE`: other rows.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROWS = Path(__file__).parents[1] / "results" / "programs-rows.jsonl"
BREAK_EVEN_S = 0.6
RATES = (20e6, 60e6)  # warp instructions a second on a core: benchmarks speed
SPEED = 4.0  # of native code over the interpreter, between 1.7 and 7.8
COMPILE_S = 0.5  # of a kernel, between 0.15 and 1.1


def main(argument: str = "") -> None:
    rows = [json.loads(line) for line in Path(argument or ROWS).read_text().splitlines()]
    ran = [row for row in rows if row.get("warp_instructions") and row.get("kernels")]
    print(f"{len(ran)} of {len(rows)} programs ran kernels; break-even {BREAK_EVEN_S} s of one kernel")
    for rate in RATES:
        print(f"at {rate / 1e6:.0f} M warp instructions a second:")
        told("shared evenly", ran, [row["warp_instructions"] / row["kernels"] / rate for row in ran], rate)
        told("all in one kernel", ran, [row["warp_instructions"] / rate for row in ran], rate)


def told(how: str, ran: list[dict[str, Any]], seconds: list[float], rate: float) -> None:
    """How many programs have such a kernel, and what compiling it would take off all of them."""
    whole = sum(row["warp_instructions"] / rate for row in ran)
    long = [s for s in seconds if s >= BREAK_EVEN_S]
    kernels = [row["kernels"] if how == "shared evenly" else 1 for row in ran]
    saved = sum(
        max(0.0, count * (s - s / SPEED - COMPILE_S))
        for count, s in zip(kernels, seconds, strict=True)
        if s >= BREAK_EVEN_S
    )
    print(f"  {how:18} {len(long)} of {len(ran)} programs; {saved:.0f} of {whole:.0f} s would be saved")
