"""Entries of the list that no attack here is for: what they would need, and why a candidate or a worker has it not."""

from __future__ import annotations

ELSEWHERE: dict[str, str] = {
    "A12": "falls back to a library on an error: a candidate is one kernel text, with nothing to fall back to",
    "A15": "pastes a library's source: a kernel that is right and faster is accepted wherever its text comes from",
    "A17": "writes its own test: the task's hash is in certificate and ledger (tests/redteam/test_walls.py)",
    "B2": "caches by the identity of a Python object: a kernel sees bytes at addresses (B1)",
    "B3": "caches by a tensor's version counter: there are no tensors in the process of a kernel",
    "C3": "returns a lazy tensor: what comes back is bytes of a size that the parent fixed",
    "C4": "returns an object with methods of its own: as C3",
    "D9": "swaps the FILE of the C library: answers are frames on a descriptor (D6, D8), the printed log is no answer",
    "D11": "scans the heap for a key that signs results: no result is signed in a worker, the parent decides",
    "D12": "scans the stack for it: as D11",
    "D13": "recovers it from the processor: as D11",
    "D20": "changes numeric flags so that the reference changes: the reference is in another process",
    "D21": "changes shared weights: every call has fresh contents, inputs are compared afterwards (D19)",
}
