"""`contended_atomics`: lanes of a warp that add to one place add up first, and one of them adds for all.

Right wherever the atomic stands: a warp whose lanes are not all there, or go to several places, adds as before. Atomics
whose result is used are left alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from warpsight.rewrite.record import Facts, Rewrite
from warpsight.rewrite.restructure.edits import TreeEdits, fresh_name
from warpsight.source.tree import NotUnderstood, kernel_of, parse, within

_COMBINE = {
    "atomicAdd": "value += other;",
    "atomicMax": "value = other > value ? other : value;",
    "atomicMin": "value = other < value ? other : value;",
}
WHY = "lanes of a warp go to one place: let them add up by shuffles, and one of them add for all"


def added_by_warp(text: str, facts: Facts) -> Iterator[Rewrite]:
    """Every atomic whose result is not used, by a function that asks whether all lanes go to one place."""
    try:
        kernel = kernel_of(parse(text), facts.entry)
    except NotUnderstood:
        return
    tree, edits = kernel.tree, TreeEdits(kernel.tree)
    helpers: dict[str, str] = {}
    for call in within(kernel.body, "call_expression"):
        called, parent = call.child_by_field_name("function"), call.parent
        word = "" if called is None else tree.of(called)
        given = call.child_by_field_name("arguments")
        plain = parent is not None and parent.type == "expression_statement"
        if called is None or given is None or word not in _COMBINE or not plain or given.named_child_count != 2:
            continue
        name = fresh_name(text, f"warp_{word.removeprefix('atomic').lower()}")
        helpers.setdefault(name, _helper(name, word))
        edits.replace(called, name)
    if not helpers:
        return
    top = kernel.definition
    while top.parent is not None and top.parent.type != "translation_unit":
        top = top.parent
    edits.before(top, "".join(f"{one}\n" for one in helpers.values()))
    yield Rewrite("added up by each warp first, where its lanes go to one place", edits.text(), WHY)


def _helper(name: str, word: str) -> str:
    return f"""template <typename T, typename V>
__device__ __forceinline__ void {name}(T* place, V given) {{
    T value = given;
    int same = 0;
    const unsigned there = __activemask();
    __match_all_sync(there, reinterpret_cast<unsigned long long>(place), &same);
    if (there != 0xffffffffu || !same) {{
        {word}(place, value);
        return;
    }}
    for (int step = 16; step > 0; step /= 2) {{
        const T other = __shfl_xor_sync(0xffffffffu, value, step);
        {_COMBINE[word]}
    }}
    unsigned lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    if (lane == 0) {{ {word}(place, value); }}
}}
"""
