# attack: D22 answers with numbers that JSON has not: NaN, infinity, a million digits
# task: spin
# expect: bad_answer clock_disagrees
import struct

import hostile
import worker_io


class Numbers(hostile.Worker):
    def go(self) -> hostile.Answer:
        text = b'{"device_us": ' + b"9" * 1_000_000 + b', "sizes": []}'
        worker_io.write_frame(struct.pack(">I", len(text)) + text)
        return super().go()


hostile.serve(Numbers())
