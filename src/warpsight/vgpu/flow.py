"""The control flow of a program: which branches decide whether a thread comes to a barrier of the whole block.

Blocks of straight code, their successors, and post-dominators. A guard is a branch with a side that leads to such a
barrier before the two sides meet again, and a side that does not. Functions are looked at one by one; a call counts as
the barriers of what it calls. Not covered: barriers behind calls through pointers. Nothing here executes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations

import numpy as np

from warpsight.vgpu.bytecode import OPS, Program

MOST_GUARDS = 64
END = -1
"""The place after the last instruction of a thread or function."""

_BRA, _BRX, _EXIT, _RET, _TRAP, _CALL, _BAR = (
    OPS[name].number for name in ("BRA", "BRX", "EXIT", "RET", "TRAP", "CALL", "BAR")
)
_ENDS = np.array([_BRA, _BRX, _EXIT, _RET, _TRAP])
_EFFECTS = np.array(
    [
        OPS[name].number
        for name in (
            "ST", "ATOM", "BAR", "CALL", "CALLX", "RET", "CPASYNC", "WMMAST", "PRINTF", "WARPBAR", "SHFL", "VOTE",
            "MATCH", "REDUX", "MALLOC", "ASSERTFAIL",
        )
    ]
)  # fmt: skip
"""What others can see: code with none of these may as well be left out by a thread."""


@dataclass(frozen=True)
class Guard:
    """The branch at `pc`: going on at one of `toward` leads to `barriers`, going elsewhere leads past them.

    `rejoins`: past them the thread comes to code that others run after the barriers; else it only returns.
    """

    pc: int
    toward: frozenset[int]
    barriers: frozenset[int]
    rejoins: bool


@dataclass(eq=False)
class Flow:
    """Blocks by their first instruction: their last one, the blocks that may follow (END: none), and what they call."""

    program: Program
    last: dict[int, int] = field(init=False)
    following: dict[int, list[int]] = field(init=False)
    calls: dict[int, list[int]] = field(init=False)

    def __post_init__(self) -> None:
        code = self.program.code
        op, target = code["op"], code["target"]
        ends = np.flatnonzero(np.isin(op, _ENDS))
        calls = target[op == _CALL]
        starts = {0, *target[op == _BRA].tolist(), *self.program.tables.tolist(), *calls.tolist(), *(ends + 1).tolist()}
        order = sorted(s for s in starts if s < len(code))
        self.last = dict(zip(order, [s - 1 for s in order[1:]] + [len(code) - 1], strict=True))
        self.following = {start: self._successors(last) for start, last in self.last.items()}
        self.calls = {start: self._callees(start, last) for start, last in self.last.items()}

    def _callees(self, start: int, last: int) -> list[int]:
        here = self.program.code[start : last + 1]
        return here["target"][here["op"] == _CALL].tolist()

    def _successors(self, last: int) -> list[int]:
        x = self.program.code[last]
        op, target = int(x["op"]), int(x["target"])
        after = last + 1 if last + 1 < len(self.program.code) else END
        if op == _BRA:
            jumps = [target]
        elif op == _BRX:
            jumps = sorted(set(self.program.tables[int(x["imm"]) : int(x["imm"]) + target].tolist()))
        elif op in (_EXIT, _RET, _TRAP):
            jumps = [END]
        else:
            return [after]
        return [*jumps, after] if int(x["guard"]) else jumps

    @cached_property
    def after(self) -> dict[int, int]:
        """Of each block the block where all its paths meet again (its immediate post-dominator)."""
        order = self._reversed_order()
        rank = {block: i for i, block in enumerate(order)}
        meets: dict[int, int] = {END: END}
        changed = True
        while changed:
            changed = False
            for block in order[1:]:
                new = None
                for follower in self.following[block] or [END]:
                    if follower in meets:
                        new = follower if new is None else _common(new, follower, meets, rank)
                if new is not None and meets.get(block) != new:
                    meets[block], changed = new, True
        return {block: meets.get(block, END) for block in self.following}

    def _reversed_order(self) -> list[int]:
        """END first, then every block after at least one of those it leads to; blocks without an end come last."""
        before: dict[int, list[int]] = {END: []}
        for block, followers in self.following.items():
            for follower in followers:
                before.setdefault(follower, []).append(block)
        done, order = {END}, list[int]()
        for root in (END, *self.following):
            if root in done and root != END:
                continue
            stack = [(root, iter(before.get(root, ())))]
            done.add(root)
            while stack:
                block, rest = stack[-1]
                found = next((b for b in rest if b not in done), None)
                if found is None:
                    order.append(stack.pop()[0])
                else:
                    done.add(found)
                    stack.append((found, iter(before.get(found, ()))))
        order.remove(END)
        return [END, *reversed(order)]

    def reach(self, start: int, until: int) -> set[int]:
        """The blocks on the ways from `start`, up to `until`."""
        seen, stack = set[int](), [start]
        while stack:
            block = stack.pop()
            if block not in seen and block not in (until, END):
                seen.add(block)
                stack += self.following[block]
        return seen

    @cached_property
    def barriers(self) -> dict[int, frozenset[int]]:
        """Of each block the aligned barriers of the whole block that it, or what it calls, waits at."""
        code = self.program.code
        waits = (code["op"] == _BAR) & (code["sub"] != 1) & (code["imm"] == 0)
        own = {s: frozenset((np.flatnonzero(waits[s : last + 1]) + s).tolist()) for s, last in self.last.items()}
        while True:
            found = {s: own[s] | self._of_calls(s, own) for s in self.last}
            if found == own:
                return own
            own = found

    def _in(self, blocks: set[int]) -> frozenset[int]:
        return frozenset[int]().union(*(self.barriers[block] for block in blocks))

    def _of_calls(self, start: int, own: dict[int, frozenset[int]]) -> frozenset[int]:
        return frozenset[int]().union(*(own[b] for entry in self.calls[start] for b in self.reach(entry, END)))

    @cached_property
    def _branches(self) -> list[tuple[int, int, dict[int, frozenset[int]]]]:
        """(instruction, where its ways meet again, the barriers on each way before that) of every branch."""
        if not any(self.barriers.values()):
            return []
        found = list[tuple[int, int, dict[int, frozenset[int]]]]()
        for start, last in self.last.items():
            followers, meet = self.following[start], self.after[start]
            if len(followers) > 1:
                ways = {f: self.reach(f, meet) for f in followers}
                found.append((last, meet, {f: self._in(way) for f, way in ways.items()}))
        return found

    @cached_property
    def guards(self) -> tuple[Guard, ...]:
        """The branches that decide who comes to a barrier."""
        has_effect = np.isin(self.program.code["op"], _EFFECTS)
        matters = {s for s, last in self.last.items() if has_effect[s : last + 1].any()}
        found = list[Guard]()
        for pc, meet, lead in self._branches:
            toward = frozenset(f for f, barriers in lead.items() if barriers)
            if toward and len(toward) < len(lead):
                rejoins = meet != END and not matters.isdisjoint(self.reach(meet, END))
                found.append(Guard(pc, toward, frozenset[int]().union(*lead.values()), rejoins))
        return tuple(found[:MOST_GUARDS])

    @cached_property
    def facing(self) -> frozenset[tuple[int, int]]:
        """Barriers on different ways of one branch: warps with different roles may meet there."""
        pairs = set[tuple[int, int]]()
        for _, _, lead in self._branches:
            for one, other in permutations(lead.values(), 2):
                pairs |= {(a, b) for a in one - other for b in other - one}
        return frozenset(pairs)


def _common(a: int, b: int, meets: dict[int, int], rank: dict[int, int]) -> int:
    while a != b:
        while rank[a] > rank[b]:
            a = meets[a]
        while rank[b] > rank[a]:
            b = meets[b]
    return a


def flow_of(program: Program) -> Flow:
    """The flow of a program; kept with it, since the same program is launched many times."""
    kept = vars(program)  # frozen, and not hashable: nothing else could remember it
    if "_flow" not in kept:
        kept["_flow"] = Flow(program)
    return kept["_flow"]
