"""Kernels in which each thread of a block along x has one number and a guard: `int i = ...; if (i >= n) return; ...`.

Read here once for the rules that let lanes work together: these keep every thread, so who is past the end works at the
last place and stores nothing. What is not understood is refused with its reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tree_sitter import Node

from warpsight.rewrite.launch import LaunchLine, read_launch, write_launch
from warpsight.rewrite.restructure.edits import TreeEdits, fresh_name, tidied
from warpsight.rewrite.restructure.layouts import regrid
from warpsight.rewrite.restructure.sharing import BLOCK_WORDS
from warpsight.source.accesses import array_uses
from warpsight.source.forms import IndexForm, Scope
from warpsight.source.loops import ForLoop, read_loop
from warpsight.source.tree import (
    KernelTree,
    NotUnderstood,
    SourceTree,
    assigned,
    declared_name,
    inner,
    kernel_of,
    parse,
    statements,
    within,
)

BYTES = {
    "float": 4, "int": 4, "unsigned int": 4, "unsigned": 4, "int32_t": 4, "uint32_t": 4, "double": 8, "long long": 8,
    "unsigned long long": 8, "int64_t": 8, "uint64_t": 8, "char": 1, "signed char": 1, "unsigned char": 1, "int8_t": 1,
    "uint8_t": 1, "short": 2, "unsigned short": 2, "int16_t": 2, "uint16_t": 2, "half": 2, "__half": 2,
    "__nv_bfloat16": 2, "nv_bfloat16": 2,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class OneEach:
    """Each thread has the element `name`, below `bound`; `before` are declarations, `body` what is done for it."""

    scope: Scope
    line: LaunchLine
    threads: int
    name: str
    type: str
    bound: str
    before: list[Node]
    body: list[Node]

    @property
    def kernel(self) -> KernelTree:
        return self.scope.kernel

    @property
    def tree(self) -> SourceTree:
        return self.scope.kernel.tree

    def same_for_all(self, node: Node) -> bool:
        """Whether an expression is made of plain parameters and numbers alone, so that all threads have one value."""
        plain = {name for name, one in self.kernel.parameters.items() if not one.pointer}
        changed = assigned(self.tree, self.kernel.body)
        return self.scope.form(node).symbols <= {name for name in plain if name not in changed} | set(
            self.tree.constants
        )


def read_one_each(text: str, entry: str) -> OneEach:
    """The kernel, where it has this shape."""
    line = read_launch(text)
    dims = line.dims if line is not None else None
    if line is None or dims is None or any(one != 1 for one in dims[1:]) or dims[0] % 32:
        raise NotUnderstood("the block is not of whole warps along x")
    kernel = kernel_of(parse(text), entry)
    tree = kernel.tree
    words = {tree.of(one) for one in within(kernel.definition, "identifier", "type_qualifier")}
    if "__shared__" in tree.of(kernel.body) or words & BLOCK_WORDS:
        raise NotUnderstood("the threads of a block work together already")
    for name, node in kernel.tree.functions.items():
        if name != entry and name in words and any(w in tree.of(node) for w in ("threadIdx", "__sync", "__shfl")):
            raise NotUnderstood(f"the helper function {name} depends on the thread")
    own = IndexForm.symbol("blockIdx.x") * IndexForm.number(dims[0]) + IndexForm.symbol("threadIdx.x")
    plain = Scope(kernel, {"blockDim.x": dims[0]})
    before: list[Node] = []
    for at, one in enumerate(kernel.statements):
        if one.type != "declaration":
            break
        declarators = one.children_by_field_name("declarator")
        value = declarators[0].child_by_field_name("value") if len(declarators) == 1 else None
        name = declared_name(declarators[0]) if declarators else None
        if value is None or name is None or plain.form(value) != own:
            if any(word in tree.of(one) for word in ("threadIdx", "blockIdx")):
                break
            before.append(one)
            continue
        word, kind = tree.of(name), one.child_by_field_name("type")
        scope = Scope(kernel, {"blockDim.x": dims[0]}, frozenset((word,)))
        between, bound, body = _guarded(tree, word, kernel.statements[at + 1 :])
        found = OneEach(
            scope, line, dims[0], word, tree.of(kind or one), bound, [*before, *between], body
        )  # the type without const, since a thread past the end takes another number
        _require_alone(found)
        return found
    raise NotUnderstood("no variable numbers the elements")


def _guarded(tree: SourceTree, name: str, rest: list[Node]) -> tuple[list[Node], str, list[Node]]:
    """What is declared before the guard, the bound, and what is done for an element."""
    for at, one in enumerate(rest):
        if one.type == "declaration":
            if name in {tree.of(word) for word in within(one, "identifier")}:
                raise NotUnderstood(f"line {tree.line(one)}: something is made of {name} before the guard")
            continue
        test, block = one.child_by_field_name("condition"), one.child_by_field_name("consequence")
        if one.type != "if_statement" or test is None or block is None:
            break
        test = inner(test)
        left, right = test.child_by_field_name("left"), test.child_by_field_name("right")
        sign = test.child_by_field_name("operator")
        if left is None or right is None or sign is None or tree.of(inner(left)) != name:
            break
        leaves = [part.type for part in statements(block)] == ["return_statement"]
        if leaves and sign.type == ">=":
            return rest[:at], tree.of(right), rest[at + 1 :]
        alone = not rest[at + 1 :] and one.child_by_field_name("alternative") is None
        if not leaves and sign.type == "<" and alone:
            return rest[:at], tree.of(right), statements(block)
        break
    raise NotUnderstood(f"there is no guard `{name} < size` after the number of the element")


def _require_alone(found: OneEach) -> None:
    """The number stands for the thread everywhere, nothing leaves early, and every store is understood."""
    tree, kernel = found.tree, found.kernel
    for one in found.body:
        for word in within(one, "field_expression"):
            if tree.of(word).split(".")[0] in ("threadIdx", "blockIdx", "blockDim", "gridDim"):
                raise NotUnderstood(f"line {tree.line(word)}: {tree.of(word)} is used beside {found.name}")
        if leave := next(within(one, "return_statement"), None):
            raise NotUnderstood(f"line {tree.line(leave)}: a thread leaves early")
        if found.name in assigned(tree, one):
            raise NotUnderstood(f"{found.name} is changed")
    uses = list(array_uses(found.scope, kernel.body))
    known = {use.array for use in uses if use.writes}
    for name, parameter in kernel.parameters.items():
        if not parameter.pointer or tree.of(parameter.node).startswith("const"):
            continue
        if name in assigned(tree, kernel.body) and name not in known:
            raise NotUnderstood(f"how {name} is stored to is not understood")
        for one in within(kernel.body, "argument_list"):
            if any(tree.of(given) == name for given in one.named_children):
                raise NotUnderstood(f"line {tree.line(one)}: {name} is handed to a function")


def uniform_loops(found: OneEach) -> Iterator[ForLoop]:
    """Loops that all threads walk together, outermost first: the same turns for each, and so is what is around them."""

    def look(nodes: Iterable[Node]) -> Iterator[ForLoop]:
        for one in nodes:
            if one.type == "compound_statement":
                yield from look(statements(one))
            if one.type != "for_statement":
                continue
            try:
                loop = read_loop(found.tree, one)
            except NotUnderstood:
                continue
            if found.same_for_all(loop.start) and found.same_for_all(loop.bound) and not _jumps(loop.node):
                yield loop
                yield from look(statements(loop.body))

    yield from look(found.body)


def _jumps(loop: Node) -> bool:
    """Whether a jump leaves this loop."""
    for one in within(loop, "break_statement", "goto_statement"):
        around = one.parent
        while around is not None and around.type not in (
            "for_statement", "while_statement", "do_statement", "switch_statement",
        ):  # fmt: skip
            around = around.parent
        if around == loop or one.type == "goto_statement":
            return True
    return False


def stores_guarded(found: OneEach, edits: TreeEdits, inside: str, but: Iterable[Node] = ()) -> None:
    """Every store and atomic in the body only where the thread is inside; those of `but` are dealt with."""
    left = {(one.start_byte, one.end_byte) for one in but}
    done: set[int] = set()
    for part in found.body:
        for use in array_uses(found.scope, part):
            if not use.writes or (use.node.start_byte, use.node.end_byte) in left:
                continue
            statement = use.node
            while statement.type != "expression_statement":
                if statement.parent is None or statement.type in (
                    "declaration", "condition_clause", "compound_statement", "for_statement",
                ):  # fmt: skip
                    raise NotUnderstood(f"line {found.tree.line(use.node)}: what is stored is used as well")
                statement = statement.parent
            if statement.start_byte not in done:
                done.add(statement.start_byte)
                edits.before(statement, f"if ({inside}) {{ ")
                edits.after(statement, " }")


def rewritten(found: OneEach, threads: int, inside: str, top: list[str], body: list[str], end: list[str]) -> str:
    """The kernel with this inside, in blocks of so many threads."""
    tree, own = found.tree, fresh_name(found.tree.text, f"own_{found.name}")
    lines = [
        "{",
        *(tree.of(one) for one in found.before),
        f"const {found.type} {own} = blockIdx.x * {threads} + threadIdx.x;",
        f"const bool {inside} = {own} < {found.bound};",
        f"const {found.type} {found.name} = {inside} ? {own} : {found.bound} - 1;",
        *top, *body, *end, "}",
    ]  # fmt: skip
    edits = TreeEdits(tree)
    edits.replace(found.kernel.body, tidied("\n".join(lines), "").lstrip())
    text = edits.text()
    line = read_launch(text)
    assert line is not None
    grid = (regrid(line.grid[0], found.threads, threads), *line.grid[1:])
    return write_launch(text, line._replace(grid=grid, block=(str(threads),)))


def element_bytes(found: OneEach, array: str) -> int:
    """How many bytes an element has, by the type that the kernel says."""
    kind = found.kernel.parameters[array].type.removeprefix("const ").strip()
    if kind not in BYTES:
        raise NotUnderstood(f"how large an element of {array} is, is not known")
    return BYTES[kind]
