"""Where the jail lacks a wall, commands that need it stop; with --unsafe they go on, and every result says so."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# A user namespace in which no further namespace may be made.
FORBID = "for n in user mnt net pid ipc uts cgroup; do echo 0 > /proc/sys/user/max_${n}_namespaces; done; "


def poorly(*words: str, cache: Path) -> subprocess.CompletedProcess[str]:
    """The command on a system that forbids namespaces."""
    call = [sys.executable, "-m", "warpsight.cli.app", *words]
    argv = ["unshare", "-Ur", "/bin/sh", "-c", FORBID + 'exec "$@"', "sh", *call]
    environment = {"PATH": "/usr/bin:/bin", "WARPSIGHT_CACHE": str(cache), "COLUMNS": "100"}
    done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False, cwd=ROOT, env=environment)
    if done.stderr.startswith(("unshare:", "sh:", "/bin/sh:")):
        pytest.skip("user namespaces are forbidden here already")
    return done


@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs the program unshare")
def test_a_missing_wall_stops_a_command_and_unsafe_is_written_on_the_result(tmp_path: Path) -> None:
    refused = poorly("check", "saxpy", "--json", cache=tmp_path)
    assert refused.returncode == 5, refused.stderr
    assert "namespace" in json.loads(refused.stdout)["error"]["message"]

    told = poorly("--unsafe", "check", "saxpy", "--json", cache=tmp_path)
    assert told.returncode == 0, told.stderr
    assert "network namespace" in json.loads(told.stdout)["unsafe"]

    shown = poorly("check", "saxpy", "--unsafe", cache=tmp_path)
    assert shown.returncode == 0 and "unsafe: ran without these protections" in shown.stdout
