# attack: D7 closes both channels and goes on
# task: spin
# expect: bad_frame exited_early
import os
import time

import hostile


class Silent(hostile.Worker):
    def go(self) -> hostile.Answer:
        os.close(4)
        os.close(3)
        time.sleep(60)
        return {}, []


hostile.serve(Silent())
