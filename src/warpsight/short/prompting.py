"""How a corpus task is put to a small model: a short prompt, few tools with short schemas, one job for the loop.

A model of some hundred million parameters sees a few hundred thousand tokens an hour where there is no GPU, so every
word here is paid for. `recommend` asks which one change helps most; `apply` asks the same, and the answer is typed by
rule and handed in; `optimize` leaves that to the model too. What must stay true: the prompt is the same for every
feedback mode, so that modes differ in what the tools answer and in nothing else; and training, evaluation and
reinforcement all ask through `job_for`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import JsonValue

from warpsight.causes import answers, defects_of
from warpsight.lens.bound_side import SIDES
from warpsight.nouns import Task
from warpsight.reason.budget import Budget
from warpsight.reason.fence import neutral
from warpsight.reason.job import Job, Opening, Strategy
from warpsight.rewrite import CAUSES as CAN_REWRITE
from warpsight.tools.box import SUBMIT, ToolSpec
from warpsight.vgpu.gpus import find_gpu

Suite = Literal["recommend", "apply", "optimize", "budget", "classify"]
SUITES: tuple[Suite, ...] = ("recommend", "optimize", "budget", "classify")  # that are benched
ANSWERS_ALONE: tuple[Suite, ...] = ("recommend", "classify")  # that end with a word and no kernel
REWRITE = "rewrite"
CAUSE = "cause"  # the argument of `submit` that holds the answer
CAUSES = "causes"  # the argument of `rewrite`: causes, findings that point at some, or ANY
MOST_CAUSES = 8  # of one call
ANY = "any"  # stands for these
ANY_KERNEL = (
    "block_too_small",
    "block_too_large",
    "too_few_blocks",
    "scalar_access",
    "missing_unroll",
)
MOST_CALLS = {
    "recommend": 2,
    "apply": 4,
    "optimize": 6,
    "budget": 4,
    "classify": 2,
}  # in `budget` beside two for each try
REPLY_TOKENS = {"recommend": 160, "apply": 160, "optimize": 384, "budget": 160, "classify": 160}
TRY = "try"  # suite `budget`: one rewrite compiled and timed
WHICH = "which"  # of the rewrites for a cause, from 1
_WHICH = "Say which one change makes this CUDA kernel faster on its GPU at its size, or nothing. Then submit."
SYSTEM: dict[Suite, str] = {
    "recommend": _WHICH,
    "apply": _WHICH,
    "optimize": "Make this CUDA kernel faster on its GPU at its size then submit it, with what helped most.",
    "classify": "Is this CUDA kernel bound by compute or by DRAM bandwidth, by the roofline of its GPU at its size?",
    "budget": "Make this CUDA kernel faster on its GPU at its size with few tries, then submit, with what helped most.",
}
_TEXT: dict[str, JsonValue] = {"type": "string"}
_EDITS: dict[str, JsonValue] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"search": _TEXT, "replace": _TEXT},
        "required": ["search", "replace"],
    },
}


def small_specs(suite: Suite, *, listed: bool = True) -> tuple[ToolSpec, ...]:
    """The tools of a suite. All take the kernel of the task when none is given; a model that was tuned on them knows
    them, and its prompt does not list them."""
    return tuple(spec.model_copy(update={"listed": listed}) for spec in _specs(suite))


def _specs(suite: Suite) -> tuple[ToolSpec, ...]:
    kinds: dict[str, JsonValue] = {"type": "string", "enum": list(answers())}
    changed: dict[str, JsonValue] = {"kernel": _TEXT, "edits": _EDITS, "base": _TEXT}
    if suite == "classify":
        sides: dict[str, JsonValue] = {"type": "string", "enum": list(SIDES)}
        return (
            _spec("profile", "operations a DRAM byte, and the balance of the GPU", {"kernel": _TEXT}),
            _spec(SUBMIT, "the answer", {CAUSE: sides, "kernel": _TEXT}, [CAUSE]),
        )
    if suite == "budget":
        words: dict[str, JsonValue] = {"type": "string"}
        which: dict[str, JsonValue] = {"type": "integer", "minimum": 1}
        any_change: dict[str, JsonValue] = {"type": "string", "enum": list(changes())}
        return (
            _spec("profile", "what limits the kernel", {"kernel": _TEXT}),
            _spec(TRY, "one change made, checked and timed; costs a try", {CAUSE: words, WHICH: which}, [CAUSE]),
            _spec(
                "time",
                "your own edit, checked and timed; costs a try",
                {"kernel": _TEXT, "edits": _EDITS, "base": _TEXT},
            ),
            _spec(SUBMIT, "the answer; the fastest kernel is handed in", {CAUSE: any_change, "kernel": _TEXT}, [CAUSE]),
        )
    if suite != "optimize":
        return (
            _spec("profile", "what limits the kernel", {"kernel": _TEXT}),
            _spec(SUBMIT, "the answer", {CAUSE: kinds, "kernel": _TEXT}, [CAUSE]),
        )
    named: dict[str, JsonValue] = {"type": "array", "items": _TEXT, "minItems": 1, "maxItems": MOST_CAUSES}
    moves: dict[str, JsonValue] = {"type": "object", "additionalProperties": {"type": "string", "enum": ["up", "down"]}}
    return (
        _spec("profile", "what limits the kernel", changed),
        _spec(REWRITE, "rewritten for causes, findings or any, and its speed", {CAUSES: named, **changed}, [CAUSES]),
        _spec("time", "is it right, and how fast", changed),
        _spec(SUBMIT, "the answer", {CAUSE: kinds, "predicts": moves, **changed}, [CAUSE]),
    )


def changes() -> tuple[str, ...]:
    """What a recommendation of the suite `budget` may say: what may be planted, and every cause with a rewrite."""
    return tuple(dict.fromkeys((*CAN_REWRITE, *answers())))


def causes_of(names: Sequence[str]) -> list[str]:
    """The causes that are named: by themselves, by findings that point at them, or all that may help any kernel."""
    named = (ANY_KERNEL if name == ANY else defects_of(name) or [name] for name in names)
    return list(dict.fromkeys(cause for causes in named for cause in causes))


def job_for(
    task: Task,
    suite: Suite,
    *,
    run_id: str,
    model: str,
    listed: bool = True,
    temperature: float | None = None,
    seed: int | None = None,
    reply_tokens: int = 0,
    tries: int = 0,
    can_try: Sequence[str] = (),
    settings: dict[str, JsonValue] | None = None,
) -> Job:
    """The job of one question. A run may go on after a bad reply once, and never longer than its calls allow. `tries`
    and `can_try` are of the suite `budget`: how many changes may be tried, and which are known for this kernel."""
    return Job(
        id=run_id,
        task=task.name,
        model=model,
        device=f"virtual:{task.gpu}",
        opening=opening_for(task, suite, task.kernel, tries, can_try),
        tools=small_specs(suite, listed=listed),
        budget=Budget(tool_calls=MOST_CALLS[suite] + 2 * tries),
        max_problems=1,
        enough_gain=None,
        max_tokens=reply_tokens or REPLY_TOKENS[suite],
        temperature=temperature,
        seed=seed,
        settings=settings or {},
    )


def in_rounds(job: Job, rounds: int) -> Job:
    """The job again and again from the faster kernel, each round with the budget of one."""
    calls = None if job.budget.tool_calls is None else job.budget.tool_calls * rounds
    budget = job.budget.model_copy(update={"tool_calls": calls})
    return job.model_copy(update={"strategy": Strategy(name="refine", attempts=rounds), "budget": budget})


def opening_for(task: Task, suite: Suite, kernel: str, tries: int = 0, can_try: Sequence[str] = ()) -> Opening:
    """How a conversation about this kernel begins."""
    user = question(task.model_copy(update={"kernel": kernel}))
    user += f"\n{tries_words_of(tries)}: {', '.join(can_try) or 'no change is known'}" if tries else ""
    return Opening(system=SYSTEM[suite], user=user, kernel=kernel)


def tries_words_of(tries: int) -> str:
    return f"{tries} tries of" if tries != 1 else "1 try of"


def question(task: Task) -> str:
    """What the model is told of a task: the GPU, the size that is timed, the kernel."""
    size = next((w.axes for w in task.workloads if w.profile), task.workloads[0].axes)
    sizes = " ".join(f"{axis}={value}" for axis, value in size.items())
    gpu = find_gpu(task.gpu)
    return f"{gpu.key}, {gpu.sms} SMs, {sizes}\n{neutral(task.kernel).strip()}"


def _spec(
    name: str, description: str, properties: dict[str, JsonValue], required: list[JsonValue] | None = None
) -> ToolSpec:
    parameters: dict[str, JsonValue] = {"type": "object", "properties": properties}
    if required:
        parameters["required"] = required
    return ToolSpec(name=name, description=description, parameters=parameters)
