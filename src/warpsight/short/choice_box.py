"""The tools of a choice: values for a kernel's parameters, judged by times that others measured on a real card.

`time` says how long a configuration took when it was recorded (`replayed`), and costs a try; `submit` hands one in. One
box is one conversation. What must stay true: nothing is told of a configuration that was not asked for, and a file with
no time for it gives none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from pydantic import JsonValue

from warpsight.devices.recorded import RecordedDevice, ReplayedTime, Settings
from warpsight.errors import UsageError
from warpsight.reason.budget import Budget
from warpsight.reason.fence import neutral
from warpsight.reason.job import Job, Opening
from warpsight.tools.box import SUBMIT, ToolResult, ToolSpec

TIME, PARAMETERS = "time", "parameters"
CHOICE_TOKENS = 512
_SYSTEM = (
    "Choose the parameters that make this CUDA kernel fastest on its card. You may have few configurations timed, then "
    "submit the one you choose."
)


class ChoiceBox:
    """A ToolBox on a recorded card. `submitted` is what was handed in, once it was."""

    def __init__(self, device: RecordedDevice, tries: int, kernel: str = "") -> None:
        self.device = device
        self.tries = tries
        self.kernel = kernel
        self.timed: list[ReplayedTime] = []
        self.submitted: ReplayedTime | None = None

    def specs(self) -> tuple[ToolSpec, ...]:
        values: dict[str, JsonValue] = {name: {"enum": list(some)} for name, some in self.device.parameters.items()}
        chosen: dict[str, JsonValue] = {"type": "object", "properties": values, "required": list(values)}
        parameters: dict[str, JsonValue] = {
            "type": "object", "properties": {PARAMETERS: chosen}, "required": [PARAMETERS],
        }  # fmt: skip
        return (
            ToolSpec(name=TIME, description="how long it takes with these; costs a try", parameters=parameters),
            ToolSpec(name=SUBMIT, description="the answer", parameters=parameters),
        )

    @property
    def left(self) -> int:
        return self.tries - len(self.timed)

    def call(self, name: str, arguments: Mapping[str, JsonValue]) -> ToolResult:
        """One call; a configuration that does not fit costs nothing."""
        if name == TIME and self.left < 1:
            return _wrong(f"all {self.tries} tries are spent: call {SUBMIT}")
        try:
            found = self.device.time(settings_of(arguments))
        except UsageError as problem:
            return _wrong(problem.message)
        if name == SUBMIT:
            self.submitted = found
            return ToolResult(text="submitted", submitted=True, made=json.dumps(dict(found.settings)))
        self.timed.append(found)
        told = found.reason if found.time_us is None else f"{found.time_us:.1f} us (replayed, {self.device.card})"
        return ToolResult(text=f"{told}; {self.left} left")

    @property
    def best_timed(self) -> ReplayedTime | None:
        """The fastest that was timed."""
        known = [one for one in self.timed if one.time_us is not None]
        return min(known, key=lambda one: one.time_us or 0.0, default=None)


def settings_of(arguments: Mapping[str, JsonValue]) -> Settings:
    given = arguments.get(PARAMETERS)
    found = given if isinstance(given, dict) else {}
    return {name: value for name, value in found.items() if isinstance(value, int | float | str)}


def choice_job(box: ChoiceBox, *, run_id: str, model: str, seed: int, temperature: float | None) -> Job:
    """How the choice is put to a model."""
    device = box.device
    values = "\n".join(f"- {name}: {', '.join(map(str, some))}" for name, some in device.parameters.items())
    fixed = ", ".join(f"{name} = {value}" for name, value in device.fixed.items())
    told = [f"card: {device.card}", f"kernel: {device.kernel}", f"{box.tries} configurations may be timed", values]
    told += [f"the same in all: {fixed}"] if fixed else []
    told += [neutral(box.kernel).strip()] if box.kernel else []
    user = "\n".join(told)
    return Job(
        id=run_id, task="recorded", model=model, device=device.name,
        opening=Opening(system=_SYSTEM, user=user, kernel=box.kernel), tools=box.specs(),
        budget=Budget(tool_calls=2 * box.tries + 4), max_problems=2, enough_gain=None, max_tokens=CHOICE_TOKENS,
        temperature=temperature, seed=seed,
    )  # fmt: skip


def _wrong(why: str) -> ToolResult:
    return ToolResult(text=f"error: {why}", is_error=True)
