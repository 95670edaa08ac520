"""Check, profile and optimise a kernel text in ten lines; run it from the root of the repository."""

from pathlib import Path

import warpsight as ws

text = Path("tasks/transpose/kernel.cu").read_text()
session = ws.Session("transpose", kernel=text, gpu="a100")
print(session.check().verdict)  # right
print(session.profile())  # simulated time, what limits it, findings
faster = ws.optimize("transpose", text, gpu="a100", model="scripted:demo")
print(f"{faster.ratio:.2f}x as fast, {faster.final.timing.source}" if faster.kernel else "nothing faster was found")
print(faster.report_file)
