# attack: D2+D3 looks through all objects and frames of its process for an array that could be the answer
# task: spin
# expect: output_not_written
import gc
import sys

import hostile
import numpy as np


class Looks(hostile.Worker):
    def work(self) -> None:
        wanted = np.tanh(self.x[:4].astype(np.float64)) + self.x[:4]
        frame = sys._getframe()
        seen = list(gc.get_objects())
        while frame is not None:
            seen.extend(frame.f_locals.values())
            frame = frame.f_back
        arrays = [thing for thing in seen if isinstance(thing, np.ndarray) and thing.size == self.y.size]
        for array in arrays:
            if np.allclose(array.reshape(-1)[:4], wanted, rtol=1e-3):
                self.y[:] = array.reshape(-1)


hostile.serve(Looks())
