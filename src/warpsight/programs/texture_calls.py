"""Texture and surface instructions of PTX as calls of plain functions (textures.cu), which read what a texture is.

The virtual GPU has no texture units: each access is checked as any other, and takes the time of the loads that it does.
Forms with a level or gradients take level 0. What is not known here stays as it is, and is refused by its name.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

from warpsight.errors import WarpsightError
from warpsight.toolchain.compile import compile_cuda
from warpsight.vgpu.ptx.join import join_ptx

SOURCE = Path(__file__).with_name("textures.cu")
FORMS = {"1d": 1, "2d": 2, "3d": 3, "a1d": 5, "a2d": 6, "cube": 7, "acube": 8}
MODES = {"trap": 0, "clamp": 1, "zero": 2}
_UINT4 = ".align 16 .b8 wsr[16]"
_HEAD = re.compile(r"^\.visible (\.func[^{;]*\))(?=\s*[{;])", re.MULTILINE)
_USES = re.compile(r"^[ \t]*(?:tex\.|tld4\.|suld\.|sust\.)", re.MULTILINE)
_TEXTURE = re.compile(
    r"^[ \t]*tex\.(?:level\.|grad\.)?(1d|2d|3d|a1d|a2d|cube|acube)\.v4\.(?:f32|s32|u32)\.(f32|s32)\s+"
    r"\{([^}]*)\},\s*\[(%\w+),\s*\{([^}]*)\}\][^;]*;", re.MULTILINE,
)  # fmt: skip
_GATHER = re.compile(
    r"^[ \t]*tld4\.([rgba])\.2d\.v4\.(?:f32|s32|u32)\.f32\s+\{([^}]*)\},\s*\[(%\w+),\s*\{([^}]*)\}\];", re.MULTILINE
)
_SURFACE = re.compile(
    r"^[ \t]*(suld|sust)\.b\.(1d|2d|3d|a1d|a2d)(\.v2|\.v4)?\.(b8|b16|b32|b64)\.(trap|clamp|zero)\s+([^;]*);",
    re.MULTILINE,
)
_PLACE = re.compile(r"\[(%\w+),\s*\{([^}]*)\}\]")
_VALUES = re.compile(r"(?<!\s\[)\{([^}]*)\}(?!\])")


def with_calls(ptx: str) -> str:
    """The text without texture instructions, where it has any."""
    if not _USES.search(ptx):
        return ptx
    changed = _SURFACE.sub(_surface, _GATHER.sub(_gather, _TEXTURE.sub(_texture, ptx)))
    if changed == ptx:
        return ptx
    functions = _functions()
    declared = "\n".join(f".extern {head};" for head in _HEAD.findall(functions))
    return join_ptx([changed.replace(".address_size 64", f".address_size 64\n{declared}", 1), functions])


@functools.cache
def _functions() -> str:
    build = compile_cuda(SOURCE.read_text(), gpu_arch="sm_80", name="textures.cu")
    if not build.ok:
        raise WarpsightError(f"the functions for textures do not compile: {build.log}")
    text = re.sub(r"^\.func", ".visible .func", build.ptx, flags=re.MULTILINE)
    return re.sub(r"^\s*\.(?:loc|file)\s[^\n]*\n|^\t?\.section[\s\S]*?^\t?\}\n", "", text, flags=re.MULTILINE)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


def _call(function: str, given: list[tuple[str, str]], returned: str, then: str) -> str:
    """A block with parameters of its own; `given` are types and values."""
    lines = [f"\t.param .{kind} ws{i};\n\tst.param.{kind} [ws{i}], {value};" for i, (kind, value) in enumerate(given)]
    arguments = ", ".join(f"ws{i}" for i in range(len(given)))
    body = "\n".join([*lines, f"\t.param {returned};", f"\tcall (wsr), {function}, ({arguments});", then])
    return f"\n\t{{\n{body}\n\t}}"


def _four(registers: list[str]) -> str:
    return "\tld.param.v4.b32 {" + ", ".join(registers) + "}, [wsr];"


def _texture(found: re.Match[str]) -> str:
    form, kind, registers, texture, at = found[1], found[2], _names(found[3]), found[4], _names(found[5])
    if kind == "s32":
        layer = at[0] if form.startswith("a") else "0"
        at = at[1:] if form.startswith("a") else at
        place = [*at[: 3 if form == "3d" else 1 if form.endswith("1d") else 2], "0", "0"][:3]
        if form.startswith("a"):
            place[2] = layer
        return _call("ws_texel", [("b64", texture), *(("b32", one) for one in place)], _UINT4, _four(registers))
    layer, at = (at[0], at[1:]) if form.startswith("a") else ("0", at)
    count = {"1d": 1, "a1d": 1, "2d": 2, "a2d": 2}.get(form, 3)
    place = [*at[:count], "0f00000000", "0f00000000"][:3]
    given = [("b64", texture), ("b32", str(FORMS[form])), ("b32", layer), *(("f32", one) for one in place)]
    return _call("ws_texture", given, _UINT4, _four(registers))


def _gather(found: re.Match[str]) -> str:
    at = _names(found[4])
    given = [("b64", found[3]), ("b32", str("rgba".index(found[1]))), ("f32", at[0]), ("f32", at[1])]
    return _call("ws_gather", given, _UINT4, _four(_names(found[2])))


def _surface(found: re.Match[str]) -> str:
    kind, form, vector, width, mode, rest = found.groups(default="")
    place, values = _PLACE.search(rest), _VALUES.search(_PLACE.sub("", rest))
    if place is None or values is None:
        return found[0]
    at = _names(place[2])
    layer = at[0] if form.startswith("a") else None
    at = at[1:] if form.startswith("a") else at
    x, y, z = [*at[: {"1d": 1, "a1d": 1, "2d": 2, "a2d": 2}.get(form, 3)], "0", "0"][:3]
    given = [("b64", place[1]), ("b32", str(MODES[mode])), ("b32", str(int(kind == "sust")))]
    given += [("b32", x), ("b32", y), ("b32", z if layer is None else layer)]
    named = "{" + ", ".join(_names(values[1])) + "}" if vector else values[1].strip()
    access = (
        f"\tld.global{vector}.{width} {named}, [wsa];"
        if kind == "suld"
        else f"\tst.global{vector}.{width} [wsa], {named};"
    )
    then = f"\t.reg .b64 wsa;\n\tld.param.b64 wsa, [wsr];\n{access}"
    return _call("ws_surface", given, ".b64 wsr", then)
