"""What a kernel text and a reference text declare, read without compiling or running either.

Only the baseline kernels of a task are looked at this closely: their parameters must be the task's arguments, by name
and in order, because a swapped pair of pointers would otherwise show up as a wrong result much later.
"""

from __future__ import annotations

import ast
import re

from warpsight.nouns import Language

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_LOCAL = re.compile(r"\b(?:__)?local\b")
_NAME_AT_END = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\s*(\[[^\]]*\])?\s*$")


def kernel_parameters(source: str, entry: str, language: Language = "cuda") -> list[tuple[str, bool]] | None:
    """(name, is it a pointer) of each parameter of `entry`; None where there is no such kernel.

    A trailing `__local` pointer of an OpenCL kernel is its dynamic shared memory, not a parameter of the task.
    """
    text = _COMMENT.sub(" ", source)
    word = r"\b(?:__)?kernel\b" if language == "opencl" else "__global__"
    found = re.search(rf"{word}[^;{{}}]*?\b{re.escape(entry)}\s*\(", text)
    if found is None:
        return None
    depth, at = 1, found.end()
    while at < len(text) and depth:
        depth += (text[at] == "(") - (text[at] == ")")
        at += 1
    inside = text[found.end() : at - 1].strip()
    if not inside or inside == "void":
        return []
    parts = inside.split(",")
    if language == "opencl" and _LOCAL.search(parts[-1]):
        parts.pop()
    return [_parameter(part) for part in parts]


def _parameter(declaration: str) -> tuple[str, bool]:
    named = _NAME_AT_END.search(declaration)
    return (named[1] if named else declaration.strip(), "*" in declaration or "[" in declaration)


def has_c_linkage(source: str) -> bool:
    """Whether the text asks for unmangled names anywhere."""
    return re.search(r'extern\s+"C"', _COMMENT.sub(" ", source)) is not None


def reference_parameters(source: str, function: str) -> tuple[list[str], int] | None:
    """(names, line) of the plain parameters of a top-level function; None where there is none by that name.

    Raises SyntaxError where the text is not Python, ValueError where it takes *args or **kwargs.
    """
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and node.name == function:
            if node.args.vararg is not None or node.args.kwarg is not None:
                raise ValueError("*args or **kwargs")
            parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            return [parameter.arg for parameter in parameters], node.lineno
    return None
