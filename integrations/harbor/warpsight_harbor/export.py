"""Writes Harbor task folders: `warpsight-harbor TASKS OUT`.

The agent finds the kernel and the tools of the command line in /app. The verifier has its own copy of the task, so
what the agent does to /app/task changes nothing. The reward is the number of doublings of speed, 0 for a kernel that is
wrong or no faster; reward.json has all parts.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

from warpsight.nouns import Task
from warpsight.reason.opening import opening_of
from warpsight.serve.episode import task_folders
from warpsight.tasks import read_task

IMAGE = "python:3.12-slim"
SETTINGS = """\
version = "1.0"

[metadata]
author_name = "Warpsight"
difficulty = "hard"
category = "performance"
tags = ["cuda", "gpu", "kernels", "optimization"]
description = {description}

[verifier]
timeout_sec = 900.0

[agent]
timeout_sec = 3600.0

[environment]
build_timeout_sec = 900.0
cpus = 2
memory_mb = 4096
storage_mb = 10240
"""
INSTRUCTION = """\
Make the CUDA kernel in `/app/kernel.cu` faster and leave the result in that file. There is no GPU: use `warpsight`,
which simulates one. The task is in `/app/task`.

- `warpsight profile /app/task --kernel /app/kernel.cu` says why it is slow.
- `warpsight check /app/task --kernel /app/kernel.cu` says whether it is right.
- `warpsight compare /app/task --candidate /app/kernel.cu` says how much faster it is than the given one.

The kernel is judged by the gate with inputs that you have not seen. Wrong or no faster earns nothing; each doubling of
speed earns one.

"""
DOCKERFILE = """\
FROM {image}
RUN apt-get update && apt-get install -y --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
RUN pip install --no-cache-dir {package}
WORKDIR /app
COPY task /app/task
RUN cp /app/task/{kernel} /app/kernel.cu
# Containers often lack the walls of the jail; the container is the wall then.
ENV WARPSIGHT_UNSAFE=1
"""
TEST = """\
#!/bin/sh
# Writes the reward. The places are those of Harbor; the variables are for trying it elsewhere.
here=$(dirname "$0")
logs=${LOGS:-/logs/verifier}
mkdir -p "$logs"
exec ${PYTHON:-python3} "$here/grade.py" "$here/task" "${KERNEL:-/app/kernel.cu}" "$logs"
"""
GRADE = '''\
"""The reward in its parts, into the folder of the logs."""

import json
import os
import sys
from pathlib import Path

from warpsight.serve.episode import grade

task, kernel, logs = map(Path, sys.argv[1:])
unsafe = os.environ.get("WARPSIGHT_UNSAFE") == "1"
parts = grade(task, kernel, unsafe=unsafe) if kernel.is_file() else {"doublings": 0.0}
parts["reward"] = parts["doublings"]
(logs / "reward.json").write_text(json.dumps(parts))
(logs / "reward.txt").write_text(str(parts["reward"]))
'''


def export_task(folder: Path, out: Path, package: str = "warpsight") -> Path:
    """Write one task's folder below `out`."""
    task = read_task(folder)
    place = out / task.name
    for part in ("environment", "tests"):
        copied = place / part / "task"
        if copied.exists():
            shutil.rmtree(copied)
        shutil.copytree(folder, copied)
    dockerfile = DOCKERFILE.format(image=IMAGE, package=package, kernel=task.kernel_file)
    texts = {
        "task.toml": SETTINGS.format(description=json.dumps(task.description)),
        "instruction.md": INSTRUCTION + _about(task),
        "environment/Dockerfile": dockerfile,
        "tests/test.sh": TEST,
        "tests/grade.py": GRADE,
    }
    for name, text in texts.items():
        (place / name).write_text(text)
    (place / "tests" / "test.sh").chmod(0o755)
    return place


def _about(task: Task) -> str:
    return opening_of(task, ()).user + "\n"


def main() -> None:
    words = argparse.ArgumentParser(description="Write Warpsight's tasks as Harbor task folders.")
    words.add_argument("tasks", help="a task folder, a folder of such, or a corpus file")
    words.add_argument("out", type=Path)
    words.add_argument("--package", default="warpsight", help="what pip installs in the container")
    given = words.parse_args()
    for folder in task_folders(given.tasks):
        print(export_task(folder, given.out, given.package))


if __name__ == "__main__":
    main()
