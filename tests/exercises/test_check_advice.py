"""What a check says of the mistakes of beginners, with the values that matter."""

from __future__ import annotations

import pytest

from coursekit.exercises import catalogue
from coursekit.exercises.checking import examine

BOTH = "row < rows && col < cols"
INDEX = "blockIdx.x * blockDim.x + threadIdx.x"
READ = "        next = x[i + 1];\n"
AFTER = """    }
    __syncthreads();  // all have read before the first one writes
    if (i < n - 1) {
"""


def told(id, *edits):
    """Return the verdict on the solution of an exercise with edits."""
    entry = catalogue.find(id)
    text = entry.solution.read_text(encoding="utf-8")
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return examine(entry, text)


# ---------------------------------------------------------------- places


def test_store_into_another_element_is_told_from_no_store():
    message = told("16.q", ("+ place]", "+ place + 3]")).message
    assert "No thread changes this element, though some change others." in message
    message = told("16.q", ("if (wanted)", "if (wanted && n < 0)")).message
    assert "no thread changes it" in message


# ---------------------------------------------------------------- barriers


@pytest.mark.parametrize(
    "edits",
    [
        [(AFTER, "        __syncthreads();\n")],
        [
            (
                "if (i < n - 1) {\n" + READ,
                "if (i >= n - 1)\n        return;\n    {\n" + READ,
            )
        ],
    ],
    ids=["in_an_if", "behind_a_return"],
)
def test_barrier_that_some_threads_skip_is_remarked(edits):
    verdict = told("05.5", *edits)
    assert verdict.passed
    assert "The result is right. But thread (0, 0, 0)" in verdict.message
    assert "guard the work, not the barrier" in verdict.message


def test_remark_is_shown_with_the_stages():
    verdict = told("05.5", (AFTER, "        __syncthreads();\n"))
    for shown in (repr(verdict), verdict._repr_html_()):
        assert "The result is right. But" in shown


def test_right_answer_has_no_remark():
    assert told("05.5").message == ""


# ---------------------------------------------------------------- guards


def test_array_of_rows_is_told_to_guard_both():
    message = told("05.4", (f"if ({BOTH})\n        ", "")).message
    assert "Guard each index, for example with `if (row < rows && col < cols)`" in (
        message
    )


@pytest.mark.parametrize(
    ("guard", "other"), [("col < cols", "row"), ("row < rows", "col")]
)
def test_half_a_guard_is_told_the_other_half(guard, other):
    message = told("05.4", (BOTH, guard)).message
    assert f"`if ({guard})` lets the thread through, and does not ask for {other}" in (
        message
    )
    assert "index expression is wrong" not in message


def test_guard_of_an_expression_that_is_too_wide_is_quoted():
    message = told("05.4", (BOTH, "row <= rows && col <= cols")).message
    assert "lets the thread through: row = 1, col = 4, rows = 2, cols = 4" in message
    assert "`<=` lets in one index too many" in message


def test_comma_in_a_guard_is_named():
    message = told("05.4", (BOTH, "row < rows, col < cols")).message
    assert "only `col < cols` is asked, and `row < rows` is not" in message


@pytest.mark.parametrize(
    ("id", "guard"),
    [("10.d", "if (i < n)"), ("10.e", "for (...; i < n; ...)")],
)
def test_guard_of_floats_is_quoted_where_vectors_are_read(id, guard):
    message = told(id, ("i < n / 4", "i < n")).message
    assert f"The guard `{guard}` lets the thread through: i = 2, n = 8." in message
    assert "4 of them per element of quads, which has 2 elements" in message
    assert "keep out every other index" not in message


@pytest.mark.parametrize(
    "words", ["elements 18 to 33 of 34)", "32         1    0  wrong"]
)
def test_picture_shows_the_first_wrong_element(words):
    assert words in told("02.a", ("i / 32", "blockIdx.x")).message


def test_picture_says_which_elements_it_shows():
    message = told("02.a", ("i / 32", "i")).message
    assert "warp, size 34, grid 1, block 64 (elements 0 to 15 of 34)" in message


def test_negative_index_is_told_its_thread():
    message = told("10.i", (" && i >= segment", "")).message
    assert "and i / segment - 1 = -1: i = 0, segment = 4." in message


def test_pointer_that_was_moved_too_far_is_told_so():
    message = told("05.6", ("S += head * queries * keys", "S += head * 6")).message
    assert "The line asks for S[2], and S was moved on by 6 elements before" in message


def test_pointer_that_was_moved_before_a_loop_is_told_so():
    message = told("13.f", ("blockIdx.z * stride_b", "blockIdx.z * n * n")).message
    assert "`B += blockIdx.z * n * n` moved B on before" in message
    assert "by `k + col * n`: in all to B[4]" in message


def test_loop_that_guards_an_access_is_not_told_to_guard():
    message = told("13.b", ("row + k * lda", "row * lda + k")).message
    assert "passes the guard `for (...; row < m && k < n; ...)`" in message
    assert "Guard the access" not in message


# ---------------------------------------------------------------- indices


def test_index_without_the_block_is_told_so():
    message = told("05.2", (INDEX, "threadIdx.x")).message
    assert "In thread (0, 0, 0) of block (1, 0, 0) the index i = threadIdx.x is 0" in (
        message
    )
    assert "not 64: threadIdx.x = 0. It is the same in every block." in message


def test_index_with_the_wrong_factor_is_told_its_values():
    message = told("05.2", ("blockDim.x", "gridDim.x")).message
    assert "is 16, not 76: blockIdx.x = 1, gridDim.x = 4, threadIdx.x = 12." in message
    assert "every block" not in message


def test_guard_that_is_too_strict_has_no_wrong_index():
    message = told("05.2", ("if (i < n)", "if (i < n - 1)")).message
    assert "an index skips it, or a guard is too strict" in message


# ---------------------------------------------------------------- values


def test_quotient_of_whole_numbers_is_named():
    message = told("00.c", ("(a[i] + b[i]) / 2", "1 / 2 * (a[i] + b[i])")).message
    assert "C++ drops the fraction: 1 / 2 is 0" in message


def test_element_that_all_threads_change_has_advice_of_its_own():
    message = told("10.e", ("own += (q", "own = (q")).message
    assert "Many threads change this one element" in message


def test_table_shows_what_an_element_held_before():
    message = told("10.a", ("x[i]", "2 * x[i]")).message
    assert "i  before  expected  got" in message


# ---------------------------------------------------------------- patterns of bits


@pytest.mark.parametrize(
    ("id", "edit", "shown"),
    [
        ("03.i", ("second << 16 | first", "first"), "0x43004280"),
        ("03.h", (" + (bits >> 16 & 1)", ""), "0xc6d58000  0xc6d6    0xc6d5"),
        ("03.2", ("u >> 16", "u & 0xffff"), "a (2 x 4) = 0x"),
    ],
)
def test_patterns_of_bits_are_shown_in_hexadecimal(id, edit, shown):
    assert shown in told(id, edit).message


# ---------------------------------------------------------------- libraries


def test_shares_of_threads_that_are_split_into_warps_are_taken():
    warps = ("(256, 4), (1, 256)", "((32, 8), 4), ((1, 128), 32)")
    assert told("14.d", warps).passed


def test_composition_with_one_layout_is_told_from_one_with_a_pair():
    one = "ck.layout((rows // down, cols // across), (down, across))"
    message = told("14.c", ("(some_rows, some_cols)", one)).message
    assert "One layout counts elements down the columns" in message


def test_call_is_blamed_where_the_weights_of_attention_are_right():
    message = told("13.2", ('"N", "N", width', '"N", "T", width')).message
    assert "S holds the right weights" in message


def test_softmax_is_blamed_where_the_weights_of_attention_are_wrong():
    message = told("13.2", ("powers.sum(axis=2", "powers.sum(axis=1")).message
    assert "S does not hold the weights" in message


def test_proposal_that_a_break_leaves_out_is_named():
    message = told("13.i", ("continue", "break")).message
    assert "algorithm 1 can run, and was not timed" in message


def test_result_that_is_another_array_is_told_so():
    call = 'ck.cublas.gemm("N", "N", n, m, k, 1.0, B, n, A, k, 0.0, C, n)'
    message = told("13.c", (call, "C = A @ B")).message
    assert "Nothing was stored in C" in message
