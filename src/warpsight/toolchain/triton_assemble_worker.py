"""Runs the assembler on one PTX text inside the jail. Runs as a file of its own, once, then is gone.

The request is a JSON line (the arguments) and the PTX. The answer is the exit status, the length of what the assembler
said on both of its outputs, that text, and the machine code. Nothing is interpreted here.
"""

# Without pathlib, which costs a starting process ten milliseconds.
# ruff: noqa: PTH100, PTH110, PTH118, PTH120, PTH123

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from typing import TYPE_CHECKING

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "jail"))
if TYPE_CHECKING:
    from warpsight.jail import worker_io
else:
    import worker_io

TEXT_BYTES = 512 << 10
HEAD = struct.Struct(">iI")
ENVIRONMENT = {"LC_ALL": "C.UTF-8", "TMPDIR": "."}


def run(request: bytes) -> bytes:
    """Start the assembler in the scratch folder and wait for its end; the parent holds the deadline."""
    line, _, content = request.partition(b"\n")
    asked = json.loads(line)
    with open("kernel.ptx", "wb") as file:
        file.write(content)
    with open("said", "w+b") as said:
        status = subprocess.call(
            asked["argv"], stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT, env=ENVIRONMENT
        )
        said.seek(0)
        text = said.read(TEXT_BYTES)
    code = b""
    if os.path.exists("kernel.cubin"):
        with open("kernel.cubin", "rb") as file:
            code = file.read(int(asked["cap_bytes"]))
    return HEAD.pack(status, len(text)) + text + code


if __name__ == "__main__":
    worker_io.lock_down("tools")
    frame = worker_io.read_frame()
    if frame is not None:
        worker_io.write_frame(run(frame))
