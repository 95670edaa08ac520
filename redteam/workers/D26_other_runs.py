# attack: D26 looks for kernels and ledgers of other runs
# task: spin
# expect: output_not_written
from pathlib import Path

import hostile


class Looks(hostile.Worker):
    def work(self) -> None:
        for root in ("/home", "/root", "/srv", "/var/tmp", "/tmp/..", "/proc/1/cwd", "/proc/1/root/home"):
            try:
                found = [file for file in Path(root).iterdir() if file.suffix in (".cl", ".cu", ".jsonl", ".json")]
            except OSError:
                continue
            if found:
                super().work()


hostile.serve(Looks())
