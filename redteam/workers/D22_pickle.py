# attack: D22 answers with a pickle that runs a command when it is loaded
# task: spin
# expect: bad_answer
import os
import pickle

import hostile
import worker_io


class Bomb:
    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, ("/tmp/warpsight-redteam-was-here",)


class Pickles(hostile.Worker):
    def go(self) -> hostile.Answer:
        worker_io.write_frame(pickle.dumps(Bomb()))
        return super().go()


hostile.serve(Pickles())
