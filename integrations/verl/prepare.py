"""Writes the data for verl: `python integrations/verl/prepare.py TASKS OUT.parquet`; TASKS as everywhere."""

from __future__ import annotations

import sys

from datasets import Dataset

from warpsight.serve.episode import opening, task_folders
from warpsight.tasks import read_task

ENDING = """
Here the tools are `profile`, `rewrite` and `time`, which says too whether a kernel is right. A call names its task, as
"task": "{folder}". `time` takes your kernel as a text: "kernel". End with your final kernel, whole, in one block that
begins with ```cuda.
"""


def rows(tasks: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for number, folder in enumerate(task_folders(tasks)):
        place = str(folder.resolve())
        words = opening(read_task(folder)) + ENDING.format(folder=place)
        found.append(
            {
                "data_source": "warpsight",
                "prompt": [{"role": "user", "content": words}],
                "ability": "kernels",
                "agent_name": "tool_agent",
                "reward_model": {"style": "rule", "ground_truth": place},
                "extra_info": {"index": number, "need_tools_kwargs": False},
            }
        )
    return found


if __name__ == "__main__":
    Dataset.from_list(rows(sys.argv[1])).to_parquet(sys.argv[2])
