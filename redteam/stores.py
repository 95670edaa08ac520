"""Run an attack that changes files: entries of the cache, a certificate, a ledger. Only commands are used.

An attack file defines `tamper(world)` and says by `ASK` what is asked afterwards:
`slow` compares a kernel that is no faster than the task's own, `honest` one that is truly faster, `verify` asks whether
a certificate holds. What a cache entry looks like is learnt from outside: `World.built` tells which files a kernel's
first evaluation left behind.
"""

from __future__ import annotations

import hashlib
import json
import runpy
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from redteam.entries import FOLDER, Attack
from redteam.kernels import TASKS, Outcome
from redteam.outside import Answer, ask
from warpsight.gate.likely import likelihood_of, likely_interval
from warpsight.nouns.timing import IMPROVEMENTS

TEXTS = FOLDER / "files"
DIGEST_BYTES = 32


@dataclass
class World:
    """A folder with a cache, a ledger and the texts of a fast and of a slow kernel with the same launch."""

    root: Path
    task: str

    def __post_init__(self) -> None:
        self.cache, self.ledger = self.root / "cache", self.root / "ledger"
        self.fast, self.slow = self.root / "fast.cu", self.root / "slow.cu"
        for name in ("fast", "slow"):
            (self.root / f"{name}.cu").write_text((TEXTS / f"{self.task}_{name}.cu").read_text())

    def compare(self, kernel: Path, cache: Path | None = None, baseline: Path | None = None) -> Answer:
        words = ["compare", TASKS / self.task, "--candidate", kernel, "--ledger", self.ledger, "--json"]
        own = baseline or TEXTS / f"{self.task}_baseline.cu"  # in place of the task's kernel, where that is not to beat
        return ask([*words, *(["--baseline", own] if own.exists() else [])], cache or self.cache)

    def built(self, kernel: Path) -> dict[str, bytes]:
        """The files that belong to the build of this kernel alone, by their path in a cache."""
        with TemporaryDirectory() as folder:
            own = Path(folder) / "own"
            self.compare(kernel, own)
            return {name: body for name, body in entries(own).items() if name not in self.common and "build" in name}

    @cached_property
    def common(self) -> set[str]:
        """Names of the entries that any evaluation of this task leaves behind."""
        with TemporaryDirectory() as folder:
            self.compare(self.root / "nothing.cu", Path(folder) / "other")
            return set(entries(Path(folder) / "other"))

    def verify(self, certificate: Path, *words: str) -> Answer:
        return ask(["verify", certificate, "--json", *words], self.cache)

    def certificate(self) -> Path:
        """A true certificate, of the fast kernel against one that is slower for sure."""
        self.compare(self.fast, baseline=TEXTS / f"{self.task}_one_warp.cu")
        return next(self.ledger.rglob("certificates/*.json"))


def entries(cache: Path) -> dict[str, bytes]:
    return {str(file.relative_to(cache)): file.read_bytes() for file in sorted(cache.rglob("*")) if file.is_file()}


def sealed(payload: bytes) -> bytes:
    """A cache entry as anybody can write it who has looked at one: a digest of what follows."""
    return hashlib.sha256(payload).digest() + payload


def page(document: Any) -> bytes:
    """A certificate as it lies on disk: sorted keys, one blank for each level, a line end."""
    return (json.dumps(document, sort_keys=True, indent=1, ensure_ascii=False) + "\n").encode()


def resealed(certificate: dict[str, Any]) -> bytes:
    """The certificate with a hash that fits, in the way its page describes."""
    rest = {key: value for key, value in certificate.items() if key != "sha256"}
    return page({**rest, "sha256": hashlib.sha256(page(rest)).hexdigest()})


def chained(lines: list[dict[str, Any]]) -> bytes:
    """A ledger of these bodies and kinds, with numbers, links and hashes that fit."""
    before, out = "0" * 64, b""
    for number, line in enumerate(lines):
        body = {"body": line["body"], "kind": line["kind"], "prev": before, "seq": number}
        before = hashlib.sha256(json.dumps(body, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
        out += json.dumps({**body, "hash": before}, sort_keys=True, separators=(",", ":")).encode() + b"\n"
    return out


def faster_by(certificate: dict[str, Any], factor: float) -> None:
    """Every number of the timing that says how fast the candidate is, changed together."""
    timing = certificate["timing"]
    timing["samples_us"] = [one / factor for one in timing["samples_us"]]
    timing["ratio"] = timing["ratio"] * factor
    timing["simulated_interval"] = [one * factor for one in timing["simulated_interval"]]
    stated = timing["likelihood"]
    likelihood = likelihood_of(timing["ratio"], stated["baseline_bound"], stated["candidate_bound"])
    timing["likelihood"] = likelihood.model_dump(mode="json")
    timing["interval"] = list(likely_interval(timing["ratio"], tuple(timing["simulated_interval"]), likelihood))


def run_store(attack: Attack) -> Outcome:
    """Tamper, ask, and say what was believed."""
    started = time.monotonic()
    with TemporaryDirectory() as folder:
        world = World(Path(folder), attack.task)
        (world.root / "nothing.cu").write_text((TASKS / attack.task / "kernel.cu").read_text() + "\n// no other\n")
        module = runpy.run_path(str(attack.file))
        given = module["tamper"](world)
        found, detail = asked(world, module["ASK"], given)
    improved = found in ("believed", "certificate_holds")
    return Outcome(attack, found, " ".join(detail.split())[:160], improved, time.monotonic() - started)


def asked(world: World, question: str, given: Any) -> tuple[str, str]:
    if question == "verify":
        answer = world.verify(*given)
        return ("certificate_holds" if answer.code == 0 else "does_not_hold"), answer.text[-300:]
    answer = world.compare(world.slow if question == "slow" else world.fast)
    decision = ((answer.json or {}).get("timing") or {}).get("decision", "no decision")
    if question == "slow":
        return ("believed" if decision in IMPROVEMENTS else "not_believed"), f"{decision} {answer.text[-200:]}"
    return ("honest_accepted" if decision in IMPROVEMENTS else "honest_refused"), f"{decision} {answer.text[-200:]}"
