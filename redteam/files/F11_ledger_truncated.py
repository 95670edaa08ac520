# attack: F11 the ledger ends before the line that enters the certificate
# task: transpose
# expect: does_not_hold

ASK = "verify"


def tamper(world):
    file, ledger = world.certificate(), world.ledger / "ledger.jsonl"
    ledger.write_text("".join(ledger.read_text().splitlines(keepends=True)[:-1]))
    return (file,)
