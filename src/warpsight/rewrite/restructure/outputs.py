"""Kernels in which each thread makes one output of a plane: which two variables count it, up to where, and its parts.

The plane may be of blocks in two dimensions, or a number that is divided and taken modulo. What must stay true: the
guard is understood, so that both sizes are known.
"""

from __future__ import annotations

from dataclasses import dataclass

from tree_sitter import Node

from warpsight.rewrite.launch import LaunchLine, read_launch
from warpsight.rewrite.record import Facts
from warpsight.source.forms import IndexForm, Scope
from warpsight.source.tree import (
    KernelTree,
    NotUnderstood,
    SourceTree,
    declared_name,
    inner,
    kernel_of,
    parse,
    statements,
    within,
)

WORKS_TOGETHER = ("__shared__", "__sync", "__shfl", "__ballot", "asm")


@dataclass(frozen=True, eq=False)
class Plane:
    """A kernel of one output a thread. `before` are the statements that hold for all threads of a block; `after` is
    what a thread does, guarded by `guards`; `sizes` are the bounds of the two variables, as C text."""

    scope: Scope
    line: LaunchLine
    names: tuple[str, str]
    types: tuple[str, str]
    sizes: tuple[str, str]
    before: list[Node]
    after: list[Node]

    @property
    def kernel(self) -> KernelTree:
        return self.scope.kernel

    @property
    def tree(self) -> SourceTree:
        return self.scope.kernel.tree


def read_plane(text: str, facts: Facts) -> Plane:
    """The plane of a kernel; NotUnderstood where it is none."""
    line = read_launch(text)
    dims = line.dims if line is not None else None
    if line is None or dims is None:
        raise NotUnderstood("the launch line has no block of plain numbers")
    kernel = kernel_of(parse(text), facts.entry)
    if any(word in kernel.tree.of(kernel.body) for word in WORKS_TOGETHER):
        raise NotUnderstood("the threads of a block work together already")
    fixed = {f"blockDim.{side}": (*dims, 1, 1)[at] for at, side in enumerate("xyz")}
    plain = Scope(kernel, fixed)
    counts = _counters(plain, (*dims, 1, 1)[:2])
    if len(counts) != 2:
        raise NotUnderstood("no two variables count the rows and columns of an output")
    names = (counts[0][0], counts[1][0])
    scope = Scope(kernel, fixed, frozenset(names))
    sizes, before, after = _guarded(scope, names, {id_of(node) for _, node in counts})
    return Plane(scope, line, names, (_type(kernel, counts[0][1]), _type(kernel, counts[1][1])), sizes, before, after)


def id_of(node: Node) -> tuple[int, int]:
    return node.start_byte, node.end_byte


def _counters(scope: Scope, dims: tuple[int, ...]) -> list[tuple[str, Node]]:
    """The variables of the rows and of the columns, each with its declaration."""
    sides = [
        IndexForm.symbol(f"blockIdx.{s}") * IndexForm.number(d) + IndexForm.symbol(f"threadIdx.{s}")
        for s, d in zip("xy", dims, strict=True)
    ]
    found: dict[str, tuple[str, Node]] = {}
    for one in scope.kernel.statements:
        declarators = one.children_by_field_name("declarator") if one.type == "declaration" else []
        for declarator in declarators:
            value, name = declarator.child_by_field_name("value"), declared_name(declarator)
            if value is None or name is None or len(declarators) > 1:
                continue
            form, word = scope.form(value), scope.kernel.tree.of(name)
            if form == sides[0]:
                found.setdefault("x", (word, one))
            elif form == sides[1] and dims[1] > 1:
                found.setdefault("y", (word, one))
            elif str(form).startswith(f"({sides[0]} / "):
                found.setdefault("over", (word, one))
            elif str(form).startswith(f"({sides[0]} % "):
                found.setdefault("rest", (word, one))
    if "over" in found and "rest" in found:
        return [found["over"], found["rest"]]
    return [found["y"], found["x"]] if "x" in found and "y" in found else []


def _type(kernel: KernelTree, declaration: Node) -> str:
    kind = declaration.child_by_field_name("type")
    return "int" if kind is None else kernel.tree.of(kind)


def _guarded(
    scope: Scope, names: tuple[str, str], own: set[tuple[int, int]]
) -> tuple[tuple[str, str], list[Node], list[Node]]:
    """Sizes, what stands before the guard, and what it guards."""
    tree, sizes = scope.kernel.tree, dict[str, str]()
    before: list[Node] = []
    ones = scope.kernel.statements
    for at, one in enumerate(ones):
        if one.type == "declaration" and not sizes:
            before += [one] if id_of(one) not in own else []
            continue
        test = one.child_by_field_name("condition") if one.type == "if_statement" else None
        if test is None:
            return _whole(names, sizes), before, ones[at:]
        block = one.child_by_field_name("consequence")
        assert block is not None
        leaves = [part.type for part in statements(block)] == ["return_statement"]
        for part in _parts(inner(test), "||" if leaves else "&&"):
            name, size = _bound(tree, part, ">=" if leaves else "<")
            sizes[name] = size
        if not leaves:
            if ones[at + 1 :] or one.child_by_field_name("alternative") is not None:
                raise NotUnderstood(f"line {tree.line(one)}: something stands beside the guard")
            return _whole(names, sizes), before, statements(block)
    raise NotUnderstood("the kernel has no loop behind its guard")


def _whole(names: tuple[str, str], sizes: dict[str, str]) -> tuple[str, str]:
    if set(sizes) != set(names):
        total = [name for name in sizes if name not in names]
        if total and not set(sizes) & set(names):
            raise NotUnderstood("one guard holds for rows and columns together")
        raise NotUnderstood(f"the guard does not say where {' and '.join(n for n in names if n not in sizes)} ends")
    return sizes[names[0]], sizes[names[1]]


def _parts(test: Node, by: str) -> list[Node]:
    left, right = test.child_by_field_name("left"), test.child_by_field_name("right")
    sign = test.child_by_field_name("operator")
    if test.type == "binary_expression" and sign is not None and sign.type == by and left and right:
        return [*_parts(inner(left), by), *_parts(inner(right), by)]
    return [test]


def _bound(tree: SourceTree, test: Node, wanted: str) -> tuple[str, str]:
    left, right = test.child_by_field_name("left"), test.child_by_field_name("right")
    sign = test.child_by_field_name("operator")
    if test.type != "binary_expression" or left is None or right is None or sign is None or sign.type != wanted:
        raise NotUnderstood(f"line {tree.line(test)}: the guard is no `number {wanted} size`")
    return tree.of(inner(left)), tree.of(right)


def size_in_axes(text: str, facts: Facts, tree: SourceTree) -> str:
    """A size of the kernel's text as the launch line may say it: by axes."""
    value = tree.constants.get(text, facts.scalars.get(text, text))
    if not value.isdecimal() and value not in facts.axes and value == text:
        raise NotUnderstood(f"the launch cannot say {text}")
    return value


__all__ = ["Plane", "id_of", "read_plane", "size_in_axes", "within"]
