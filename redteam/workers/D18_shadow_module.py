# attack: D18 leaves modules of its own beside the program, for the next one to import
# task: spin
# expect: exited_early
import os
from pathlib import Path

import hostile


class Shadows(hostile.Worker):
    def go(self) -> hostile.Answer:
        for name in ("numpy.py", "wire.py", "json.py"):
            Path(name).write_text("raise SystemExit\n")
        os._exit(0)


hostile.serve(Shadows())
