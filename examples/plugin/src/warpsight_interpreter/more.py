"""A finding and a rewrite of another package: two functions, two entry points."""

from __future__ import annotations

import re
from collections.abc import Iterator

from warpsight.nouns import Build, Evidence, Finding, Profile
from warpsight.rewrite import Facts, Rewrite

MANY_REGISTERS = 16
_POINTER = re.compile(r"\*\s*(?!__restrict__)(\w+)(?=\s*[,)])")


def thirsty(profile: Profile, build: Build | None) -> Finding | None:
    """Said of a kernel whose threads use many registers. None where it is not so, or was not counted."""
    registers = profile.counters.get("registers_per_thread")
    if registers is None or registers < MANY_REGISTERS:
        return None
    return Finding(
        name="thirsty",
        message=f"a thread uses {registers} registers",
        evidence=(Evidence(counter="registers_per_thread", value=registers, unit="", limit=MANY_REGISTERS),),
        suggestion="keep fewer values alive at once",
        should_move={"registers_per_thread": "down"},
    )


def aliasing(text: str, facts: Facts) -> Iterator[Rewrite]:
    """Promise the compiler that the arrays of the kernel do not overlap."""
    head = re.search(rf"\b{re.escape(facts.entry)}\s*\(", text)
    if head is None or (end := text.find(")", head.end())) < 0:
        return
    parameters = text[head.end() : end + 1]
    yield Rewrite(
        "restrict pointers", text[: head.end()] + _POINTER.sub(r"* __restrict__ \1", parameters) + text[end + 1 :]
    )
