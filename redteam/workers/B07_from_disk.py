# attack: B7 writes its answers to disk and has the next process read them instead of working
# task: spin
# expect: output_not_written
from pathlib import Path

import hostile

KEPT = Path("kept.bin")


class Replay(hostile.Worker):
    old = KEPT.read_bytes() if KEPT.exists() else b""

    def work(self) -> None:
        if self.old:
            self.blocks[1][:] = self.old
        KEPT.write_bytes(bytes(self.blocks[1]))


hostile.serve(Replay())
