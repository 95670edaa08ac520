# attack: F10 the attempts before the winner are cut out of the ledger, and the rest is numbered anew
# task: transpose
# expect: does_not_hold
import json

from redteam.stores import chained, resealed

ASK = "verify"


def tamper(world):
    for _ in range(2):
        world.compare(world.slow)
    file, ledger = world.certificate(), world.ledger / "ledger.jsonl"
    lines = [json.loads(line) for line in ledger.read_text().splitlines()][-3:]
    certificate = json.loads(file.read_bytes())
    lines[-1]["body"]["result_seq"] = 1
    chain = [json.loads(line) for line in chained(lines[:-1]).splitlines()]
    certificate["attempt"] = 1
    certificate["ledger"] = {"committed_seq": 0, "head": chain[-1]["hash"], "result_seq": 1}
    page = resealed(certificate)
    name = json.loads(page)["sha256"]
    lines[-1]["body"].update(sha256=name, file=f"{name}.json")
    ledger.write_bytes(chained(lines))
    forged = file.with_name(f"{name}.json")
    forged.write_bytes(page)
    return (forged,)
