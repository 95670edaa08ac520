"""Rules that divide the work anew apply by structure, are right by the gate and faster, and refuse with a reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from tests.rewrite.restructure import plain

from warpsight.rewrite import rewrites
from warpsight.rewrite.record import Facts, Rewrite, facts_of
from warpsight.rewrite.restructure.axes import sides_in_order
from warpsight.rewrite.restructure.consecutive import outputs_in_a_row
from warpsight.rewrite.restructure.privatise import gathered_by_block, why_not_gathered
from warpsight.rewrite.restructure.products import blocked_product, why_not_product
from warpsight.rewrite.restructure.rows import slices_of_a_column, thread_per_row, why_not_rows
from warpsight.session.session import Session

Rule = Callable[[str, Facts], Iterable[Rewrite]]
CASES: list[tuple[plain.PlainTask, Rule, float]] = [
    (plain.SOFTMAX, thread_per_row, 8.0),
    (plain.ARGMAX, thread_per_row, 5.0),
    (plain.LAYER_NORM, thread_per_row, 8.0),
    (plain.DOT_IN_MEMORY, thread_per_row, 5.0),
    (plain.COLUMN_MEAN, slices_of_a_column, 3.0),
    (plain.HISTOGRAM, gathered_by_block, 2.0),
    (plain.TOTAL, gathered_by_block, 2.0),
    (plain.DISTANCES, blocked_product, 2.0),
    (plain.BLUR, outputs_in_a_row, 1.3),
    (plain.TURNED, sides_in_order, 1.2),
]


@pytest.mark.parametrize(("one", "rule", "least"), CASES, ids=[one.name for one, _, _ in CASES])
def test_a_plain_kernel_becomes_right_and_faster(
    one: plain.PlainTask, rule: Rule, least: float, tmp_path: Path
) -> None:
    task = plain.written(one, tmp_path / one.name)
    with Session(task, cores=1) as session:
        made = list(rule(one.kernel, facts_of(task)))
        assert made, "the rule does not apply"
        before = session.foretold_us(session.given)
        times = {each.text: session.foretold_us(each.text) or 1e9 for each in made}
        best = min(times, key=times.__getitem__)
        assert before is not None and before / times[best] >= least
        for text in {best, made[-1].text}:
            found = session.quick_check(text)
            assert found.verdict == "right", found


def test_the_best_goes_through_the_whole_gate(tmp_path: Path) -> None:
    task = plain.written(plain.ARGMAX, tmp_path / "argmax")
    with Session(task, cores=1) as session:
        winner = session.rewrite("thread_per_row").winner
    assert winner is not None and winner.evaluation is not None and (winner.ratio or 0) > 5
    assert winner.evaluation.check.verdict == "right"


def row_kernel(body: str) -> str:
    head = 'extern "C" __global__ void k(const float* x, float* y, int R, int C) {\n'
    return plain.HEAD + head + plain.ROW + body + "\n}\n"


REFUSED = {
    "is no sum or maximum": "float s = 0; for (int c = 0; c < C; c++) s = s * 0.5f + x[row * C + c]; y[row] = s;",
    "a turn may read what another stored": "for (int c = 1; c < C; c++) y[row * C + c] = y[row * C + c - 1] + 1;",
    "may end early": "int n = 0; for (int c = 0; c < C; c++) { if (x[row * C + c] < 0) break; n++; } y[row] = n;",
    "stores to the same place": "for (int c = 0; c < C; c++) { if (x[c] > 0) y[row] = x[c]; y[R + row] = y[row]; }",
    "before the loop is over": "float s = 0; for (int c = 0; c < C; c++) { s += x[row * C + c]; y[row * C + c] = s; }",
    "work together already": "__syncthreads(); float s = 0; for (int c = 0; c < C; c++) s += x[c]; y[row] = s;",
    "does not end by": "float s = 0; for (int c = C - 1; c >= 0; c--) s += x[row * C + c]; y[row] = s;",
    "has only 4 turns": "float s = 0; for (int c = 0; c < 4; c++) s += x[row * C + c]; y[row] = s;",
    "there is no loop": "y[row] = x[row];",
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_a_row_rule_refuses_it_says_why(reason: str) -> None:
    text = row_kernel(REFUSED[reason])
    assert list(thread_per_row(text, Facts("k"))) == []
    assert reason in "; ".join(why_not_rows(text, Facts("k")))


def test_slices_refuse_a_guard_that_is_not_understood() -> None:
    text = row_kernel("float s = 0; for (int c = 0; c < C; c++) s += x[row * C + c]; y[row] = s;")
    assert list(slices_of_a_column(text, Facts("k")))
    odd = text.replace("if (row >= R) return;", "if (row >= R || row == 3) return;")
    assert list(slices_of_a_column(odd, Facts("k"))) == []
    wrapped = text.replace("if (row >= R) return;", "if (row < R) {").replace("y[row] = s;", "y[row] = s; }")
    assert list(slices_of_a_column(wrapped, Facts("k"))) == []


def test_a_product_refuses_what_is_of_neither_side() -> None:
    facts = Facts("distances", scalars={"M": "M", "N": "N", "K": "K"}, axes=("M", "N", "K"))
    assert why_not_product(plain.DISTANCES.kernel, facts) == []
    odd = plain.DISTANCES.kernel.replace("b[j * K + k]", "b[(i + j) * K + k]")
    assert "no value of a row or of a column" in why_not_product(odd, facts)[0]
    odd = plain.DISTANCES.kernel.replace("if (i >= M || j >= N) return;", "")
    assert why_not_product(odd, facts)
    odd = plain.DISTANCES.kernel.replace("sum += d * d;", "sum += d * d; if (sum > 9) break;")
    assert "may jump" in why_not_product(odd, facts)[0]


def test_atomics_whose_result_is_used_stay() -> None:
    facts = Facts("histogram", shapes={"counts": ("256",)})
    assert why_not_gathered(plain.HISTOGRAM.kernel, facts) == []
    used = plain.HISTOGRAM.kernel.replace("atomicAdd(&counts", "int before = atomicAdd(&counts")
    assert "returns is used" in why_not_gathered(used, facts)[0]
    unknown = Facts("histogram", shapes={"counts": ("B",)})
    assert "not known" in why_not_gathered(plain.HISTOGRAM.kernel, unknown)[0]


def test_an_element_that_a_changed_variable_names_is_not_the_same_for_all() -> None:
    facts = Facts("histogram", shapes={"counts": ("256",)})
    changed = plain.HISTOGRAM.kernel.replace(
        "atomicAdd(&counts[data[i]], 1u)",
        "int word = 0; for (int k = 0; k < 2; k++) word = word * 4 + data[i] % 4; atomicAdd(&counts[word], 1u)",
    )
    made = next(iter(gathered_by_block(changed, facts))).text
    assert "__shared__ unsigned int counts_block[256];" in made and "atomicAdd(&counts_block[(word)], 1u)" in made


def test_any_text_is_taken(tmp_path: Path) -> None:
    for text in ("", "}}}{", plain.SOFTMAX.kernel[:300], plain.HISTOGRAM.kernel.replace(";", "")):
        for cause in ("thread_per_row", "serial_loop", "overlapping_reads", "missing_tile", "uncoalesced"):
            assert isinstance(rewrites(text, cause, Facts("softmax_rows")), tuple)
