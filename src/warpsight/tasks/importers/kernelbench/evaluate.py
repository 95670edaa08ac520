"""Is a KernelBench candidate right, and how fast is it? Reference and candidate each in a jail of their own.

The parent draws a secret seed, holds the clock and compares. Inputs are made in the reference's process and handed over
as bytes, so the candidate is told no seed that they follow from; every call that is timed gets inputs that were never
seen before, every sample new weights, and the outputs of all timed calls are compared too. Samples of the two
alternate. A candidate is Python in the process that calls it: all that it works outside of the timed calls is charged
(charge.py). That is a lower tier of trust than the gate has, and every result says so.
"""

from __future__ import annotations

import hashlib
import secrets
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field

from warpsight.tasks.importers.kernelbench.charge import ChargedSample, charged_s
from warpsight.tasks.importers.kernelbench.compare import Difference, compare_outputs, tolerance_of
from warpsight.tasks.importers.kernelbench.problem import KernelBenchProblem, backend_of
from warpsight.tasks.importers.kernelbench.score import CandidateScore
from warpsight.tasks.importers.kernelbench.session import Compile, Inputs, LoadedElsewhere, RunFailed, TorchSession
from warpsight.tasks.importers.records import CannotImport

MOST_CALLS, MOST_BYTES = 1024, 64 << 20
SEED_BITS = 62
CHARGED_SHARE = 0.05  # of the time; below that the result says nothing of it
KNOWN = "its inputs are the same for every seed: the answers can be known beforehand, so it was not timed"
GPU_ONLY = "written in {}: it runs on a GPU only, which is not here, and was not run on a GPU by us"


@dataclass(frozen=True)
class ScorePlan:
    """How hard to look. `sample_s` is how long one timed sample should take, by the reference.

    `seed` repeats an evaluation whose seed was told; when None, a secret one is drawn.
    """

    seed: int | None = None
    trials: int = 5
    samples: int = 9
    sample_s: float = 0.02
    tolerance: float | None = None


@dataclass
class _Pair:
    """The two jails of one attempt, and the seeds of its weights and inputs: no one of them tells another."""

    reference: TorchSession
    candidate: TorchSession
    plan: ScorePlan
    seed: int
    has_weights: bool = False
    drawn: int = field(default=0, init=False)

    def fresh(self) -> int:
        self.drawn += 1
        return int.from_bytes(hashlib.sha256(f"{self.seed} {self.drawn}".encode()).digest()[:8], "big") >> 2

    def draw(self, calls: int) -> Inputs:
        return self.reference.draw([self.fresh() for _ in range(calls)])

    def hand_over(self, inputs: Inputs) -> None:
        """New weights and these inputs for both."""
        weights, own = self.fresh(), self.fresh()
        for session in (self.reference, self.candidate):
            if self.has_weights:
                session.make(weights)
            session.prepare(inputs, own)


def evaluate_candidate(
    problem: KernelBenchProblem,
    name: str,
    text: str,
    reference: TorchSession,
    open_candidate: Callable[[], TorchSession],
    plan: ScorePlan = ScorePlan(),
) -> CandidateScore:
    """One candidate for one problem. What is wrong with it is the verdict; only a broken machine raises."""
    try:
        backend = backend_of(text)
    except CannotImport as refused:
        return CandidateScore(problem=problem.name, candidate=name, verdict="failed", reason=str(refused))
    about: dict[str, object] = {"problem": problem.name, "candidate": name, "backend": backend}
    if backend in ("cuda", "triton"):
        reason = GPU_ONLY.format("CUDA" if backend == "cuda" else "Triton or another GPU language")
        return CandidateScore.model_validate({**about, "verdict": "not run", "reason": reason})
    seed = secrets.randbits(SEED_BITS) if plan.seed is None else plan.seed
    about["seed"] = seed
    with open_candidate() as candidate:
        pair = _Pair(reference, candidate, plan, seed)
        first = pair.fresh()
        try:
            pair.has_weights = reference.load(problem.source, None, seed=first, alone=True).get("weights") != 0
        except (RunFailed, LoadedElsewhere) as failed:
            return CandidateScore.model_validate({**about, "verdict": "failed", "reason": f"the reference: {failed}"})
        try:
            candidate.load(problem.source, text, seed=first)
            found = _judged(pair)
        except RunFailed as failed:
            whose = "the reference: " if failed.by is reference else ""
            found = {"verdict": "failed", "reason": f"{whose}{failed}"}
    return CandidateScore.model_validate({**about, **found})


def candidate_sessions(compile: Compile, *, threads: int, deadline_s: float) -> Callable[[], TorchSession]:
    """A new jail for each candidate: none sees what another left."""
    return lambda: TorchSession(threads=threads, deadline_s=deadline_s, compile=compile)


def _judged(pair: _Pair) -> dict[str, object]:
    worst, tolerance = 0.0, 0.0
    for trial in range(pair.plan.trials):
        pair.hand_over(pair.draw(1))
        for session in (pair.reference, pair.candidate):
            session.run()
        difference, tolerance = _differ(pair)
        worst = max(worst, difference.worst)
        if difference.reason:
            reason = f"inputs {trial + 1} of {pair.plan.trials}: {difference.reason}"
            return {"verdict": "wrong", "reason": reason, "trials": trial, "worst": worst, "tolerance": tolerance}
    found: dict[str, object] = {"verdict": "right", "trials": pair.plan.trials, "worst": worst, "tolerance": tolerance}
    if not pair.plan.samples:
        return found
    if pair.draw(2).alike:
        return {**found, "reason": KNOWN}
    return {**found, **_timed(pair)}


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
    """Samples in turn, each of several calls on fresh inputs."""
    calls = _calls(pair)
    sessions = (pair.reference, pair.candidate)
    samples: tuple[list[ChargedSample], list[ChargedSample]] = ([], [])
    spent = [session.cpu_s() for session in sessions]
    for turn in range(pair.plan.samples):
        drawing = pair.reference.cpu_s()
        inputs = pair.draw(calls)
        drawing = pair.reference.cpu_s() - drawing  # which the candidate has no part in
        pair.hand_over(inputs)
        timed = {at: sessions[at].run() for at in ((0, 1) if turn % 2 == 0 else (1, 0))}
        difference, _ = _differ(pair)
        if difference.reason:
            return {"verdict": "wrong", "reason": f"a timed call of sample {turn + 1}: {difference.reason}"}
        for at, session in enumerate(sessions):
            # From the end of one sample to the end of the next: there is no time between that nobody looks at.
            before, spent[at] = spent[at], session.cpu_s()
            outside_s = spent[at] - before - timed[at].cpu_s - (drawing if at == 0 else 0.0)
            samples[at].append(ChargedSample(timed[at], outside_s))
    return _told(pair, samples[0], samples[1], calls)


def _told(pair: _Pair, reference: list[ChargedSample], candidate: list[ChargedSample], calls: int) -> dict[str, object]:
    charged = charged_s(candidate, reference, pair.candidate.threads)
    ms = [1e3 * one.timed.wall_s / calls for one in reference], [1e3 * total / calls for total, _ in charged]
    hidden = 1e3 * statistics.median(extra for _, extra in charged) / calls
    candidate_ms = statistics.median(ms[1])
    everything = [one.timed for one in (*reference, *candidate)]
    reason = f"charged with {hidden:.3g} ms a call that it worked outside of the timed calls"
    return {
        "reason": reason if hidden > CHARGED_SHARE * candidate_ms else "", "charged_ms": hidden,
        "waited_share": sum(one.waited_s for one in everything) / sum(one.wall_s for one in everything),
        "reference_ms": statistics.median(ms[0]), "candidate_ms": candidate_ms,
        "reference_samples_ms": ms[0], "candidate_samples_ms": ms[1], "calls_per_sample": calls,
        "source": "measured", "device": f"cpu, {pair.candidate.threads} thread(s), in the jail",
    }  # fmt: skip


def _calls(pair: _Pair) -> int:
    """How many calls make one sample: long enough to time, small enough to hold what goes in and comes out."""
    out_bytes = sum(one.array.nbytes for one in pair.reference.give()[0])  # of the last trial
    calls, most = 1, MOST_CALLS
    while True:
        # Both are called equally often: a model may keep something from call to call.
        inputs = pair.draw(calls)
        pair.hand_over(inputs)
        in_bytes = inputs.bytes_per_call
        took, _ = (session.run() for session in (pair.reference, pair.candidate))
        most = min(MOST_CALLS, max(1, MOST_BYTES // max(in_bytes + out_bytes, 1)))
        if calls >= most or (took.worked_s >= pair.plan.sample_s and took.cpu_s >= pair.plan.sample_s / 2):
            return min(calls, most)
        calls = min(most, calls * 4)
