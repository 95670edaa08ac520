"""Check a certificate without the machine it came from: every hash, every number that follows from the samples.

Offline, nothing is believed that can be computed: the file's hash, the hashes of the kernels, the commitment, the
ratio, interval and decision from the raw samples, each look before the last, the roof, the signature, and the ledger's
whole chain with this evaluation's three lines in it. What only the machine could know (that the samples were really
taken) is for `rerun`. Findings are a list, all of them, so a person sees what holds as well as what does not.
What must stay true: numbers that agree with one another vouch for nobody; only the signature of a key that the reader
knows does, and only a rerun shows that they come out again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from warpsight.gate import keys, statistics
from warpsight.gate.certificate import BrokenCertificate, read_certificate, signed_text
from warpsight.gate.compare_pair import measured_timing, simulated_timing
from warpsight.gate.identity import commitment, plain, sha256_of, task_sha256
from warpsight.gate.keys import Signer
from warpsight.gate.ledger import BrokenLedger, LedgerLine, read_ledger
from warpsight.gate.likely import likelihood_of
from warpsight.gate.roofline_cap import COPY_MARGIN, MODEL_MARGIN
from warpsight.gate.statistics import LOOKS, Decided, Pairs
from warpsight.nouns import Task, Timing
from warpsight.nouns.certificate import Certificate
from warpsight.nouns.timing import Measurement, Roof
from warpsight.vgpu import model_error

NEAR = 1e-9


@dataclass(frozen=True)
class Verified:
    """One thing that was looked at. `detail` says what was expected and what came, where it does not hold."""

    name: str
    ok: bool
    detail: str = ""


@dataclass(frozen=True)
class CertificateChecks:
    """A certificate, if the bytes were one, whose key signed it, and everything that was looked at."""

    certificate: Certificate | None
    signer: Signer
    findings: tuple[Verified, ...]


def verify_bytes(
    raw: bytes, ledger: Path | None = None, task: Task | None = None, keys_folder: Path | None = None
) -> CertificateChecks:
    """Look at everything in `raw` that can be computed again."""
    try:
        certificate, found, signature = read_certificate(raw)
    except BrokenCertificate as broken:
        return CertificateChecks(None, Signer("none"), (Verified("file", False, broken.message),))
    looked = [Verified("file", True), *_identity(certificate, task), *_timing(certificate.timing)]
    signer = keys.whose_key(signature, keys_folder)
    if signature is not None:
        valid = keys.is_valid(signed_text(certificate), signature)
        looked.append(Verified("signature", valid, "" if valid else f"it is not that of key {signer.fingerprint}"))
        signer = signer if valid else Signer("none")
    if ledger is not None:
        looked.extend(_ledger(certificate, found, ledger))
    return CertificateChecks(certificate, signer, tuple(looked))


def _identity(c: Certificate, task: Task | None) -> Iterator[Verified]:
    computed = commitment(c.seed.value, c.seed.nonce)
    yield _same("commitment", c.seed.commitment, computed)
    if task is not None:
        yield _same("task", c.task_sha256, task_sha256(task))
    if c.check.secret_seed is not None:
        yield _same("secret seed", str(c.check.secret_seed), str(c.seed.value))


def _timing(timing: Timing) -> Iterator[Verified]:
    if timing.roof is not None:
        yield _near("roof", timing.roof.floor_us, roof_floor(timing.roof))
    else:
        yield Verified("roof", False, "an accepted kernel was held to a roof, none stands here")
    if judges_errors(timing):
        yield _likelihood(timing)
    for at, measurement in enumerate(timing.measurements):
        yield _measurement(f"measurement {at + 1}", measurement)
    derived = None
    if timing.source == "measured":
        twice = len(timing.measurements) == 2
        yield Verified("measured twice", twice, f"{len(timing.measurements)} measurements")
        if twice:
            derived = measured_timing(timing.device, timing.workload, timing.measurements, timing.roof)
    else:
        derived = _simulated(timing)
    if derived is None:
        yield Verified("decision", False, "there are not the samples that it would need")
        return
    yield Verified("decision", *_agree(timing, derived))


def roof_floor(roof: Roof) -> float:
    """The floor that a roof's own numbers give."""
    if roof.source.startswith("data sheet") and roof.gb_per_s is not None:
        return MODEL_MARGIN * (roof.compulsory_bytes / (roof.gb_per_s * 1e3) + roof.launch_us)
    copied = roof.compulsory_bytes / roof.gb_per_s / 1e3 if roof.gb_per_s is not None else 0.0
    return COPY_MARGIN * max(copied, roof.launch_us)


def _simulated(timing: Timing) -> Timing | None:
    if len(timing.samples_us) != 2 or len(timing.baseline_us) != 2 or timing.roof is None:
        return None
    mine, theirs = (timing.samples_us[0], timing.samples_us[1]), (timing.baseline_us[0], timing.baseline_us[1])
    return simulated_timing(
        timing.device, timing.workload, mine, theirs, timing.roof, timing.notes, timing.spread, timing.likelihood
    )


def judges_errors(timing: Timing) -> bool:
    """Whether the error tables that were used are ours, so that what they say can be computed again."""
    return timing.likelihood is not None and timing.likelihood.tables == model_error.built_in().id


def _likelihood(timing: Timing) -> Verified:
    stated, name = timing.likelihood, "likely range"
    if stated is None or timing.ratio is None:
        return Verified(name, False, "there is no ratio that it could be of")
    found = likelihood_of(timing.ratio, stated.baseline_bound, stated.candidate_bound)
    same = stated.level == found.level and _near_all(
        (*stated.factors, stated.probability_faster), (*found.factors, found.probability_faster)
    )
    told = f"stated {stated.factors} {stated.probability_faster}, the tables say"
    return Verified(name, same, "" if same else f"{told} {found.factors} {found.probability_faster}")


def pairs_of(m: Measurement) -> Pairs:
    return Pairs(
        m.baseline_us,
        m.candidate_us,
        m.baseline_wall_us,
        m.candidate_wall_us,
        m.baseline_total_us,
        m.candidate_total_us,
    )


def derive(m: Measurement) -> Decided:
    """What the raw samples of a measurement say; stops where the looks before say that it should have."""
    pairs = pairs_of(m)
    found = Decided("AMBIGUOUS", "out_of_time")
    for count in (look for look in LOOKS if look <= m.pairs_used):
        found = statistics.decide(pairs.first(count), m.bootstrap_seed)
        if count < m.pairs_used and not statistics.can_still_decide(found, count):
            return Decided("REJECTED", "no_time", f"{count} pairs had decided, {m.pairs_used} were used")
    if found.decision == "FASTER" and found.ratio is not None:
        holds, told = statistics.faster_alone(m.alone_us, m.candidate_us, found.ratio) if m.alone_us else (False, "")
        if not holds:
            return Decided("AMBIGUOUS", "not_faster_alone", told, found.ratio, found.interval)
    return found


def _measurement(name: str, m: Measurement) -> Verified:
    if m.pairs_used not in LOOKS:
        return Verified(name, False, f"{m.pairs_used} pairs are none of the looks {LOOKS}")
    found = derive(m)
    same = found.decision == m.decision and _near_all(
        (m.ratio, *(m.interval or ())), (found.ratio, *(found.interval or ()))
    )
    told = f"stated {m.decision} {m.ratio} {m.interval}, samples say {found.decision} {found.ratio} {found.interval}"
    return Verified(name, same, "" if same else told)


def _agree(stated: Timing, derived: Timing) -> tuple[bool, str]:
    same = (stated.decision, stated.reason) == (derived.decision, derived.reason) and _near_all(
        (stated.ratio, *(stated.interval or ()), *(stated.simulated_interval or ())),
        (derived.ratio, *(derived.interval or ()), *(derived.simulated_interval or ())),
    )
    told = f"stated {stated.decision} {stated.ratio}, samples say {derived.decision} {derived.ratio}"
    return same, "" if same else told


def _ledger(c: Certificate, found: str, path: Path) -> Iterator[Verified]:
    try:
        lines = read_ledger(path)
    except BrokenLedger as broken:
        yield Verified("ledger", False, broken.message)
        return
    yield Verified("ledger", True)
    committed, result = _line(lines, c.ledger.committed_seq), _line(lines, c.ledger.result_seq)
    yield _holds("committed before", committed, "commit", {
        "commitment": c.seed.commitment,
        "task_sha256": c.task_sha256,
        "candidate_sha256": c.candidate.sha256,
        "baseline_sha256": c.baseline.sha256,
    })  # fmt: skip
    yield _holds("result", result, "result", {
        "commitment": c.seed.commitment,
        "seed": c.seed.value,
        "nonce": c.seed.nonce,
        "verdict": c.check.verdict,
        "decision": c.timing.decision,
        "check_sha256": sha256_of(plain(c.check)),
        "timing_sha256": sha256_of(plain(c.timing)),
    })  # fmt: skip
    yield _same("head", c.ledger.head, "" if result is None else result.hash)
    named = [line for line in lines if line.kind == "certificate" and line.body.get("sha256") == found]
    yield Verified("entered in the ledger", len(named) == 1, f"{len(named)} lines name this certificate")
    tries = [
        line
        for line in lines[: c.ledger.result_seq + 1]
        if line.kind == "result" and line.body.get("task_sha256") == c.task_sha256
    ]
    yield _same("attempt", str(c.attempt), str(len(tries)))


def _line(lines: tuple[LedgerLine, ...], seq: int) -> LedgerLine | None:
    return lines[seq] if seq < len(lines) else None


def _holds(name: str, line: LedgerLine | None, kind: str, wanted: dict[str, object]) -> Verified:
    if line is None or line.kind != kind:
        return Verified(name, False, f"expected a {kind} line there, found {'none' if line is None else line.kind}")
    other = [key for key, value in wanted.items() if line.body.get(key) != value]
    return Verified(name, not other, f"differs in {', '.join(other)}" if other else "")


def _same(name: str, stated: str, computed: str) -> Verified:
    return Verified(name, stated == computed, "" if stated == computed else f"stated {stated}, computed {computed}")


def _near(name: str, stated: float, computed: float) -> Verified:
    same = math.isclose(stated, computed, rel_tol=NEAR)
    return Verified(name, same, "" if same else f"stated {stated}, computed {computed}")


def _near_all(stated: tuple[float | None, ...], computed: tuple[float | None, ...]) -> bool:
    if len(stated) != len(computed):
        return False
    return all(
        a is b or (a is not None and b is not None and math.isclose(a, b, rel_tol=NEAR))
        for a, b in zip(stated, computed, strict=True)
    )
