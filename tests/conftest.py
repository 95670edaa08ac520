"""For all tests: an interrupt ends a program, also where the tests themselves were started in the background."""

from __future__ import annotations

import signal

# A shell has its background jobs ignore interrupts, and what they start ignores them too: several tests send one.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
