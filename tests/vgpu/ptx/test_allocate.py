"""Sharing rows never changes what an instruction reads.

Random programs are walked on random paths, with every value in a place of its own and in the places that allocation
chose; each read must find the same write.
"""

from __future__ import annotations

import random

import numpy as np
import pytest

from warpsight.vgpu.ptx import allocate as al
from warpsight.vgpu.ptx.allocate import Allocated, allocate
from warpsight.vgpu.ptx.body import PtxBody
from warpsight.vgpu.ptx.layout import Layout
from warpsight.vgpu.ptx.lines import LineMap
from warpsight.vgpu.ptx.link import load_ptx, resolve
from warpsight.vgpu.ptx.parse import parse_module

TEMPLATES = (
    "add.s32 {r}, {r}, {r}", "mul.wide.u32 {d}, {r}, 4", "add.s64 {d}, {d}, {d}",
    "setp.lt.s32 {p}|{p}, {r}, {r}", "selp.b32 {r}, {r}, 3, {p}",
    "ld.global.v2.u64 {{{d}, {d}}}, [{d}]", "st.global.v2.b32 [{d}], {{{r}, {r}}}", "mov.b64 {{{r}, {r}}}, {d}",
    "mov.b64 {d}, {{{r}, {r}}}",
    "and.pred {p}, {p}, !{p}", "shfl.sync.idx.b32 {r}|{p}, {r}, {r}, 31, -1", "add.cc.u32 {r}, {r}, {r}",
    "addc.u32 {r}, {r}, {r}",
    "atom.global.add.u32 {r}, [{d}], {r}", "vote.sync.ballot.b32 {r}, {p}, -1", "mul24.hi.s32 {r}, {r}, {r}",
)  # fmt: skip


def random_body(rng: random.Random, n: int) -> str:
    lines = list[str]()
    for i in range(n):
        text = rng.choice(TEMPLATES)
        while any(mark in text for mark in ("{r}", "{d}", "{p}")):
            for mark, prefix in (("{r}", "%r"), ("{d}", "%rd"), ("{p}", "%p")):
                text = text.replace(mark, f"{prefix}{rng.randrange(12)}", 1)
        text = text.replace("{{", "{").replace("}}", "}")
        if "|" in text and len(set(text.split(",")[0].split(None, 1)[1].split("|"))) == 1:
            continue
        guard = f"@{rng.choice(('', '!'))}%p{rng.randrange(12)} " if rng.random() < 0.2 else ""
        lines.append(f"L{i}: {guard}{text};")
        if rng.random() < 0.15:
            lines.append(f"@%p{rng.randrange(12)} bra L{{{rng.randrange(n)}}};")
    labels = [int(line[1 : line.index(":")]) for line in lines if line[0] == "L"]
    fixed = [
        line if "{" not in line or " bra " not in line else f"{line.split('L')[0]}L{rng.choice(labels)};"
        for line in lines
    ]
    return "\n".join(fixed)


def program(body: str) -> str:
    registers = ".reg .pred %p<12>; .reg .b32 %r<12>; .reg .b64 %rd<12>;"
    return f".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() {{\n{registers}\n{body}\nret;\n}}\n"


def prepared(text: str) -> tuple[PtxBody, Allocated, dict[int, list[int]]]:
    module = parse_module(text)
    body = PtxBody(Layout(module), module.functions["k"], LineMap(1))
    body.lower()
    jumps, _ = resolve(body)
    return body, allocate(body, jumps), jumps


class Walk:
    """Writes as numbers, kept twice: by virtual register and by allocated place."""

    def __init__(self, body: PtxBody, allocated: Allocated) -> None:
        self.body, self.code, self.lists = body, allocated.code, allocated.lists
        self.plain = np.array(body.code, np.int64)
        self.rows, self.preds = al.row_fields(self.plain), al.pred_fields(self.plain)
        self.own: dict[tuple[str, int], int] = {}
        self.shared: dict[tuple[str, int], int] = {}
        self.time = 0
        self.reads = 0

    def operands(self, i: int, *, writes: bool) -> list[tuple[str, int, int, int]]:
        """(kind, virtual number, place, rows) of what instruction i reads or writes."""
        found = list[tuple[str, int, int, int]]()
        for f in range(2) if writes else range(2, 6):
            old, new = int(self.plain[i, al.D0 + f]), int(self.code[i, al.D0 + f])
            if self.rows[i, f] and old >= 0 and new >= 0:
                found.append(("r", old, new, max(1, self.body.names.reg_rows[old])))
            elif self.preds[i, f]:
                index = (old, new) if writes else (old >> 1, new >> 1)
                found += [("p", *index, 1)] if index[0] > 0 else []
        if (span := self.body.spans.get(i)) is not None:
            first = span.start if writes else span.start + span.defined
            for k in range(first, first + (span.defined if writes else span.used)):
                old, new = self.body.lists[k], int(self.lists[k])
                found += [("r", old, new, max(1, self.body.names.reg_rows[old]))] if old >= 0 else []
        if not writes and (guard := int(self.plain[i, al.GUARD])) > 1:
            found.append(("p", guard >> 1, int(self.code[i, al.GUARD]) >> 1, 1))
        return found

    def step(self, i: int, *, runs: bool) -> None:
        for kind, old, new, rows in self.operands(i, writes=False):
            for k in range(rows):
                if (kind, old + k) in self.own:
                    self.reads += 1
                    assert self.own[kind, old + k] == self.shared[kind, new + k], (
                        f"instruction {i}: {self.body.texts[i]}"
                    )
        for kind, old, new, rows in self.operands(i, writes=True) if runs else ():
            for k in range(rows):
                self.time += 1
                self.own[kind, old + k] = self.shared[kind, new + k] = self.time


@pytest.mark.parametrize("seed", range(25))
def test_random_walks_read_what_was_written(seed: int) -> None:
    rng = random.Random(seed)
    body, allocated, jumps = prepared(program(random_body(rng, 60)))
    reads = 0
    for _ in range(10):
        walk, at = Walk(body, allocated), 0
        for _ in range(400):
            if at >= len(body.code):
                break
            runs = body.code[at][al.GUARD] == 0 or rng.random() < 0.5
            walk.step(at, runs=runs)
            at = jumps[at][0] if runs and at in jumps else at + 1
        reads += walk.reads
    assert reads > 100


def test_short_lives_share_rows() -> None:
    lines = [
        f"mov.u32 %x{i}, {i}; add.s32 %x{i + 1}, %x{i}, 1; st.global.u32 [%rd0], %x{i + 1};" for i in range(0, 200, 2)
    ]
    found = load_ptx(program(".reg .b32 %x<202>;\n" + "\n".join(lines)))
    assert found.n_rows <= 6


def test_a_value_needed_around_a_loop_keeps_its_row() -> None:
    body = (
        "mov.u32 %r0, 5; mov.u32 %r1, 0;\nLOOP: add.s32 %r2, %r1, 1; mov.u32 %r3, 9;\n"
        "add.s32 %r1, %r2, %r3; setp.lt.s32 %p0, %r1, 100;\n"
        "@%p0 bra LOOP;\nst.global.u32 [%rd0], %r0;"
    )
    code = load_ptx(program(body)).code
    kept = code["d0"][0]
    assert kept not in (code["d0"][1], code["d0"][2], code["d0"][3])
    assert load_ptx(program(body)).lists[code["list"][7]] == kept
