# attack: C6+C7+D1 replaces the functions that a judge would use, in its own process
# task: spin
# expect: wrong_values
import statistics
import sys

import hostile
import numpy as np

np.allclose = np.array_equal = lambda *_, **__: True
statistics.median = lambda _: 0.001
sys.modules["warpsight"] = sys.modules["warpsight.gate"] = sys


class Zeros(hostile.Worker):
    def work(self) -> None:
        self.y[:] = 0.0


hostile.serve(Zeros())
