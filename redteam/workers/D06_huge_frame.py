# attack: D6 announces an answer of four gigabytes
# task: spin
# expect: too_much_output
import os

import hostile


class Huge(hostile.Worker):
    def go(self) -> hostile.Answer:
        os.write(4, b"\xff\xff\xff\xf0")
        return super().go()


hostile.serve(Huge())
