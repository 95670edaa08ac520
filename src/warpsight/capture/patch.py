"""Puts a faster kernel into the user's source, and says what changed as a patch that `git apply` and `patch -p1` take.

The winner is a text of its own: of its parts only those are brought over that the task's kernel did not have. A plain
kernel is replaced where it stands; of a template one instance is specialised after it. Where the launch changed, the
places that launch it change too. What must stay true: nothing else in the source changes.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tree_sitter import Node

from warpsight.capture.given import given_names, kernel_parts, parameter_names, with_parameters
from warpsight.capture.items import SourceItem, items_of, words_of
from warpsight.capture.launch_sites import SiteEdit, changed_sites
from warpsight.capture.recording import CannotCapture
from warpsight.nouns import Candidate, Task
from warpsight.source.tree import SourceTree, parse, within
from warpsight.tasks import read_candidate

SOURCES = (".cu", ".cuh", ".h", ".hpp", ".hh", ".inl", ".cpp", ".cc", ".cxx")
MOST_BYTES = 4 << 20
SUFFIX = "_fast"


class CannotPatch(CannotCapture):
    """The faster kernel cannot be brought into the source; the message says what is in the way."""


@dataclass(frozen=True)
class SourcePatch:
    """The new text of each file that changes, by its path below the program's folder, and the patch."""

    files: Mapping[str, str]
    text: str


def make_patch(task: Task, winner: str, folder: Path, instance: Sequence[str], *, one_size: bool) -> SourcePatch:
    """The patch that brings `winner` into the program in `folder`.

    `instance` are the arguments of its template; with `one_size` all launches of the kernel have the recorded size.
    """
    captured = task.captured
    assert captured is not None
    place = folder / captured.file
    if not place.is_file():
        raise CannotPatch(f"the kernel stands in {captured.file}, outside of the program's folder")
    before, after = (read_candidate(text, task) for text in (task.kernel, winner))
    if before.options != after.options:
        raise CannotPatch(f"the faster kernel needs compile options: {' '.join(after.options)}")
    old = _read(place)
    files = {captured.file: _with_kernel(old, task, after, instance, captured.line or 1)}
    if before.launch != after.launch:
        if not one_size and after.launch.grid == tuple(w for w in after.launch.grid if w.isdecimal()):
            raise CannotPatch("the faster kernel's grid is a number, and the program launches it in several sizes")
        listed = kernel_parts(_parsed(old), task.entry, near=captured.line or 1)[1]
        _change_launches(files, task, after, folder, before, parameter_names(_parsed(old), listed))
    return SourcePatch(files, "".join(_diff(name, _read(folder / name), text) for name, text in sorted(files.items())))


def _read(path: Path) -> str:
    return path.read_bytes().decode("utf-8", errors="surrogateescape")


def _with_kernel(text: str, task: Task, winner: Candidate, instance: Sequence[str], line: int) -> str:
    """The file's text with the new kernel in it."""
    tree = _parsed(text)
    node = kernel_parts(tree, task.entry, near=line)[0]
    parent = node.parent
    is_template = parent is not None and parent.type == "template_declaration"
    head = tree.data[node.start_byte : _body(node).start_byte].decode("utf-8", "surrogateescape")
    helpers, kernel = _new_parts(task, winner.source, text)
    if names := given_names(task.kernel):
        kernel = with_parameters(kernel, task.entry, names, tree, kernel_parts(tree, task.entry, near=line)[1])
    note = f"// {task.entry}: made faster by Warpsight for {_sizes(task)}\n"
    if is_template:
        assert parent is not None
        own = _specialised(kernel, task, parent, tree, instance)
        return _spliced(tree, parent.end_byte, parent.end_byte, f"\n\n{note}{helpers}{own}")
    for word in ("static", "inline"):
        kernel = f"{word} {kernel}" if re.search(rf"\b{word}\b", head) else kernel
    linkage = 'extern "C" ' if re.search(r'extern\s+"C"', head) else ""
    return _spliced(tree, node.start_byte, node.end_byte, f"{note}{helpers}{linkage}{kernel}")


def _parsed(text: str) -> SourceTree:
    """A tree of the text in which bytes that are no text are one character each, so that places stay."""
    from warpsight.source.tree import parse_bytes

    return parse_bytes(text.encode("utf-8", errors="surrogateescape"))


def _body(node: Node) -> Node:
    return node.child_by_field_name("body") or node


def _spliced(tree: SourceTree, start: int, end: int, new: str) -> str:
    data = tree.data[:start] + new.encode("utf-8", errors="surrogateescape") + tree.data[end:]
    return data.decode("utf-8", errors="surrogateescape")


def _new_parts(task: Task, winner: str, source: str) -> tuple[str, str]:
    """The parts of the winner that the task's kernel does not have, and its kernel without C linkage.

    A part whose names the source has already gets other names, in all that is new.
    """
    known = {item.text for item in _items(task.kernel)}
    fresh = [item for item in _items(winner) if item.text not in known and item.kind != "pragma"]
    kernel = next((item for item in fresh if item.is_kernel and task.entry in item.declares), None)
    if kernel is None:
        kernel = next(item for item in _items(winner) if item.is_kernel and task.entry in item.declares)
    helpers = [item for item in fresh if not item.is_kernel]
    taken = words_of(source)
    renamed = sorted({n for item in helpers for n in item.declares if n in taken and n != task.entry})
    text = "".join(f"{item.text}\n" for item in helpers)
    own = re.sub(r'\bextern\s+"C"\s*', "", kernel.text)
    for name in renamed:
        text, own = (re.sub(rf"\b{re.escape(name)}\b", name + SUFFIX, one) for one in (text, own))
    return text, own


def _items(text: str) -> list[SourceItem]:
    return items_of(parse(text), frozenset())


def _specialised(kernel: str, task: Task, primary: Node, tree: SourceTree, instance: Sequence[str]) -> str:
    """`template <> __global__ void k<128, float>(...)`, with the parameters' names as they were in its body."""
    aliases = re.findall(r"^(?:using (\w+) = (.+)|constexpr (.+?) (\w+) = \((.+)\)(.+));$", task.kernel, re.MULTILINE)
    named = {a or d: (b, f"using {a} = {b};") if a else (f"({c}){f}", f"constexpr {c} {d} = ({e}){f};")
             for a, b, c, d, e, f in aliases}  # fmt: skip
    listed = next(within(primary, "template_parameter_list"))
    names = [n for n in re.findall(r"\w+", tree.of(listed)) if n in named]
    names = list(dict.fromkeys(names))
    at = kernel.index("{", kernel.index(")", kernel.index(f"{task.entry}")))
    head, body = kernel[:at], kernel[at + 1 :]
    for name in names:
        head = re.sub(rf"\b{name}\b", named[name][0], head)
    arguments = ", ".join(instance)
    head = re.sub(rf"\b{re.escape(task.entry)}\s*\(", f"{task.entry}<{arguments}>(", head, count=1)
    lines = " ".join(named[name][1] for name in names)
    return f"template <>\n{head}{{\n    {lines}{body}"


def _sizes(task: Task) -> str:
    captured = task.captured
    assert captured is not None
    axes = ", ".join(
        f"{a.name} = {a.max}" if a.min == a.max else f"{a.name} up to {a.max} (timed there)" for a in task.axes
    )
    return axes or f"{captured.grid[0]}x{captured.grid[1]}x{captured.grid[2]} blocks, and checked at that size only"


def _change_launches(
    files: dict[str, str], task: Task, winner: Candidate, folder: Path, before: Candidate, names: Sequence[str]
) -> None:
    """Every place in the folder that launches the kernel, which has parameters of these names, gets the new launch."""
    count = 0
    for path in sorted(folder.rglob("*")):
        if path.suffix not in SOURCES or not path.is_file() or path.stat().st_size > MOST_BYTES:
            continue
        name = str(path.relative_to(folder))
        text = files.get(name) or _read(path)
        tree = _parsed(text)
        edits: list[SiteEdit] = changed_sites(tree, task, winner, before, names)
        for edit in sorted(edits, key=lambda one: -one.start):
            text = _spliced(_parsed(text), edit.start, edit.end, edit.new)
        count += len(edits)
        if edits:
            files[name] = text
    if not count:
        raise CannotPatch(f"the launch changed, and no `{task.entry}<<<...>>>` was found to change with it")


def _diff(name: str, old: str, new: str) -> str:
    lines = difflib.unified_diff(
        old.splitlines(keepends=True), new.splitlines(keepends=True), f"a/{name}", f"b/{name}", n=3
    )
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
