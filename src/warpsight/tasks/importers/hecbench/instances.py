"""For which types a template kernel is wanted: what the host code writes at its launches, followed as far as text goes.

`k<float, 4><<<...>>>` says it. Where the arguments are constants of the host function, their values are put in; where
they are parameters of a host template, the arguments of its own calls are. Types that a compiler would have to deduce
are not guessed: the kernel is listed with that reason.
"""

from __future__ import annotations

import re

from warpsight.tasks.importers.hecbench.device_code import DeviceCode, KernelPlace, kernel_name
from warpsight.tasks.importers.hecbench.items import Piece

MAX_DEPTH, MAX_INSTANCES = 4, 32
ARGUMENTS = r"<(?:[^<>;{}]|<(?:[^<>;{}]|<[^<>;{}]*>)*>)*>"
_WORD = re.compile(r"(?<![\w:.])[A-Za-z_]\w*")


def instances(code: DeviceCode, kernel: KernelPlace) -> tuple[tuple[str, ...], str]:
    """The arguments to make a template kernel with, such as `<float, 4>`; or why there are none."""
    launches = [one for one in code.launches if one.name == kernel.name]
    if not launches:
        return (), "a template that is never launched"
    written = [one for one in launches if one.arguments]
    if not written:
        return (), "a template whose types are deduced in host code"
    found: dict[str, None] = {}
    for launch in written:
        found |= dict.fromkeys(_followed(code, launch.arguments, launch.at, MAX_DEPTH))
    if not found:
        return (), f"a template whose launch uses parameters of host code: {kernel.name}{written[0].arguments}"
    return tuple(found)[:MAX_INSTANCES], ""


def template_parameters(head: str) -> tuple[str, ...]:
    """The names in `template <typename T, int N = 4>`."""
    found = re.match(rf"\s*template\s*({ARGUMENTS})", head)
    names = (
        [re.match(r".*?([A-Za-z_]\w*)\s*(?:=.*)?$", one.strip(), re.DOTALL) for one in _split(found[1])]
        if found
        else []
    )
    return tuple(name[1] for name in names if name)


def _followed(code: DeviceCode, arguments: str, at: int, depth: int) -> list[str]:
    """The arguments at a place of the text, with everything that is local to the function around it put in."""
    around = next((one for one in code.pieces if one.kind == "function" and one.start <= at < one.end), None)
    if around is None:
        return [arguments]
    arguments = _with_constants(code.plain[around.start : at], arguments)
    parameters = template_parameters(around.head)
    if not set(parameters) & set(_WORD.findall(arguments)):
        return [arguments]
    if depth == 0:
        return []
    found: list[str] = []
    for given, place in _calls(code, around):
        for outer in _followed(code, given, place, depth - 1):
            values = dict(zip(parameters, _split(outer), strict=False))
            changed = _replaced(arguments, values)
            if not (set(parameters) - set(values)) & set(_WORD.findall(arguments)):
                found.append(changed)
    return found


def _calls(code: DeviceCode, function: Piece) -> list[tuple[str, int]]:
    """The written-out arguments of each call of a host template, and where it stands."""
    name = kernel_name(function.head) or _host_name(function.head)
    calls = re.finditer(rf"\b{re.escape(name)}\s*({ARGUMENTS})\s*\(", code.plain) if name else ()
    return [(one[1], one.start()) for one in calls if not function.start <= one.start() < function.end]


def _host_name(head: str) -> str:
    found = re.search(r"([A-Za-z_]\w*)\s*\(", re.sub(rf"^\s*template\s*{ARGUMENTS}", "", head))
    return found[1] if found else ""


def _with_constants(before: str, arguments: str) -> str:
    """Constants of the function, by the values that are written where they are declared."""
    for _ in range(MAX_DEPTH):
        values: dict[str, str] = {}
        for word in set(_WORD.findall(arguments)):
            declared = rf"\b(?:const|constexpr)\s+(?:static\s+)?[\w:]+\s+{re.escape(word)}\s*=\s*([^;,{{}}]+)[;,]"
            if found := re.findall(declared, before):
                values[word] = f"({found[-1].strip()})"
        if not values:
            break
        arguments = _replaced(arguments, values)
    return arguments


def _replaced(text: str, values: dict[str, str]) -> str:
    return _WORD.sub(lambda word: values.get(word[0], word[0]), text)


def _split(arguments: str) -> list[str]:
    """`<a, b<c, d>>` to its parts."""
    inside, parts, depth = arguments.strip()[1:-1], [""], 0
    for char in inside:
        depth += (char in "<([") - (char in ">)]")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts]
