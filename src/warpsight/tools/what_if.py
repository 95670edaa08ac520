"""`what_if`: how long would a kernel take with a cause removed? Asked before an edit is made."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from warpsight.errors import UsageError
from warpsight.nouns import Noun, WhatIfTime, kernel_id
from warpsight.session.feedback import NO_PROFILE, NO_TIME, shows_counters, shows_time
from warpsight.session.session import IMPOSSIBLE, Session
from warpsight.tools.answer import Answer, Kernel, KernelId

MOST = 4  # findings that are simulated away one by one
Cause = Annotated[str | None, Field(max_length=200, description="of a finding; else each")]


class WhatIfAnswer(Noun):
    """The time of the kernel, and without each cause; `gain` is what there is to win at best."""

    kernel: KernelId
    time_us: float | None = None
    without: tuple[WhatIfTime, ...] = ()
    reason: str = ""


def what_if(session: Session, kernel: Kernel, cause: Cause = None) -> Answer[WhatIfAnswer]:
    """What would removing a cause gain at best? Simulated, before you edit."""
    name = kernel_id(kernel)
    if not (shows_time(session.feedback) and shows_counters(session.feedback)):
        why = NO_PROFILE if shows_time(session.feedback) else NO_TIME
        return Answer(f"{name}: {why}", WhatIfAnswer(kernel=name, reason=why))
    try:
        found, skipped = simulate_away(session, kernel, cause)
    except IMPOSSIBLE as impossible:
        return Answer(f"{name}: {impossible.message}", WhatIfAnswer(kernel=name, reason=impossible.message))
    if not found:
        why = "none of its findings can be simulated away" if skipped else "it has no findings"
        return Answer(f"{name}: {why}", WhatIfAnswer(kernel=name, reason=why))
    lines = [f"{name}: {found[0].time_us:.2f} us (simulated)"]
    lines += [f"without {one.cause}: {one.without_us:.2f} us, {one.gain:.2f}x at best; {one.assumes}" for one in found]
    lines += [f"not simulated: {', '.join(skipped)}"] if skipped else []
    return Answer("\n".join(lines), WhatIfAnswer(kernel=name, time_us=found[0].time_us, without=tuple(found)))


def simulate_away(session: Session, kernel: str, cause: str | None) -> tuple[list[WhatIfTime], list[str]]:
    """What was asked for, or each finding; and the names of those that cannot be simulated away."""
    if cause is not None:
        return [session.what_if(cause, kernel)], []
    found: list[WhatIfTime] = []
    skipped: list[str] = []
    for name in dict.fromkeys(one.name for one in session.diagnose(kernel)):
        if len(found) == MOST:
            break
        try:
            found.append(session.what_if(name, kernel))
        except UsageError:
            skipped.append(name)
    return sorted(found, key=lambda one: -one.gain), skipped
