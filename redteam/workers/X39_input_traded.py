# attack: X39 sends back another input, for which its old answer is right
# task: spin
# expect: input_changed
import hostile
import numpy as np


class Trades(hostile.Worker):
    def work(self) -> None:
        self.x[:] = np.float32(0.5)
        self.y[:] = np.float32(np.tanh(0.5) + 0.5)


hostile.serve(Trades())
