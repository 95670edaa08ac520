"""Runs one program of the toolchain, such as nvdisasm, inside the jail. Runs as a file of its own, once, then is gone.

The request is a JSON line (the arguments, the name of the input file) and the bytes of that file. The answer is the
exit status, the length of what the program said on stderr, that text, and its output. Nothing is interpreted here.
"""

# Without pathlib, which costs a starting process ten milliseconds.
# ruff: noqa: PTH100, PTH108, PTH118, PTH120, PTH123

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

ERROR_TEXT_BYTES = 16 << 10
HEAD = struct.Struct(">iI")
ENVIRONMENT = {"LC_ALL": "C.UTF-8"}
SAID = ".said"  # in the scratch folder; tempfile would take longer to import than this worker to run


def run(request: bytes) -> bytes:
    """Start the program in the scratch folder and wait for its end; the parent holds the deadline."""
    line, _, content = request.partition(b"\n")
    asked = json.loads(line)
    with open(asked["file"], "wb") as file:
        file.write(content)
    with open(SAID, "w+b") as said:
        os.unlink(SAID)
        program = subprocess.Popen(
            asked["argv"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said, env=ENVIRONMENT
        )
        output = first_bytes(program, int(asked["cap_bytes"]) + 1)
        said.seek(max(0, said.seek(0, os.SEEK_END) - ERROR_TEXT_BYTES))
        text = said.read()
    return HEAD.pack(program.returncode, len(text)) + text + output


def first_bytes(program: subprocess.Popen[bytes], most: int) -> bytes:
    """The output up to `most` bytes; a program that has more to say is ended."""
    assert program.stdout
    output = program.stdout.read(most)
    if len(output) == most:
        program.kill()
    program.wait()
    return output


if __name__ == "__main__":
    worker_io.lock_down("tools")
    frame = worker_io.read_frame()
    if frame is not None:
        worker_io.write_frame(run(frame))
