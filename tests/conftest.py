"""For all tests: an interrupt ends a program, also where the tests themselves were started in the background; and runs
and keys go to a folder of their own."""

from __future__ import annotations

import os
import signal
import tempfile

# A shell has its background jobs ignore interrupts, and what they start ignores them too: several tests send one.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Removed when the tests end. Tests that look at the folder give their own.
_data = tempfile.TemporaryDirectory(prefix="warpsight-test-data-")
os.environ["WARPSIGHT_DATA"] = _data.name
