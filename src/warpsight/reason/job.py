"""What a run is asked to do, as one record: it is stored with the run, and is enough to start it again.

Everything that the transcript depends on stands here, rendered: the prompts, the kernel to begin with, the tools as the
model is shown them, the budget. So a run can be replayed where its task, its prompts or its tools are gone or changed.
"""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from typing import Annotated, Literal, Self

from pydantic import Field, JsonValue, model_validator

from warpsight import __version__
from warpsight.nouns.base import Count, Noun, Sha256, TaskName, require
from warpsight.nouns.run import Run
from warpsight.reason.budget import Budget
from warpsight.tools.box import SUBMIT, ToolSpec


class Opening(Noun):
    """How a conversation begins, and the kernel it is about."""

    system: str
    user: str
    kernel: str


class Strategy(Noun):
    """How attempts are put together; see strategies.py."""

    name: Literal["single", "refine", "best-of-n", "beam"] = "single"
    attempts: Annotated[int, Field(ge=1)] = 4  # best-of-n: how many; refine: rounds at most; beam: depth
    width: Annotated[int, Field(ge=1)] = 2  # beam: how many are kept
    min_gain: Annotated[float, Field(ge=1)] = 1.02  # refine and beam: a round that gains less is the last


class Job(Noun):
    """One run. `settings` is for whoever opens model and tools again: the loop does not read it.

    `enough_gain`: the run ends when the roofline leaves less than this factor. `calling`: `native` for models whose
    client reads calls (local weights too), `text` for endpoints that only give text. `must_call` asks servers and
    engines to hold the model to a call; of the calls of one reply `calls_a_reply` are run.
    """

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$")]
    parent: str | None = None
    task: TaskName
    task_sha256: Sha256 | None = None
    model: str
    device: str
    calling: Literal["native", "text"] = "native"
    opening: Opening
    tools: tuple[ToolSpec, ...]
    budget: Budget = Budget()
    strategy: Strategy = Strategy()
    max_problems: Count = 3
    enough_gain: Annotated[float, Field(ge=1)] | None = 1.05
    max_tokens: Annotated[int, Field(gt=0)] = 8192
    must_call: bool = False
    calls_a_reply: Annotated[int, Field(ge=1)] = 16
    temperature: Annotated[float, Field(ge=0)] | None = None
    seed: Count | None = None
    version: str = __version__
    settings: dict[str, JsonValue] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _tools_have_their_own_names_and_one_submits(self) -> Self:
        names = [spec.name for spec in self.tools]
        require(len(set(names)) == len(names), "two tools have the same name")
        require(SUBMIT in names, f"one of the tools must be `{SUBMIT}`")
        return self


def new_run_id(task: str) -> str:
    """An id that sorts by time and says what it is about."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{task}-{secrets.token_hex(3)}"


def run_of(job: Job) -> Run:
    """The run of a job, before its first step."""
    return Run(
        id=job.id,
        task=job.task,
        model=job.model,
        device=job.device,
        started_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        parent=job.parent,
        job=job.model_dump(mode="json"),
    )


def job_of(run: Run) -> Job:
    """The job of a stored run."""
    return Job.model_validate(run.job)
