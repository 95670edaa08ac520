"""Are the texts of the bulk route those of a listing of each file? All tasks, pairs and held-out kernels, two GPUs.

`same_sass:40` takes forty held-out kernels. Prints how many files and instructions were compared, each difference, and
the CPU seconds of both routes.
"""

from __future__ import annotations

import json
import resource
import time
from pathlib import Path

from warpsight.corpus.specs import Spec, task_of
from warpsight.toolchain import sass
from warpsight.toolchain.compile import compile_cuda

ROOT = Path(__file__).parents[1]
GPUS = ("sm_80", "sm_90")


def sources(held_out: int) -> dict[str, str]:
    files = [*ROOT.glob("tasks/*/kernel.cu"), *ROOT.glob("benchmarks/pairs/**/*.cu")]
    found = {str(file.relative_to(ROOT)): file.read_text() for file in sorted(files)}
    rows = (ROOT / "results" / "test.jsonl").read_text().splitlines()
    for row in rows[:: max(1, len(rows) // held_out)][:held_out]:
        spec = Spec.model_validate(json.loads(row)["spec"])
        found[f"held-out {json.loads(row)['number']}"] = task_of(spec).kernel
    return found


def spent_s() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def main(argument: str = "40") -> None:
    builds = {
        f"{name} {gpu}": build
        for name, source in sources(int(argument)).items()
        for gpu in GPUS
        if (build := compile_cuda(source, gpu_arch=gpu)).ok
    }
    began = spent_s()
    at_once = sass._listed({name: build.cubin for name, build in builds.items()}, "kernel.cu")
    bulk_s, began = spent_s() - began, spent_s()
    listed = {name: list(sass.parse_listing(sass._listing(b.cubin), "kernel.cu")) for name, b in builds.items()}
    each_s = spent_s() - began
    different = [name for name in builds if at_once[name] != listed[name]]
    count = sum(len(rows) for rows in listed.values())
    print(f"{len(builds)} files, {count} instructions: {len(different)} files differ {different[:5]}")
    print(f"CPU seconds: {bulk_s:.1f} at once, {each_s:.1f} one by one")
