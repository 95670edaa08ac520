"""Functions to one Program: who calls whom, where each function's code, rows and frame are.

Callees come before their callers, so that lanes inside a call (lower index) run before lanes that wait behind it
and the two meet again. Functions that can be active together never share rows; a recursive one saves its own around
calls.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from warpsight.errors import UnsupportedInstruction, UsageError
from warpsight.vgpu.bytecode import INSTRUCTION, OPS, Atomic, Flag, Param, Program, Space
from warpsight.vgpu.ptx import (
    lower_arith,
    lower_control,
    lower_convert,
    lower_float,
    lower_memory,
    lower_tensor,
    lower_warp,
)
from warpsight.vgpu.ptx.allocate import (
    D0,
    FLAGS,
    GUARD,
    IMM,
    LIST,
    OP,
    TARGET,
    Allocated,
    E,
    Ints,
    allocate,
    pred_fields,
    row_fields,
)
from warpsight.vgpu.ptx.body import PtxBody
from warpsight.vgpu.ptx.calls import call_graph, functions_with_address, reach
from warpsight.vgpu.ptx.decode import PtxRefused, head
from warpsight.vgpu.ptx.layout import Layout, align_up
from warpsight.vgpu.ptx.lines import LineMap, own_file
from warpsight.vgpu.ptx.parse import Function, Module, Variable, make_variable, parse_module

RECURSION_BYTES = 64 * 1024
LOWERINGS = (lower_arith, lower_control, lower_convert, lower_float, lower_memory, lower_tensor, lower_warp)
"""The modules that register decoders; importing them is what fills the registry."""

_SHARED = re.compile(r"(?<![\w.%])\.shared\s+((?:\.\w+(?:\s+\d+)?\s+)+)([\w$%]+)\s*((?:\[[^\]]*\]\s*)*);")
_PUSH, _POP, _BRA, _ATOM, _LD, _ST = (OPS[name].number for name in ("PUSH", "POP", "BRA", "ATOM", "LD", "ST"))


@dataclass
class _LinkedFunction:
    """One function on its way into the program; the bases say where its code, rows and predicates start there."""

    body: PtxBody
    allocated: Allocated
    tables: list[tuple[int, list[int]]]
    lists: list[int]
    frame: int = 0
    row_base: int = 0
    pred_base: int = 0
    code_base: int = 0

    @property
    def callees(self) -> set[str]:
        return {name for _, name in self.body.calls if name is not None}

    @property
    def calls_indirectly(self) -> bool:
        return any(name is None for _, name in self.body.calls)


def load_ptx(text: str, entry: str | None = None) -> Program:
    """The kernel `entry` of a PTX text (its only one when None) as a Program; refuses what the machine cannot run."""
    return load_module(parse_module(text), entry)


def load_module(module: Module, entry: str | None = None) -> Program:
    """The same of a text that was parsed already."""
    kernel = _pick(module, entry)
    names, edges = call_graph(module, kernel)
    layout = Layout(module)
    layout.function_index = {name: i for i, name in enumerate(functions_with_address(module))}
    layout.place_shared(_shared_variables(module, [module.functions[name].body or "" for name in names]))
    recursive = {name for name in names if name in reach(edges, name)}
    file = own_file(kernel.body or "")
    parts = {name: _lower(layout, module.functions[name], file, name in recursive) for name in names}
    return _join(kernel, layout, parts, recursive)


def _pick(module: Module, entry: str | None) -> Function:
    entries = {f.name: f for f in module.functions.values() if f.is_entry and f.body is not None}
    if entry is None and len(entries) == 1:
        entry = next(iter(entries))
    if entry is None or entry not in entries:
        found = ", ".join(entries) or "none"
        wanted = "exactly one kernel" if entry is None else f"kernel `{entry}`"
        raise UsageError(
            f"expected {wanted} in the PTX, found: {found}", 'name one of these (extern "C" keeps names plain)'
        )
    kernel = entries[entry]
    if re.search(r"\.(reqnctapercluster|explicitcluster)\b", kernel.directives):
        raise UnsupportedInstruction(kernel.directives, hint="thread-block clusters are not supported")
    return kernel


def _shared_variables(module: Module, bodies: list[str]) -> list[Variable]:
    found = dict[str, Variable]()
    shared = [name for name, raw in module.raw_variables.items() if raw[0] == "shared"]
    for name in shared:
        pattern = re.compile(rf"(?<![\w$%]){re.escape(name)}(?![\w$])")
        if any(pattern.search(body) for body in bodies):
            v = module.variable(name)
            assert v is not None
            found[name] = v
    for body in bodies:
        for m in _SHARED.finditer(body) if ".shared" in body else ():
            found[m[2]] = make_variable(m[2], "shared", m[1], m[3], "")
    return list(found.values())


def _lower(layout: Layout, function: Function, file: int, recursive: bool) -> _LinkedFunction:
    body = PtxBody(layout, function, LineMap(file), recursive=recursive)
    body.lower()
    try:
        jumps, tables = resolve(body)
    except PtxRefused as refusal:
        raise body.refusal(str(refusal)) from None
    allocated = allocate(body, jumps)
    for index, targets in jumps.items():
        if body.code[index][OP] == _BRA:
            allocated.code[index, TARGET] = targets[0]
    part = _LinkedFunction(body, allocated, tables, allocated.lists.tolist())
    _lay_out_frame(part)
    return part


def resolve(body: PtxBody) -> tuple[dict[int, list[int]], list[tuple[int, list[int]]]]:
    jumps, tables = dict[int, list[int]](), list[tuple[int, list[int]]]()
    for index, name, scope in body.jumps:
        body.text, body.line = body.texts[index], body.lines[index]
        jumps[index] = [_label(body, name, scope)]
    for index, name, scope in body.tables:
        body.text, body.line = body.texts[index], body.lines[index]
        names = body.lookup(body.targets, name, scope)  # type: ignore[arg-type]
        assert isinstance(names, list)
        targets = [_label(body, str(word), scope) for word in names]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        jumps[index] = targets
        tables.append((index, targets))
    return jumps, tables


def _label(body: PtxBody, name: str, scope: int) -> int:
    found = body.lookup(None, name, scope)
    assert isinstance(found, int)
    return found


def _lay_out_frame(part: _LinkedFunction) -> None:
    """Saved rows after the variables; then the frame's size is known and outgoing parameters get their place."""
    body, code = part.body, part.allocated.code
    saved = align_up(body.frame, 16)
    most, lists = 0, part.lists
    for index, _ in body.calls if body.recursive else ():
        rows = part.allocated.live_across(index)
        most = max(most, len(rows))
        for i in (index - 1, index + 1):
            code[i, LIST], code[i, TARGET], code[i, IMM] = len(lists), len(rows), saved
        lists.extend(rows)
    part.frame = align_up(saved + 4 * most, 16)
    for slot in body.outgoing:
        for i in slot.uses:
            code[i, IMM] += part.frame + slot.offset
    for index, _ in body.calls:
        code[index, IMM] = part.frame


def _row_bases(parts: dict[str, _LinkedFunction], edges: dict[str, set[str]], recursive: set[str]) -> int:
    """Rows of a function start after those of everything that may be active below it; returns the number of rows.

    With a cycle in the graph there is no order of callers, so then no two functions share rows.
    """
    top = 0
    for name in reversed(parts):  # callers first
        part = parts[name]
        callers = [p for other, p in parts.items() if name in edges[other]]
        part.row_base = top if recursive else max((p.row_base + p.allocated.n_rows for p in callers), default=0)
        top = max(top, part.row_base + part.allocated.n_rows)
    return top


def _stack_bytes(parts: dict[str, _LinkedFunction], edges: dict[str, set[str]]) -> dict[str, int]:
    """Bytes of the deepest chain of frames from each function; only asked when nothing is recursive."""
    depth = dict[str, int]()
    for name, part in parts.items():  # callees first, the kernel last
        below = max((depth[callee] for callee in edges[name]), default=0)
        # A function that calls nothing ends with its variables, to the byte: an index past them is seen.
        leaf = not part.body.calls and not part.body.out_bytes
        depth[name] = part.body.frame if leaf else part.frame + max(part.body.out_bytes, below)
    return depth


def _join(kernel: Function, layout: Layout, parts: dict[str, _LinkedFunction], recursive: set[str]) -> Program:
    edges = {name: part.callees for name, part in parts.items()}
    for name, part in parts.items():
        if part.calls_indirectly:
            edges[name] |= set(parts) - {kernel.name}
    n_rows = _row_bases(parts, edges, recursive)
    shared_link = n_rows if any(part.calls_indirectly for part in parts.values()) else -1
    n_preds = _code_and_pred_bases(parts, shared_link)
    code, lists, tables, lines, texts = list[Ints](), list[int](), list[int](), list[int](), list[str]()
    if len(parts) > 1:
        code.append(_jump_to(parts[kernel.name].code_base))
        lines.append(0)
        texts.append("")
    for part in parts.values():
        if _copies_link(part, shared_link):
            code.append(_copy_link(part.allocated.link + part.row_base, shared_link))
            lines.append(0)
            texts.append("")
        code.append(_place(part, parts, lists, tables, shared_link))
        lines += part.body.lines
        texts += part.body.texts
    matrix = np.concatenate(code)
    params, param_bytes = _params(kernel)
    return Program(
        entry=kernel.name,
        code=_records(matrix),
        lists=np.array(lists, np.int32),
        tables=np.array(tables, np.int32),
        consts=np.array(layout.constants.rows, np.uint32),
        # One row more than is used: the address of a shared access is one row, and may be read as a pair.
        n_rows=n_rows + (2 if shared_link >= 0 else 0) + 1,
        n_preds=n_preds,
        params=params,
        param_bytes=param_bytes,
        shared_bytes=layout.shared_bytes,
        local_bytes=RECURSION_BYTES if recursive else _stack_bytes(parts, edges)[kernel.name],
        lines=np.array(lines, np.int32),
        texts=tuple(texts),
        symbols=tuple(layout.symbols),
        relocations=tuple(layout.relocations),
        functions=tuple(parts[name].code_base if name in parts else 0 for name in layout.function_index),
        const_data=bytes(layout.const_data),
        uses_dynamic_shared=layout.uses_dynamic_shared,
        order_sensitive=_order_sensitive(matrix),
    )


def _copies_link(part: _LinkedFunction, shared_link: int) -> bool:
    """With indirect calls every call leaves its link in one known place; a function's first act is to take it over."""
    return shared_link >= 0 and part.body.link >= 0


def _code_and_pred_bases(parts: dict[str, _LinkedFunction], shared_link: int) -> int:
    cursor, preds = int(len(parts) > 1), 1
    for part in parts.values():
        part.code_base, part.pred_base = cursor, preds - 1
        cursor += len(part.allocated.code) + _copies_link(part, shared_link)
        preds += part.allocated.n_preds - 1
    return preds


def _jump_to(target: int) -> Ints:
    return np.array([(*head("BRA", flags=Flag.HIDDEN), 0, -(2**31), 0, -1, -1, -1, -1, 0, target, 0)], np.int64)


def _copy_link(link: int, shared_link: int) -> Ints:
    return np.array([(*head("MOV", ta=9, flags=Flag.HIDDEN), 0, link, 0, shared_link, -1, -1, -1, 0, 0, 0)], np.int64)


def _place(
    part: _LinkedFunction, parts: dict[str, _LinkedFunction], lists: list[int], tables: list[int], shared_link: int
) -> Ints:
    """The function's code with its rows, predicates, lists and targets moved to where the program has them."""
    code, base = part.allocated.code, part.code_base + _copies_link(part, shared_link)
    is_row, is_pred = row_fields(code), pred_fields(code)
    fields, factor = code[:, D0 : E + 1], np.array([1, 1, 2, 2, 2, 2])  # sources hold 2 * index + negated
    fields[is_row & (fields >= 0)] += part.row_base
    fields += np.where(is_pred & (fields >= factor), factor * part.pred_base, 0)
    code[:, GUARD] += np.where(code[:, GUARD] > 1, 2 * part.pred_base, 0)
    saves = np.flatnonzero(np.isin(code[:, OP], (_PUSH, _POP))).tolist()
    code[[*part.body.spans, *saves], LIST] += len(lists)
    lists.extend(row + part.row_base if row >= 0 else row for row in part.lists)
    code[code[:, OP] == _BRA, TARGET] += base
    for index, targets in part.tables:
        code[index, IMM], code[index, TARGET] = len(tables), len(targets)
        tables.extend(base + t for t in targets)
    for index, name in part.body.calls:
        code[index, D0] = shared_link
        if name is not None:
            callee = parts[name]
            code[index, TARGET] = callee.code_base
            if shared_link < 0:
                code[index, D0] = callee.allocated.link + callee.row_base
    return code


def _records(matrix: Ints) -> np.ndarray:
    records = np.zeros(len(matrix), INSTRUCTION)
    assert INSTRUCTION.names is not None
    for i, name in enumerate(INSTRUCTION.names):
        records[name] = matrix[:, i]
    return records


def _params(kernel: Function) -> tuple[tuple[Param, ...], int]:
    params, cursor = list[Param](), 0
    for p in kernel.params:
        cursor = align_up(cursor, p.align)
        params.append(Param(p.name, cursor, p.size, p.type))
        cursor += p.size
    return tuple(params), cursor


def _order_sensitive(matrix: Ints) -> bool:
    """True if the outcome may depend on the order of blocks: atomics with a say, volatile accesses, the heap."""
    op, space, flags = matrix[:, OP], matrix[:, 1], matrix[:, FLAGS]
    shared_out = (space == Space.GLOBAL) | (space == Space.GENERIC)
    atoms = (op == _ATOM) & shared_out
    floats = np.isin(matrix[:, 2], [int(t) for t in lower_memory.FLOAT_ATOMICS])
    exchanging = np.isin(matrix[:, 3], [int(Atomic.EXCH), int(Atomic.CAS)])
    used = (flags & int(Flag.UNUSED_RESULT)) == 0
    volatile = np.isin(op, [_LD, _ST]) & shared_out & ((flags & int(Flag.VOLATILE)) != 0)
    return bool((atoms & (floats | exchanging | used)).any() or volatile.any() or (op == OPS["MALLOC"].number).any())
