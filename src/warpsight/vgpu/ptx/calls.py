"""Which functions a kernel needs and who may call whom, read from the names that bodies and initialisers mention.

More edges than there are calls do no harm: they only make a function look recursive, and then it saves its rows.
"""

from __future__ import annotations

import re

from warpsight.vgpu.ptx.parse import Function, Module

_NAME = re.compile(r"[A-Za-z_$][\w$]*")


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
    indirect = {
        name
        for name in order
        if any(w in (module.functions[name].body or "") for w in (".callprototype", ".calltargets"))
    }
    if indirect:  # an indirect call may reach every function
        for name in indirect:
            edges[name] |= set(order) - {kernel.name}
    return order, edges


def reach(edges: dict[str, set[str]], name: str) -> set[str]:
    seen, todo = set[str](), list(edges[name])
    while todo:
        callee = todo.pop()
        if callee not in seen:
            seen.add(callee)
            todo.extend(edges[callee])
    return seen
