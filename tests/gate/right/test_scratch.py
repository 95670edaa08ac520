"""Scratch memory starts as declared in every run, is not compared, and is what a changed start points to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.honest.collection import Entry, entries

from warpsight.devices.virtual import VirtualGpu
from warpsight.errors import TaskError
from warpsight.gate.check import check_candidate
from warpsight.gate.families import ALL_FAMILIES, family_inputs
from warpsight.nouns import Check, Task
from warpsight.tasks import read_candidate


def scan() -> Entry:
    return next(entry for entry in entries() if entry.name == "chained_scan")


def checked(task: Task) -> Check:
    return check_candidate(task, read_candidate(task.kernel, task, "kernel.cu"), VirtualGpu(), secret_seed=11)


def test_a_scan_whose_blocks_take_tickets_is_right(tmp_path: Path) -> None:
    task = scan().task(tmp_path)
    for family in ALL_FAMILIES:
        inputs = family_inputs(task, task.workloads[0], 1, family)
        assert inputs is None or (not np.any(inputs["ticket"]) and not np.any(inputs["sums"]))
    assert checked(task).verdict == "right"


def test_a_ticket_that_the_reference_reads_starts_otherwise_and_the_message_says_so(tmp_path: Path) -> None:
    entry = scan()
    declared = entry.declared.replace("scratch ticket uint32 1", "inout ticket uint32 1 fill=zeros")
    text = "def reference(x, ticket):\n    return {'y': np.cumsum(x), 'ticket': ticket + -(-len(x) // 512)}\n"
    task = replace(entry, declared=declared, reference=f"import numpy as np\n{text}").task(tmp_path)
    found = checked(task)
    assert found.verdict in ("wrong", "fault")
    told = [r.detail for r in found.workloads if not r.ok]
    assert told and all("the start of `ticket` was changed" in t and 'role = "scratch"' in t for t in told)
    assert all("the start of `ticket` was changed" in fault.message for fault in found.faults)


def test_scratch_has_a_constant_fill_and_is_not_given_to_the_reference(tmp_path: Path) -> None:
    entry = scan()
    ones = replace(entry, declared=entry.declared.replace("ticket uint32 1", "ticket uint32 1 fill=ones")).task(
        tmp_path
    )
    inputs = family_inputs(ones, ones.workloads[0], 1, "declared")
    assert inputs is not None and inputs["ticket"].tolist() == [1]
    drawn = entry.declared.replace("ticket uint32 1", "ticket uint32 1 fill=integers low=0 high=9")
    with pytest.raises(TaskError, match="scratch is filled with"):
        replace(entry, declared=drawn).task(tmp_path / "drawn")
    with pytest.raises(TaskError, match="'ticket'"):
        replace(entry, reference="def reference(x, ticket):\n    return x\n").task(tmp_path / "read")
