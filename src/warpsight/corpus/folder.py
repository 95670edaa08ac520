"""A task of a corpus as a folder like any other, so that every verb can be used on it.

The family's own files with the slow kernel, and with the size and the GPU that the task is about. What must stay true:
reading the folder gives the task that the bench puts to a model.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from warpsight.corpus.families import FAMILIES
from warpsight.corpus.specs import Spec, text_of
from warpsight.errors import UsageError
from warpsight.vgpu.gpus import find_gpu

_PROFILED = re.compile(r'(\[\[workloads\]\]\nname = "profile"\n)axes = \{[^}]*\}\n')


def write_folder(spec: Spec, folder: Path) -> None:
    """Write it into a new folder."""
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty", hint="name a folder that is not there yet")
    family, gpu = FAMILIES / spec.family, find_gpu(spec.gpu)
    text = (family / "task.toml").read_text()
    text = re.sub(r'^gpu = ".*"$', f'gpu = "{gpu.key}"', text, count=1, flags=re.MULTILINE)
    text = re.sub(r'^arch = ".*"$', f'arch = "{gpu.arch}"', text, count=1, flags=re.MULTILINE)
    axes = ", ".join(f"{axis} = {value}" for axis, value in spec.size.items())
    text = _PROFILED.sub(lambda found: f"{found.group(1)}axes = {{ {axes} }}\n", text)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "task.toml").write_text(text)
    (folder / "kernel.cu").write_text(text_of(spec))
    shutil.copyfile(family / "reference.py", folder / "reference.py")
