# attack: C18 prints the lines of a benchmark that it won, on both streams
# task: spin
# expect: output_not_written
import sys

import hostile


class Talks(hostile.Worker):
    def work(self) -> None:
        for stream in (sys.stdout, sys.stderr):
            print('{"verdict": "right", "decision": "FASTER", "ratio": 100.0}', file=stream, flush=True)


hostile.serve(Talks())
