"""What a run of a whole CUDA program was: its launches by kernel and size, its copies, what went wrong."""

from __future__ import annotations

from typing import Literal

from warpsight.nouns.base import Count, Noun
from warpsight.nouns.check import Fault

ProgramEnd = Literal["exited", "signal", "time_limit", "too_much_memory", "bad_request", "lost", "interrupted"]


class KernelLaunches(Noun):
    """All launches of one kernel with one grid and block. No time: `no_time` says why."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: Count
    launches: Count
    skipped: Count
    warp_instructions: Count
    host_s: float
    time_us: float | None
    no_time: str = ""
    bound: str = ""


class ProgramFault(Noun):
    """A fault in a launch, with the file of its line; a warning where the program went on."""

    kernel: str
    launch: Count
    file: str | None
    warning: bool
    fault: Fault


class ProgramCopies(Noun):
    """Copies in one direction: how many, how much, and what the link's data sheet says they take."""

    direction: Literal["host to device", "device to host", "within the device", "fill"]
    count: Count
    size_bytes: Count
    time_us: float


class LibraryCalls(Noun):
    """Calls of one function of a library: computed on the host, timed by the roofline of what they amount to."""

    function: str
    count: Count
    flops: float
    size_bytes: float
    time_us: float


TimelineWay = Literal["launch", "host to device", "device to host", "within the device", "fill"]


class TimelineEvent(Noun):
    """A launch or a copy on the timeline of the GPU, in simulated time; `gap_us`, what a launch itself takes, is before
    it. A launch that is not `timed` takes none; one that is `repeated` was put back and not run."""

    way: TimelineWay
    name: str = ""
    start_us: float
    gap_us: float = 0.0
    time_us: float
    timed: bool = True
    grid: tuple[int, int, int] = (0, 0, 0)
    block: tuple[int, int, int] = (0, 0, 0)
    size_bytes: Count = 0
    repeated: bool = False

    @property
    def end_us(self) -> float:
        return self.start_us + self.gap_us + self.time_us


class WholeRun(Noun):
    """One run of a program. `exit_code` is its own; `end` says how it ended, `detail` why, unless by itself. Where
    launches were `cut` for a profile, its results are not right. Without `asked` it never spoke to the virtual GPU."""

    program: str
    gpu: str
    end: ProgramEnd
    exit_code: int
    detail: str = ""
    check: Literal["", "lenient", "strict"] = ""
    asked: bool = True
    launches: Count
    skipped: Count
    cut: Count = 0
    kernels: tuple[KernelLaunches, ...]
    copies: tuple[ProgramCopies, ...]
    libraries: tuple[LibraryCalls, ...] = ()
    faults: tuple[ProgramFault, ...]
    missing: tuple[str, ...]
    refused: tuple[str, ...]
    link: str
    kernel_us: float
    copy_us: float
    launch_gap_us: float
    untimed: Count
    output: str = ""
    errors: str = ""
    wall_s: float
    host_cpu_s: float

    @property
    def faulted(self) -> bool:
        return any(not fault.warning for fault in self.faults)


class ProgramSpeedup(Noun):
    """A program before and after one kernel was made faster; times are simulated, of kernels and copies together.

    `decision` is the gate's of the kernel; `certificate` is the hash of the kernel's own, empty where it is only
    LIKELY_FASTER. `patch_sha256` is that of the patch's text.
    """

    format: Literal["warpsight program 1"] = "warpsight program 1"
    created_at: str
    program: str
    arguments: tuple[str, ...]
    gpu: str
    source: Literal["simulated"] = "simulated"
    kernel: str
    kernel_ratio: float
    decision: str = ""
    kernel_share: float
    certificate: str
    before_us: float
    after_us: float
    output: Literal["exact", "close", "different"]
    output_lines: Count
    output_left_out: Count
    output_first_difference: str = ""
    own_check_before: Literal["passed", "failed", "none"]
    own_check_after: Literal["passed", "failed", "none"]
    exit_code_before: int
    exit_code_after: int
    output_sha256_before: str
    output_sha256_after: str
    patch_sha256: str
    files: tuple[str, ...]

    @property
    def ratio(self) -> float:
        """How many times as fast the whole program is."""
        return self.before_us / self.after_us if self.after_us else 1.0

    @property
    def holds(self) -> bool:
        """Whether the program came to the same end with the faster kernel."""
        return (
            self.output != "different"
            and self.own_check_after != "failed"
            and self.own_check_before == self.own_check_after
            and self.exit_code_before == self.exit_code_after
        )
