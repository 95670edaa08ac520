"""Which functions a kernel needs and who may call whom, read from the names that bodies and initialisers mention.

More edges than there are calls do no harm: they only make a function look recursive, and then it saves its rows.
The address of a function is one number in all kernels of a module, since one kernel may leave it in memory for another.
"""

from __future__ import annotations

import re

from warpsight.vgpu.ptx.parse import Function, Module

_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_TAKEN = re.compile(r"\bmov\.[bu]64\s+[\w$%]+\s*,\s*([A-Za-z_$][\w$]*)\s*;")
_INDIRECT = (".callprototype", ".calltargets")


def functions_with_address(module: Module) -> list[str]:
    """Device functions whose address something in the module takes: what an indirect call can reach."""
    defined = {name for name, f in module.functions.items() if f.body is not None and not f.is_entry}
    if not defined:
        return []
    named = {word for raw in module.raw_variables.values() if raw[3] for word in _NAME.findall(raw[3])}
    for function in module.functions.values():
        named.update(_TAKEN.findall(function.body or ""))
    named = {module.aliases.get(word, word) for word in named}
    return [name for name in module.functions if name in named & defined]


def call_graph(module: Module, kernel: Function) -> tuple[list[str], dict[str, set[str]]]:
    """Functions reachable from the kernel, callees first, and who may call whom (a function named is a call)."""
    defined = {name for name, f in module.functions.items() if f.body is not None and not f.is_entry}
    if not defined:
        return [kernel.name], {kernel.name: set()}
    edges, order = dict[str, set[str]](), list[str]()

    def mentioned(text: str, seen: set[str]) -> set[str]:
        found = set[str]()
        for word in set(_NAME.findall(text)) - seen:
            seen.add(word)
            word = module.aliases.get(word, word)
            if word in defined:
                found.add(word)
            elif word in module.raw_variables and module.raw_variables[word][3]:
                found |= mentioned(module.raw_variables[word][3], seen)
        return found

    def visit(name: str) -> None:
        edges[name] = mentioned(module.functions[name].body or "", set())
        for callee in sorted(edges[name]):
            if callee not in edges:
                visit(callee)
        order.append(name)

    visit(kernel.name)
    if any(_calls_indirectly(module.functions[name]) for name in order):
        edges.clear()
        order.clear()
        for name in functions_with_address(module):
            if name not in edges:
                visit(name)
        visit(kernel.name)
        for name in [name for name in order if _calls_indirectly(module.functions[name])]:
            edges[name] |= set(order) - {kernel.name}
    return order, edges


def _calls_indirectly(function: Function) -> bool:
    return any(word in (function.body or "") for word in _INDIRECT)


def reach(edges: dict[str, set[str]], name: str) -> set[str]:
    seen, todo = set[str](), list(edges[name])
    while todo:
        callee = todo.pop()
        if callee not in seen:
            seen.add(callee)
            todo.extend(edges[callee])
    return seen
