"""A certificate that cannot be written whole leaves nothing behind."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from pathlib import Path

from tests.gate.certificate.conftest import Accepted

WRITE = """
import sys
from pathlib import Path
from warpsight.errors import BrokenMachine
from warpsight.gate.certificate import read_certificate, write_certificate
found, *_ = read_certificate(Path(sys.argv[1]).read_bytes())
try:
    write_certificate(found, Path(sys.argv[2]))
except BrokenMachine:
    sys.exit(9)
"""


def _capped() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))


def test_a_full_disk_is_an_error_and_no_part_of_the_file_stays(accepted: Accepted, tmp_path: Path) -> None:
    folder = tmp_path / "certificates"
    argv = [sys.executable, "-c", WRITE, str(accepted.file), str(folder)]
    assert subprocess.run(argv, preexec_fn=_capped, timeout=60, check=False).returncode == 9
    assert list(folder.iterdir()) == []
