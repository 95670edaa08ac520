"""The timeline of a program: in its page, and as a trace file. Events are made by hand here."""

from __future__ import annotations

import json

from warpsight.lens.whole_program import ProgramProfile
from warpsight.nouns import KernelLaunches, ProgramCopies, TimelineEvent, WholeRun
from warpsight.programs.timeline import Timeline
from warpsight.report.chrome_trace import GAPS, chrome_trace
from warpsight.report.program_page import program_page
from warpsight.report.program_timeline import COLOURS, colours_of, pieces
from warpsight.vgpu.timemodel import LAUNCH_OVERHEAD_US

SIZE = ("_Z3addILi16EEvPf", (4, 1, 1), (256, 1, 1), 0)


def timeline() -> Timeline:
    made = Timeline()
    made.copied("host to device", 4096, 5.5)
    made.launched(SIZE, 10.0, repeated=False)
    made.launched(SIZE, 10.0, repeated=True)
    made.launched(("_Z4lostv", (1, 1, 1), (32, 1, 1), 0), None, repeated=False)
    made.copied("device to host", 4096, 5.5)
    return made


def found() -> ProgramProfile:
    rows = (
        KernelLaunches(kernel=SIZE[0], grid=SIZE[1], block=SIZE[2], shared_bytes=0, launches=2, skipped=1,
                       warp_instructions=9, host_s=0.1, time_us=20.0, bound="issue slots"),
        KernelLaunches(kernel="_Z4lostv", grid=(1, 1, 1), block=(32, 1, 1), shared_bytes=0, launches=1, skipped=0,
                       warp_instructions=1, host_s=0.1, time_us=None, no_time="<a form that is not read>"),
    )  # fmt: skip
    copies = (ProgramCopies(direction="host to device", count=1, size_bytes=4096, time_us=5.5),
              ProgramCopies(direction="device to host", count=1, size_bytes=4096, time_us=5.5))  # fmt: skip
    run = WholeRun(
        program="a <program>", gpu="a100", end="exited", exit_code=0, launches=3, skipped=1, cut=1, kernels=rows,
        copies=copies, faults=(), missing=(), refused=(), link="PCIe 4.0 x16", kernel_us=20.0, copy_us=11.0,
        launch_gap_us=2 * LAUNCH_OVERHEAD_US, untimed=1, wall_s=1.0, host_cpu_s=0.1,
    )  # fmt: skip
    made = timeline()
    return ProgramProfile(run, {}, {}, {}, tuple(made.events), made.left_out)


def test_events_follow_one_another_and_make_the_whole() -> None:
    events = timeline().events
    assert [event.start_us for event in events] == [0, 5.5, 15.5, 25.5, 25.5]
    assert events[-1].end_us == found().whole_us == 31.0
    assert sum(event.gap_us for event in events) == found().gap_us
    assert [event.repeated for event in events if event.way == "launch"] == [False, True, False]
    assert not events[3].timed and events[3].time_us == 0


def test_a_trace_has_a_row_for_each_way() -> None:
    told = json.loads(chrome_trace(found()))
    events = told["traceEvents"]
    named = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert named[3] == "host to device, PCIe 4.0 x16" and named[GAPS] == "launch gaps"
    whole = [e for e in events if e["ph"] == "X"]
    assert sum(e["dur"] for e in whole) == found().whole_us
    assert [(e["name"], e["ts"], e["dur"]) for e in whole if e["tid"] == 1] == [
        ("add<16>", 5.5 + LAUNCH_OVERHEAD_US, 10 - LAUNCH_OVERHEAD_US),
        ("add<16>", 15.5 + LAUNCH_OVERHEAD_US, 10 - LAUNCH_OVERHEAD_US),
    ]
    assert [e["name"] for e in events if e["ph"] == "i"] == ["lost (no time)"]
    assert told["otherData"]["source"] == "simulated by Warpsight"


def test_a_page_says_what_is_not_in_it() -> None:
    page = program_page(found())
    assert "add&lt;16&gt;" in page and "a &lt;program&gt;" in page and "&lt;a form that is not read&gt;" in page
    assert "streams do not overlap" in page and "1 launches were cut off" in page and "PCIe 4.0 x16" in page
    assert page.count('class="span ') == 5
    assert "<program>" not in page


def test_what_is_nearer_than_a_pixel_is_drawn_once() -> None:
    events = [
        TimelineEvent(way="launch", name=f"k{i % 2}", start_us=i / 10, time_us=0.05) for i in range(100_000)
    ]  # fmt: skip
    drawn = list(pieces(events, "launch", colours_of(events), 10.0))
    assert len(drawn) < 1100 and drawn[-1].end > 9980
    one = [event for event in events if event.name == "k1"]
    assert [piece.events for piece in pieces(one, "launch", colours_of(one), 10.0)] == [50_000]
    many = [TimelineEvent(way="launch", name=f"k{i}", start_us=i, time_us=1) for i in range(20)]
    assert max(colours_of(many).values()) == COLOURS
