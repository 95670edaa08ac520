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
from warpsight.rewrite.restructure.halo import staged_with_halo, why_no_halo
from warpsight.rewrite.restructure.packed_dots import packed_dots, why_not_packed
from warpsight.rewrite.restructure.privatise import gathered_by_block, why_not_gathered
from warpsight.rewrite.restructure.products import blocked_product, why_not_product
from warpsight.rewrite.restructure.rows import slices_of_a_column, thread_per_row, why_not_rows
from warpsight.rewrite.restructure.staged_chunks import chunks_through_shared, why_not_chunks
from warpsight.rewrite.restructure.staged_rows import rows_through_shared, why_not_staged
from warpsight.rewrite.restructure.warp_atomics import added_by_warp
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
    (plain.FILTER, outputs_in_a_row, 1.3),
    (plain.TURNED, sides_in_order, 1.2),
    (plain.BLUR, staged_with_halo, 1.1),
    (plain.FILTER, staged_with_halo, 1.1),
    (plain.JACOBI, staged_with_halo, 0.5),
    (plain.BYTE_DOTS, packed_dots, 1.5),
    (plain.DEGREES, gathered_by_block, 1.5),
    (plain.GROUPS, added_by_warp, 1.5),
    (plain.CUMULATIVE, thread_per_row, 5.0),
    (plain.SMOOTHED, rows_through_shared, 1.5),
    (plain.PIXELS, chunks_through_shared, 1.5),
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
        widest = made[-1] if one is plain.ARGMAX else made[min(1, len(made) - 1)]  # blocks of 1,024 take long
        for text in {best, widest.text}:
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
    "a turn may read what another stored": "for (int c = 2; c < C; c++) y[row * C + c] = y[row * C + c - 2] + 1;",
    "may end early": "int n = 0; for (int c = 0; c < C; c++) { if (x[row * C + c] < 0) break; n++; } y[row] = n;",
    "stores to the same place": "for (int c = 0; c < C; c++) { if (x[c] > 0) y[row] = x[c]; y[R + row] = y[row]; }",
    "before the loop is over": "float s = 0, m = 0; for (int c = 0; c < C; c++) { s += x[c]; m += s; } y[row] = m;",
    "is needed before its turn": "float s = 0; for (int c = 0; c < C; c++) { float v = s + x[c]; s += v; y[c] = v; }",
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


def test_a_halo_refuses_what_does_not_go_with_the_block() -> None:
    facts = Facts("blur", shapes={"x": ("H", "W"), "y": ("H", "W")}, scalars={"H": "H", "W": "W"})
    kernel = plain.BLUR.kernel
    assert why_no_halo(kernel, facts) == []
    assert "does not go along one side" in why_no_halo(kernel.replace("r + dr", "r + 2 * dr"), facts)[0]
    assert "does not go along one side" in why_no_halo(kernel.replace("c + dc, 0", "c + dc * r, 0"), facts)[0]
    assert "are not fixed" in why_no_halo(kernel.replace("dr <= 3", "dr <= H"), facts)[0]
    assert "is not signed" in why_no_halo(kernel.replace("int c = block", "unsigned c = block"), facts)[0]
    assert "not known" in why_no_halo(kernel, Facts("blur", scalars={"H": "H"}))[0]
    assert "work together" in why_no_halo(kernel.replace("int sum = 0;", "__syncthreads(); int sum = 0;"), facts)[0]


def test_bytes_are_packed_where_words_are_sure() -> None:
    facts, kernel = Facts("byte_dots", scalars={"K": "K"}), plain.BYTE_DOTS.kernel
    assert why_not_packed(kernel, facts) == []
    assert "no multiple of 4" in why_not_packed(kernel.replace("a[i * 64 +", "a[i * 63 +"), facts)[0]
    assert "of one sign" in why_not_packed(kernel.replace("const signed char* b", "const unsigned char* b"), facts)[0]
    assert "used elsewhere" in why_not_packed(kernel.replace("= sum;", "= sum + a[0];"), facts)[0]
    sized = kernel.replace("int N)", "int N, int K)").replace("64", "K")
    assert "is not promised" in why_not_packed(sized, facts)[0]
    assert why_not_packed(sized, Facts("byte_dots", scalars={"K": "K"}, multiples={"K": 8})) == []
    tiled = next(iter(packed_dots(sized, Facts("byte_dots", scalars={"K": "K"}, multiples={"K": 8})))).text
    known = Facts("byte_dots", scalars={"M": "M", "N": "N", "K": "K"}, axes=("M", "N", "K"))
    assert why_not_product(tiled, known) == []


NOT_STAGED = {
    "no loop walks along a row": "float s = 0; for (int c = 0; c < C; c++) s = s * 0.5f + x[c * R + row]; y[row] = s;",
    "is used beside row": "float s = 0; for (int c = 0; c < C; c++) s = s * 0.5f + x[row * C + c]; y[threadIdx.x] = s;",
    "a thread leaves early": "for (int c = 0; c < C; c++) { if (x[row * C + c] < 0) return; y[row * C + c] = 1; }",
    "used in several ways": "for (int c = 3; c < C; c++) y[row * C + c] = y[row * C + c - 3] * x[row * C + c];",
    "work together already": "__syncthreads(); y[row] = x[row];",
}


@pytest.mark.parametrize("reason", NOT_STAGED)
def test_what_is_not_staged_says_why(reason: str) -> None:
    text = row_kernel(NOT_STAGED[reason])
    assert list(rows_through_shared(text, Facts("k"))) == []
    assert reason in "; ".join(why_not_staged(text, Facts("k")))


def test_a_row_of_another_thread_is_no_chunk() -> None:
    facts = Facts("luma", shapes={"rgba": ("N*12",), "y": ("N*3",)}, scalars={"N": "N"})
    assert why_not_chunks(plain.PIXELS.kernel, facts) == []
    over = plain.PIXELS.kernel.replace("p * 4 + c]", "p * 4 + c + 1]")
    text = next(iter(chunks_through_shared(over, facts))).text
    assert "y_chunks" in text and "rgba_chunks" not in text
    other = plain.PIXELS.kernel.replace("rgba[i * 12", "rgba[(N - 1 - i) * 12").replace("y[i * 3 + p]", "y[p * N + i]")
    assert "how far the index goes is not known" in why_not_chunks(other, facts)[0]
    flat = plain.TOTAL.kernel.replace("atomicAdd(sum, x[i])", "sum[i] = x[i]")
    assert "for itself" in why_not_chunks(flat, Facts("total"))[0]


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
    known = Facts("histogram", shapes={"counts": ("B",)}, scalars={"N": "N", "B": "B"})
    text = next(iter(gathered_by_block(plain.HISTOGRAM.kernel.replace("int N)", "int N, int B)"), known))).text
    assert "shared=4*min(B, 12288)" in text and "if (counts_fits)" in text
    with_most = Facts("histogram", shapes={"counts": ("B",)}, scalars={"N": "N", "B": "B"}, most={"B": 4096})
    text = next(iter(gathered_by_block(plain.HISTOGRAM.kernel.replace("int N)", "int N, int B)"), with_most))).text
    assert "shared=4*B" in text and "counts_fits" not in text


def test_lanes_that_add_to_one_place_add_once() -> None:
    facts = Facts("histogram")
    text = next(iter(added_by_warp(plain.HISTOGRAM.kernel, facts))).text
    assert "warp_add(&counts[data[i]], 1u);" in text and "__match_all_sync" in text
    used = plain.HISTOGRAM.kernel.replace("atomicAdd(&counts", "int before = atomicAdd(&counts")
    assert list(added_by_warp(used, facts)) == []


def test_guards_around_neighbours_are_asked_once() -> None:
    made = {one.name: one.text for one in outputs_in_a_row(plain.FILTER.kernel, Facts("fir"))}
    text = made["4 neighbours along x for each thread"]
    assert "whole = whole && (n - 31) >= (0);" in text and text.count("if (n - k >= 0)") == 1
    wraps = plain.FILTER.kernel.replace("int n = ", "unsigned n = ")
    text = {one.name: one.text for one in outputs_in_a_row(wraps, Facts("fir"))}["4 neighbours along x for each thread"]
    assert text.count("if (n - k >= 0)") == 2, "below zero it would wrap"
    other = plain.FILTER.kernel.replace("sum += taps[k] * x[n - k];", "sum += taps[k] * x[n - k]; else sum += 1;")
    text = {one.name: one.text for one in outputs_in_a_row(other, Facts("fir"))}["4 neighbours along x for each thread"]
    assert text.count("if (n - k >= 0)") == 2, "there is something else to do"


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
