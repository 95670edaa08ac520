# attack: C5 works for a long time and tells a short one
# task: spin
# expect: clock_disagrees
import time

import hostile


class Forged(hostile.Worker):
    def go(self) -> hostile.Answer:
        time.sleep(hostile.SLOW_S)
        self.work()
        return {"device_us": 400.0}, []


hostile.serve(Forged())
