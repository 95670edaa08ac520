# attack: F9 certificate and ledger are both written anew, with every hash right
# task: transpose
# expect: does_not_hold
import hashlib
import json

from redteam.stores import chained, faster_by, resealed

ASK = "verify"


def tamper(world):
    file = world.certificate()
    certificate, ledger = json.loads(file.read_bytes()), world.ledger / "ledger.jsonl"
    faster_by(certificate, 1.2)
    lines = [json.loads(line) for line in ledger.read_text().splitlines()]
    wanted = hashlib.sha256(
        json.dumps(certificate["timing"], sort_keys=True, separators=(",", ":")).encode()
    ).hexdigest()
    for line in lines:
        if line["kind"] == "result":
            line["body"]["timing_sha256"] = wanted
    chain = [json.loads(line) for line in chained(lines[:-1]).splitlines()]
    certificate["ledger"]["head"] = chain[-1]["hash"]
    page = resealed(certificate)
    name = json.loads(page)["sha256"]
    lines[-1]["body"].update(sha256=name, file=f"{name}.json")
    ledger.write_bytes(chained(lines))
    forged = file.with_name(f"{name}.json")
    forged.write_bytes(page)
    return (forged,)
