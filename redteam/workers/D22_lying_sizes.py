# attack: D22 names sizes that are not those of its blocks
# task: spin
# expect: bad_answer
import json
import struct

import hostile
import worker_io


class Lies(hostile.Worker):
    def fetch(self) -> hostile.Answer:
        body = b"".join(self.blocks)
        text = json.dumps({"sizes": [len(body) + 8, -8]}).encode()
        worker_io.write_frame(struct.pack(">I", len(text)) + text + body)
        return super().fetch()


hostile.serve(Lies())
