"""Several PTX texts of one program as one: what a device linker does for -rdc, done to the text.

Every text is cut into its top-level pieces. A declaration that another text defines gives way, of equal weak
definitions the first one stays, names that are local to a text are made different, files get other numbers. Prototypes
come first and variables before functions, so that nothing is used before it is known. What no text defines stays
undefined, and whoever uses it is refused by name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from warpsight.errors import UsageError
from warpsight.vgpu.ptx.parse import FUNCTION, LINE, PLAIN, SECTION, VARIABLE, block_end, without_comments

_LINKAGE = re.compile(r"\.(visible|extern|weak|common)\b")
_NAME = re.compile(r"[\w$]+")
_FILES = re.compile(r"(\.file\s+|\.loc\s+|\binlined_at\s+)(\d+)")
_LABEL = re.compile(r"\$L__info_string(\d+)")


@dataclass
class _Piece:
    """One top-level declaration or definition. `linkage` is empty for what is local to its text."""

    kind: str
    name: str
    text: str
    linkage: str = ""
    defines: bool = True


def join_ptx(texts: Sequence[str]) -> str:
    """One text with everything that the texts define."""
    if len(texts) == 1:
        return texts[0]
    files: dict[tuple[int, str], int] = {}
    parts = _made_different([list(_pieces(_numbered(text, i, files))) for i, text in enumerate(texts)])
    pieces = [piece for part in parts for piece in part]
    defined = _defined(pieces)
    version = max((p.text for p in pieces if p.name == "version"), key=_numbers)
    target = max((p.text for p in pieces if p.name == "target"), key=_numbers)
    kept = {
        kind: [p for p in pieces if p.kind == kind] for kind in ("line", "variable", "function", "plain", "section")
    }
    functions = [p for p in kept["function"] if p.defines and defined[p.name] is p]
    return "\n".join([
        version, target, ".address_size 64", *_prototypes(kept["function"], defined),
        *(p.text for p in _ordered(kept["variable"], defined)), *(p.text for p in kept["plain"]),
        *(p.text for p in functions), *(p.text for p in kept["line"] if p.name == "file"),
        *_sections(kept["section"]), "",
    ])  # fmt: skip


def _numbers(text: str) -> list[int]:
    return [int(found) for found in re.findall(r"\d+", text)]


def _numbered(text: str, index: int, files: dict[tuple[int, str], int]) -> str:
    """Files and labels of strings under numbers of their own. Files are counted on: tools fall over gaps."""

    def number(found: re.Match[str]) -> str:
        return found[1] + str(files.setdefault((index, found[2]), len(files) + 1))

    text = _FILES.sub(number, without_comments(text.rstrip("\0 \n\r\t")))
    return _LABEL.sub(rf"$L__info_string{index}_\1", text)


def _pieces(text: str) -> Iterator[_Piece]:
    position, end = 0, len(text.rstrip())
    while position < end:
        if m := VARIABLE.match(text, position):
            found = _LINKAGE.search(m[0][: m.start(1) - m.start()])
            linkage = found[1] if found else ""
            yield _Piece("variable", m[2].split()[-1], m[0].strip(), linkage, linkage != "extern")
            position = m.end()
        elif m := LINE.match(text, position):
            yield _Piece("line", m[1], m[0].strip())
            position = m.end()
        elif m := FUNCTION.match(text, position):
            position = block_end(text, m.end()) + 1 if m[8] == "{" else m.end()
            found = _LINKAGE.search(m[1])
            yield _Piece("function", m[5], text[m.start() : position].strip(), found[1] if found else "", m[8] == "{")
        elif m := SECTION.match(text, position):
            position = block_end(text, m.end()) + 1
            yield _Piece("section", m[0].strip(), text[m.end() : position - 1].strip())
        elif m := PLAIN.match(text, position):
            yield _Piece("plain", m[1], m[0].strip())
            position = m.end()
        else:
            raise UsageError(f"expected a PTX declaration, found `{text[position : position + 60].strip()}`")


def _made_different(parts: list[list[_Piece]]) -> list[list[_Piece]]:
    """A name that is local to a text, and known in another one, gets another name there."""
    named = [{p.name for p in part if p.kind in ("variable", "function")} for part in parts]
    uses = Counter(name for names in named for name in names)
    for index, part in enumerate(parts):
        local = {p.name for p in part if p.kind in ("variable", "function") and p.defines and not p.linkage}
        if clash := {name for name in local if uses[name] > 1}:
            _rename(part, {name: f"{name}__{index}" for name in clash})
    return parts


def _rename(part: list[_Piece], names: dict[str, str]) -> None:
    for piece in part:
        piece.text = _NAME.sub(lambda m: names.get(m[0], m[0]), piece.text)
        piece.name = names.get(piece.name, piece.name)


def _defined(pieces: list[_Piece]) -> dict[str, _Piece]:
    """The definition that stays, for each name. A strong one goes before a weak one."""
    found: dict[str, _Piece] = {}
    for piece in pieces:
        if piece.kind not in ("variable", "function") or not piece.defines:
            continue
        known = found.get(piece.name)
        if known is None or (known.linkage in ("weak", "common") and piece.linkage == "visible"):
            found[piece.name] = piece
        elif known.linkage == piece.linkage == "visible":
            raise UsageError(f"expected one definition of `{piece.name}`, two parts of the program have one")
    return found


def _prototypes(functions: list[_Piece], defined: dict[str, _Piece]) -> Iterator[str]:
    """Declarations, once each, with the linkage of the definition."""
    seen: set[str] = set()
    for piece in functions:
        if piece.defines or piece.name in seen:
            continue
        seen.add(piece.name)
        definition = defined.get(piece.name)
        if definition is None:
            yield piece.text
        else:
            linkage = f".{definition.linkage} " if definition.linkage else ""
            yield linkage + piece.text[piece.text.index(".func") if ".func" in piece.text else 0 :]


def _ordered(variables: list[_Piece], defined: dict[str, _Piece]) -> Iterator[_Piece]:
    """Variables, each after those that its first value names."""
    done: set[str] = set()

    def placed(piece: _Piece, below: frozenset[str]) -> Iterator[_Piece]:
        if piece.name in done or piece.name in below:
            return
        _, _, value = piece.text.partition("=")
        for name in _NAME.findall(value):
            other = defined.get(name)
            if other is not None and other.kind == "variable":
                yield from placed(other, below | {piece.name})
        done.add(piece.name)
        yield piece

    for piece in variables:
        yield from placed(defined.get(piece.name, piece), frozenset())


def _sections(sections: list[_Piece]) -> Iterator[str]:
    """Sections of one name as one."""
    for head in dict.fromkeys(piece.name for piece in sections):
        yield "\n".join([head, *(piece.text for piece in sections if piece.name == head), "}"])
