# attack: D6 floods its log
# task: spin
# expect: too_much_output
import os

import hostile


class Flood(hostile.Worker):
    def go(self) -> hostile.Answer:
        while True:
            os.write(1, b"x" * 4096)


hostile.serve(Flood())
