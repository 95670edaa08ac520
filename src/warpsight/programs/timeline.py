"""What a program's GPU did when, in simulated time: launches and copies one after the other.

The gap before a launch is what the launch itself takes. Time of the host between two of them is not known here: its
clock is this machine's. So this is the GPU's own time, without what the host would have it wait for.
"""

from __future__ import annotations

from warpsight.nouns import TimelineEvent
from warpsight.nouns.program import TimelineWay
from warpsight.programs.launches import LaunchSizes
from warpsight.vgpu.timemodel import LAUNCH_OVERHEAD_US

MOST_EVENTS = 200_000


class Timeline:
    """The events so far. Beyond `MOST_EVENTS` time goes on and events are counted only."""

    def __init__(self) -> None:
        self.events: list[TimelineEvent] = []
        self.now_us = 0.0
        self.left_out = 0

    def launched(self, size: LaunchSizes, time_us: float | None, *, repeated: bool) -> None:
        """A launch; without a time where it has none."""
        name, grid, block, _ = size
        gap = 0.0 if time_us is None else min(time_us, LAUNCH_OVERHEAD_US)
        self._add(
            TimelineEvent(
                way="launch",
                name=name,
                start_us=self.now_us,
                gap_us=gap,
                time_us=(time_us or 0.0) - gap,
                timed=time_us is not None,
                grid=grid,
                block=block,
                repeated=repeated,
            )
        )

    def copied(self, way: TimelineWay, size_bytes: int, time_us: float) -> None:
        self._add(TimelineEvent(way=way, start_us=self.now_us, time_us=time_us, size_bytes=size_bytes))

    def _add(self, event: TimelineEvent) -> None:
        self.now_us += event.gap_us + event.time_us
        if len(self.events) < MOST_EVENTS:
            self.events.append(event)
        else:
            self.left_out += 1
