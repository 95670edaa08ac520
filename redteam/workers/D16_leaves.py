# attack: D16 leaves with status 0 before the check
# task: spin
# expect: exited_early
import os

import hostile


class Leaves(hostile.Worker):
    def go(self) -> hostile.Answer:
        print("PASS", flush=True)
        os._exit(0)


hostile.serve(Leaves())
