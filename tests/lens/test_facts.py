"""Plain facts of a launch for models: from counters alone, few words, nothing that is not known."""

from __future__ import annotations

from warpsight.bundled import find_bundled
from warpsight.lens import tokens
from warpsight.lens.facts import grid_by_size, plain_facts
from warpsight.nouns import Profile
from warpsight.session.session import Session
from warpsight.short.box import SmallBox
from warpsight.short.budget_box import BudgetBox
from warpsight.tasks import read_task

FACTS_TOKENS = 110


def profile_of(**counters: float) -> Profile:
    return Profile(
        kernel="k", device="d", source="simulated", counters=counters, units=dict.fromkeys(counters, "x"),
        sampled_blocks=1, total_blocks=1,
    )  # fmt: skip


def test_a_grid_is_by_size_or_fixed_in_the_text() -> None:
    assert grid_by_size("// launch: grid=(ceil(N/(256*4))) block=(256) shared=0\n") is True
    assert grid_by_size("// launch: grid=(16) block=(256) shared=0\n") is False
    assert grid_by_size("// launch: grid=(ceil(64/4), 2) block=(256)\n") is False
    assert grid_by_size("no launch line") is None


def test_facts_are_said_of_what_was_counted_and_of_nothing_else() -> None:
    told = plain_facts(
        profile_of(
            threads_per_block=256, blocks=16, multiprocessors=108, duration_us=4.0, launch_overhead_us=2.0,
            busy_dram=80.0, busy_issue=30.0, busy_lsu=10.0, stall_long_scoreboard=900.0, stall_wait=100.0,
            global_load_requests=10.0, global_load_sectors=320.0, mix_double=50.0, instructions=200.0,
        ), None, None, "// launch: grid=(16) block=(256) shared=0\n",
    )  # fmt: skip
    assert told == (
        "256 threads a block, 16 blocks fixed on 108 SMs, launch 50 % of the time",
        "busy: dram 80 %, issue 30 %",
        "waits: long_scoreboard 90 %, wait 10 %",
        "loads 32.0 sectors a request, double 25 % of instructions",
    )
    assert plain_facts(profile_of(duration_us=1.0), None, None, "") == ()


def test_a_profile_in_few_words_has_the_facts_in_the_suite_budget_alone() -> None:
    folder = find_bundled("tasks", "saxpy")
    assert folder is not None
    task = read_task(folder)
    short, with_facts = SmallBox(task, "recommend"), BudgetBox(task, "budget", tries=1)
    plain, whole = short.call("profile", {}).text, with_facts.call("profile", {}).text
    added = [row for row in whole.splitlines() if row not in plain.splitlines()]
    assert "threads a block" not in plain and any("threads a block" in row for row in added)
    assert any("blocks an SM by " in row for row in added) and any(row.startswith("busy: ") for row in added)
    with Session(task, cores=1) as session:
        facts = plain_facts(session.counters(), session.build(), session.gpu, task.kernel)
    assert tokens("\n".join(facts)) <= FACTS_TOKENS
