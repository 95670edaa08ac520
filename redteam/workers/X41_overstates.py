# attack: X41 is twice as fast in truth and claims a hundred times
# task: spin
# expect: clock_disagrees wall_unconfirmed out_of_time
import time

import hostile


class Overstates(hostile.Worker):
    def go(self) -> hostile.Answer:
        time.sleep(0.0012)
        self.work()
        return {"device_us": 30.0}, []


hostile.serve(Overstates())
