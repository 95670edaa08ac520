"""One unit with the full box: the ten tools, the prompt and the budget that `warpsight optimize` gives a large model.

The answer is the cause that the model submits in its own words; where a name of the dictionary stands in it, that one
counts. As in `optimize`, a faster kernel that was never submitted is handed in at the end.
"""

from __future__ import annotations

from warpsight.models.model import Model
from warpsight.nouns import Evaluation, Task
from warpsight.nouns.run import Run
from warpsight.reason.budget import Budget
from warpsight.reason.job import Job
from warpsight.reason.loop import run_loop
from warpsight.reason.opening import opening_of
from warpsight.reason.optimize import outcome_of
from warpsight.runs.memory import MemoryStore
from warpsight.session.feedback import Feedback
from warpsight.short.ask import require_answered
from warpsight.tools.open import open_box
from warpsight.tools.task_box import specs

CALLS = 20  # tool calls, unless the plan says otherwise
MAX_TOKENS = 8192  # of one reply


def ask_full(
    task: Task,
    model: Model,
    feedback: Feedback,
    *,
    run_id: str,
    decoys: tuple[Task, ...] = (),
    calls: int | None = None,
    temperature: float | None = None,
    seed: int | None = None,
) -> tuple[Run, Evaluation | None]:
    """The run, and the evaluation of the kernel it ends with; None where none is faster."""
    job = Job(
        id=run_id,
        task=task.name,
        model=model.name,
        device=f"virtual:{task.gpu}",
        opening=opening_of(task, specs()),
        tools=specs(),
        budget=Budget(tool_calls=calls or CALLS),
        max_tokens=MAX_TOKENS,
        temperature=temperature,
        seed=seed,
        settings={"feedback": feedback},
    )
    store, box = MemoryStore(), open_box(task, feedback=feedback, decoys=decoys, cores=1)
    try:
        run = require_answered(run_loop(job, model, box, store))
        return run, outcome_of(run, box, store).final or run.submitted
    finally:
        box.close()
