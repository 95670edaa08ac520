"""What stands in a certificate in place of the thing itself: one text form of a record, and hashes of it.

Canonical JSON has sorted keys, ASCII only, fixed indentation and a last newline; reading and writing it again gives
the same bytes, so any change to a file, also of white space, is a change of its hash.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from warpsight.nouns import Noun, Task


def canonical(document: Any) -> bytes:
    """The one text of a document that is plain JSON."""
    text = json.dumps(document, sort_keys=True, ensure_ascii=True, allow_nan=False, indent=1)
    return text.encode("ascii") + b"\n"


def compact(document: Any) -> bytes:
    """The same on one line, for ledgers."""
    text = json.dumps(document, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.encode("ascii")


def sha256_of(document: Any) -> str:
    return hashlib.sha256(compact(document)).hexdigest()


def plain(record: Noun) -> Any:
    """A record as plain JSON. Through text, since only there infinities and NaN become strings."""
    return json.loads(record.model_dump_json())


def task_sha256(task: Task) -> str:
    """Everything that makes the task what it is, and not where its folder lies."""
    return sha256_of({key: value for key, value in plain(task).items() if key != "folder"})


def commitment(seed: int, nonce: str) -> str:
    """What is published before a run: it binds the seed and does not give it away."""
    return hashlib.sha256(f"{seed}:{nonce}".encode()).hexdigest()
