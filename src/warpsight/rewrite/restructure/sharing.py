"""One thread's long loops, shared by many: each loop over a row goes in strides, what it gathers is brought together.

The thread number that picks the row becomes the number of the group; loops whose turns depend on one another only by
sums, greatest values and the like are shared; everything else is done alike by all of a group, and one of them stores.
What is not understood is refused with its reason (`NotUnderstood`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tree_sitter import Node

from warpsight.rewrite.launch import LaunchLine, read_launch, write_launch
from warpsight.rewrite.restructure.edits import TreeEdits, fresh_name
from warpsight.rewrite.restructure.layouts import SharingLayout, helper
from warpsight.rewrite.restructure.scans import COMBINE, NOTHING, require_scan, write_scan
from warpsight.source.accesses import array_uses
from warpsight.source.carried import Accumulator, accumulators, running, starts_at_nothing
from warpsight.source.forms import IndexForm, Scope
from warpsight.source.loops import ForLoop, read_loop
from warpsight.source.tree import (
    KernelTree,
    NotUnderstood,
    assigned,
    declaration_at,
    inner,
    kernel_of,
    parse,
    statements,
    within,
)

BLOCK_WORDS = frozenset(
    ("__syncthreads", "__syncwarp", "__shared__", "__shfl_sync", "__shfl_down_sync", "__shfl_up_sync",
     "__shfl_xor_sync", "__ballot_sync", "__any_sync", "__all_sync", "__activemask", "asm", "goto",
     "cooperative_groups")
)  # fmt: skip
THREAD, GRID_BLOCK = "threadIdx.x", "blockIdx.x"
FEWEST_TURNS = 8  # a loop that is known to be shorter is not shared


@dataclass(frozen=True, eq=False)
class SharedLoop:
    """A loop that can be shared, and what it gathers."""

    loop: ForLoop
    gathers: tuple[Accumulator, ...]
    running: Node | None = None  # the statement that goes on with a sum that the loop needs on its way


@dataclass(frozen=True, eq=False)
class Walk:
    """A kernel in which each thread walks something by itself: what can be shared, read once for all layouts."""

    scope: Scope
    line: LaunchLine
    threads: int
    reasons: list[str] = field(default_factory=list[str])

    @property
    def kernel(self) -> KernelTree:
        return self.scope.kernel

    def shared(self, outermost: bool) -> list[SharedLoop]:
        """The loops to share: the outermost that can be, or the innermost of these."""
        return list(self._shared(self.kernel.body, outermost))

    def _shared(self, node: Node, outermost: bool) -> Iterator[SharedLoop]:
        for child in node.named_children:
            if child.type != "for_statement":
                yield from self._shared(child, outermost)
                continue
            below = [] if outermost else list(self._shared(child, outermost))
            found = None if below else self._sharable(child)
            if found is not None:
                yield found
            else:
                yield from below or self._shared(child, outermost)

    def _sharable(self, node: Node) -> SharedLoop | None:
        try:
            loop = read_loop(self.kernel.tree, node)
            self._require_own_turns(loop)
            return self._gathering(loop)
        except NotUnderstood as reason:
            if str(reason) not in self.reasons:
                self.reasons.append(str(reason))
            return None

    def _gathering(self, loop: ForLoop) -> SharedLoop:
        try:
            return SharedLoop(loop, accumulators(self.scope, loop))
        except NotUnderstood as reason:
            try:
                one, change = running(self.scope, loop)
                require_scan(self.scope, loop, one, change)
                return SharedLoop(loop, (one,), change)
            except NotUnderstood as other:
                self.reasons.append(str(other))
            raise reason

    def _require_own_turns(self, loop: ForLoop) -> None:
        """The turns may be done by other threads: none leaves the loop, none reads what another one stored."""
        tree, scope = self.kernel.tree, self.scope
        where = f"the loop in line {tree.line(loop.node)}"
        start = scope.form(loop.start)
        step = IndexForm.number(1) if loop.step is None else scope.form(loop.step)
        if start.linear(THREAD) and start.of(THREAD).value not in (0, None) and step != IndexForm.number(1):
            raise NotUnderstood(f"{where} is shared by threads already")
        bound = scope.form(loop.bound)
        turns = (bound - start).value
        if turns is not None and turns < FEWEST_TURNS:
            raise NotUnderstood(f"{where} has only {turns} turns")
        if any(_leaves(one, loop.node) for one in within(loop.body, "break_statement", "return_statement")):
            raise NotUnderstood(f"{where} may end early")
        uses = list(array_uses(scope, loop.body))
        for store in (use for use in uses if use.writes):
            if store.reads and _is_atomic(store.node, self.kernel):
                continue
            if not store.index.depends(loop.variable):
                raise NotUnderstood(
                    f"line {tree.line(store.node)}: each turn stores to the same place of {store.array}"
                )
            if any(use.array == store.array and use.reads and use.index != store.index for use in uses):
                raise NotUnderstood(
                    f"line {tree.line(store.node)}: a turn may read what another stored to {store.array}"
                )


def _leaves(node: Node, loop: Node) -> bool:
    """Whether a jump leaves this loop, and not one inside it."""
    if node.type == "return_statement":
        return True
    around = node.parent
    while around is not None and around.type not in (
        "for_statement",
        "while_statement",
        "do_statement",
        "switch_statement",
    ):
        around = around.parent
    return around == loop


def _is_atomic(node: Node, kernel: KernelTree) -> bool:
    around: Node | None = node
    while around is not None and around.type != "call_expression":
        around = around.parent
    called = None if around is None else around.child_by_field_name("function")
    return called is not None and kernel.tree.of(called).startswith("atomic")


def read_walk(text: str, entry: str) -> Walk:
    """The kernel and its launch, where its threads work by themselves along x."""
    line = read_launch(text)
    dims = line.dims if line is not None else None
    if line is None or dims is None:
        raise NotUnderstood("the launch line has no block of plain numbers")
    if any(one != 1 for one in dims[1:]):
        raise NotUnderstood("the block has more than one dimension")
    kernel = kernel_of(parse(text), entry)
    words = {kernel.tree.of(one) for one in within(kernel.definition, "identifier", "type_qualifier")}
    if "__shared__" in kernel.tree.of(kernel.body) or words & BLOCK_WORDS:
        raise NotUnderstood("the threads of a block work together already")
    for name, node in kernel.tree.functions.items():
        if (
            name != entry
            and name in words
            and any(w in kernel.tree.of(node) for w in ("threadIdx", "__sync", "__shfl"))
        ):
            raise NotUnderstood(f"the helper function {name} depends on the thread")
    scope = Scope(kernel, {"blockDim.x": dims[0], "blockDim.y": 1, "blockDim.z": 1, "threadIdx.y": 0, "threadIdx.z": 0})
    return Walk(scope, line, dims[0])


def share(walk: Walk, layout: SharingLayout, loops: Sequence[SharedLoop]) -> str:
    """The text in which these loops are shared in this layout."""
    kernel, tree = walk.kernel, walk.kernel.tree
    edits = TreeEdits(tree)
    lane = fresh_name(tree.text, "slice" if layout.slices else "lane")
    later = _read_again(walk)
    edits.open(kernel.body, f"const int {lane} = {layout.lane};")
    _renumber(walk, layout, edits)
    if layout.slices:
        _require_all_meet(walk, loops, later)
    live = _clamp(walk, edits) if layout.slices else ""
    helpers: dict[str, str] = {}
    for one in loops:
        alone = one.loop.node.parent is not None and one.loop.node.parent.type != "compound_statement"
        if alone:
            edits.before(one.loop.node, "{ ")
        if one.running is not None:
            write_scan(walk.scope, one.loop, one.gathers[0], one.running, layout, lane, edits, helpers)
            continue
        _stride(one.loop, layout, lane, edits)
        for gathered in one.gathers:
            _gather(walk.scope, one.loop, gathered, layout, lane, edits, helpers)
        if {use.array for use in array_uses(walk.scope, one.loop.body) if use.writes} & later:
            edits.lines_after(one.loop.node, layout.barrier)
        if alone:
            edits.after(one.loop.node, " }")
    _store_once(walk, [one.loop.node for one in loops], lane, live, layout, later, edits)
    top = kernel.definition
    while top.parent is not None and top.parent.type != "translation_unit":
        top = top.parent
    edits.before(top, "".join(f"{one}\n" for one in helpers.values()))
    text = edits.text()
    line = read_launch(text)
    assert line is not None
    return write_launch(text, layout.launch(line))


def _stride(loop: ForLoop, layout: SharingLayout, lane: str, edits: TreeEdits) -> None:
    tree = edits.tree
    step = None if loop.step is None else tree.of(loop.step)
    if tree.of(loop.start) == "0":
        edits.replace(loop.start, lane if step is None else f"{lane} * ({step})")
    else:
        edits.after(loop.start, f" + {lane}" if step is None else f" + {lane} * ({step})")
        if loop.start.type == "conditional_expression":
            edits.before(loop.start, "(")
            edits.after(loop.start, ")")
    if loop.step is None:
        edits.replace(loop.update, f"{loop.variable} += {layout.lanes}")
    else:
        edits.before(loop.step, f"{layout.lanes} * (")
        edits.after(loop.step, ")")


def _gather(
    scope: Scope,
    loop: ForLoop,
    one: Accumulator,
    layout: SharingLayout,
    lane: str,
    edits: TreeEdits,
    helpers: dict[str, str],
) -> None:
    """What each of a group gathered, brought together after the loop; sums begin at nothing in all but one."""
    text = edits.tree.text
    group = "slices" if layout.slices else "row"
    name = fresh_name(text, f"{group}_{one.combine}")
    variables = [one.name, *(place for place, _ in one.places)]
    combine = COMBINE.get(one.combine, "")
    if one.combine == "best":
        first = "<" if one.sign in (">", "<") else ">"
        better = f"other0 {one.sign[0]} value0 || (other0 == value0 && other1 {first} value1)"
        name = fresh_name(
            text, f"{group}_{'first' if first == '<' else 'last'}_{'greatest' if one.sign[0] == '>' else 'least'}"
        )
        combine = f"if ({better}) {{ {' '.join(f'value{at} = other{at};' for at in range(len(variables)))} }}"
    helpers.setdefault(f"{name}/{len(variables)}", helper(layout, name, len(variables), combine))
    nothing = NOTHING.get(one.combine)
    if one.size:
        at = fresh_name(text, "at")
        turn = f"for (int {at} = 0; {at} < {one.size}; ++{at})"
        if nothing is not None:
            edits.lines_before(loop.node, f"if ({lane} != 0) {{ {turn} {{ {one.name}[{at}] = {nothing}; }} }}")
        edits.lines_after(loop.node, "#pragma unroll", f"{turn} {{ {name}({one.name}[{at}]); }}")
        return
    if nothing is not None and not starts_at_nothing(scope, loop, one):
        edits.lines_before(loop.node, f"if ({lane} != 0) {{ {one.name} = {nothing}; }}")
    edits.lines_after(loop.node, f"{name}({', '.join(variables)});")


def _renumber(walk: Walk, layout: SharingLayout, edits: TreeEdits) -> None:
    """The thread's number becomes that of its group, wherever it stands."""
    scope, tree, old = walk.scope, walk.kernel.tree, walk.threads
    number = IndexForm.symbol(GRID_BLOCK) * IndexForm.number(old) + IndexForm.symbol(THREAD)
    stride = IndexForm.symbol("gridDim.x") * IndexForm.number(old)
    stack = [walk.kernel.body]
    while stack:
        node = stack.pop()
        if node.type == "binary_expression":
            form = scope.form(node)
            if form == number:
                edits.replace(node, layout.number)
                continue
            if form == stride:
                edits.replace(node, f"(gridDim.x * {layout.each})")
                continue
        if node.type == "field_expression":
            word = tree.of(node)
            new = {
                THREAD: f"({layout.number} % {old})" if old > 1 else "0u",
                GRID_BLOCK: f"({layout.number} / {old})" if old > 1 else layout.number,
                "blockDim.x": f"{old}u",
                "gridDim.x": f"(gridDim.x * {layout.each} / {old})",
            }.get(word)
            if new is not None:
                edits.replace(node, new)
            continue
        stack.extend(node.named_children)


def _clamp(walk: Walk, edits: TreeEdits) -> str:
    """All threads of a block must meet at barriers: who is past the end works at the last place, and does not store."""
    tree, found = walk.kernel.tree, ""
    for one in within(walk.kernel.body, "return_statement"):
        branch = one.parent
        while branch is not None and branch.type != "if_statement":
            branch = branch.parent
        test = None if branch is None else branch.child_by_field_name("condition")
        test = None if test is None else inner(test)
        sign = None if test is None else test.child_by_field_name("operator")
        left = None if test is None else test.child_by_field_name("left")
        right = None if test is None else test.child_by_field_name("right")
        if (
            branch is None or branch.parent != walk.kernel.body or test is None or left is None or right is None
            or sign is None or sign.type != ">=" or left.type != "identifier" or found
            or len(statements(branch.child_by_field_name("consequence") or branch)) != 1
        ):  # fmt: skip
            raise NotUnderstood(f"line {tree.line(one)}: threads leave by a guard that is not `number >= size`")
        name, declared = tree.of(left), declaration_at(tree, tree.of(left), left)
        if declared is None or declared.parent is None or tree.of(declared.parent).startswith("const"):
            raise NotUnderstood(f"line {tree.line(one)}: {name} cannot be changed")
        found = fresh_name(tree.text, "inside")
        edits.replace(branch, f"const bool {found} = {name} < {tree.of(right)};")
        edits.lines_after(branch, f"{name} = {found} ? {name} : {tree.of(right)} - 1;")
    if not found and any(
        walk.scope.form(test).depends(THREAD)
        for branch in within(walk.kernel.body, "if_statement")
        if branch.parent == walk.kernel.body and (test := branch.child_by_field_name("condition")) is not None
    ):
        raise NotUnderstood("the guard of the kernel is no early return")
    return found


def _read_again(walk: Walk) -> set[str]:
    """Arrays that are stored to and read, so that those of a group must wait for one another."""
    uses = list(array_uses(walk.scope, walk.kernel.body))
    return {one.array for one in uses if one.writes} & {one.array for one in uses if one.reads and not one.writes}


def _require_all_meet(walk: Walk, loops: Sequence[SharedLoop], later: set[str]) -> None:
    """Slices meet at barriers of the block, which holds columns whose branches may differ."""
    if later:
        raise NotUnderstood(f"columns of a block would wait for one another over {sorted(later)[0]}")
    for one in loops:
        around = one.loop.node.parent
        while around is not None and around != walk.kernel.body:
            if around.type != "compound_statement":
                try:
                    outer = read_loop(walk.kernel.tree, around)
                except NotUnderstood:
                    outer = None
                forms = [] if outer is None else [walk.scope.form(part) for part in (outer.start, outer.bound)]
                if not forms or any(_differs(walk, form) for form in forms):
                    raise NotUnderstood(
                        f"not all threads of a block come to the loop in line {one.loop.node.start_point.row + 1}"
                    )
            around = around.parent


def _differs(walk: Walk, form: IndexForm) -> bool:
    """Whether a number may differ among the threads of a block: it is not made of plain parameters alone."""
    plain = {name for name, one in walk.kernel.parameters.items() if not one.pointer}
    return not form.symbols <= plain


def _store_once(
    walk: Walk, shared: Sequence[Node], lane: str, live: str, layout: SharingLayout, later: set[str], edits: TreeEdits
) -> None:
    """What is stored outside of the shared loops is stored by one of the group."""
    tree = walk.kernel.tree
    done: set[int] = set()
    changed = assigned(tree, walk.kernel.body)
    for use in array_uses(walk.scope, walk.kernel.body):
        within_shared = any(_inside(use.node, loop) for loop in shared)
        if not use.writes or (within_shared and not live):
            continue
        statement = use.node
        while statement.type != "expression_statement":
            if statement.parent is None or statement.type in ("declaration", "condition_clause", "compound_statement"):
                raise NotUnderstood(f"line {tree.line(use.node)}: what is stored is used as well")
            statement = statement.parent
        if statement.start_byte in done:
            continue
        done.add(statement.start_byte)
        who = live if within_shared else f"{live} && {lane} == 0" if live else f"{lane} == 0"
        wait = use.array in later and not within_shared
        alone = statement.parent is not None and statement.parent.type != "compound_statement"
        edits.before(statement, f"{'{ ' if wait or alone else ''}if ({who}) {{ ")
        edits.after(statement, f" }}{f' {layout.barrier}' if wait else ''}{' }' if wait or alone else ''}")
    parameters = walk.kernel.parameters
    known = {use.array for use in array_uses(walk.scope, walk.kernel.body) if use.writes}
    if odd := [name for name in changed if name in parameters and parameters[name].pointer and name not in known]:
        raise NotUnderstood(f"how {odd[0]} is stored to is not understood")


def _inside(node: Node, outer: Node) -> bool:
    return outer.start_byte <= node.start_byte and node.end_byte <= outer.end_byte
