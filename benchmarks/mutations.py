"""Small mistakes made in a kernel's text, one at a time: the mutants that a check has to find.

Works on tokens, so that comments, preprocessor lines and template brackets are left alone. Each operator yields texts
with one change and says where it is. Whether a mutant still compiles, and whether the compiler makes another program of
it, is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_TOKEN = re.compile(
    r"//[^\n]*|/\*.*?\*/|^[ \t]*#[^\n]*|\"[^\"\n]*\""
    r"|0[xX][0-9a-fA-F]+[uUlL]*|\d+\.\d*(?:[eE][-+]?\d+)?[fF]?|\d+[uUlL]*"
    r"|[A-Za-z_]\w*|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||\+\+|--|\+=|-=|\*=|/=|->|::|[^\s\w]",
    re.DOTALL | re.MULTILINE,
)
_WORD = re.compile(r"[A-Za-z_]\w*$")
_SIZES = {"int", "unsigned", "long", "char", "short", "size_t"}
_TYPES = frozenset(_SIZES | {"float", "double", "half", "half2", "float4", "bool", "const", "void"})
HALF_ROUND = "#include <cuda_fp16.h>\n__device__ float in_half(float v) { return __half2float(__float2half(v)); }\n"


@dataclass(frozen=True)
class Token:
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Mutant:
    """One changed text. `name` is unique within a task."""

    operator: str
    line: int
    column: int
    change: str
    text: str

    @property
    def name(self) -> str:
        return f"{self.operator} at {self.line}:{self.column}: {self.change}"


@dataclass(frozen=True)
class Code:
    text: str
    tokens: tuple[Token, ...]

    def at(self, index: int) -> str:
        return self.tokens[index].text if 0 <= index < len(self.tokens) else ""


Edit = tuple[int, int, str]  # characters [start, end) become the text
Operator = Callable[[Code], Iterator[Edit]]


def read_code(text: str) -> Code:
    found = [Token(m.group(), m.start(), m.end()) for m in _TOKEN.finditer(text)]
    kept = [t for t in found if not t.text.startswith(("//", "/*", '"')) and not t.text.lstrip().startswith("#")]
    return Code(text, tuple(kept))


def mutants(text: str) -> list[Mutant]:
    """Every mutant of a kernel, in the order of its operators and places; texts that came twice are kept once."""
    code = read_code(text)
    made: list[Mutant] = []
    seen = {text}
    for name, operator in OPERATORS.items():
        for start, end, new in operator(code):
            changed = text[:start] + new + text[end:]
            if "in_half(" in new:
                first_line = text.index("\n") + 1
                changed = changed[:first_line] + HALF_ROUND + changed[first_line:]
            if changed not in seen:
                seen.add(changed)
                shown = f"`{' '.join(text[start:end].split())}` to `{new}`"
                line, column = text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)
                made.append(Mutant(name, line, column, shown, changed))
    return made


def _swap(names: dict[str, str]) -> Operator:
    def operator(code: Code) -> Iterator[Edit]:
        for token in code.tokens:
            if token.text in names:
                yield token.start, token.end, names[token.text]

    return operator


def _is_template(code: Code, index: int) -> bool:
    """Whether a `<` or `>` is a bracket: near a cast."""
    return any(code.at(i).endswith("_cast") for i in range(max(0, index - 6), index))


def _comparisons(code: Code) -> Iterator[Edit]:
    other = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
    for index, token in enumerate(code.tokens):
        if token.text in other and not _is_template(code, index):
            yield token.start, token.end, other[token.text]


def _is_value_end(text: str) -> bool:
    return text in (")", "]") or (bool(re.match(r"[\w.]+$", text)) and text not in _TYPES and text != "return")


def _arithmetic(code: Code) -> Iterator[Edit]:
    other = {"+": "-", "-": "+", "*": "+", "/": "*", "%": "/", "+=": "-=", "*=": "+=", "/=": "-="}
    for index, token in enumerate(code.tokens):
        if token.text not in other:
            continue
        if token.text.endswith("=") or (
            _is_value_end(code.at(index - 1)) and code.at(index + 1) not in ("__restrict__",)
        ):
            yield token.start, token.end, other[token.text]


def _logic(code: Code) -> Iterator[Edit]:
    for token in code.tokens:
        if token.text in ("&&", "||"):
            yield token.start, token.end, "||" if token.text == "&&" else "&&"


def _constants(code: Code) -> Iterator[Edit]:
    for token in code.tokens:
        if re.fullmatch(r"\d+[uU]?", token.text):
            value, suffix = int(token.text.rstrip("uU")), token.text.lstrip("0123456789")
            yield token.start, token.end, f"{value + 1}{suffix}"
            if value > 0:
                yield token.start, token.end, f"{value - 1}{suffix}"


def _identities(code: Code) -> Iterator[Edit]:
    for token in code.tokens:
        if re.fullmatch(r"\d+\.\d*f?", token.text):
            yield token.start, token.end, "1.0f" if float(token.text.rstrip("f")) == 0 else "0.0f"
        if token.text.lower().startswith("0x7f"):
            yield token.start, token.end, "0"


def _barriers(code: Code) -> Iterator[Edit]:
    for index, token in enumerate(code.tokens):
        if token.text in ("__syncthreads", "__syncwarp") and code.at(index + 1) == "(":
            yield token.start, code.tokens[index + 3].end, ""


def _guards(code: Code) -> Iterator[Edit]:
    """`if (…)` is always taken, or never."""
    for index, token in enumerate(code.tokens):
        if token.text == "if" and code.at(index + 1) == "(":
            close = _closing(code, index + 1)
            for value in ("true", "false"):
                yield code.tokens[index + 1].start, code.tokens[close].end, f"({value})"


def _choices(code: Code) -> Iterator[Edit]:
    """`c ? a : b` becomes `true ? a : b`, where the condition starts after `=` or `(`."""
    for index, token in enumerate(code.tokens):
        if token.text != "?":
            continue
        depth, first = 0, index
        while first > 0 and not (depth == 0 and code.at(first - 1) in ("=", "(", ",", "return")):
            first -= 1
            depth += (code.at(first) == ")") - (code.at(first) == "(")
        yield code.tokens[first].start, code.tokens[index - 1].end, "true"


def _bounds(code: Code) -> Iterator[Edit]:
    """The last one is left out: `i < N` becomes `i < N - 1`."""
    for index, token in enumerate(code.tokens):
        if token.text in ("<", "<=") and not _is_template(code, index) and _WORD.match(code.at(index + 1)):
            bound = code.tokens[index + 1]
            if code.at(index + 2) in (")", ";", "&&", "||", "?"):
                yield bound.start, bound.end, f"{bound.text} - 1"


def _terms(code: Code) -> Iterator[Edit]:
    """`a + b` becomes `a`, where b is one value."""
    for index, token in enumerate(code.tokens):
        if token.text in ("+", "-", "*") and _is_value_end(code.at(index - 1)) and _WORD.match(code.at(index + 1)):
            last = index + 1
            while code.at(last + 1) in ("[", "(", "."):
                last = last + 2 if code.at(last + 1) == "." else _closing(code, last + 1)
            yield token.start, code.tokens[last].end, ""


def _strides(code: Code) -> Iterator[Edit]:
    """A loop takes steps that are too long: `i += n` becomes `i += n + 1`."""
    for index, token in enumerate(code.tokens):
        if token.text == "+=" and _in_for(code, index):
            end = next(i for i in range(index, len(code.tokens)) if code.at(i) == ")" and _closes_for(code, i))
            yield token.start, code.tokens[end].start, f"+= 1 + {code.text[token.end : code.tokens[end].start].strip()}"


def _in_for(code: Code, index: int) -> bool:
    back = index
    while back > 0 and code.at(back) not in ("{", "}"):
        if code.at(back) == "for":
            return _closing(code, back + 1) > index
        back -= 1
    return False


def _closes_for(code: Code, index: int) -> bool:
    depth, back = 0, index
    while back >= 0:
        depth += (code.at(back) == ")") - (code.at(back) == "(")
        if depth == 0:
            return code.at(back - 1) == "for"
        back -= 1
    return False


def _indices(code: Code) -> Iterator[Edit]:
    """`t[a][b]` becomes `t[b][a]`, and `p[e]` becomes `p[e + 1]`, reads and writes alike."""
    for index, token in enumerate(code.tokens):
        if token.text != "[" or not _is_value_end(code.at(index - 1)) or _declares(code, index):
            continue
        close = _closing(code, index)
        inside = code.text[token.end : code.tokens[close].start]
        if not inside:
            continue
        yield token.end, code.tokens[close].start, f"{inside} + 1"
        if code.at(close + 1) == "[":
            second = _closing(code, close + 1)
            other = code.text[code.tokens[close + 1].end : code.tokens[second].start]
            yield token.start, code.tokens[second].end, f"[{other}][{inside}]"


def _declares(code: Code, index: int) -> bool:
    start = index
    while start > 0 and code.at(start - 1) not in (";", "{", "}"):
        start -= 1
    return code.at(start) in ("__shared__", "extern") or (
        code.at(start) in _TYPES and "=" not in [code.at(i) for i in range(start, index)]
    )


def _assignments(code: Code) -> Iterator[Edit]:
    """A statement that updates something is left out."""
    for index, token in enumerate(code.tokens):
        if token.text in ("=", "+=", "-=", "*=") and not _in_for(code, index):
            start = index
            while start > 0 and code.at(start - 1) not in (";", "{", "}", ")"):
                start -= 1
            if code.at(start) in _TYPES or code.at(start) in ("__shared__", "return"):
                continue
            end = next((i for i in range(index, len(code.tokens)) if code.at(i) == ";"), None)
            if end is not None:
                yield code.tokens[start].start, code.tokens[end].end, ";"


def _half(code: Code) -> Iterator[Edit]:
    """A value is rounded to half precision where it is stored or added."""
    if "float" not in {t.text for t in code.tokens} or {"half", "double"} & {t.text for t in code.tokens}:
        return
    for index, token in enumerate(code.tokens):
        if token.text not in ("=", "+=") or _in_for(code, index):
            continue
        start = index
        while start > 0 and code.at(start - 1) not in (";", "{", "}", ")"):
            start -= 1
        end = next((i for i in range(index, len(code.tokens)) if code.at(i) == ";"), None)
        is_float = code.at(start) == "float" or (code.at(start) not in _TYPES and _is_float_name(code, code.at(start)))
        if end is None or not is_float or "," in {code.at(i) for i in range(index, end)}:
            continue
        name = code.text[code.tokens[start].start : token.start].strip()
        value = code.text[token.end : code.tokens[end].start].strip()
        if re.fullmatch(r"[-\d.f]+", value):
            continue  # a plain number is the same in half precision
        if token.text == "=":
            yield token.start, code.tokens[end].start, f"= in_half({value})"
        else:
            yield token.start, code.tokens[end].start, f"= in_half({name} + ({value}))"


def _is_float_name(code: Code, name: str) -> bool:
    return re.search(rf"\bfloat\s*\*?\s*(__restrict__\s+)?{re.escape(name)}\b", code.text) is not None


def _closing(code: Code, index: int) -> int:
    pairs = {"(": ")", "[": "]"}
    opens, closes, depth = code.at(index), pairs[code.at(index)], 0
    for at in range(index, len(code.tokens)):
        depth += (code.at(at) == opens) - (code.at(at) == closes)
        if depth == 0:
            return at
    return len(code.tokens) - 1


def _launch(code: Code) -> Iterator[Edit]:
    """The grid has no block for the tail."""
    line = code.text[: code.text.index("\n")]
    for found in re.finditer(r"\bceil\(", line):
        yield found.start(), found.end(), "floor("
    for found in re.finditer(r"block=\((\d+)", line):
        yield found.start(1), found.end(1), str(int(found.group(1)) // 2)


def _atomics(code: Code) -> Iterator[Edit]:
    for index, token in enumerate(code.tokens):
        if token.text == "atomicAdd" and code.at(index + 1) == "(":
            close = _closing(code, index + 1)
            inside = code.text[code.tokens[index + 1].end : code.tokens[close].start]
            pointer, value = inside.rsplit(",", 1)
            yield token.start, code.tokens[close].end, f"*({pointer}) += {value.strip()}"


OPERATORS: dict[str, Operator] = {
    "comparison": _comparisons,
    "arithmetic": _arithmetic,
    "logic": _logic,
    "constant": _constants,
    "wrong identity": _identities,
    "missing barrier": _barriers,
    "removed guard": _guards,
    "removed choice": _choices,
    "off by one": _bounds,
    "dropped term": _terms,
    "wrong stride": _strides,
    "wrong index": _indices,
    "dropped statement": _assignments,
    "half precision": _half,
    "dropped tail": _launch,
    "plain for atomic": _atomics,
    "wrong coordinate": _swap({"row": "col", "col": "row", "tx": "ty", "ty": "tx"}),
    "wrong function": _swap(
        {
            "fmaxf": "fminf",
            "expf": "sinhf",
            "rsqrtf": "sqrtf",
            "__shfl_down_sync": "__shfl_up_sync",
            "__shfl_up_sync": "__shfl_down_sync",
            "__popc": "__clz",
            "__hfma2": "__hadd2",
        }
    ),
}
