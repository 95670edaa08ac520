# attack: D23 tells checking from timing by the number of its calls and works only while it is checked
# task: spin
# expect: wrong_in_timed_call
import time

import hostile


class Mode(hostile.Worker):
    timed = 0

    def work(self) -> None:
        self.timed += self.y.size == 8192
        if self.timed <= 6 or self.y.size != 8192:
            time.sleep(0.001)
            super().work()
        else:
            self.y[:] = self.x


hostile.serve(Mode())
