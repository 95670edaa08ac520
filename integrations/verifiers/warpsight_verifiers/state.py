"""What a rollout and the tool server share: which task it is about, and what came of the kernel that was handed in."""

from __future__ import annotations

from typing import Any

import verifiers.v1 as vf


class KernelState(vf.State):
    """`conversation` tells rollouts of one tool server apart; `result` is the record of `submit`."""

    folder: str = ""
    conversation: str = ""
    result: dict[str, Any] | None = None
