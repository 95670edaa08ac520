"""PTX text to a module record: functions with their bodies as text, variables, files; and one body to statements.

Only what an entry needs is looked at closely: bodies are split when asked for, initialisers are read when the
variable is used. It knows the shape of statements, not the meaning of any instruction. Names keep their spelling;
comments and debug sections are dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from warpsight.errors import UsageError

_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
LINE = re.compile(r"\s*\.(version|target|address_size|file|loc)\b([^\n]*)")
SECTION = re.compile(r"\s*\.section\b[^{]*\{")
VARIABLE = re.compile(
    r"\s*(?:\.(?:visible|extern|weak|common)\s+)*\.(global|const|shared|local)\s([^;=\[]+)((?:\[[^\]]*\]\s*)*)(?:=([^;]*))?;"
)
FUNCTION = re.compile(
    r"\s*((?:\.(?:visible|extern|weak|common)\s+)*)\.(entry|func)\s*((?:\.attribute\s*\([^)]*\)+\s*)?)"
    r"(?:\(([^)]*)\)\s*)?([\w$]+)\s*(?:\(([^)]*)\))?([^{;]*)([{;])"
)
PLAIN = re.compile(r"\s*\.(pragma|alias)\b([^;]*);")
_BRACE = re.compile(r"[{}]")
_PARAM = re.compile(
    r"\.param\s*(?:\.align\s+(\d+)\s+)?\.(\w+)\s+(?:\.align\s+(\d+)\s+)?(\.ptr\b(?:\s*\.\w+(?:\s+\d+)?)*\s+)?"
    r"([\w$%]+)\s*(?:\[(\d*)\])?\s*$"
)
_FILE = re.compile(r'\s*(\d+)\s+"((?:[^"\\]|\\.)*)"')

STATEMENT = re.compile(
    r"\s*(?:@\s*(!?)\s*([\w$%]+)\s+|)(?:"
    r"([A-Za-z_$%][\w$]*)\s*:(?!:)"
    r"|([a-z][\w.:]*)(?=[\s;])\s*([^;]*);"
    r"|\.loc\s+([^\n]*)"
    r"|([{}])"
    r"|(\.[^;]*);"
    r"|;)"
)
"""Groups: 1 guard negated, 2 guard, 3 label, 4 opcode, 5 operands, 6 .loc, 7 brace, 8 directive."""

SIZES: dict[str, int] = {
    **dict.fromkeys(("b8", "u8", "s8"), 1),
    **dict.fromkeys(("b16", "u16", "s16", "f16", "bf16"), 2),
    **dict.fromkeys(("b32", "u32", "s32", "f32", "f16x2", "bf16x2", "tf32"), 4),
    **dict.fromkeys(("b64", "u64", "s64", "f64"), 8),
    "b128": 16,
    **dict.fromkeys(("texref", "samplerref", "surfref"), 8),
}


@dataclass(frozen=True)
class PtxParameter:
    """A formal or actual parameter; `type` is the PTX type, `size` counts all of an array."""

    name: str
    type: str
    size: int
    align: int


@dataclass(frozen=True)
class Variable:
    name: str
    space: str
    type: str
    size: int
    align: int
    init: str = ""
    unsized: bool = False


@dataclass(frozen=True)
class Function:
    name: str
    is_entry: bool
    results: tuple[PtxParameter, ...]
    params: tuple[PtxParameter, ...]
    directives: str
    body: str | None


@dataclass(frozen=True)
class Module:
    target: str
    files: dict[int, str]
    functions: dict[str, Function]
    raw_variables: dict[str, tuple[str, str, str, str]] = field(default_factory=dict[str, tuple[str, str, str, str]])
    aliases: dict[str, str] = field(default_factory=dict[str, str])

    def variable(self, name: str) -> Variable | None:
        raw = self.raw_variables.get(name)
        return None if raw is None else make_variable(name, *raw)


def make_variable(name: str, space: str, qualifiers: str, dims: str, init: str) -> Variable:
    words = re.findall(r"\.(\w+)(?:\s+(\d+)|\s*\([^)]*\))?", qualifiers)
    align = next((int(value) for word, value in words if word == "align"), 0)
    lanes = next((int(word[1:]) for word, _ in words if word in ("v2", "v4")), 1)
    kind = next((word for word, _ in words if word in SIZES), "")
    if not kind:
        raise UsageError(f"variable `{name}`: expected a PTX type, found `.{space} {qualifiers.strip()}`")
    count, unsized = lanes, False
    for dim in re.findall(r"\[([^\]]*)\]", dims):
        if dim.strip():
            count *= int(dim, 0)
        else:
            unsized = True
    if unsized and init:
        unsized, count = False, init.count(",") + 1
    return Variable(
        name,
        space,
        kind,
        0 if unsized else SIZES[kind] * count,
        align or SIZES[kind] * lanes,
        init.strip(),
        unsized,
    )


def parse_params(text: str | None) -> tuple[PtxParameter, ...]:
    return tuple(parse_param(part.strip()) for part in text.split(",")) if text and text.strip() else ()


def parse_param(text: str) -> PtxParameter:
    m = _PARAM.match(text)
    if m is None or m[2] not in SIZES:
        raise UsageError(f"expected a PTX parameter, found `{text}`", "register parameters (`.reg`) are not supported")
    width = SIZES[m[2]]
    size = width * int(m[6]) if m[6] else width
    return PtxParameter(m[5], m[2] + (f"[{m[6]}]" if m[6] else ""), size, int(m[1] or m[3] or width))


def block_end(text: str, start: int) -> int:
    depth = 1
    for m in _BRACE.finditer(text, start):
        depth += 1 if m[0] == "{" else -1
        if depth == 0:
            return m.start()
    raise UsageError("expected a closing brace in the PTX text, found its end", "the PTX seems to be cut off")


def without_comments(text: str) -> str:
    return _COMMENT.sub(lambda m: m[0] if m[0][0] == '"' else " ", text)


def parse_module(text: str) -> Module:
    text = without_comments(text.rstrip("\0 \n\r\t"))
    module = Module("", {}, {}, {}, {})
    target, position, end = "", 0, len(text.rstrip())
    while position < end:
        if m := VARIABLE.match(text, position):
            *qualifiers, name = m[2].split()
            module.raw_variables[name] = (m[1], " ".join(qualifiers), m[3], m[4] or "")
        elif m := LINE.match(text, position):
            if m[1] == "target":
                target = m[2].split(",")[0].strip()
            elif m[1] == "file" and (f := _FILE.match(m[2])):
                module.files[int(f[1])] = f[2]
        elif m := FUNCTION.match(text, position):
            position = _add_function(module, text, m)
            continue
        elif m := SECTION.match(text, position):
            position = block_end(text, m.end()) + 1
            continue
        elif m := PLAIN.match(text, position):
            if m[1] == "alias":
                alias, aliasee = (word.strip() for word in m[2].split(","))
                module.aliases[alias] = aliasee
        else:
            raise UsageError(f"expected a PTX declaration, found `{text[position : position + 60].strip()}`")
        position = m.end()
    return Module(target, module.files, module.functions, module.raw_variables, module.aliases)


def _add_function(module: Module, text: str, m: re.Match[str]) -> int:
    body, position = None, m.end()
    if m[8] == "{":
        close = block_end(text, position)
        body, position = text[position:close], close + 1
    if body is not None or m[5] not in module.functions:
        module.functions[m[5]] = Function(
            m[5], m[2] == "entry", parse_params(m[4]), parse_params(m[6]), m[7].strip(), body
        )
    return position


def statements(body: str) -> Iterator[re.Match[str]]:
    """Every statement of a body in order; text that is no statement is an error."""
    position, end, match = 0, len(body.rstrip()), STATEMENT.match
    while position < end:
        m = match(body, position)
        if m is None:
            raise UsageError(f"expected a PTX statement, found `{body[position : position + 80].strip()}`")
        yield m
        position = m.end()
