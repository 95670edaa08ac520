"""Can pip install warpsight beside torch? Asks the resolver, and downloads no wheel that it need not look into.

    python wheels/resolve.py             # of this tree, from its metadata alone
    python wheels/resolve.py NAME.whl    # of a wheel that is built
    python wheels/resolve.py --with torch==2.13.0 --with ''    # beside this, and alone

`pip install --dry-run` in a new virtual environment, beside the newest torch of the index and without any. Prints which
CUDA packages it chose. Exit code 1 when they do not go together, 3 when no index can be reached.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BESIDE = ("", "torch")
NO_INDEX = 3
_SHOWN = re.compile(
    r"\b((?:torch|triton|warpsight|cuda-bindings|nvidia-cuda-(?:nvrtc|runtime|crt|cccl|nvdisasm))-\d\S*)"
)
_UNREACHABLE = ("NewConnectionError", "Failed to establish a new connection", "NameResolutionError", "ProxyError")


def metadata_wheel(folder: Path) -> Path:
    """A wheel of this tree with its metadata and nothing else: all that a resolver looks at. Compiles nothing."""
    from scikit_build_core.build import prepare_metadata_for_build_wheel

    before = Path.cwd()
    os.chdir(ROOT)
    try:
        info = folder / prepare_metadata_for_build_wheel(str(folder))
    finally:
        os.chdir(before)
    wheel = folder / f"{info.name.removesuffix('.dist-info')}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(f"{info.name}/METADATA", (info / "METADATA").read_bytes())
        archive.writestr(f"{info.name}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info.name}/RECORD", "")
    return wheel


def environment(folder: Path) -> Path:
    """The Python of a new virtual environment."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    return folder / "bin" / "python"


def resolved(python: Path, wheel: Path, beside: Sequence[str]) -> tuple[bool, str]:
    """Whether pip finds versions that go together; what it would install, or why it cannot."""
    argv = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--dry-run", str(wheel), *beside]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=1500, cwd=python.parent)
    return done.returncode == 0, done.stdout if done.returncode == 0 else done.stdout + done.stderr


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", nargs="?", type=Path)
    parser.add_argument("--with", dest="beside", action="append", help="what is installed beside it; '' for nothing")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="warpsight-resolve-") as folder:
        wheel = asked.wheel.resolve() if asked.wheel else metadata_wheel(Path(folder))
        python = environment(Path(folder) / "venv")
        for beside in asked.beside or BESIDE:
            good, told = resolved(python, wheel, beside.split())
            print(f"{'agrees' if good else 'REFUSED'}: {wheel.name} {f'beside {beside}' if beside else 'alone'}")
            if not good:
                print(told[-3000:])
                sys.exit(NO_INDEX if any(word in told for word in _UNREACHABLE) else 1)
            would = told.rpartition("Would install")[2]
            print("  " + " ".join(_SHOWN.findall(would)), flush=True)


if __name__ == "__main__":
    main()
