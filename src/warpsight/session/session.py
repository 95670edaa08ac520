"""Where all work is done: one task, one device, the kernel to beat, and every result so far, by content.

Asks toolchain, gate and lens; decides nothing itself. Every door (library, command line, tools of the loop, MCP) asks a
Session, so the same question gives the same number at each: contents that are profiled and timed follow from `seed`,
which is public and 0 by default. Sizes and contents that checks draw follow from `secret`, which no caller sees; a
submission draws a new one. What must stay true: a verdict on speed is only ever of a kernel whose check said right, and
nothing about a hidden workload leaves here but in gate records.
"""

from __future__ import annotations

import functools
import math
import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

from warpsight import jail
from warpsight.cubin.elf import Elf
from warpsight.devices.device import CannotProfile, Device, Simulator, TimedDevice, Value, simulator
from warpsight.devices.machine_code import decode_ahead
from warpsight.devices.virtual import spread_blocks
from warpsight.errors import ParameterMismatch, TaskError, UnsupportedInstruction, UsageError
from warpsight.gate.fresh import FreshContents
from warpsight.gate.kernel import Kernel, build_for, build_together, kernel_on, timed_workload, trusted
from warpsight.lens import find_findings
from warpsight.lens.diagnosis import Diagnosis, diagnose
from warpsight.lens.profilers.failures import NoSource
from warpsight.nouns import Build, Candidate, Check, Evaluation, Finding, Profile, Task, Timing, WhatIfTime, Workload
from warpsight.session.feedback import Feedback
from warpsight.session.keep import Keep
from warpsight.session.opening import given_kernel, open_for, open_task, read_kernel
from warpsight.session.until import is_ahead, require_time
from warpsight.tasks import LaunchSize, evaluate_launch, kernel_name, launch_of
from warpsight.vgpu.gpu import Gpu
from warpsight.vgpu.what_if import WhatIf

if TYPE_CHECKING:
    from warpsight.gate.ledger import Ledger
    from warpsight.session.guided import GuidedSearch
    from warpsight.session.search import RewriteSearch

SEED_BITS = 48
IMPOSSIBLE = (CannotProfile, NoSource, ParameterMismatch, UnsupportedInstruction)  # why there is no profile
Say = Callable[[str], None]
Diagnosed = tuple[Profile, tuple[Finding, ...]]
KernelLike = Candidate | str | Path | None
"""A kernel, its text, the file it is in (a Path: a string is always a text), or None for the one that is given."""


def _quiet(_text: str) -> None:
    """Nobody watches."""


class Session:
    """One task on one device. `kernel` is the text that all ratios are to, by default the task's own.

    `device` is a name (`virtual`, `opencl`, `cuda`, `hip`, one of an installed package) or a device; `gpu` the kind of
    the virtual GPU, or which of the real ones. `feedback` and `decoys` are for runs of a model. With `keep_reports`
    what the vendors' profilers wrote is kept for their own viewers. With `tells_sizes` progress names hidden sizes:
    a person may see and a model may not.
    """

    def __init__(
        self,
        task: Task | str | Path,
        *,
        device: str | Device = "virtual",
        gpu: str | None = None,
        kernel: str | Path | Candidate | None = None,
        workload: Workload | None = None,
        seed: int = 0,
        secret: int | None = None,
        feedback: Feedback = "curated",
        decoys: tuple[Task, ...] = (),
        ledger: Path | None = None,
        unsafe: bool = False,
        cores: int | None = None,
        deadline_seconds: float = 120.0,
        keep_reports: bool = False,
        tells_sizes: bool = False,
        say: Say = _quiet,
    ) -> None:
        if feedback == "wrong" and not decoys:
            raise UsageError("feedback `wrong` needs other tasks to take a diagnosis from: it is for the bench alone")
        self.task = task if isinstance(task, Task) else open_task(task)
        self.device: Device = (
            open_for(self.task, device, gpu, cores=cores, deadline_seconds=deadline_seconds, unsafe=unsafe)
            if isinstance(device, str)
            else device
        )
        self.given = given_kernel(self.task, self.device, kernel)
        self.workload = timed_workload(self.task) if workload is None else workload
        self.seed = seed
        self._drawn = secret is None
        self.secret = secrets.randbits(SEED_BITS) if secret is None else secret
        self.feedback: Feedback = feedback
        self.decoys = decoys
        self.ledger = None if ledger is None else _ledger(ledger)
        self.unsafe = unsafe
        self.keep_reports = keep_reports
        self.tells_sizes = tells_sizes
        self.say = say
        self.diagnosed_decoys: Keep[Diagnosed] = Keep()
        self._builds: Keep[Build] = Keep()
        self._checks: Keep[Check] = Keep()
        self._shown_checks: Keep[Check] = Keep()
        self._timed: Keep[tuple[Timing, Profile | None]] = Keep()
        self._alone: Keep[Timing] = Keep()
        self._profiles: Keep[Profile] = Keep()
        self.drafted: Counter[str] = Counter()  # how often rewrites of a kernel were drafted
        self._drafts: Keep[tuple[float | None]] = Keep()
        self._submitted: Keep[Evaluation] = Keep()
        self._what_ifs: Keep[WhatIfTime] = Keep()
        self._whole_times: Keep[tuple[float]] = Keep()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End what the device holds, if anything."""
        close = getattr(self.device, "close", None)
        if close is not None:
            close()

    def step(self, text: str) -> None:
        """Say what is done next; not begun when the time is over."""
        require_time(text)
        self.tell(text)

    def tell(self, text: str) -> None:
        """Say it to whoever watches; work ahead has nobody who does."""
        if not is_ahead():
            self.say(text)

    @property
    def gpu(self) -> Gpu | None:
        """The kind of GPU, where the device is one of a known kind."""
        return None if self.simulator is None else self.simulator.gpu

    @property
    def simulator(self) -> Simulator | None:
        """The device where it simulates; None where it measures."""
        return simulator(self.device)

    @property
    def file(self) -> str:
        return kernel_name(self.task, self.given.language)

    def candidate(self, kernel: KernelLike = None) -> Candidate:
        """The kernel that is meant; TaskError says what is wrong with its first lines."""
        if kernel is None:
            return self.given
        if isinstance(kernel, Candidate):
            return kernel
        return read_kernel(self.task, kernel, self.file, self.given.language)

    def build(self, kernel: KernelLike = None) -> Build:
        """Compiled for the device; a text that does not compile is a Build too, with the compiler's messages."""
        candidate = self.candidate(kernel)

        def make() -> Build:
            self.step("compiling")
            return build_for(self.task, candidate, self.device, unsafe=self.unsafe)

        return self._builds.of(candidate.sha256, make)

    def launch(self, kernel: KernelLike = None) -> LaunchSize:
        candidate = self.candidate(kernel)
        return launch_of(self.build(candidate), evaluate_launch(candidate, self.workload.axes, self.file))

    def check(self, kernel: KernelLike = None, *, workloads: Sequence[Workload] | None = None) -> Check:
        """Is it right? The gate's verdict over every workload, hidden and drawn ones too; or over these alone."""
        candidate = self.candidate(kernel)

        def make() -> Check:
            return self._checked(
                candidate,
                seed=self.seed,
                secret_seed=self.secret,
                once=self._drawn,
                workloads=workloads,
                progress=self.step if self.tells_sizes else lambda _text: self.step("checking"),
            )

        these = None if workloads is None else tuple(one.name for one in workloads)
        return self._checks.of((candidate.sha256, these), make)

    def _checked(self, candidate: Candidate, *, progress: Say = _quiet, **asked: Any) -> Check:
        from warpsight.gate.check import check_candidate  # here, like all that judges: a profile needs none of it

        build = self.build(candidate)
        return check_candidate(self.task, candidate, self.device, build=build, progress=progress, **asked)

    def quick_check(self, kernel: KernelLike = None) -> Check:
        """Declared inputs alone, no other families: is it worth going on with?"""
        candidate = self.candidate(kernel)
        return self._checked(candidate, families=(), progress=self.step)

    def check_small(self, candidate: Candidate, workloads: Sequence[Workload]) -> Check:
        """Declared inputs of these workloads alone, before the long check; kept, since causes share rewrites."""

        def make() -> Check:
            return self._checked(candidate, workloads=workloads, families=(), secret_seed=self.secret)

        return self._checks.of((candidate.sha256, "small", *(one.name for one in workloads)), make)

    def shown_check(self, kernel: KernelLike = None) -> Check:
        """A check of the workloads that may be shown, so that nothing in it comes from a hidden one."""
        candidate = self.candidate(kernel)
        shown = [workload for workload in self.task.workloads if not workload.hidden]

        def make() -> Check:
            return self._checked(candidate, workloads=shown, progress=self.step)

        return self._shown_checks.of(candidate.sha256, make)

    def counters(self, kernel: KernelLike = None, *, blocks: int | None = None) -> Profile:
        """Counters of one launch, without a word on what they mean; CannotProfile where there can be none.

        `blocks` counts so many of a virtual GPU's and scales; by default all, or as many as the budget allows.
        """
        candidate = self.candidate(kernel)

        def make() -> Profile:
            ready = self._ready(candidate)
            self.step("profiling")
            what = (ready.build, self.task.entry, self._values, ready.size)
            if blocks is not None:
                if self.simulator is None:
                    raise UsageError("expected --blocks on the virtual GPU: elsewhere all blocks run")
                chosen = spread_blocks(math.prod(ready.size.grid), blocks)
                return self.simulator.profile(*what, source_text=candidate.source, blocks=chosen)
            if getattr(self.device, "ladder", None) is None:
                return self.device.profile(*what, source_text=candidate.source)
            # Here, since no simulation needs the profilers, and reading them takes its time.
            from warpsight.lens.profilers.on_gpu import best_profile, reports_folder

            folder = reports_folder(ready.build) if self.keep_reports else None
            return best_profile(self.device, *what, source_text=candidate.source, folder=folder)

        return self._profiles.of((candidate.sha256, blocks), make)

    def _ready(self, candidate: Candidate) -> Kernel:
        """Built, with its launch; one that no GPU takes is the kernel's fault, as it is for `check`."""
        build = self.build(candidate)
        try:
            return kernel_on(candidate, build, self.workload)
        except TaskError as impossible:
            raise CannotProfile(f"the launch is not possible: {impossible.message}") from None

    @functools.cached_property
    def _values(self) -> tuple[Value, ...]:
        """What is profiled and timed: the same for every kernel, and made once. Devices copy what they are given."""
        return FreshContents(self.task, self.workload, self.seed, pool=1).draw().values

    def profile(self, kernel: KernelLike = None, *, blocks: int | None = None) -> Diagnosis:
        """What does it do, how long does it take, and why? Counters, findings, roofline, occupancy."""
        candidate = self.candidate(kernel)
        found = self.counters(candidate, blocks=blocks)
        return diagnose(found, self.build(candidate), self.launch(candidate), self.gpu)

    def diagnose(self, kernel: KernelLike = None) -> tuple[Finding, ...]:
        """Why is it slow? Findings, most gain first."""
        candidate = self.candidate(kernel)
        return find_findings(self.counters(candidate), self.build(candidate))

    def time(self, kernel: KernelLike = None, *, calls: int | None = None) -> Timing:
        """How long does it take, compared with nothing? REJECTED where a timed call gave a wrong output."""
        candidate = self.candidate(kernel)

        def make() -> Timing:
            from warpsight.gate.time_alone import CALLS, time_measured, time_simulated

            ready = self._ready(candidate)
            self.step("timing")
            if self.simulator is not None:
                found = time_simulated(self.task, self.workload, ready, self.simulator, seed=self.seed)
            else:
                timed = cast(TimedDevice, self.device)
                found = time_measured(
                    self.task, self.workload, ready, timed, seed=self.seed, calls=calls or CALLS, progress=self.step
                )
            return trusted(found, ready.build)

        return self._alone.of(candidate.sha256, make)

    def foretold_us(self, kernel: KernelLike = None) -> float | None:
        """The simulated time of a kernel that may be wrong: for what is tried first, never told as a result. None on
        devices that measure, and where it cannot be had."""
        candidate = self.candidate(kernel)
        if self.simulator is None or not self.build(candidate).ok:
            return None
        try:
            return self.counters(candidate).counters.get("duration_us") or None
        except (*IMPOSSIBLE, TaskError):
            return None

    def make_ready(self, kernels: Sequence[Candidate]) -> None:
        """Compile all of these and read their machine code at once, which is much cheaper than one after another."""
        if self.simulator is None or len(kernels) < 2:
            return
        new = [one for one in kernels if one.language == "cuda" and self._builds.get(one.sha256) is None]
        if len(new) > 1:
            self.step("compiling")
            for one, build in zip(new, build_together(self.task, new, self.device), strict=True):
                self._builds.put(one.sha256, build)
        decode_ahead([self.build(kernel) for kernel in kernels])

    def draft_us(self, kernel: KernelLike = None) -> float | None:
        """`foretold_us` from a few blocks alone, for an order to try kernels in. Machine code that is the same as that
        of another kernel is not timed again."""
        candidate = self.candidate(kernel)
        if self.simulator is None or not self.build(candidate).ok:
            return None
        try:
            ready = self._ready(candidate)
            return self._drafts.of((_meaning(ready.build), ready.size), lambda: (self._draft_us(ready),))[0]
        except (*IMPOSSIBLE, TaskError):
            return None

    def _draft_us(self, ready: Kernel) -> float | None:
        draft = cast("Callable[..., float | None] | None", getattr(self.simulator, "draft_us", None))
        if draft is None:  # of another package
            return self.foretold_us(ready.candidate)
        self.step("profiling")
        return draft(ready.build, self.task.entry, self._values, ready.size)

    def evaluation(self, kernel: KernelLike = None) -> Evaluation:
        """Check, and for a right kernel its time against the given one, its profile and findings. A verdict, so it
        asks for every wall of the jail, as the gate does."""
        jail.require_protections(self.unsafe)
        candidate = self.candidate(kernel)
        check = self.check(candidate)
        if check.verdict != "right":
            return Evaluation(candidate_sha256=candidate.sha256, check=check)
        timing, profile = self._timed.of(candidate.sha256, lambda: self._time(candidate))
        return self._whole(Evaluation(candidate_sha256=candidate.sha256, check=check, timing=timing, profile=profile))

    def compare(self, kernel: KernelLike = None, *, seed: int | None = None) -> Evaluation:
        """Is it right and faster than the given one? The whole gate, with a secret seed unless one is given; with a
        ledger a winner gets a certificate."""
        from warpsight.gate.evaluate import evaluate

        candidate = self.candidate(kernel)
        self.step("evaluating")
        found = evaluate(
            self.task, candidate, self.given, self.device, seed=seed, ledger=self.ledger, workload=self.workload,
            unsafe=self.unsafe, progress=self.step,
        )  # fmt: skip
        self.build(candidate)  # kept by content: nothing is compiled twice
        return self._whole(found)

    def submit(self, kernel: KernelLike = None) -> Evaluation:
        """The whole gate with a seed that nothing before has used. A kernel is submitted once: no second draw."""
        candidate = self.candidate(kernel)
        return self._submitted.of(candidate.sha256, lambda: self.compare(candidate))

    def recall_submission(self, found: Evaluation) -> None:
        """What came of a kernel that was submitted elsewhere: it is not drawn for again here."""
        self._submitted.put(found.candidate_sha256, found)

    def certificate_file(self, found: Evaluation) -> Path | None:
        """Where the certificate of an accepted kernel is."""
        if self.ledger is None or found.certificate is None:
            return None
        return self.ledger.certificates / f"{found.certificate}.json"

    def what_if(self, cause: str, kernel: KernelLike = None) -> WhatIfTime:
        """How long would it take with a cause removed? Simulated with the cause taken out of the time model, so it can
        be asked before anything is edited; never told as the time of a kernel that exists."""
        from warpsight.lens.what_if import scenario

        candidate = self.candidate(kernel)
        ask = getattr(self.simulator, "what_if_us", None)
        if ask is None:
            raise UsageError("expected a device that simulates: nothing can be taken out of a measured time")
        profile = self.counters(candidate)
        found = scenario(profile, cause)

        def make() -> WhatIfTime:
            ready = self._ready(candidate)
            self.step(f"simulating without {cause}")
            parts = (ready.build, self.task.entry, self._values, ready.size)
            before = self._whole_times.of(candidate.sha256, lambda: (ask(*parts, WhatIf()),))[0]
            after = ask(*parts, found.change)
            return WhatIfTime(cause=cause, time_us=before, without_us=min(before, after), assumes=found.assumes)

        return self._what_ifs.of((candidate.sha256, cause), make)

    def rewrite_all(self, causes: Sequence[str], kernel: KernelLike = None) -> dict[str, RewriteSearch]:
        """The known rewrites for each of these causes. The best of all is judged by the gate; winners of other causes
        are drafts, right at the small sizes, with a time from a few blocks."""
        from warpsight.session.search import search_all

        return search_all(self, self.candidate(kernel).source, causes)

    def rewrite(self, cause: str, kernel: KernelLike = None) -> RewriteSearch:
        """The known rewrites for a cause, tried; the best that is right and faster, or none."""
        from warpsight.session.search import search

        return search(self, self.candidate(kernel).source, cause)

    def rewrite_guided(self, kernel: KernelLike = None) -> GuidedSearch:
        """Rewrites on top of one another, guided by the profile after each; the gate judges what they lead to."""
        from warpsight.session.guided import search_guided

        return search_guided(self, self.candidate(kernel).source)

    def _whole(self, found: Evaluation) -> Evaluation:
        """With findings; single instructions are left out of the profile, they are many and nobody reads them."""
        if found.profile is None:
            return found
        kernel_build = self._builds.get(found.candidate_sha256)
        lean = found.profile.model_copy(update={"instructions": ()})
        return found.model_copy(update={"profile": lean, "findings": find_findings(found.profile, kernel_build)})

    def _time(self, candidate: Candidate) -> tuple[Timing, Profile | None]:
        from warpsight.gate.evaluate import compare_on

        theirs = self.build(self.given)
        if not theirs.ok:
            raise UsageError("the given kernel does not compile: there is nothing to compare with")
        try:
            baseline = kernel_on(self.given, theirs, self.workload)
            mine = kernel_on(candidate, self.build(candidate), self.workload)
            return compare_on(self.task, self.workload, baseline, mine, self.device, seed=self.seed, progress=self.step)
        except CannotProfile as impossible:
            return _no_time(self.device, self.workload, impossible.message), None


def _ledger(folder: Path) -> Ledger:
    from warpsight.gate.ledger import Ledger

    return Ledger(folder)


def _meaning(build: Build) -> str:
    try:
        return Elf(build.cubin).meaning()
    except UsageError:  # no machine code, or of a kind that is not read
        return build.source_sha256


def _no_time(device: Device, workload: Workload, why: str) -> Timing:
    return Timing(
        source=device.source, device=device.name, method="none", decision="REJECTED", reason="no_time", detail=why,
        workload=workload.name,
    )  # fmt: skip
