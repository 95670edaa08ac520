"""The client: typed calls over one connection, which is one episode after another."""

from __future__ import annotations

from typing import Any

from openenv.core import EnvClient
from openenv.core.client_types import StepResult

from warpsight_openenv.models import KernelAction, KernelObservation, KernelState

SLOWEST_CALL_S = 900.0  # the framework's 60 seconds are short for a server with many episodes


class KernelEnv(EnvClient[KernelAction, KernelObservation, KernelState]):
    """`reset(task=NAME)` begins a task; without a name the `seed` chooses one."""

    def __init__(self, base_url: str, *, message_timeout_s: float = SLOWEST_CALL_S, **more: Any) -> None:
        super().__init__(base_url, message_timeout_s=message_timeout_s, **more)

    def _step_payload(self, action: KernelAction) -> dict[str, Any]:
        return action.model_dump(exclude_none=True, exclude={"metadata"})

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[KernelObservation]:
        ended = {"done": payload.get("done", False), "reward": payload.get("reward")}
        seen = KernelObservation.model_validate({**payload.get("observation", {}), **ended})
        return StepResult(observation=seen, reward=seen.reward, done=seen.done)

    def _parse_state(self, payload: dict[str, Any]) -> KernelState:
        return KernelState.model_validate(payload)
