"""Findings on kernels with a known defect, the gain they promise against the simulated one, and the size of renderings.

The repaired kernel's gain is simulated too: this judges findings against the time model, not against hardware. The
pairs of pairs.toml are no blind test: detectors and thresholds were written with them in view, and most were changed
after results were seen (docs/lens.md lists which). Those of fresh.toml had their answers before they were run, and are
counted by themselves too. Where repairing gains nothing, naming the defect and estimating its gain are both easy.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.pairs import SIDES, Pair, Side, load_fresh, load_pairs
from warpsight.devices.virtual import VirtualGpu
from warpsight.gate.check import kernel_values
from warpsight.gate.kernel import build_candidate
from warpsight.lens.findings import find
from warpsight.lens.render import curated, raw, tokens
from warpsight.nouns import Finding, Profile, Task
from warpsight.tasks import evaluate_launch, launch_of, read_candidate, read_task
from warpsight.vgpu.gpu import Gpu
from warpsight.vgpu.gpus import find_gpu

GPUS = ("rtx-a6000", "a100")
BUDGET = 1_000_000  # warp instructions counted; the time has a budget of its own
NEAR = 1.5
LARGE = 1.25
TASKS = Path(__file__).parents[1] / "tasks"
UNLIMITED = 10**9
OLD_ANSWERS = {"matmul_registers": "missing_tile"}
"""Expected findings that were changed after results were seen, as they were before."""


class Seen(NamedTuple):
    """What is said of both kernels of a pair, and how much faster the second really is."""

    slow: tuple[Finding, ...]
    fast: tuple[Finding, ...]
    real: float


class Judged(NamedTuple):
    """One pair: place of the expected finding (0: not there), its gain, the simulated one, what is left when fast."""

    place: int
    estimated: float | None
    real: float
    stays: bool
    left: float | None

    @property
    def named(self) -> bool:
        return self.place in (1, 2)

    @property
    def gone(self) -> bool:
        """Not said of the repaired kernel at all."""
        return not self.stays

    @property
    def near(self) -> bool:
        return self.estimated is not None and 1 / NEAR <= self.estimated / self.real <= NEAR


def found_in(pair: Pair, side: Side, gpu: Gpu) -> tuple[Profile, tuple[Finding, ...]]:
    build = pair.build(side, gpu.arch)
    values, size = pair.values(side, pair.large), pair.launch(side, pair.large)
    device = VirtualGpu(gpu=gpu, profile_budget=BUDGET)
    profile = device.profile(build, pair.entry, values, size, source_text=pair.kernel(side).source)
    return profile, find(profile, build)


def look(pair: Pair, gpu: Gpu) -> Seen:
    times: list[float] = []
    said: list[tuple[Finding, ...]] = []
    for side in SIDES:
        profile, findings = found_in(pair, side, gpu)
        times.append(profile.counters["duration_us"] * pair.launches(side, pair.large))
        said.append(findings)
    return Seen(said[0], said[1], times[0] / times[1])


def judge(seen: Seen, name: str) -> Judged:
    """How well a pair's findings name the expected one; the first of a name counts."""
    place = next((n for n, finding in enumerate(seen.slow, 1) if finding.name == name), 0)
    left = next((finding for finding in seen.fast if finding.name == name), None)
    estimated = seen.slow[place - 1].estimated_gain if place else None
    return Judged(place, estimated, seen.real, left is not None, left and left.estimated_gain)


def judge_pairs(gpu: Gpu) -> None:
    print(f"on the virtual {gpu.name} (simulated):")
    found: dict[str, Judged] = {}
    old: dict[str, Judged] = {}
    for pair in load_pairs():
        seen = look(pair, gpu)
        found[pair.name] = one = judge(seen, pair.expected_finding)
        old[pair.name] = judge(seen, OLD_ANSWERS.get(pair.name, pair.expected_finding))
        _row(pair, seen, one)
    fresh = {pair.name for pair in load_fresh()}
    _counts("pairs", list(found.values()))
    _counts("pairs by the answers they first had", list(old.values()))
    _counts("pairs whose answers were there before the first run", [found[name] for name in found if name in fresh])


def _row(pair: Pair, seen: Seen, one: Judged) -> None:
    promised = "      -" if one.estimated is None else f"{one.estimated:6.2f}x"
    left = "gone" if one.gone else "there" if one.left is None else f"{one.left:.2f}x"
    marks = ("" if one.named else " NOT NAMED") + ("" if one.gone else " STILL THERE") + ("" if one.near else " FAR")
    others = "" if one.named and one.gone else f" (slow: {_names(seen.slow)}; fast: {_names(seen.fast)})"
    print(
        f"  {pair.name:22} {pair.expected_finding:19} place {one.place}, promises {promised}, "
        f"really {one.real:6.2f}x, repaired {left}{marks}{others}",
        flush=True,
    )


def _names(findings: Sequence[Finding]) -> str:
    return ", ".join(f"{f.name} {f.estimated_gain or 0:.2f}x" for f in findings) or "nothing"


def _counts(words: str, found: list[Judged]) -> None:
    kinds = {"named first or second": "named", "gone when repaired": "gone", f"gain within {NEAR}x": "near"}
    counts = ", ".join(f"{kind} {sum(getattr(j, field) for j in found)}" for kind, field in kinds.items())
    print(f"  of {len(found)} {words}: {counts}")


def profile_task(task: Task, kernel: Path) -> tuple[Profile, tuple[Finding, ...]]:
    gpu, candidate = find_gpu(task.gpu), read_candidate(kernel.read_text(), task, str(kernel))
    workload = next((w for w in task.workloads if w.profile), task.workloads[0])
    build = build_candidate(task, candidate, gpu_arch=gpu.arch)
    size = launch_of(build, evaluate_launch(candidate, workload.axes, str(kernel)))
    device = VirtualGpu(gpu=gpu, profile_budget=BUDGET)
    values = kernel_values(task, workload, 0)[1]
    profile = device.profile(build, task.entry, values, size, source_text=candidate.source)
    return profile, find(profile, build)


def promises() -> None:
    """Findings of the examples' kernels that promise much, and what the fastest kernel there really gained."""
    print(f"promises above {LARGE}x on the examples (simulated):")
    for file in sorted(TASKS.glob("*/task.toml")):
        task = read_task(file.parent)
        kernels = [task.folder / task.kernel_file, *sorted(task.folder.glob("faster/*.*"))]
        found = {kernel: profile_task(task, kernel) for kernel in kernels}
        times = {kernel: profile.counters["duration_us"] for kernel, (profile, _) in found.items()}
        fastest = min(times, key=lambda kernel: times[kernel])
        for kernel, (_, findings) in found.items():
            for finding in findings:
                if (finding.estimated_gain or 1.0) > LARGE:
                    kept = (
                        "NOT KEPT" if kernel == fastest else f"{fastest.stem} is {times[kernel] / times[fastest]:.2f}x"
                    )
                    said = f"{finding.name} {finding.estimated_gain:.2f}x"
                    print(f"  {task.name + '/' + kernel.stem:40} {said:26} {kept}", flush=True)


def sizes() -> None:
    print("tokens of each example's profile, whole (within the default budget):")
    total = [0, 0]
    for file in sorted(TASKS.glob("*/task.toml")):
        task = read_task(file.parent)
        profile, findings = profile_task(task, task.folder / task.kernel_file)
        plain, words = tokens(raw(profile, UNLIMITED)), tokens(curated(profile, findings, UNLIMITED))
        cut = tokens(raw(profile)), tokens(curated(profile, findings))
        total = [total[0] + plain, total[1] + words]
        said = ", ".join(f.name for f in findings) or "nothing"
        print(f"  {task.name:24} raw {plain:4} ({cut[0]:3}), curated {words:4} ({cut[1]:3}): {said}", flush=True)
    print(f"  all together: raw {total[0]}, curated {total[1]}, {total[0] / total[1]:.1f} times fewer")


def main() -> None:
    for name in GPUS:
        judge_pairs(find_gpu(name))
    promises()
    sizes()
