# attack: C9 has a clock of its own that runs at a tenth of the pace
# task: spin
# expect: clock_disagrees
import time

import hostile

real = time.perf_counter
time.perf_counter = lambda: real() / 100


class Slow(hostile.Worker):
    def work(self) -> None:
        time.sleep(hostile.SLOW_S)
        super().work()


hostile.serve(Slow())
