"""One candidate through the whole gate: is it right, is it faster, and if both, a certificate.

This is what the loop, the tools and training call. The seed is committed to the ledger before anything runs and
revealed with the result; every evaluation leaves a result line, or an abandoned one where it was stopped or could not
be timed, so how often somebody tried is known too. On the virtual GPU a warm call starts no process.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Generator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast

from warpsight import jail
from warpsight.devices.device import (
    CannotProfile,
    Device,
    TimedDevice,
    caveats,
    missing_walls,
    simulator,
)
from warpsight.errors import BrokenMachine, UsageError
from warpsight.gate import keys
from warpsight.gate.certificate import environment, write_certificate
from warpsight.gate.check import check_candidate
from warpsight.gate.compare_pair import compare_measured, compare_simulated
from warpsight.gate.identity import commitment, plain, sha256_of, task_sha256
from warpsight.gate.kernel import Kernel, build_for, kernel_on, timed_workload, trusted
from warpsight.gate.ledger import Ledger, LedgerLine
from warpsight.gate.timing import Progress
from warpsight.nouns import Build, Candidate, Check, Evaluation, Profile, Task, Timing, Workload
from warpsight.nouns.certificate import Certificate, CommittedSeed, LedgerPlace, SourceText

SEED_BITS = 48


@dataclass(frozen=True)
class _Attempt:
    """One evaluation: what is asked, and the seed everything random follows from."""

    task: Task
    candidate: Candidate
    baseline: Candidate
    device: Device
    workload: Workload
    seed: int
    nonce: str
    unsafe: bool
    progress: Progress

    @property
    def commitment(self) -> str:
        return commitment(self.seed, self.nonce)


def evaluate(
    task: Task,
    candidate: Candidate,
    baseline: Candidate,
    device: Device,
    *,
    seed: int | None = None,
    ledger: Ledger | None = None,
    workload: Workload | None = None,
    unsafe: bool = False,
    progress: Progress = lambda _: None,
) -> Evaluation:
    """Check, then time against the baseline on `workload` (the profiled one by default).

    `seed` is secret and drawn here unless given. With a ledger, an accepted kernel gets a certificate beside it.
    """
    protections = jail.require_protections(unsafe)
    drawn = secrets.randbits(SEED_BITS) if seed is None else seed
    chosen = timed_workload(task) if workload is None else workload
    attempt = _Attempt(task, candidate, baseline, device, chosen, drawn, secrets.token_hex(32), unsafe, progress)
    if ledger is not None:
        keys.own_public()  # a winner is signed: better no run than one whose certificate cannot be
    committed = None if ledger is None else _commit(attempt, ledger)
    with _accounted(attempt, ledger):
        build = build_for(task, candidate, device, unsafe=unsafe)
        check = check_candidate(
            task, candidate, device, build=build, secret_seed=drawn, progress=progress, farthest=True, once=seed is None
        )
        timing, profile = _time(attempt, build) if check.verdict == "right" else (None, None)
    missing = (*protections, *missing_walls(device))  # a device knows what its workers lacked when they have run
    found = Evaluation(
        candidate_sha256=candidate.sha256, check=check, timing=timing, profile=profile, unsafe=bool(missing)
    )
    if ledger is None or committed is None:
        return found
    result = _result(attempt, ledger, check, timing)
    if timing is None or timing.decision != "FASTER":
        return found
    accepted = _certify(attempt, ledger, committed, result, build, found, missing)
    return found.model_copy(update={"certificate": accepted})


def compare_on(
    task: Task,
    workload: Workload,
    baseline: Kernel,
    candidate: Kernel,
    device: Device,
    *,
    seed: int,
    progress: Progress = lambda _: None,
) -> tuple[Timing, Profile | None]:
    """The decision of whichever kind the device gives."""
    if (simulated := simulator(device)) is not None:
        progress("simulating both kernels")
        found, profile = compare_simulated(task, workload, baseline, candidate, simulated, seed=seed)
        return trusted(found, baseline.build, candidate.build), profile
    if not hasattr(device, "open_lane"):
        raise UsageError(f"expected a device that tells time, {device.name} does not")
    timed = cast(TimedDevice, device)
    found = compare_measured(task, workload, baseline, candidate, timed, seed=seed, progress=progress)
    found = found.model_copy(update={"notes": (*found.notes, *caveats(device))})
    return trusted(found, baseline.build, candidate.build), None


def _time(attempt: _Attempt, build: Build) -> tuple[Timing, Profile | None]:
    task, workload = attempt.task, attempt.workload
    theirs = build_for(task, attempt.baseline, attempt.device, unsafe=attempt.unsafe)
    if not theirs.ok:
        errors = [d.message for d in theirs.diagnostics if d.severity == "error"]
        raise UsageError(f"the baseline does not compile: {errors[0] if errors else 'no reason given'}")
    baseline = kernel_on(attempt.baseline, theirs, workload)
    try:
        mine = kernel_on(attempt.candidate, build, workload)
        return compare_on(task, workload, baseline, mine, attempt.device, seed=attempt.seed, progress=attempt.progress)
    except CannotProfile as impossible:
        return Timing(
            source=attempt.device.source,
            device=attempt.device.name,
            method="none",
            decision="REJECTED",
            reason="no_time",
            detail=impossible.message,
            workload=workload.name,
        ), None


def _commit(attempt: _Attempt, ledger: Ledger) -> LedgerLine:
    return ledger.append(
        "commit",
        {
            "task": attempt.task.name,
            "task_sha256": task_sha256(attempt.task),
            "candidate_sha256": attempt.candidate.sha256,
            "baseline_sha256": attempt.baseline.sha256,
            "device": attempt.device.name,
            "workload": attempt.workload.name,
            "commitment": attempt.commitment,
        },
    )


@contextlib.contextmanager
def _accounted(attempt: _Attempt, ledger: Ledger | None) -> Generator[None]:
    """An evaluation that ends without a result, also by an interrupt, is told in the ledger: its seed is spent."""
    try:
        yield
    except BaseException as ended:
        if ledger is not None:
            with contextlib.suppress(BrokenMachine):  # what ended it matters more
                ledger.append("abandoned", {**_asked(attempt), "reason": type(ended).__name__})
        raise


def _asked(attempt: _Attempt) -> dict[str, object]:
    return {
        "task_sha256": task_sha256(attempt.task),
        "candidate_sha256": attempt.candidate.sha256,
        "commitment": attempt.commitment,
        "seed": attempt.seed,
        "nonce": attempt.nonce,
    }


def _result(attempt: _Attempt, ledger: Ledger, check: Check, timing: Timing | None) -> LedgerLine:
    return ledger.append(
        "result",
        {
            **_asked(attempt),
            "verdict": check.verdict,
            "check_sha256": sha256_of(plain(check)),
            "decision": None if timing is None else timing.decision,
            "reason": check.reason if timing is None else timing.reason,
            "timing_sha256": None if timing is None else sha256_of(plain(timing)),
        },
    )


def _certify(
    attempt: _Attempt,
    ledger: Ledger,
    committed: LedgerLine,
    result: LedgerLine,
    build: Build,
    found: Evaluation,
    missing: tuple[str, ...],
) -> str:
    assert found.timing is not None
    simulated = simulator(attempt.device)
    gpu = simulated.gpu.key if simulated is not None and simulated.gpu else ""
    certificate = Certificate(
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        task=attempt.task.name,
        task_sha256=task_sha256(attempt.task),
        candidate=SourceText(sha256=attempt.candidate.sha256, text=attempt.candidate.source),
        baseline=SourceText(sha256=attempt.baseline.sha256, text=attempt.baseline.source),
        seed=CommittedSeed(value=attempt.seed, nonce=attempt.nonce, commitment=attempt.commitment),
        check=found.check,
        timing=found.timing,
        attempt=ledger.count("result", "task_sha256", task_sha256(attempt.task), through=result.seq),
        environment=environment(attempt.device.name, build.compiler, gpu),
        protections=tuple(p.name for p in jail.protections() if p.present),
        missing_protections=missing,
        unsafe=bool(missing),
        ledger=LedgerPlace(committed_seq=committed.seq, result_seq=result.seq, head=result.hash),
    )
    path, accepted = write_certificate(certificate, ledger.certificates)
    ledger.append("certificate", {"sha256": accepted, "file": path.name, "result_seq": result.seq})
    return accepted
