"""What happened in a run, put together for a reader: which kernels there were, what led to each, what came of it.

Reads the stored steps and records again with the loop's own rules for names and edits; measures nothing and decides
nothing. What must stay true: every number shown later is one that a tool gave in this run, or stands in a certificate.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from pydantic import JsonValue, ValidationError

from warpsight.errors import WarpsightError
from warpsight.lens import find_findings
from warpsight.nouns import Evaluation, Finding, InstructionCounters, Profile, kernel_id
from warpsight.nouns.certificate import Certificate
from warpsight.nouns.run import Run, Step
from warpsight.reason.job import job_of
from warpsight.reason.progress import Progress, better, sha256_of, speed_of
from warpsight.report.certificates import accepted_by, find_certificate
from warpsight.runs.store import Record, Store
from warpsight.tools.box import SUBMIT, ToolResult, ToolSpec
from warpsight.tools.edits import BASE, CURRENT, EDITS, KERNEL, EditFailed, whole_kernel


@dataclass(frozen=True)
class ToolLook:
    """One call before a kernel was written: which tool, and the first lines of what it said."""

    run_id: str
    step: int
    tool: str
    saw: str


@dataclass(frozen=True)
class Attempt:
    """One kernel. Number 0 is the one that was given; `came_from` is the attempt that it was made of.

    `findings` is None for a kernel that nobody diagnosed, which is not the same as one with nothing to find.
    """

    number: int
    text: str
    run_id: str
    step: int | None = None
    came_from: int = 0
    words: str = ""
    looks: tuple[ToolLook, ...] = ()
    evaluation: Evaluation | None = None
    profile: Profile | None = None
    findings: tuple[Finding, ...] | None = None
    machine: tuple[InstructionCounters, ...] = ()  # its instructions with their counters, where a tool kept them

    @property
    def name(self) -> str:
        return kernel_id(self.text)

    @property
    def sha256(self) -> str:
        return sha256_of(self.text)


@dataclass(frozen=True)
class Story:
    """A run with its kernels. `parts` are the runs that have steps: itself, or the attempts of a strategy."""

    run: Run
    parts: tuple[Run, ...]
    attempts: tuple[Attempt, ...]
    attempt_of_step: Mapping[tuple[str, int], int]
    final: Evaluation | None = None
    certificate: Certificate | None = None
    certificate_sha256: str | None = None

    @property
    def given(self) -> Attempt:
        return self.attempts[0]

    @property
    def winner(self) -> Attempt | None:
        """The kernel that is handed over, if any."""
        if self.final is None:
            return None
        return next((a for a in self.attempts if a.sha256 == self.final.candidate_sha256), None)


def read_story(store: Store, run_id: str, folder: Path | None = None) -> Story:
    """The story of a stored run. `folder` is where the ledger with the certificates lies, if there is one."""
    run = store.read(run_id)
    children = sorted(store.list_runs(parent=run_id), key=lambda line: (len(line.id), line.id))
    parts = (run,) if run.steps or not children else tuple(store.read(line.id) for line in children)
    book = _Book(_given(run), store.get)
    for part in parts:
        book.read(part, store.records(part.id))
    final = final_of(run)
    certificate = None if final is None else find_certificate(folder, final, sha256_of(book.attempts[0].text))
    if final is not None and certificate is not None:
        final = accepted_by(final, certificate.content)
    return Story(
        run=run,
        parts=parts,
        attempts=tuple(book.with_final(final)),
        attempt_of_step=book.of_step,
        final=final,
        certificate=None if certificate is None else certificate.content,
        certificate_sha256=None if certificate is None else certificate.sha256,
    )


def model_name(word: str) -> str:
    """A model as it is shown: of weights or a script in a file only the file's name, not whose folder it is in."""
    kind, colon, rest = word.partition(":")
    return f"{kind}:{Path(rest).name}" if colon and rest.startswith("/") else word


def final_of(run: Run) -> Evaluation | None:
    """The evaluation of the kernel that is handed over: the submitted one, or a faster one that was seen."""
    submitted = run.submitted if speed_of(run.submitted) is not None else None
    best = run.best
    if best is None or speed_of(best) is None:
        return submitted
    same = submitted is not None and submitted.candidate_sha256 == best.candidate_sha256
    return submitted if same or not better(best, submitted) else best


def _given(run: Run) -> str:
    try:
        return job_of(run).opening.kernel
    except ValidationError:  # a run of another version: its steps can still be shown
        return ""


@dataclass
class _Book:
    """The kernels found so far."""

    given: str
    get: Callable[[str], bytes]
    attempts: list[Attempt] = field(default_factory=list[Attempt])
    of_step: dict[tuple[str, int], int] = field(default_factory=dict[tuple[str, int], int])

    def __post_init__(self) -> None:
        self.attempts.append(Attempt(0, self.given, ""))

    def read(self, part: Run, records: Iterable[Record]) -> None:
        """Go through one transcript with what was recorded."""
        try:
            job = job_of(part)
        except ValidationError:
            return
        results = {record.step: _result(record) for record in records if record.kind == "result"}
        reader = _Reader(self, part.id, Progress(original=job.opening.kernel), {spec.name: spec for spec in job.tools})
        for step in part.steps:
            reader.take(step, results)

    def number_of(self, text: str) -> int | None:
        return next((a.number for a in self.attempts if a.text == text), None)

    def learn(self, result: ToolResult, artefacts: Iterable[str]) -> None:
        """Give each kernel what a result says of it; a time counts more than a check alone, the later more."""
        for found in (result.baseline, result.evaluation):
            if found is not None:
                self._update(found.candidate_sha256, found, found.profile, _findings_in(found))
        for sha256, profile in result.profiled.items():
            full = self._full(profile, artefacts)
            findings, machine = (None, ()) if full is None else (find_findings(full), full.instructions)
            self._update(sha256, None, profile, findings, machine)

    def _full(self, lean: Profile, artefacts: Iterable[str]) -> Profile | None:
        """The full profile that was kept, with single instructions, which `lean` lacks and findings need.

        A profile that was shown but is not that of the kernel (feedback `wrong`) has other counters, and is left.
        """
        for sha256 in artefacts:
            try:
                full = Profile.model_validate_json(self.get(sha256))
            except (WarpsightError, ValidationError):
                continue
            if full.counters == lean.counters and full.instructions:
                return full
        return None

    def with_final(self, final: Evaluation | None) -> list[Attempt]:
        if final is not None:
            self._update(final.candidate_sha256, final, final.profile, _findings_in(final))
        return self.attempts

    def _update(
        self,
        sha256: str,
        found: Evaluation | None,
        profile: Profile | None,
        findings: tuple[Finding, ...] | None,
        machine: tuple[InstructionCounters, ...] = (),
    ) -> None:
        for at, attempt in enumerate(self.attempts):
            if attempt.sha256 == sha256:
                had = attempt.evaluation
                keep = found is None or (had is not None and had.timing is not None and found.timing is None)
                self.attempts[at] = replace(
                    attempt,
                    evaluation=had if keep else found,
                    profile=profile or attempt.profile,
                    findings=attempt.findings if findings is None else findings,
                    machine=machine or attempt.machine,
                )


@dataclass
class _Reader:
    """One pass over a transcript: resolves the kernels that calls name, as the loop did."""

    book: _Book
    run_id: str
    progress: Progress
    specs: Mapping[str, ToolSpec]
    words: str = ""
    looks: list[ToolLook] = field(default_factory=list[ToolLook])
    waiting: dict[str, tuple[Step, str | None]] = field(default_factory=dict[str, tuple[Step, str | None]])

    def take(self, step: Step, results: Mapping[int, ToolResult]) -> None:
        if step.kind == "assistant":
            self.words = step.reasoning if not step.content.strip() else step.content
        elif step.kind == "call":
            self.waiting[step.call_id or ""] = (step, self._kernel(step))
        elif step.kind == "result":
            call, kernel = self.waiting.pop(step.call_id or "", (None, None))
            self._saw(step, call, kernel, results.get(step.index))

    def _saw(self, step: Step, call: Step | None, kernel: str | None, result: ToolResult | None) -> None:
        if kernel is not None and call is not None and result is not None and not result.is_error:
            number = self._attempt(call, kernel)
            self.book.of_step[self.run_id, call.index] = number
            self.book.of_step[self.run_id, step.index] = number
            self.progress.current = kernel
            if result.made is not None:  # the tool's own kernel, as after `rewrite`
                number = self._attempt(call, result.made)
                self.book.of_step[self.run_id, step.index] = number
                self.progress.current = kernel = result.made
        if call is not None:
            self.looks.append(ToolLook(self.run_id, step.index, call.tool or "", _first_words(step.content)))
        if result is not None:
            self.book.learn(result, step.artefacts if step.tool in ("profile", SUBMIT) else ())
            self.progress.saw(result, kernel)

    def _attempt(self, call: Step, kernel: str) -> int:
        known = self.book.number_of(kernel)
        if known is not None:
            return known
        number = len(self.book.attempts)
        parent = self.book.number_of(self._base(call)) or 0
        looks = tuple(self.looks)
        self.book.attempts.append(Attempt(number, kernel, self.run_id, call.index, parent, self.words, looks))
        self.looks.clear()
        return number

    def _base(self, call: Step) -> str:
        """The kernel that this one was made of: the one that the edits name, else the last one."""
        arguments = _arguments(call)
        base = arguments.get(BASE)
        named = base if isinstance(base, str) and EDITS in arguments else CURRENT
        return self.progress.kernels().get(named, self.progress.current)

    def _kernel(self, call: Step) -> str | None:
        spec = self.specs.get(call.tool or "")
        properties = spec.parameters.get("properties") if spec is not None else None
        if spec is None or not isinstance(properties, dict) or KERNEL not in properties:
            return None
        try:
            kernel = whole_kernel(_arguments(call), self.progress.kernels(), spec).get(KERNEL)
        except EditFailed:
            return None
        return kernel if isinstance(kernel, str) else None


def _first_words(said: str) -> str:
    """The first two lines: of a profile these are what limits the kernel and the first finding."""
    lines = [line.strip() for line in said.splitlines() if line.strip() and not line.startswith("[budget left")]
    return "; ".join(lines[:2])


def _findings_in(found: Evaluation) -> tuple[Finding, ...] | None:
    return None if found.profile is None else found.findings


def _arguments(call: Step) -> dict[str, JsonValue]:
    try:
        value: object = json.loads(call.content)
    except (ValueError, RecursionError):
        return {}
    return cast(dict[str, JsonValue], value) if isinstance(value, dict) else {}


def _result(record: Record) -> ToolResult:
    return ToolResult.model_validate_json(json.dumps(json.loads(record.body)["result"]))
