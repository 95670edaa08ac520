"""The skill for coding agents: one SKILL.md, in the folder where a client looks for skills."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from warpsight.errors import BrokenMachine, UsageError
from warpsight.files import write_whole
from warpsight.serve.clients import NAME, Client

FILE = "SKILL.md"


def skill_text() -> str:
    """The skill as it is written for every client."""
    return files("warpsight.serve").joinpath("skill", FILE).read_text(encoding="utf-8")


def install_skill(client: Client, folder: Path, *, force: bool = False) -> Path:
    """Write the skill below a project or home folder. A file that somebody changed is only replaced by force."""
    path = folder / client.skills / NAME / FILE
    text = skill_text()
    try:
        if path.exists() and path.read_text(encoding="utf-8") != text and not force:
            raise UsageError(f"another {path} is there", hint="--force replaces it")
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text, mode=0o644)
    except OSError as problem:
        raise BrokenMachine(f"cannot write {path}: {problem.strerror}", hint="--dir FOLDER") from None
    return path
