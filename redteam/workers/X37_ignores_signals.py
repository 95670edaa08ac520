# attack: X37 ignores every signal it can and never answers
# task: spin
# expect: deadline
import contextlib
import signal
import time

import hostile


class Stays(hostile.Worker):
    def go(self) -> hostile.Answer:
        for number in signal.valid_signals():
            with contextlib.suppress(OSError, ValueError):
                signal.signal(number, signal.SIG_IGN)
        while True:
            time.sleep(1)


hostile.serve(Stays())
