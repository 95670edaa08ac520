# attack: D6 leaves in the middle of an answer
# task: spin
# expect: bad_frame
import os

import hostile


class Half(hostile.Worker):
    def go(self) -> hostile.Answer:
        os.write(4, b"\0\0\1\0half")
        os._exit(0)


hostile.serve(Half())
