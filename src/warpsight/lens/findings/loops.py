"""Loops in machine code, and where the address of an access in a loop comes from.

Follows registers from the instruction that reads one to the one that wrote it last, round the loop; values in memory
and predicates are not followed. Knows the texts of instructions, nothing of findings.
"""

from __future__ import annotations

import re

from warpsight.lens.findings.reading import Work

COUNTING = 3  # instructions of a turn that only count: add, compare, branch
TURNS = 1.5
_GRID_SIZE = re.compile(r"NCTAID|c\[0x0\]\[0x(?:c|10|14)\]")  # where the driver puts it, up to compute capability 8.9
Node = tuple[int, str]
"""An instruction of a loop, and a register that it wrote."""


def is_backward_branch(w: Work) -> bool:
    to = _target(w)
    return to is not None and to <= w.place


def has_turns(work: list[Work]) -> bool:
    """Whether some instruction ran more often than the first, which every warp runs once."""
    return bool(work) and max(w.warps for w in work) > TURNS * work[0].warps


def reads_grid_size(work: list[Work]) -> bool:
    """Whether the kernel asks how many blocks there are: it then steps by the grid, and takes any number of them."""
    return any(_GRID_SIZE.search(w.at.text) for w in work)


def loop_around(w: Work, work: list[Work]) -> list[Work]:
    """The instructions of the innermost loop that an instruction stands in; nothing outside of loops."""
    turns = [(to, b.place) for b in work if (to := _target(b)) is not None and to <= w.place <= b.place]
    if not turns:
        return []
    first, last = max(turns)  # loops lie within one another: the innermost begins last
    return [v for v in work if first <= v.place <= last]


def keeps_its_address(w: Work, work: list[Work]) -> bool:
    """Whether an access in a loop goes to the same address in every turn: nothing it follows from counts on."""
    inside = loop_around(w, work)
    if not inside or not _address(w):
        return False
    graph = _origins(w, inside)
    while graph:  # take away what follows from nothing that is left; a value that follows from itself stays
        fixed = {node for node, sources in graph.items() if not sources & graph.keys()}
        if not fixed:
            return False
        graph = {node: sources for node, sources in graph.items() if node not in fixed}
    return True


def address_is_loaded(w: Work, work: list[Work]) -> bool:
    """Whether the address of an access in a loop comes from a value that the loop loads, as in a linked list."""
    inside = loop_around(w, work)
    return any(inside[k].space in ("global_load", "local", "atomic") for k, _ in _origins(w, inside))


def _origins(w: Work, inside: list[Work]) -> dict[Node, set[Node]]:
    """What wrote the address of an access, what wrote the registers that it read, and so on, within the loop."""
    place = next((k for k, v in enumerate(inside) if v is w), None)
    open_ends = [] if place is None else list(_writers(inside, place, _address(w)))
    graph: dict[Node, set[Node]] = {}
    while open_ends:
        node = open_ends.pop()
        if node not in graph:
            graph[node] = _writers(inside, node[0], _read(inside[node[0]]))
            open_ends += graph[node]
    return graph


def _writers(inside: list[Work], place: int, registers: set[str]) -> set[Node]:
    """Which instructions wrote these registers last before this place, the turn before included."""
    before = (*range(place - 1, -1, -1), *range(len(inside) - 1, place - 1, -1))
    found: set[Node] = set()
    for register in registers:
        writer = next((k for k in before if register in _written(inside[k])), None)
        found |= set() if writer is None else {(writer, register)}
    return found


def _target(w: Work) -> int | None:
    """The instruction that a branch goes to."""
    found = re.search(r"BRA\S* (?:\S+, )?0x([0-9a-f]+)", w.at.text)
    return None if found is None else int(found[1], 16) // 16


def _address(w: Work) -> set[str]:
    """The registers that hold the address of an access."""
    found = re.search(r"\[(?:desc\[\S+\]\[)?R(\d+)", w.at.text)
    return set() if found is None else {f"R{found[1]}", f"R{int(found[1]) + 1}"}


def _written(w: Work) -> set[str]:
    """The registers that an instruction writes: one, or neighbours when its result is wide."""
    found = re.match(r"(?:@!?U?P\w+\s+)?\S+\s+(U?R)(\d+)", w.at.text)
    if found is None:
        return set()
    count = 4 if "128" in w.modifiers else 2 if {"WIDE", "64"} & set(w.modifiers) else 1
    return {f"{found[1]}{int(found[2]) + k}" for k in range(count)}


def _read(w: Work) -> set[str]:
    sources = w.at.text.partition(",")[2]
    return set(re.findall(r"\bU?R\d+", sources))
