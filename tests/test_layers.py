"""Imports point only backwards: nouns, then the parts in the order a record flows through them, then the doors."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SRC = Path(__file__).parents[1] / "src"
PACKAGE = SRC / "warpsight"
# Parts in one row do not import one another.
ORDER: tuple[tuple[str, ...], ...] = (
    ("errors",),
    ("bundled", "events", "files", "folders", "plugins", "processes"),
    ("nouns",),
    ("causes", "cubin", "jail", "source"),
    ("tasks", "toolchain", "vgpu"),
    ("devices",),
    ("gate",),
    ("lens", "rewrite", "programs"),
    ("capture",),
    ("session",),
    ("tools",),
    ("models", "runs"),
    ("reason", "tuning", "guard"),
    ("short",),
    ("corpus",),
    ("learn",),
    ("bench",),
    ("report",),
    ("verbs",),
    ("serve",),
    ("cli",),
)
RANK = {part: rank for rank, row in enumerate(ORDER) for part in row}


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def part_of(path: Path) -> str | None:
    """The part a file belongs to; None for the package's own __init__."""
    name = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return None if name == "__init__" else name


def imported_parts(tree: ast.AST, path: Path) -> Iterator[tuple[int, str]]:
    """Line and part of every import of our own package, also those inside functions and relative ones."""
    package = path.relative_to(SRC).with_suffix("").parts[:-1]
    for node in ast.walk(tree):
        names: list[tuple[str, ...]] = []
        if isinstance(node, ast.Import):
            names = [tuple(alias.name.split(".")) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = tuple(node.module.split(".")) if node.module else ()
            if node.level:
                base = (*package[: len(package) - node.level + 1], *base)
            names = [(*base, alias.name) for alias in node.names] if len(base) == 1 else [base]
        for name in names:
            if name[0] == "warpsight" and len(name) > 1 and not name[1].startswith("__"):
                yield node.lineno, name[1]  # type: ignore[attr-defined]


def _for_types(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def violations(text: str, path: Path) -> list[str]:
    own = part_of(path)
    found: list[str] = []
    tree = ast.parse(text)
    if own is None:  # the package names what it offers for type checkers, and loads nothing
        tree.body = [node for node in tree.body if not _for_types(node)]
    for line, other in imported_parts(tree, path):
        if other == own:
            continue
        if own is None or RANK[other] >= RANK[own]:
            found.append(f"{path.relative_to(SRC)}:{line}: {own or 'the package'} imports {other}")
    return found


def test_every_part_has_a_place() -> None:
    parts = {part_of(path) for path in modules()} - {None}
    assert parts and parts <= set(RANK), f"give these a row in ORDER: {parts - set(RANK)}"


def test_imports_point_backwards() -> None:
    found = [problem for path in modules() for problem in violations(path.read_text(), path)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("toolchain/x.py", "import warpsight.vgpu.ptx"),
        ("toolchain/x.py", "def f():\n    from warpsight.cli import output"),
        ("tasks/x.py", "from ..toolchain.compile import compile_cuda"),
        ("nouns/task.py", "from warpsight import devices"),
        ("__init__.py", "from warpsight.nouns import Build"),
    ],
)
def test_the_test_sees_a_wrong_import(file: str, text: str) -> None:
    assert len(violations(text, PACKAGE / file)) == 1


def test_the_test_allows_a_right_import() -> None:
    assert violations("from warpsight.nouns import Build\nfrom .b import c", PACKAGE / "toolchain" / "x.py") == []
