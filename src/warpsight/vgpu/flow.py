"""The control flow of a program: which branches decide whether a thread comes to a barrier of the whole block.

Blocks of straight code, their successors, and post-dominators. A guard is a branch with a side that leads to such a
barrier before the two sides meet again, and a side that does not. Functions are looked at one by one; a call counts as
the barriers of what it calls. Not covered: barriers behind calls through pointers. Nothing here executes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

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
    """Blocks by their first instruction; END is the block that ends a thread or function."""

    program: Program
    starts: list[int] = field(init=False)
    following: dict[int, list[int]] = field(init=False)

    def __post_init__(self) -> None:
        code = self.program.code
        op, target = code["op"], code["target"]
        ends = np.flatnonzero(np.isin(op, _ENDS))
        calls = target[op == _CALL]
        starts = {0, *target[op == _BRA].tolist(), *self.program.tables.tolist(), *calls.tolist(), *(ends + 1).tolist()}
        self.starts = sorted(s for s in starts if s < len(code))
        self.following = {s: self._successors(last) for s, last in self._spans}

    @cached_property
    def _spans(self) -> list[tuple[int, int]]:
        """First and last instruction of each block."""
        return list(zip(self.starts, [s - 1 for s in self.starts[1:]] + [len(self.program.code) - 1], strict=True))

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
        return jumps + [after] if int(x["guard"]) else jumps

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
        own = {s: frozenset((np.flatnonzero(waits[s : last + 1]) + s).tolist()) for s, last in self._spans}
        while True:
            found = {s: own[s] | self._of_calls(s, last, own) for s, last in self._spans}
            if found == own:
                return own
            own = found

    def _of_calls(self, start: int, last: int, own: dict[int, frozenset[int]]) -> frozenset[int]:
        here = self.program.code[start : last + 1]
        entries = here["target"][here["op"] == _CALL].tolist()
        return frozenset[int]().union(*(own[block] for entry in entries for block in self.reach(entry, END)))

    @cached_property
    def guards(self) -> tuple[Guard, ...]:
        if not any(self.barriers.values()):
            return ()
        has_effect = np.isin(self.program.code["op"], _EFFECTS)
        matters = {s for s, last in self._spans if has_effect[s : last + 1].any()}
        found = list[Guard]()
        for start, last in self._spans:
            followers = self.following[start]
            if len(followers) < 2:
                continue
            meet = self.after[start]
            lead = {f: frozenset[int]().union(*(self.barriers[b] for b in self.reach(f, meet))) for f in followers}
            toward = frozenset(f for f in followers if lead[f])
            if toward and len(toward) < len(followers):
                rejoins = meet != END and not matters.isdisjoint(self.reach(meet, END))
                found.append(Guard(last, toward, frozenset[int]().union(*lead.values()), rejoins))
        return tuple(found[:MOST_GUARDS])


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
