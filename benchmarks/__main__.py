"""`python -m benchmarks [SECTION[:ARGUMENT] ...]`: run the named sections, or all of them."""

from __future__ import annotations

import importlib
import os
import platform
import sys

SECTIONS = {
    "speed": "thread-instructions per second on one core, counters on; time to load a kernel",
    "native": "seven kernels plain, counted and checked against native code (native:FILE: another core beside it)",
    "scaling": "the same launches on one core and on all",
    "rivals": "the same matmul on Oclgrind and on numba's CUDA simulator",
    "sampling": "a 4096 x 4096 x 4096 matmul profiled from chosen blocks",
    "profiles": "the time of a full profile of each example task, compile cached",
    "sm": "the simulation of one SM alone",
    "time_ladder": "simulated against published speed of eleven matmul kernels",
    "time_pairs": "pairs of kernels with a known better one, ordered by the time model",
    "measured": "thousands of published times on real cards (measured:DATA,KERNELS names the folders; n=, set=, terms)",
    "launch_lines": "pairs of launch lines with a known sign, through the whole gate (launch_lines:WORD for some)",
    "findings": "is the planted defect of each pair found, is its gain estimated rightly; size of the renderings",
    "causes": "is the first finding the defect that matters, on corpus tasks (causes:test; causes:train,60,mistakes)",
    "gate": "false improvements, power and cost of the gate, idle and under load (gate:30 compares 30 times)",
    "cpu_seconds": "CPU seconds of profile, check, compare, rewrite by stage, cold (cpu_seconds:check,task=softmax)",
    "conversation": "CPU seconds of the tools in conversations of the local model (conversation:record asks it)",
    "second_tier": "would native code for hot kernels pay, by the programs that ran (second_tier:FILE for other rows)",
    "ahead": "work ahead: share of hits, CPU seconds saved and wasted (ahead:force on a busy machine)",
    "perf": "every number that a release keeps, with its ratio to the last (perf:check,native; perf:json=FILE)",
    "same_sass": "are machine-code texts read in bulk those of a listing of each file (same_sass:40 held-out kernels)",
    "verdicts": "CPU seconds of a full verdict on six tasks (verdicts:TREE compares with another checkout)",
    "corpus": "corpus tasks built per minute, cold and warm, and where the time goes",
    "rollouts": "rollouts an hour through the loop, and where their time goes",
    "honest": "kernels that people write: are all of them right, with fresh secret seeds (honest:5 takes five)",
    "goods": "kernels as people write them first, each against the good version beside it (goods:NAME,NAME for some)",
    "mutants": "small mistakes made in the example kernels: how many does the check find",
    "rewrite": "how often the rewrite for the right cause brings what removing the defect brings (rewrite:60 tasks)",
    "promised": "what findings promise, against what a better version gains (promised:NAME or SET,...)",
    "firsts": "kernels as written first, by the default search, beside versions by hand (firsts:FOLDER,NAME,NAME)",
    "tools": "overhead of a tool call, kept results, first profiles, tokens (tools:tokens for these alone)",
    "tune": "the example tasks by `warpsight tune` and by `warpsight optimize` (tune:TASK,TASK; tune:model=NAME)",
    "tools_start": "time that the MCP server takes to answer its first requests",
    "serving": "200 conversations with one tool server: lost, mixed, latency, memory (serving:clients=20,rate=50)",
    "on_ray": "units an hour on Ray against processes, overhead a unit (on_ray:count=24)",
    "programs": "a HeCBench checkout run, checked and profiled (programs:PATH,check; programs:speed)",
    "captures": "kernels of those programs captured as tasks, each with a mistake planted (captures:PATH; n=, rows=)",
    "driver_api": "examples of cuda-python and numba-cuda on the stand-in driver (driver_api:PATH; python=, only=)",
    "untrained": "untrained models with the tools; what each part of the prompt is worth (untrained:model=NAME)",
    "engines": "the light engine beside transformers: size, start, speed, the same tokens (engines:for=300)",
    "faster": "those programs by the default `warpsight optimize PROGRAM`, patch included (faster:PATH; n=, only=)",
    "report": "time and size of the report of a run, up to 500 steps",
}


def main(names: list[str]) -> int:
    asked = [(name, argument) for name, _, argument in (word.partition(":") for word in names)]
    unknown = [name for name, _ in asked if name not in SECTIONS]
    if unknown:
        print(f"unknown section {unknown[0]!r}; sections: {', '.join(SECTIONS)}", file=sys.stderr)
        return 2
    print(f"machine: {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    for name, argument in asked or [(name, "") for name in SECTIONS if name != "perf"]:  # of other sections
        print(f"\n== {name}: {SECTIONS[name]}", flush=True)
        importlib.import_module(f"benchmarks.{name}").main(*([argument] if argument else []))
    return 0


sys.exit(main(sys.argv[1:]))
