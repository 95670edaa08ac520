# attack: D17 overwrites the files it can see, so that the next worker is another
# task: spin
# expect: output_not_written
from pathlib import Path

import hostile
import wire
import worker_io


class Edits(hostile.Worker):
    def work(self) -> None:
        for module in (wire, worker_io, hostile):
            try:
                Path(module.__file__).write_text("raise SystemExit\n")
            except OSError:
                continue
            super().work()  # only if it could


hostile.serve(Edits())
