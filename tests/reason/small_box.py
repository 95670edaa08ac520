"""A small real tool box: a text that names a stride is a kernel, and its cost is counted from the addresses it touches.

No compiler, so it answers in milliseconds and a run can be killed and resumed a hundred times. Every execution is
written to a side file before it begins, so a test can count how often each call really ran.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from warpsight.models.scripted import ScriptedCall, ScriptedTurn
from warpsight.nouns import Check, Evaluation, Evidence, Finding, Profile, Timing, WorkloadResult
from warpsight.reason.budget import Budget
from warpsight.reason.job import Job, Opening
from warpsight.tools.box import ToolResult, ToolSpec
from warpsight.tools.edits import offer_edits

KERNEL = "// launch: grid=(64) block=(256)\n// reads x once\nstride = 32\nunroll = 1\n"
KERNEL_SCHEMA: dict[str, JsonValue] = {
    "type": "object",
    "properties": {"kernel": {"type": "string"}},
    "required": ["kernel"],
}
SUBMIT_SCHEMA: dict[str, JsonValue] = {
    "type": "object",
    "properties": {
        "kernel": {"type": "string"},
        "cause": {"type": "string"},
        "predicts": {"type": "object", "additionalProperties": {"type": "string", "enum": ["up", "down"]}},
    },
    "required": ["kernel", "cause"],
}
WAIT_SCHEMA: dict[str, JsonValue] = {
    "type": "object",
    "properties": {"milliseconds": {"type": "integer", "minimum": 0, "maximum": 50}},
    "required": ["milliseconds"],
}
SPECS = (
    ToolSpec(name="check", description="Is the kernel right?", parameters=KERNEL_SCHEMA),
    ToolSpec(name="time", description="How long does it take?", parameters=KERNEL_SCHEMA),
    ToolSpec(name="profile", description="What does it do?", parameters=KERNEL_SCHEMA),
    ToolSpec(name="wait", description="Work for some milliseconds.", parameters=WAIT_SCHEMA),
    ToolSpec(name="submit", description="Hand in the kernel.", parameters=SUBMIT_SCHEMA),
)


def sectors(stride: int) -> int:
    """Sectors of 32 bytes that 32 lanes touch when they read one float each at this stride."""
    return len({lane * stride * 4 // 32 for lane in range(32)})


def evaluate(kernel: str) -> Evaluation:
    """The whole truth about a kernel of this small world."""
    sha256 = hashlib.sha256(kernel.encode()).hexdigest()
    found = re.search(r"^stride = ([1-9][0-9]*)$", kernel, re.MULTILINE)
    seen = {"workload": "small", "hidden": False, "seed": 0, "total_elements": 32}
    if found is None:
        bad = WorkloadResult.model_validate(seen | {"ok": False, "reason": "wrong_values", "wrong_elements": 32})
        return Evaluation(
            candidate_sha256=sha256, check=Check(verdict="wrong", reason="it reads nothing", workloads=(bad,))
        )
    count, base = sectors(int(found[1])), sectors(32)
    time_us, base_us = 1.0 + count / 4, 1.0 + base / 4
    ratio = base_us / time_us
    decision = "FASTER" if ratio > 1.02 else "SLOWER" if ratio < 0.98 else "SAME"
    profile = Profile(
        kernel="k",
        device="small",
        source="simulated",
        bound="dram",
        counters={"sectors_per_request": count, "duration_us": time_us},
        units={"sectors_per_request": "sector", "duration_us": "us"},
        sampled_blocks=1,
        total_blocks=1,
    )
    name, gain = ("uncoalesced", count / 4) if count > 4 else ("at_roofline", 1.0)
    evidence = Evidence(counter="sectors_per_request", value=count, unit="sector", limit=4, line=3)
    finding = Finding(name=name, message=name, evidence=(evidence,), estimated_gain=gain, suggestion="read in order")
    return Evaluation(
        candidate_sha256=sha256,
        check=Check(verdict="right", reason="", workloads=(WorkloadResult.model_validate(seen | {"ok": True}),)),
        timing=Timing(
            source="simulated",
            device="small",
            method="sectors",
            samples_us=(time_us,),
            baseline_us=(base_us,),
            ratio=ratio,
            interval=(ratio, ratio),
            decision=decision,
        ),
        profile=profile,
        findings=(finding,),
    )


class SmallBox:
    """The tools, with a side file of all executions if one is given."""

    def __init__(self, log: Path | None = None) -> None:
        self.log = log
        self.called: list[str] = []

    def specs(self) -> tuple[ToolSpec, ...]:
        return SPECS

    def call(self, name: str, arguments: Mapping[str, JsonValue]) -> ToolResult:
        self.called.append(name)
        self._write_down(name, arguments)
        if name == "wait":
            until = time.perf_counter() + float(str(arguments["milliseconds"])) / 1000
            while time.perf_counter() < until:
                pass
            return ToolResult(text=f"worked {arguments['milliseconds']} ms")
        found = evaluate(str(arguments["kernel"]))
        if name == "check":
            return ToolResult(text=f"{found.check.verdict} {found.check.reason}".strip(), data={"tool": "check"})
        if found.timing is None or found.profile is None:
            return ToolResult(text=f"not run: {found.check.verdict}", evaluation=found, submitted=name == "submit")
        full = json.dumps(dict(found.profile.counters)).encode()
        return ToolResult(
            text=f"{found.timing.ratio:.2f}x (simulated), {found.findings[0].name}",
            data={"ratio": found.timing.ratio},
            artefacts=(full,) if name == "profile" else (),
            evaluation=found,
            baseline=evaluate(KERNEL),
            submitted=name == "submit",
        )

    def _write_down(self, name: str, arguments: Mapping[str, JsonValue]) -> None:
        if self.log is None:
            return
        line = f"{name} {hashlib.sha256(json.dumps(dict(arguments)).encode()).hexdigest()}\n"
        handle = os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(handle, line.encode())
            os.fsync(handle)
        finally:
            os.close(handle)


def job(run_id: str = "r1", **changes: Any) -> Job:
    fields: dict[str, Any] = {
        "id": run_id,
        "task": "small",
        "model": "scripted",
        "device": "small",
        "opening": Opening(system="You make kernels faster.", user=f"The kernel:\n{KERNEL}", kernel=KERNEL),
        "tools": tuple(map(offer_edits, SPECS)),
        "budget": Budget(tool_calls=40),
        "enough_gain": None,
    }
    return Job(**{**fields, **changes})


def turn(tool: str, text: str = "", **arguments: Any) -> ScriptedTurn:
    return ScriptedTurn(text=text, reasoning=f"I call {tool}.", calls=(ScriptedCall(name=tool, arguments=arguments),))


def edit(search: str, replace: str) -> JsonValue:
    return [{"search": search, "replace": replace}]


def stride(old: int, new: int) -> JsonValue:
    return edit(f"stride = {old}", f"stride = {new}")


GOOD = (
    turn("profile", "Look first.", base="original"),
    turn("check", edits=stride(32, 4)),
    turn("time"),
    turn("profile"),
    turn("check", edits=stride(4, 1)),
    turn("submit", cause="uncoalesced reads at line 3", predicts={"sectors_per_request": "down"}),
)
