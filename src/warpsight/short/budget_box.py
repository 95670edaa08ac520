"""The tools of the suite `budget`: a model may have so many changes tried, then submits. Every compile counts.

`try` makes one rewrite for a cause on the fastest kernel so far, and tells what came of it; the next call for the same
cause on the same kernel makes the next one. `time` does so for a model's own edit. Both cost one of the tries, and are
refused when none is left. A cause without a rewrite for this kernel costs none: nothing was compiled. What is known
already (`known`, a table of outcomes) is not measured again. One box is one conversation: it remembers its tries. What
must stay true: what is handed in was found right and faster by the gate, or is the given kernel.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from warpsight.causes import NOTHING, require_named
from warpsight.errors import TaskError, UsageError
from warpsight.nouns import Noun, kernel_id
from warpsight.rewrite import CAUSES, Rewrite, facts_of, rewrites, rewritten_for
from warpsight.session.feedback import NO_TIME, shows_time
from warpsight.session.session import IMPOSSIBLE
from warpsight.session.tries import TriedRewrite, judged, try_one
from warpsight.short.box import SmallBox
from warpsight.short.prompting import CAUSE, TRY, WHICH
from warpsight.short.words import HELPS
from warpsight.tools.box import SUBMIT, ToolResult
from warpsight.tools.edits import KERNEL

Known = Callable[[Sequence[str]], "Sequence[TriedRewrite] | None"]
"""The tries at the end of a way, where they were measured before."""
OWN = "edit"  # the cause of a model's own edit


class BudgetSpent(Noun):
    """What came of one conversation. `speed` is of what is handed in, over the given kernel; `measured` counts the
    tries that no table knew."""

    tries: int
    allowed: int
    speed: float = 1.0
    verdict: str = "right"
    way: tuple[str, ...] = ()
    measured: int = 0


class BudgetBox(SmallBox):
    """A ToolBox for one conversation with a budget of tries."""

    def __init__(self, *arguments: Any, tries: int, known: Known | None = None, **named: Any) -> None:
        super().__init__(*arguments, **named)
        if tries < 1:
            raise UsageError(f"expected a budget of at least one try, found {tries}")
        self.tries = tries
        self._known: Known = known or (lambda _way: None)
        self._way: tuple[str, ...] | None = ()  # None: at a kernel that the model wrote
        self._text = self._given
        self._best: TriedRewrite | None = None
        self._seen: set[str] = set()  # kernels that were tried
        self.log: list[TriedRewrite] = []
        self._measured = 0

    @property
    def left(self) -> int:
        return self.tries - len(self.log)

    @property
    def spent(self) -> BudgetSpent:
        """What came of it so far."""
        best = self._best
        way = tuple(one.name for one in self.log if one.speed > 1) if best is not None else ()
        speed = best.speed if best is not None else 1.0
        return BudgetSpent(
            tries=len(self.log), allowed=self.tries, speed=speed, way=self._way or way, measured=self._measured
        )

    @functools.cached_property
    def _first_causes(self) -> tuple[str, ...]:
        known = self._known(())
        if known is not None:
            return tuple(dict.fromkeys(one.cause for one in known))
        facts = facts_of(self.task)
        return tuple(cause for cause in CAUSES if rewrites(self._given, cause, facts, 1))

    @property
    def can_try(self) -> tuple[str, ...]:
        """The causes that a rewrite is known for, of the given kernel."""
        return self._first_causes

    def next_for(self, cause: str, which: int | None = None) -> TriedRewrite | tuple[str, int, Rewrite] | None:
        """The rewrite that a call would make: what is known of it, or what is to be measured; None where none is
        left. `which` names one, from 1, instead of the next."""
        for own in _rewritable(cause):
            for number, one in enumerate(self._known_here(own), start=1):
                if _id_of(one) not in self._seen if which is None else number == which:
                    return one
        return None

    def _known_here(self, cause: str) -> Sequence[TriedRewrite | tuple[str, int, Rewrite]]:
        known = None if self._way is None else self._known(self._way)
        if known is not None:
            return [one for one in known if one.cause == cause]
        made = rewrites(self._text, cause, facts_of(self.task))
        return [(cause, number, one) for number, one in enumerate(made)]

    def _call(self, name: str, arguments: Mapping[str, JsonValue]) -> ToolResult:
        if name == "profile":
            return self._profile(arguments)
        if name == SUBMIT:
            return self._hand_in(str(arguments[CAUSE]))
        if self.left < 1:
            return _refused(f"all {self.tries} tries are spent: call {SUBMIT}")
        try:
            if name == TRY:
                which = arguments.get(WHICH)
                return self._try(str(arguments[CAUSE]), which if isinstance(which, int) else None)
            return self._own(str(self._kernel_of(arguments)[KERNEL]))
        except (*IMPOSSIBLE, TaskError) as impossible:
            return _refused(impossible.message)

    def _try(self, cause: str, which: int | None) -> ToolResult:
        try:
            found = self.next_for(cause, which)
        except UsageError as unknown:
            return _refused(unknown.message)
        if found is None:
            return ToolResult(text=f"{cause}: no other rewrite is known for this kernel; no try was spent")
        if isinstance(found, tuple):
            cause_of, number, one = found
            done = try_one(self.box.session, self._text, cause_of, number, one)
            self._measured += 1
            made = one.text
        else:
            done, made = found, None
        return self._took(done, made)

    def _own(self, kernel: str) -> ToolResult:
        """A model's own edit."""
        session = self.box.session
        told = judged(session, session.candidate(self._text), session.candidate(kernel))
        self._measured += 1
        number = sum(one.cause == OWN for one in self.log)
        return self._took(
            TriedRewrite.model_validate(
                {"cause": OWN, "number": number, "rewrite": "own edit", "kernel": kernel_id(kernel), **told}
            ),
            kernel,
        )

    def _took(self, done: TriedRewrite, made: str | None) -> ToolResult:
        """The try is spent, and where it helps the kernel is gone on from. Without times the last right one is."""
        before = self._best.speed if self._best is not None else 1.0
        self.log.append(done)
        self._seen.add(done.kernel)
        times = shows_time(self.feedback)
        better = done.speed > before if times else done.verdict == "right"
        if better:
            text = made or self._made(done)
            self._way = None if done.cause == OWN or self._way is None else (*self._way, done.name)
            self._text, self._best = text, done
        left = f"{self.left} left" if self.left else f"none left: {SUBMIT}"
        said = _words(done, before, better=better) if times else f"{done.cause}: {done.rewrite}; {NO_TIME}"
        return ToolResult(text=f"{said}; {left}", made=self._text if better else None)

    def _made(self, done: TriedRewrite) -> str:
        """The text of a try that a table knows: made of the text at hand, else where that has other rewrites, of the
        plain one."""
        facts = facts_of(self.task)
        own = rewrites(self._text, done.cause, facts)
        if done.number < len(own) and own[done.number].name == done.rewrite:
            return own[done.number].text
        text = self._plain[0] if self._plain is not None else self._given
        for name in (*(self._way or ()), done.name):
            cause, _, number = name.partition("#")
            made = rewrites(text, cause, facts)
            if int(number) >= len(made):
                raise UsageError(f"the rewrites have no {name} of this kernel now", hint="make the table anew")
            text = made[int(number)].text
        return text

    def _hand_in(self, cause: str) -> ToolResult:
        speed = self.spent.speed
        said = "the given kernel stays" if speed == 1.0 else f"{speed:.2f}x (simulated)"
        shown = said if shows_time(self.feedback) else "submitted"
        return ToolResult(text=shown, data={CAUSE: cause}, submitted=True)


def _words(done: TriedRewrite, before: float, *, better: bool) -> str:
    """What came of a try, in few words."""
    told = f"{done.cause}: {done.rewrite}"
    if done.ratio is None:
        return f"{told}: {done.verdict.replace('_', ' ')}"
    step = done.ratio / before
    if better:
        total = f", {done.ratio:.2f}x in all" if before > 1 else ""
        return f"{told}: {step:.2f}x{total}, kept"
    if step >= HELPS and done.by == "gate":
        return f"{told}: {step:.2f}x, refused by the gate: {done.reason.replace('_', ' ') or done.verdict}"
    return f"{told}: {step:.2f}x, not faster" if step < HELPS else f"{told}: {step:.2f}x, {done.verdict}"


def _id_of(one: TriedRewrite | tuple[str, int, Rewrite]) -> str:
    return one.kernel if isinstance(one, TriedRewrite) else kernel_id(one[2].text)


def _rewritable(word: str) -> tuple[str, ...]:
    """The causes whose rewrites a word means; UsageError where nobody calls anything so."""
    if word == NOTHING:
        return ()
    require_named(word)
    return rewritten_for(word)


def _refused(why: str) -> ToolResult:
    return ToolResult(text=f"error: {why}", is_error=True)
