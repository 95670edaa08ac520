"""The server: `warpsight-openenv TASKS`, or `uvicorn warpsight_openenv.server.app:app` with WARPSIGHT_TASKS."""

from __future__ import annotations

import argparse
import atexit
import os
from functools import partial

from fastapi import FastAPI
from openenv.core.env_server.http_server import create_app

from warpsight.bundled import bundled
from warpsight.serve.episode import open_server, task_folders
from warpsight_openenv.models import KernelAction, KernelObservation
from warpsight_openenv.server.environment import KernelEnvironment

MOST_SESSIONS = 256


def make_app(tasks: str, *, workers: int, unsafe: bool = False) -> FastAPI:
    """The app for a folder of tasks or a corpus file."""
    folders = task_folders(tasks)
    server = open_server(folders, workers=workers, unsafe=unsafe)
    atexit.register(server.close)
    made = partial(KernelEnvironment, server, folders)
    return create_app(made, KernelAction, KernelObservation, env_name="warpsight", max_concurrent_envs=MOST_SESSIONS)


def main() -> None:
    import uvicorn

    words = argparse.ArgumentParser(description="Serve Warpsight's tasks as an OpenEnv environment.")
    words.add_argument("tasks", nargs="?", default=_tasks())
    words.add_argument("--host", default="127.0.0.1")
    words.add_argument("--port", type=int, default=8000)
    words.add_argument("--workers", type=int, default=_workers())
    given = words.parse_args()
    uvicorn.run(make_app(given.tasks, workers=given.workers, unsafe=_unsafe()), host=given.host, port=given.port)


def _tasks() -> str:
    return os.environ.get("WARPSIGHT_TASKS") or str(bundled("tasks") or "tasks")


def _workers() -> int:
    return int(os.environ.get("WARPSIGHT_WORKERS", os.cpu_count() or 1))


def _unsafe() -> bool:
    return os.environ.get("WARPSIGHT_UNSAFE") == "1"


def __getattr__(name: str) -> FastAPI:
    """`app`, made when it is asked for: importing this module starts nothing."""
    if name == "app":
        return make_app(_tasks(), workers=_workers(), unsafe=_unsafe())
    raise AttributeError(name)


if __name__ == "__main__":
    main()
