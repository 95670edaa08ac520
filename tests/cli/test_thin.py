"""A verb parses, calls the library and prints: what it does itself is short. What is shown is in cli/text."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from warpsight.cli.app import VERBS

CLI = Path(__file__).parents[2] / "src" / "warpsight" / "cli"
MOST_LINES = 60
MODULES = sorted({verb.module or verb.name for verb in VERBS})


def own_lines(text: str) -> int:
    """Lines of code but for what declares the options: imports, help texts, signatures and docstrings."""
    tree = ast.parse(text)
    left_out: set[int] = set()

    def leave(first: int, last: int | None) -> None:
        left_out.update(range(first, (last or first) + 1))

    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            leave(node.lineno, node.end_lineno)
        elif isinstance(node, ast.FunctionDef):
            leave(node.lineno, node.body[0].lineno - 1)
        elif isinstance(node, ast.Assign) and all(getattr(t, "id", "").endswith("HELP") for t in node.targets):
            leave(node.lineno, node.end_lineno)
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node) is not None:
            leave(node.body[0].lineno, node.body[0].end_lineno)
    lines = text.splitlines()
    return sum(1 for at, line in enumerate(lines, 1) if line.strip() and at not in left_out)


@pytest.mark.parametrize("module", MODULES)
def test_a_verb_is_thin(module: str) -> None:
    assert own_lines((CLI / f"{module}.py").read_text()) <= MOST_LINES


@pytest.mark.parametrize("file", sorted(CLI.rglob("*.py")), ids=lambda file: str(file.relative_to(CLI)))
def test_no_function_is_long(file: Path) -> None:
    """From `def` to its end: a command with all its options, their texts and its examples."""
    functions = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.FunctionDef)]
    assert not {node.name: lines for node in functions if (lines := length(node)) > MOST_LINES}


def length(node: ast.FunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def test_what_is_counted() -> None:
    head = '"""About."""\nimport os\nA_HELP = (\n    "x"\n)\nB = 1\n\n\n'
    text = head + 'def f(\n    a: int,\n):\n    """Doc."""\n    return a\n'
    assert own_lines(text) == 2
