# attack: D22 answers with a header of a hundred thousand lists, one in the other
# task: spin
# expect: bad_answer
import struct

import hostile
import worker_io


class Deep(hostile.Worker):
    def go(self) -> hostile.Answer:
        text = b'{"device_us": ' + b"[" * 100_000 + b"]" * 100_000 + b', "sizes": []}'
        worker_io.write_frame(struct.pack(">I", len(text)) + text)
        return super().go()


hostile.serve(Deep())
