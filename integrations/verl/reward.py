"""The reward for verl: `custom_reward_function.path=integrations/verl/reward.py`.

The last block of CUDA in the answer is the kernel that is handed in; the whole gate decides on it, with inputs that
nothing before has used. `ground_truth` is the task's folder. What the tools said, and any number in the text, counts
nothing.
"""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import Any

from warpsight.serve.episode import grade, parts_of

BLOCK = re.compile(r"```(?:cuda|cpp|c\+\+|c)\n(.*?)```", re.DOTALL)
MOST_CHARACTERS = 100_000


def compute_score(data_source: str, solution_str: str, ground_truth: str, extra_info: Any = None) -> dict[str, float]:
    """`score` is the reward; the rest are its parts."""
    blocks = BLOCK.findall(solution_str)
    if not blocks or len(blocks[-1]) > MOST_CHARACTERS:
        parts = parts_of(None)
    else:
        with tempfile.TemporaryDirectory() as scratch:
            kernel = Path(scratch) / "kernel.cu"
            kernel.write_text(blocks[-1])
            parts = grade(Path(ground_truth), kernel, unsafe=os.environ.get("WARPSIGHT_UNSAFE") == "1")
    return {"score": parts["reward"], **parts}
