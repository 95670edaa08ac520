"""`contended_atomics`: each block counts for itself, in shared memory or in registers, and adds what it has at the end.

For kernels in which each thread has one element: the element loop is made explicit, over a grid of few blocks, so that
a block has many elements before it adds once. Atomics whose result is used are left alone, and so is an array that is
read elsewhere.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from warpsight.rewrite.launch import LaunchLine, read_launch, write_launch
from warpsight.rewrite.record import Facts, Rewrite
from warpsight.rewrite.restructure.edits import TreeEdits, fresh_name, tidied
from warpsight.rewrite.restructure.layouts import SharingLayout, helper, regrid
from warpsight.rewrite.restructure.outputs import WORKS_TOGETHER
from warpsight.source.accesses import array_uses, place_of, pointer
from warpsight.source.forms import IndexForm, Scope
from warpsight.source.tree import NotUnderstood, declared_name, inner, kernel_of, parse, statements, within

DYNAMIC = 48 * 1024
LARGEST = 40 * 1024  # of static shared memory
BLOCKS = (216, 432, 1024)  # of the grid: a few for each multiprocessor of a large GPU
WIDE = ((108, 1024), (216, 512))  # fewer and larger blocks, for large tables
_START = {"atomicAdd": "0", "atomicSub": "0", "atomicOr": "0", "atomicXor": "0"}
_COMBINE = {"atomicAdd": "value0 += other0;", "atomicOr": "value0 |= other0;", "atomicXor": "value0 ^= other0;"}
_SIGN = {"atomicAdd": "+=", "atomicOr": "|=", "atomicXor": "^="}
_BYTES = {"int": 4, "unsigned int": 4, "unsigned": 4, "float": 4, "unsigned long long": 8, "double": 8}
WHY = "many atomics meet at few addresses: let each block gather for itself and add once at the end"


@dataclass(frozen=True, eq=False)
class _Atomic:
    call: Node
    statement: Node
    function: str
    array: str
    index: IndexForm
    value: Node
    type: str
    size: int  # of the array, where it is a number; else 0
    count: str  # of the array in words of the kernel, where it is no number
    axis: str  # and in words of the launch
    most: int  # what it is at most; 0 where that is not known
    spread: bool  # whether threads may add to different elements


@dataclass(frozen=True, eq=False)
class _Elements:
    """A kernel of one element a thread: the variable, the bound, what comes before, what is done for an element."""

    scope: Scope
    line: LaunchLine
    threads: int
    name: str
    declaration: Node
    test: Node  # lets an element in, or keeps it out
    before: list[Node]
    body: list[Node]
    atomics: list[_Atomic]


def gathered_by_block(text: str, facts: Facts) -> Iterator[Rewrite]:
    """Counts in shared memory, by block or by warp; sums in registers."""
    try:
        found = _read(text, facts)
    except NotUnderstood:
        return
    if any(one.count for one in found.atomics):
        yield from _in_dynamic(found)
        return
    for copies in (1, found.threads // 32):
        for blocks in BLOCKS:
            if copies > 1 and not any(one.spread for one in found.atomics):
                break
            try:
                made = _written(found, blocks, copies)
            except NotUnderstood:
                break
            each = "each warp" if copies > 1 else "each block"
            yield Rewrite(f"gathered by {each} first, {blocks} blocks over all elements", made, WHY)


def _in_dynamic(found: _Elements) -> Iterator[Rewrite]:
    """A table whose size the launch knows, in blocks of several sizes."""
    for blocks, threads in (*WIDE, *((one, found.threads) for one in BLOCKS)):
        try:
            made = _written(dataclasses.replace(found, threads=threads), blocks, 1)
        except NotUnderstood:
            return
        yield Rewrite(f"gathered by each block first, {blocks} blocks of {threads} over all elements", made, WHY)


def why_not_gathered(text: str, facts: Facts) -> list[str]:
    """Why atomics stay where they are."""
    try:
        _written(_read(text, facts), BLOCKS[0], 1)
    except NotUnderstood as reason:
        return [str(reason)]
    return []


def _read(text: str, facts: Facts) -> _Elements:
    line = read_launch(text)
    dims = line.dims if line is not None else None
    if line is None or dims is None or any(one != 1 for one in dims[1:]) or dims[0] % 32:
        raise NotUnderstood("the block is not of whole warps along x")
    kernel = kernel_of(parse(text), facts.entry)
    tree = kernel.tree
    if any(word in tree.of(kernel.body) for word in WORKS_TOGETHER):
        raise NotUnderstood("the threads of a block work together already")
    scope = Scope(kernel, {"blockDim.x": dims[0]})
    own = IndexForm.symbol("blockIdx.x") * IndexForm.number(dims[0]) + IndexForm.symbol("threadIdx.x")
    before: list[Node] = []
    for at, one in enumerate(kernel.statements):
        declarators = one.children_by_field_name("declarator") if one.type == "declaration" else []
        value = declarators[0].child_by_field_name("value") if len(declarators) == 1 else None
        name = declared_name(declarators[0]) if declarators else None
        if value is None or name is None or scope.form(value) != own:
            if one.type != "declaration" or any(w in tree.of(one) for w in ("threadIdx", "blockIdx")):
                raise NotUnderstood("no variable numbers the elements")
            before.append(one)
            continue
        word, rest = tree.of(name), kernel.statements[at + 1 :]
        test, body = _guarded(scope, word, rest)
        atomics = _atomics(scope, body, facts)
        return _Elements(scope, line, dims[0], word, one, test, before, body, atomics)
    raise NotUnderstood("no variable numbers the elements")


def _guarded(scope: Scope, name: str, rest: list[Node]) -> tuple[Node, list[Node]]:
    tree = scope.kernel.tree
    one = rest[0] if rest else None
    test = None if one is None else one.child_by_field_name("condition")
    block = None if one is None else one.child_by_field_name("consequence")
    if one is None or one.type != "if_statement" or test is None or block is None:
        raise NotUnderstood("there is no guard after the number of the element")
    test = inner(test)
    left, right = test.child_by_field_name("left"), test.child_by_field_name("right")
    sign = test.child_by_field_name("operator")
    if left is None or right is None or sign is None or tree.of(inner(left)) != name:
        raise NotUnderstood(f"line {tree.line(one)}: the guard does not compare {name}")
    leaves = [part.type for part in statements(block)] == ["return_statement"]
    if leaves and sign.type in (">=", ">"):
        return test, rest[1:]
    if not leaves and sign.type in ("<", "<=") and not rest[1:] and one.child_by_field_name("alternative") is None:
        return test, statements(block)
    raise NotUnderstood(f"line {tree.line(one)}: the guard is not understood")


def _atomics(scope: Scope, body: list[Node], facts: Facts) -> list[_Atomic]:
    kernel, tree = scope.kernel, scope.kernel.tree
    found: list[_Atomic] = []
    for statement in body:
        for call in within(statement, "call_expression"):
            called, given = call.child_by_field_name("function"), call.child_by_field_name("arguments")
            if called is None or given is None or not tree.of(called).startswith("atomic"):
                continue
            word, ones = tree.of(called), given.named_children
            if word not in _COMBINE or len(ones) != 2:
                raise NotUnderstood(f"line {tree.line(call)}: {word} is not gathered")
            if call.parent is None or call.parent.type != "expression_statement":
                raise NotUnderstood(f"line {tree.line(call)}: what {word} returns is used")
            place = pointer(scope, ones[0])
            if place is None:
                raise NotUnderstood(f"line {tree.line(call)}: where {word} adds is not understood")
            kind = kernel.parameters[place[0]].type
            shape = facts.shapes.get(place[0], ())
            size = int(shape[0]) if len(shape) == 1 and shape[0].isdecimal() else 0
            axis = shape[0] if len(shape) == 1 and not size else ""
            count = next((word for word, value in facts.scalars.items() if axis and value == axis), "")
            same = {name for name, one in kernel.parameters.items() if not one.pointer} | {"blockIdx.y", "blockIdx.z"}
            spread = not place[1].symbols <= same
            found.append(
                _Atomic(
                    call,
                    call.parent,
                    word,
                    place[0],
                    place[1],
                    ones[1],
                    kind,
                    size,
                    count,
                    axis,
                    facts.most.get(axis, 0),
                    spread,
                )
            )
    if not found:
        raise NotUnderstood("there are no atomics")
    arrays = {one.array for one in found}
    others = [use for use in array_uses(scope, kernel.body) if use.array in arrays]
    inside = [one.call for one in found]
    if any(not any(_inside(use.node, call) for call in inside) for use in others):
        raise NotUnderstood("an array that atomics add to is used elsewhere")
    return found


def _inside(node: Node, outer: Node) -> bool:
    return outer.start_byte <= node.start_byte and node.end_byte <= outer.end_byte


def _written(found: _Elements, blocks: int, copies: int) -> str:
    tree, kernel = found.scope.kernel.tree, found.scope.kernel
    edits = TreeEdits(tree)
    top: list[str] = []
    end: list[str] = []
    helpers: dict[str, str] = {}
    slot = fresh_name(tree.text, "slot")
    shared: dict[tuple[str, str], str] = {}
    for number, one in enumerate(found.atomics):
        if one.spread:
            name = shared.get((one.array, one.function))
            if name is None:
                name = shared[one.array, one.function] = fresh_name(tree.text, f"{one.array}_block")
                _by_slots(found, one, name, slot, copies, top, end)
            row = f"threadIdx.x / 32 * {one.size + 1} + " if copies > 1 else ""
            own = f"{one.function}(&{name}[{row}{_index(found, one)}], {tree.of(one.value)})"
            if one.count and not _always_fits(one):
                fits = fresh_name(tree.text, f"{one.array}_fits")
                own = f"if ({fits}) {{ {own}; }} else {{ {tree.of(one.call)}; }}"
                edits.replace(one.statement, own)
            else:
                edits.replace(one.call, own)
        else:
            name = fresh_name(tree.text, f"{one.array}_part{number or ''}")
            _by_register(found, one, name, top, end, helpers)
            edits.replace(one.call, f"{name} {_SIGN[one.function]} {tree.of(one.value)}")
    if len({key[0] for key in shared}) != len(shared):
        raise NotUnderstood("several kinds of atomics go to one array")
    for one in (n for part in found.body for n in within(part, "return_statement")):
        edits.replace(one, "continue;")
    kind = tree.of(found.declaration.child_by_field_name("type") or found.declaration)
    sign = found.test.child_by_field_name("operator")
    inside = tree.of(found.test) if sign is not None and "<" in sign.type else f"!({tree.of(found.test)})"
    step = f"blockIdx.x * {found.threads} + threadIdx.x; {inside}"
    lines = ["{", *(f"    {tree.of(one)}" for one in found.before), *(f"    {one}" for one in top)]
    lines.append(f"    for ({kind} {found.name} = {step}; {found.name} += gridDim.x * {found.threads}) {{")
    lines += [f"        {edits.part(one)}" for one in found.body]
    lines += ["    }", *(f"    {one}" for one in end), "}"]
    whole = TreeEdits(tree)
    whole.replace(kernel.body, tidied("\n".join(lines), "").lstrip())
    head = kernel.definition
    while head.parent is not None and head.parent.type != "translation_unit":
        head = head.parent
    whole.before(head, "".join(f"{one}\n" for one in helpers.values()))
    text = whole.text()
    line = read_launch(text)
    assert line is not None
    before = found.line.threads or found.threads
    grid = (f"min({regrid(line.grid[0], before, found.threads)}, {blocks})", *line.grid[1:])
    dynamic = next((_dynamic_bytes(one) for one in found.atomics if one.spread and one.count), line.shared)
    return write_launch(text, line._replace(grid=grid, block=(str(found.threads),), shared=dynamic))


def _always_fits(one: _Atomic) -> bool:
    return 0 < one.most * _BYTES.get(one.type, 8) <= LARGEST


def _dynamic_bytes(one: _Atomic) -> str:
    """Shared memory for a table whose size the launch knows; not more than every GPU has."""
    width = _BYTES.get(one.type, 8)
    return f"{width}*{one.axis}" if _always_fits(one) else f"{width}*min({one.axis}, {DYNAMIC // width})"


def _index(found: _Elements, one: _Atomic) -> str:
    """The index, word by word, where it stands in the call; else from its form."""
    tree = found.scope.kernel.tree
    given = one.call.child_by_field_name("arguments")
    assert given is not None
    target = inner(given.named_children[0])
    argument = target.child_by_field_name("argument") if target.type == "pointer_expression" else None
    indices = None if argument is None else argument.child_by_field_name("indices")
    base = None if argument is None else argument.child_by_field_name("argument")
    if indices is not None and base is not None and tree.of(base) == one.array and indices.named_child_count == 1:
        return f"({tree.of(indices.named_children[0])})"
    if target.type == "binary_expression":
        left, right = target.child_by_field_name("left"), target.child_by_field_name("right")
        if left is not None and right is not None and tree.of(left) == one.array:
            return f"({tree.of(right)})"
    raise NotUnderstood(f"line {tree.line(one.call)}: the index of {one.array} is not understood")


def _by_slots(
    found: _Elements, one: _Atomic, name: str, slot: str, copies: int, top: list[str], end: list[str]
) -> None:
    if one.count:
        _by_dynamic(found, one, name, slot, top, end)
        return
    row = one.size + 1 if copies > 1 else one.size
    if not one.size or row * copies * _BYTES.get(one.type, 8) > LARGEST or one.type not in _BYTES:
        raise NotUnderstood(f"how many elements {one.array} has is not known, or they do not fit into a block")
    turn = f"for (int {slot} = threadIdx.x; {slot} <"
    top += [
        f"__shared__ {one.type} {name}[{row * copies}];",
        f"{turn} {row * copies}; {slot} += {found.threads}) {{ {name}[{slot}] = {_START[one.function]}; }}",
        "__syncthreads();",
    ]
    total = f" {_SIGN[one.function][0]} ".join(f"{name}[{copy * row} + {slot}]" for copy in range(copies))
    end += [
        "__syncthreads();",
        f"{turn} {one.size}; {slot} += {found.threads}) {{",
        f"    const {one.type} total = {total};",
        f"    if (total != 0) {{ {one.function}(&{one.array}[{slot}], total); }}",
        "}",
    ]


def _by_dynamic(found: _Elements, one: _Atomic, name: str, slot: str, top: list[str], end: list[str]) -> None:
    """A table in dynamic shared memory; where it does not fit, atomics go where they went."""
    kernel, tree = found.scope.kernel, found.scope.kernel.tree
    plain = kernel.parameters.get(one.count)
    tables = {other.array for other in found.atomics if other.spread}
    if plain is None or plain.pointer or one.type not in _BYTES or len(tables) != 1 or found.line.shared != "0":
        raise NotUnderstood(f"how many elements {one.array} has is not known, or there are several tables")
    size = one.count
    if not _always_fits(one):
        fits = fresh_name(tree.text, f"{one.array}_fits")
        size = f"({fits} ? {one.count} : 0)"
        top.append(f"const bool {fits} = {one.count} <= {DYNAMIC // _BYTES[one.type]};")
    turn = f"for (int {slot} = threadIdx.x; {slot} < {size}; {slot} += {found.threads}) {{"
    top += [f"extern __shared__ {one.type} {name}[];", f"{turn} {name}[{slot}] = 0; }}", "__syncthreads();"]
    add = f"{one.function}(&{one.array}[{slot}], {name}[{slot}]);"
    end += ["__syncthreads();", f"{turn} if ({name}[{slot}] != 0) {{ {add} }} }}"]


def _by_register(
    found: _Elements, one: _Atomic, name: str, top: list[str], end: list[str], helpers: dict[str, str]
) -> None:
    tree = found.scope.kernel.tree
    given = one.call.child_by_field_name("arguments")
    assert given is not None
    layout = SharingLayout(found.threads, 1, found.threads)
    function = fresh_name(tree.text, f"block_{one.function.removeprefix('atomic').lower()}")
    helpers.setdefault(function, helper(layout, function, 1, _COMBINE[one.function]))
    top.append(f"{one.type} {name} = {_START[one.function]};")
    end += [
        f"{function}({name});",
        f"if (threadIdx.x == 0) {{ {one.function}({tree.of(given.named_children[0])}, {name}); }}",
    ]


__all__ = ["BLOCKS", "gathered_by_block", "place_of", "why_not_gathered"]
