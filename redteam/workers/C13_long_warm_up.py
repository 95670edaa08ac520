# attack: C13 draws its first calls out, so that fewer are counted
# task: spin
# expect: SLOWER
import time

import hostile


class Slow(hostile.Worker):
    def work(self) -> None:
        time.sleep(0.5 if self.calls < 4 else hostile.SLOW_S)
        super().work()


hostile.serve(Slow())
