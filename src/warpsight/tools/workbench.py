"""Where the tools work: one task, one device, the kernel to beat, and every result so far, by content.

Asks toolchain, gate and lens; decides nothing itself. Checks and times use the run's seed, which no caller sees, so
that the same kernel gives the same answer within a run; a submission draws a new one. What must stay true: a time is
only ever of a kernel whose check said right, and nothing about a hidden workload leaves here but in gate records.
"""

from __future__ import annotations

import functools
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field

from warpsight import jail
from warpsight.devices.device import CannotProfile, Device, Value
from warpsight.devices.virtual import VirtualGpu
from warpsight.errors import ParameterMismatch, TaskError, UnsupportedInstruction, UsageError
from warpsight.gate.check import check_candidate
from warpsight.gate.compare_pair import kernel_on
from warpsight.gate.evaluate import build_for, compare_on, evaluate, timed_workload
from warpsight.gate.fresh import FreshContents
from warpsight.gate.ledger import Ledger
from warpsight.lens import find_findings
from warpsight.lens.profilers.ladder import NoSource
from warpsight.lens.profilers.on_gpu import best_profile
from warpsight.nouns import Build, Candidate, Check, Evaluation, Finding, Profile, Task, Timing, Workload
from warpsight.tasks import LaunchSize, evaluate_launch, kernel_name, launch_of, read_candidate
from warpsight.tools.feedback import Feedback
from warpsight.tools.keep import Keep
from warpsight.tools.until import require_time
from warpsight.vgpu.gpu import Gpu

SEED_BITS = 48
IMPOSSIBLE = (CannotProfile, NoSource, ParameterMismatch, UnsupportedInstruction)  # why there is no profile
Say = Callable[[str], None]
Diagnosis = tuple[Profile, tuple[Finding, ...]]


def _quiet(_text: str) -> None:
    """Nobody watches."""


@dataclass
class Workbench:
    """The place of one run. `given` is the kernel that all ratios are to; `decoys` are for feedback `wrong` alone."""

    task: Task
    device: Device
    given: Candidate
    feedback: Feedback = "curated"
    seed: int = field(default_factory=lambda: secrets.randbits(SEED_BITS))
    ledger: Ledger | None = None
    unsafe: bool = False
    decoys: tuple[Task, ...] = ()
    say: Say = _quiet
    diagnosed_decoys: Keep[Diagnosis] = field(default_factory=Keep[Diagnosis])
    _builds: Keep[Build] = field(default_factory=Keep[Build])
    _checks: Keep[Check] = field(default_factory=Keep[Check])
    _shown_checks: Keep[Check] = field(default_factory=Keep[Check])
    _timed: Keep[tuple[Timing, Profile | None]] = field(default_factory=Keep[tuple[Timing, Profile | None]])
    _profiles: Keep[Profile] = field(default_factory=Keep[Profile])
    _submitted: Keep[Evaluation] = field(default_factory=Keep[Evaluation])

    def __post_init__(self) -> None:
        jail.require_protections(self.unsafe)
        if self.feedback == "wrong" and not self.decoys:
            raise UsageError("feedback `wrong` needs other tasks to take a diagnosis from: it is for the bench alone")

    def step(self, text: str) -> None:
        """Say what is done next; not begun when the time is over."""
        require_time(text)
        self.say(text)

    @property
    def gpu(self) -> Gpu | None:
        """The kind of GPU, where the device is one of a known kind."""
        return self.device.gpu if isinstance(self.device, VirtualGpu) else None

    @property
    def workload(self) -> Workload:
        """The one that is timed and profiled; never a hidden one."""
        return timed_workload(self.task)

    def candidate(self, text: str) -> Candidate:
        """The kernel in a text; TaskError says what is wrong with its first lines."""
        return read_candidate(text, self.task, self.file, self.given.language)

    @property
    def file(self) -> str:
        return kernel_name(self.task, self.given.language)

    def build(self, kernel: Candidate) -> Build:
        def make() -> Build:
            self.step("compiling")
            return build_for(self.task, kernel, self.device, unsafe=self.unsafe)

        return self._builds.of(kernel.sha256, make)

    def launch(self, kernel: Candidate) -> LaunchSize:
        return launch_of(self.build(kernel), evaluate_launch(kernel, self.workload.axes, self.file))

    def check(self, kernel: Candidate) -> Check:
        """The gate's verdict over every workload, hidden and drawn ones too."""

        def make() -> Check:
            return check_candidate(
                self.task,
                kernel,
                self.device,
                build=self.build(kernel),
                secret_seed=self.seed,
                progress=lambda _text: self.step("checking"),
            )

        return self._checks.of(kernel.sha256, make)

    def shown_check(self, kernel: Candidate) -> Check:
        """A check of the workloads that may be shown, so that nothing in it comes from a hidden one."""
        shown = [workload for workload in self.task.workloads if not workload.hidden]

        def make() -> Check:
            return check_candidate(
                self.task, kernel, self.device, build=self.build(kernel), workloads=shown, progress=self.step
            )

        return self._shown_checks.of(kernel.sha256, make)

    def profile(self, kernel: Candidate) -> Profile:
        """Counters of one launch; CannotProfile where there can be none. On the contents that `time` uses."""

        def make() -> Profile:
            self.step("profiling")
            ready = kernel_on(kernel, self.build(kernel), self.workload)
            return best_profile(
                self.device, ready.build, self.task.entry, self._profiled_values, ready.size, source_text=kernel.source
            )

        return self._profiles.of(kernel.sha256, make)

    @functools.cached_property
    def _profiled_values(self) -> tuple[Value, ...]:
        """The same for every kernel, and made once: devices copy what they are given."""
        return FreshContents(self.task, self.workload, self.seed, pool=1).draw().values

    def foretold_us(self, kernel: Candidate) -> float | None:
        """The simulated time of a kernel that may be wrong: for what is tried first, never told as a result. None on
        devices that measure, and where it cannot be had."""
        if not isinstance(self.device, VirtualGpu) or not self.build(kernel).ok:
            return None
        try:
            return self.profile(kernel).counters.get("duration_us") or None
        except (*IMPOSSIBLE, TaskError):
            return None

    def findings(self, kernel: Candidate) -> tuple[Finding, ...]:
        return find_findings(self.profile(kernel), self.build(kernel))

    def evaluation(self, kernel: Candidate) -> Evaluation:
        """Check, and for a right kernel its time against the given one, its profile and findings."""
        check = self.check(kernel)
        if check.verdict != "right":
            return Evaluation(candidate_sha256=kernel.sha256, check=check)
        timing, profile = self._timed.of(kernel.sha256, lambda: self._time(kernel))
        return self._whole(Evaluation(candidate_sha256=kernel.sha256, check=check, timing=timing, profile=profile))

    def submit(self, kernel: Candidate) -> Evaluation:
        """The whole gate with a seed that nothing before has used. A kernel is submitted once: no second draw."""

        def make() -> Evaluation:
            self.step("evaluating the submission")
            return evaluate(
                self.task, kernel, self.given, self.device, ledger=self.ledger, workload=self.workload,
                unsafe=self.unsafe, progress=self.step,
            )  # fmt: skip

        return self._whole(self._submitted.of(kernel.sha256, make))

    def _whole(self, found: Evaluation) -> Evaluation:
        """With findings; single instructions are left out of the profile, they are many and nobody reads them."""
        if found.profile is None:
            return found
        kernel_build = self._builds.get(found.candidate_sha256)
        lean = found.profile.model_copy(update={"instructions": ()})
        return found.model_copy(update={"profile": lean, "findings": find_findings(found.profile, kernel_build)})

    def _time(self, kernel: Candidate) -> tuple[Timing, Profile | None]:
        theirs = self.build(self.given)
        if not theirs.ok:
            raise UsageError("the given kernel does not compile: there is nothing to compare with")
        try:
            baseline = kernel_on(self.given, theirs, self.workload)
            mine = kernel_on(kernel, self.build(kernel), self.workload)
            timing, profile = compare_on(
                self.task, self.workload, baseline, mine, self.device, seed=self.seed, progress=self.step
            )
        except CannotProfile as impossible:
            return _no_time(self.device, self.workload, impossible.message), None
        if profile is not None:
            self._profiles.put(kernel.sha256, profile)
        return timing, profile


def _no_time(device: Device, workload: Workload, why: str) -> Timing:
    return Timing(
        source=device.source, device=device.name, method="none", decision="REJECTED", reason="no_time", detail=why,
        workload=workload.name,
    )  # fmt: skip
