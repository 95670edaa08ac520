"""Is a KernelBench candidate right, and how fast is it? Reference and candidate each in a jail of their own.

The parent chooses the seeds, holds the clock and compares. Every call that is timed gets inputs that were never seen
before, samples of the two alternate, and the outputs of all timed calls are compared too. A candidate is Python in the
process that calls it, so it can do things that a kernel alone cannot: what it does outside of the timed calls is
weighed by its processor time, and more than the reference needs there is a rejection. That is a lower tier of trust
than the gate has, and every result says so.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from warpsight.tasks.importers.kernelbench.compare import Difference, compare_outputs, tolerance_of
from warpsight.tasks.importers.kernelbench.problem import KernelBenchProblem, backend_of
from warpsight.tasks.importers.kernelbench.score import Attempt
from warpsight.tasks.importers.kernelbench.session import Compile, LoadedElsewhere, RunFailed, Timed, TorchSession
from warpsight.tasks.importers.records import CannotImport

MOST_CALLS, MOST_BYTES = 1024, 64 << 20
HIDDEN_S, HIDDEN_SHARE = 0.08, 0.5
GPU_ONLY = "written in {}: it runs on a GPU only, which is not here, and was not run on a GPU by us"


@dataclass(frozen=True)
class Plan:
    """How hard to look. `sample_s` is how long one timed sample should take, by the reference."""

    seed: int = 42
    trials: int = 5
    samples: int = 9
    sample_s: float = 0.02
    tolerance: float | None = None


@dataclass(frozen=True)
class _Pair:
    """The two jails of one attempt, and the seeds of its inputs."""

    reference: TorchSession
    candidate: TorchSession
    plan: Plan
    seeds: np.random.Generator

    def fresh(self, count: int) -> list[int]:
        return [int(one) for one in self.seeds.integers(0, 2**31, count)]


def evaluate_candidate(
    problem: KernelBenchProblem,
    name: str,
    text: str,
    reference: TorchSession,
    open_candidate: Callable[[], TorchSession],
    plan: Plan = Plan(),
) -> Attempt:
    """One candidate for one problem. What is wrong with it is the verdict; only a broken machine raises."""
    try:
        backend = backend_of(text)
    except CannotImport as refused:
        return Attempt(problem=problem.name, candidate=name, verdict="failed", reason=str(refused))
    about = {"problem": problem.name, "candidate": name, "backend": backend}
    if backend in ("cuda", "triton"):
        reason = GPU_ONLY.format("CUDA" if backend == "cuda" else "Triton or another GPU language")
        return Attempt.model_validate({**about, "verdict": "not run", "reason": reason})
    try:
        reference.load(problem.source, None, seed=plan.seed)
    except (RunFailed, LoadedElsewhere) as failed:
        return Attempt.model_validate({**about, "verdict": "failed", "reason": f"the reference: {failed}"})
    with open_candidate() as candidate:
        pair = _Pair(reference, candidate, plan, np.random.default_rng(plan.seed))
        try:
            candidate.load(problem.source, text, seed=plan.seed)
            found = _judged(pair)
        except RunFailed as failed:
            whose = "the reference: " if failed.by is reference else ""
            found = {"verdict": "failed", "reason": f"{whose}{failed}"}
    return Attempt.model_validate({**about, **found})


def candidate_sessions(compile: Compile, *, threads: int, deadline_s: float) -> Callable[[], TorchSession]:
    """A new jail for each candidate: none sees what another left."""
    return lambda: TorchSession(threads=threads, deadline_s=deadline_s, compile=compile)


def _judged(pair: _Pair) -> dict[str, object]:
    worst, tolerance = 0.0, 0.0
    for trial in range(pair.plan.trials):
        (seed,) = pair.fresh(1)
        for session in (pair.reference, pair.candidate):
            session.prepare([seed])
            session.run()
        difference, tolerance = _differ(pair)
        worst = max(worst, difference.worst)
        if difference.reason:
            reason = f"inputs {trial + 1} of {pair.plan.trials}: {difference.reason}"
            return {"verdict": "wrong", "reason": reason, "trials": trial, "worst": worst, "tolerance": tolerance}
    found: dict[str, object] = {"verdict": "right", "trials": pair.plan.trials, "worst": worst, "tolerance": tolerance}
    return {**found, **_timed(pair)} if pair.plan.samples else found


def _differ(pair: _Pair) -> tuple[Difference, float]:
    """The first difference over all calls since the inputs were made, and the tolerance they were held to."""
    expected, got = pair.reference.give(), pair.candidate.give()
    given = pair.plan.tolerance
    if len(expected) != len(got):
        return Difference(f"expected {len(expected)} calls, found {len(got)}", 0.0), 0.0
    found = [compare_outputs(want, have, given) for want, have in zip(expected, got, strict=True)]
    wrong = next((one for one in found if one.reason), Difference("", 0.0))
    return Difference(wrong.reason, max(one.worst for one in found)), tolerance_of(expected[0], given)


def _timed(pair: _Pair) -> dict[str, object]:
    """Times, measured again where they cannot be believed: a busy machine is not so twice, one that hides work is."""
    calls = _calls(pair)
    found = _sampled(pair, calls)
    return _sampled(pair, calls) if found.get("verdict") == "rejected" else found


def _sampled(pair: _Pair, calls: int) -> dict[str, object]:
    """Samples in turn, each of several calls on fresh inputs."""
    sessions = (pair.reference, pair.candidate)
    samples: tuple[list[Timed], list[Timed]] = ([], [])
    outside: tuple[list[float], list[float]] = ([], [])
    for turn in range(pair.plan.samples):
        before = [session.cpu_s() for session in sessions]
        seeds = pair.fresh(calls)
        for session in sessions:
            session.prepare(seeds)
        for at in (0, 1) if turn % 2 == 0 else (1, 0):
            samples[at].append(sessions[at].run())
        difference, _ = _differ(pair)
        if difference.reason:
            return {"verdict": "wrong", "reason": f"a timed call of sample {turn + 1}: {difference.reason}"}
        for side, session, start, timed in zip(outside, sessions, before, samples, strict=True):
            side.append(session.cpu_s() - start - timed[-1].cpu_s)
    # As times are: by the median, so that what a busy machine adds to one of the samples does not count.
    hidden = [statistics.median(side) * len(side) for side in outside]
    if reason := weighed(samples[0], samples[1], hidden[0], hidden[1], pair.candidate.threads):
        return {"verdict": "rejected", "reason": reason}
    ms = [[1e3 * one.wall_s / calls for one in side] for side in samples]
    everything = [*samples[0], *samples[1]]
    return {
        "waited_share": sum(one.waited_s for one in everything) / sum(one.wall_s for one in everything),
        "reference_ms": statistics.median(ms[0]), "candidate_ms": statistics.median(ms[1]),
        "reference_samples_ms": ms[0], "candidate_samples_ms": ms[1], "calls_per_sample": calls,
        "source": "measured", "device": f"cpu, {pair.candidate.threads} thread(s), in the jail",
    }  # fmt: skip


def _calls(pair: _Pair) -> int:
    """How many calls make one sample: long enough to time, small enough to hold what goes in and comes out."""
    out_bytes = sum(one.array.nbytes for one in pair.reference.give()[0])  # of the last trial
    calls, most = 1, MOST_CALLS
    while True:
        seeds = pair.fresh(calls)
        # Both are called equally often: a model may keep something from call to call.
        in_bytes = max(session.prepare(seeds) for session in (pair.reference, pair.candidate))
        took, _ = (session.run() for session in (pair.reference, pair.candidate))
        most = min(MOST_CALLS, max(1, MOST_BYTES // max(in_bytes + out_bytes, 1)))
        if calls >= most or (took.worked_s >= pair.plan.sample_s and took.cpu_s >= pair.plan.sample_s / 2):
            return min(calls, most)
        calls = min(most, calls * 4)


def weighed(
    reference: list[Timed], candidate: list[Timed], reference_s: float, candidate_s: float, threads: int
) -> str:
    """Why times cannot be believed, "" if they can: `*_s` is processor time spent outside of the timed calls."""
    timed_s = sum(one.cpu_s for one in reference)
    if candidate_s - reference_s > max(HIDDEN_S, HIDDEN_SHARE * timed_s):
        return f"it worked {candidate_s:.2f} s outside of the timed calls, the reference {reference_s:.2f} s"
    wall_s, cpu_s = sum(one.wall_s for one in candidate), sum(one.cpu_s for one in candidate)
    if cpu_s > wall_s * threads * 1.25 + HIDDEN_S:
        return f"it used {cpu_s:.2f} s of processor time in {wall_s:.2f} s, with {threads} thread(s) given"
    return ""
