"""Findings on the example tasks: no promise of more than 25 % that no kernel here keeps, and every number checkable."""

from __future__ import annotations

import functools
import importlib.util
import re
from pathlib import Path

import pytest

from warpsight.devices.virtual import VirtualGpu
from warpsight.gate.check import kernel_values
from warpsight.gate.kernel import build_candidate
from warpsight.lens import MODES, find_findings, rederive, render, tokens
from warpsight.lens.derivation import limit_of, numbers_in
from warpsight.lens.render import NOTHING, gain_note, number
from warpsight.nouns import Finding, Profile
from warpsight.tasks import evaluate_launch, launch_of, read_candidate, read_task
from warpsight.vgpu.gpus import find_gpu

TASKS = Path(__file__).parents[2] / "tasks"
EXAMPLES = sorted(file.parent.name for file in TASKS.glob("*/task.toml"))
GIVEN = {task: f"{task}/{read_task(TASKS / task).kernel_file}" for task in EXAMPLES}
FASTER = sorted(str(file.relative_to(TASKS)) for file in TASKS.glob("*/faster/*.*"))
EVIDENCE = re.compile(r"(\w+) = (\S+) [^;(]*?(?: \(limit (\S+)\))?(?: at line (\d+))?(?=;|$)")
LARGE = 1.25


@functools.cache
def profiled(kernel: str) -> tuple[Profile, tuple[Finding, ...]]:
    """A kernel of an example, by its path under tasks, on the task's own GPU and profile workload (simulated)."""
    if kernel.endswith(".py") and importlib.util.find_spec("triton") is None:
        pytest.skip("needs triton: pip install 'warpsight[triton]'")
    task = read_task(TASKS / kernel.split("/")[0])
    source = (TASKS / kernel).read_text()
    gpu, candidate = find_gpu(task.gpu), read_candidate(source, task, kernel)
    workload = next(w for w in task.workloads if w.profile)
    build = build_candidate(task, candidate, gpu_arch=gpu.arch)
    size = launch_of(build, evaluate_launch(candidate, workload.axes, kernel))
    values = kernel_values(task, workload, 0)[1]
    device = VirtualGpu(gpu=gpu, profile_budget=300_000)
    profile = device.profile(build, task.entry, values, size, source_text=source)
    return profile, find_findings(profile, build)


def kernels_of(task: str) -> list[str]:
    return [GIVEN[task], *(kernel for kernel in FASTER if kernel.startswith(f"{task}/"))]


def time_us(kernel: str) -> float:
    return profiled(kernel)[0].counters["duration_us"]


def promises(kernel: str) -> dict[str, float]:
    found = {f.name: f.estimated_gain or 1.0 for f in profiled(kernel)[1]}
    return {name: gain for name, gain in found.items() if gain > LARGE}


@pytest.mark.parametrize("task", EXAMPLES)
def test_the_fast_version_is_promised_nothing_large(task: str) -> None:
    fastest = min(kernels_of(task), key=time_us)
    assert promises(fastest) == {}


@pytest.mark.parametrize("task", EXAMPLES)
def test_what_is_promised_is_kept_by_a_kernel_that_is_here(task: str) -> None:
    for kernel in kernels_of(task):
        really = time_us(kernel) / min(map(time_us, kernels_of(task)))
        # The best kernel that is here need not be the best there is: a tenth more may be promised.
        assert {name: gain for name, gain in promises(kernel).items() if gain > 1.1 * really} == {}
        assert not promises(kernel) or really > LARGE


@pytest.mark.parametrize("kernel", FASTER)
def test_a_faster_kernel_is_faster(kernel: str) -> None:
    assert time_us(kernel) < 0.85 * time_us(GIVEN[kernel.split("/")[0]])


@pytest.mark.parametrize("kernel", [*GIVEN.values(), *FASTER])
def test_every_number_of_a_finding_can_be_derived_again(kernel: str) -> None:
    profile, findings = profiled(kernel)
    for finding in findings:
        numbers = rederive(profile, finding)
        assert len(numbers) > len(finding.evidence)
        assert [number for number in numbers if not number.agrees] == []


@pytest.mark.parametrize("kernel", [*GIVEN.values(), *FASTER])
def test_every_number_of_the_curated_words_is_traced_to_a_counter_by_name(kernel: str) -> None:
    profile, findings = profiled(kernel)
    head, *rows = render(profile, findings, "curated", 10**9).split("\n")
    low, high = (profile.counters[f"duration_us_{end}"] for end in ("low", "high"))
    likely = f"likely {low:.3g} to {high:.3g} when measured"
    assert f"duration_us {number(profile.counters['duration_us'])}, {likely};" in head
    if note := gain_note(profile, findings):  # from the error tables, and said once
        assert rows.pop(0) == f"gains are estimated: {note}"
    lines = {line.line: line.counters for line in profile.lines}
    known: set[str] = set()
    for row in reversed(rows):  # the evidence of a finding stands behind its message
        kind = row.strip().split(" ")[0]
        if kind == "evidence:":
            known = set()
            for counter, value, limit, line in EVIDENCE.findall(row):
                counters = lines[int(line)] if line else profile.counters
                assert value == number(counters[counter])
                assert not limit or float(limit) == limit_of(profile, counter)
                known |= {value, limit, line}
            assert row.count(" = ") == len(EVIDENCE.findall(row)) > 0
        elif kind not in ("line", "try:", "should") and row != NOTHING:
            _, _, message = row.partition(": ")
            assert set(numbers_in(message)) <= known, row


@pytest.mark.parametrize("task", EXAMPLES)
def test_renderings_of_examples_keep_their_budget(task: str) -> None:
    profile, findings = profiled(GIVEN[task])
    for mode in MODES:
        for budget in (80, 600):
            assert 0 < tokens(render(profile, findings, mode, budget)) <= budget
    assert tokens(render(profile, findings, "curated")) <= tokens(render(profile, findings, "raw", 10**9))
