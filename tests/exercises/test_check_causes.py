"""A check names the defect behind a wrong value: what the checkers see comes first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tiny_exercises import add_ten

import coursekit as ck
from coursekit.errors import CheckFailed
from coursekit.exercises import blank, catalogue, poison
from coursekit.exercises.checking import examine
from coursekit.runtime import simulator

pytest_plugins = ("exercise_folder", "notebook_shell")

CELL = "%%cuda --exercise 42.1\n"
RIGHT = "if (i < n) out[i] = a[i] + 10;"


def examined(body, **changes):
    """Examine 42.1 with this body of the kernel, under a changed spec."""
    entry = catalogue.find("42.1")
    entry = replace(entry, exercise=replace(entry.exercise, **changes))
    return examine(entry, add_ten(body))


def edited(entry, text, *edits):
    """Examine a text with edits as an answer to an exercise."""
    for old, new in edits:
        assert text.count(old) >= 1
        text = text.replace(old, new)
    return examine(entry, text)


def course(id, *edits):
    """Examine an edited solution of an exercise of the course."""
    entry = catalogue.find(id)
    return edited(entry, entry.solution.read_text(encoding="utf-8"), *edits)


# An answer to 10.2 that merges the pairs by itself.
ONLINE = """\
// Softmax of one vector by one block, with a thread for each value or more.
__global__ void softmax(const float *x, float *out, int n)
{
    __shared__ float tops[32], sums[32];
    int t = threadIdx.x, warps = blockDim.x / 32;
    float own = t < n ? x[t] : -3.4028235e38f, most = own, sum = t < n;
    for (int away = 16; away > 0; away /= 2) {
        float other = __shfl_xor_sync(~0u, most, away);
        float more = __shfl_xor_sync(~0u, sum, away);
        float top = fmaxf(most, other);
        sum = sum * expf(most - top) + more * expf(other - top);
        most = top;
    }
    if (t % 32 == 0)
        tops[t / 32] = most, sums[t / 32] = sum;
    __syncthreads();  // the pairs of all warps are there
    for (int w = 0; w < warps; w++) most = fmaxf(most, tops[w]);
    sum = 0.0f;
    for (int w = 0; w < warps; w++) sum += sums[w] * expf(tops[w] - most);
    if (t < n)
        out[t] = expf(own - most) / sum;
}
"""


def online(*edits):
    """Examine an edited online softmax."""
    return edited(catalogue.find("10.2"), ONLINE, *edits)


def test_online_softmax_passes():
    assert online().error is None


# ---------------------------------------------------------------- what checkers see

NO_BARRIER = """\
__shared__ float tile[256];
    tile[threadIdx.x] = i < n ? a[i] : 0;
    int other = threadIdx.x ^ 32;
    if (i + 32 < n && i < 32) out[i] = a[i] + 10 + 0 * tile[other];
    else if (i < n) out[i] = a[i] + 10;"""
UNSET = """\
__shared__ float tile[256];
    if (i < n) out[i] = a[i] + tile[threadIdx.x];"""


def test_wrong_value_of_a_race_is_called_a_race(folder):
    verdict = examined(NO_BARRIER.replace("0 * tile", "tile"))
    assert type(verdict.error) is ck.DataRaceError
    assert "no barrier between them" in verdict.message
    assert "Work out by hand" not in verdict.message


def test_race_says_which_value_is_wrong(folder):
    verdict = examined(NO_BARRIER.replace("0 * tile", "tile"))
    assert (
        "Seen with size 33, grid 1, block 256: 1 of 33 elements of out is wrong."
        in (verdict.message)
    )
    assert "out[0]: expected" in verdict.message


def test_unset_shared_memory_is_called_so(folder):
    verdict = examined(UNSET)
    assert type(verdict.error) is ck.UninitializedReadError
    assert "reads tile[0], which nothing has written" in verdict.message


def test_adding_to_an_unset_double_is_called_so():
    message = course("21.a", ("grad_x[i] = ", "grad_x[i] += ")).message
    assert "NaN until something is stored there" in message
    assert "never written" not in message


def test_part_that_replaces_what_an_element_held_is_called_so():
    edits = ("da[i] +=", "da[i] ="), ("db[i] +=", "db[i] =")
    message = course("22.a", *edits).message
    assert "holds the new part alone: what it held before is lost" in message


def test_value_of_unset_memory_is_explained(folder):
    assert (
        "is close to -26711958, the value of memory that nothing has written"
        in examined(UNSET).message
    )


def test_wrong_value_without_a_defect_keeps_its_table(folder):
    verdict = examined("if (i < n) out[i] = a[i] + 11;")
    assert type(verdict.error) is ck.CheckFailed
    assert "Work out by hand" in verdict.message


def test_shuffle_from_a_lane_that_has_left_is_called_so(folder):
    body = "if (i < n) out[i] = a[i] + 11 + __shfl_sync(~0u, i, 31);"
    assert type(examined(body).error) is ck.BarrierError


def test_element_that_two_threads_write_has_a_wrong_index(folder):
    verdict = examined("if (i < n) out[i / 2] = a[i] + 10;")
    assert type(verdict.error) is ck.CheckFailed
    assert "both write out[0]: the index is the same for both" in verdict.message
    assert "atomic" not in verdict.message


@pytest.mark.parametrize("engine", ["interpreter", "compiled"])
def test_message_is_the_same_whichever_engine_runs(folder, monkeypatch, engine):
    bodies = (NO_BARRIER.replace("0 * tile", "tile"), UNSET)
    before = [examined(body).message for body in bodies]
    launch = simulator.SimulatorBackend.launch

    def by_this_engine(self, *given, **options):
        return launch(self, *given, **(options | {"engine": engine}))

    monkeypatch.setattr(simulator.SimulatorBackend, "launch", by_this_engine)
    assert [examined(body).message for body in bodies] == before


def test_missing_barrier_of_the_online_softmax_is_named():
    barrier = "    __syncthreads();  // the pairs of all warps are there\n"
    verdict = online((barrier, ""))
    assert "no barrier between them" in verdict.message


def test_missing_barrier_of_a_matrix_product_is_named():
    verdict = course("17.1", ("    __syncthreads();  // the tiles are complete\n", ""))
    assert "no barrier between them" in verdict.message
    assert "-53423916 is 2 times -26711958" in verdict.message


# ---------------------------------------------------------------- the pattern


def scaled(dtype, factor):
    """Return a multiple of the pattern of unwritten memory."""
    unset = np.frombuffer(b"\xcb" * np.dtype(dtype).itemsize, dtype)
    return (unset * np.array([factor], dtype))[0]


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "int16", "int32", "uint32", "int64"]
)
def test_pattern_of_any_type_is_recognised(dtype):
    assert "is the value of memory that nothing" in poison.explained(scaled(dtype, 1))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint32", "uint64"])
def test_twice_the_pattern_is_recognised(dtype):
    with np.errstate(over="ignore"):
        assert "is 2 times" in poison.explained(scaled(dtype, 2))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.float32(-86813864), "-86813864 is 3.25 times -26711958"),
        (np.float32(-26711948), "-26711948 is close to -26711958"),
        (np.int32(-875836459), "-875836459 is 10 more than -875836469"),
        (np.int32(-875836479), "-875836479 is 10 less than -875836469"),
    ],
)
def test_sum_or_product_with_the_pattern_is_recognised(value, words):
    assert poison.explained(value).startswith(words)


def test_part_of_the_expected_sum_may_stand_beside_the_pattern():
    value = np.float32(-26710510)
    assert poison.explained(value) == ""
    assert poison.explained(value, 1447.25).startswith("-26710510 is close to")


@pytest.mark.parametrize(
    "value",
    [np.float32(0), np.float32(11.5), np.float32(-5e6), np.float32("nan"),
     np.float32("inf"), np.uint8(0xCB), np.int32(7), np.float16(-15.6),
     np.float16(-30), np.int32(-1)],
)  # fmt: skip
def test_other_values_are_not_explained(value):
    assert poison.explained(value) == ""


def test_expected_value_is_told_from_the_pattern_of_an_integer(folder):
    verdict = examined(
        "__shared__ int part[256]; if (i < n) out[i] = part[threadIdx.x] + 3;",
        inputs=lambda n, g: {
            "out": blank(n),
            "a": np.arange(n, dtype=np.float32),
            "n": n,
        },
        reference=lambda v: v.a,
    )
    assert type(verdict.error) is ck.UninitializedReadError


# ---------------------------------------------------------------- guards

FAR = "The index expression is wrong: n - i = 8 at i = 0, n = 8."


@pytest.mark.parametrize(
    "body",
    [
        "if (i < n) out[n - i] = a[i];",
        "if (i < n) { float v = a[i];\n out[n - i] = v; }",
        "if (i < n)\n        out[n - i] = a[i];  // from the end",
        "if (i >= n) return;\n    out[n - i] = a[i];",
        "if (n <= i) { return; }\n    out[n - i] = a[i];",
        "if (n > 2) if (i < n) out[n - i] = a[i];",
        "if (i >= 0 && i < n) out[n - i] = a[i];",
    ],
)
def test_guarded_access_with_a_wrong_index_is_not_told_to_guard(folder, body):
    verdict = examined(body)
    assert FAR in verdict.message
    assert "Guard the access" not in verdict.message


def test_index_is_followed_through_a_variable(folder):
    verdict = examined("int j = n - i; if (i < n) out[j + 1] = a[i];")
    assert "The index expression is wrong: j + 1 = 9 at j = 8" in verdict.message


def test_guard_that_is_too_wide_is_quoted(folder):
    verdict = examined("if (i <= n) out[i] = a[i] + 10;")
    assert "The guard `if (i <= n)` lets the thread through: i = 8" in verdict.message
    assert "`<=` lets in one index too many" in verdict.message


def test_index_with_a_neighbour_is_told_its_thread(folder):
    verdict = examined("if (threadIdx.x < n) out[i + 1] = a[i + 1];")
    assert "i + 1 = 8 at i = 7" in verdict.message


def test_guard_that_compares_something_else_is_quoted(folder):
    verdict = examined("if (threadIdx.x < n) out[i] = a[i] + 10;")
    assert "The guard `if (threadIdx.x < n)` lets the thread through" in verdict.message
    assert "It does not ask for the index, and i = 255." in verdict.message


def test_index_of_a_loop_inside_of_a_guard_is_not_told_to_guard():
    message = course("22.f", ("dy[row * N + col] * b", "dy[row * K + col] * b")).message
    assert "passes the guard `if (i < M * K)`, and `row * K + col` is 4:" in message
    assert "the step from row to row is the length of its row" in message
    assert "Guard each index" not in message


def test_bound_of_a_loop_inside_of_a_guard_is_not_told_to_guard():
    message = course("22.d", ("row < rows", "row < cols")).message
    assert "this expression is wrong, or the bound of the loop" in message


def test_index_of_another_array_is_not_only_told_to_guard():
    verdict = course("10.n", ("mean[row]", "mean[c]"))
    assert "The elements of mean are 0 to 1: index mean with another variable" in (
        verdict.message
    )


def test_index_that_grows_too_large_is_not_only_told_to_guard():
    verdict = course("10.o", ("i / P % C", "i / P"))
    assert "The elements of gamma are 0 to 5: compute c so that it stays there" in (
        verdict.message
    )


@pytest.mark.parametrize(
    "body",
    [
        "out[i] = a[i] + 10;",
        "if (n > 100) { out[0] = 1; }\n    out[i] = a[i] + 10;",
        "if (i >= n) { a = a; }\n    out[i] = a[i] + 10;",
        "{ if (i >= n) n = n; }\n    out[i] = a[i];",
    ],
)
def test_access_without_a_guard_is_told_to_guard(folder, body):
    assert "Guard the access" in examined(body).message


@pytest.mark.parametrize(
    "body",
    [
        "if (i < n);\n    out[i] = a[i] + 10;",
        "if (i < n); { out[i] = a[i] + 10; }",
        "if (i < n) ;  // guard\n    {\n        out[i] = a[i] + 10;\n    }",
        "if (n > 0) { if (i < n); out[i] = a[i] + 10; }",
        "if (i >= 0) if (i < n);\n    out[i] = a[i] + 10;",
    ],
)
def test_semicolon_that_ends_a_guard_is_named(folder, body):
    message = examined(body).message
    assert "has a semicolon right after `if (i < n)`" in message
    assert "here i = 8, n = 8." in message
    assert "Remove the semicolon after the condition." in message
    assert "Guard the access" not in message


@pytest.mark.parametrize(
    "body",
    [
        "if (i < n); else n = n;\n    out[i] = a[i] + 10;",
        "if (n > 0);\n    out[i] = a[i] + 10;",
        "{ if (i < n); }\n    out[i] = a[i] + 10;",
        "// if (i < n);\n    out[i] = a[i] + 10;",
    ],
)
def test_empty_if_that_guards_nothing_is_not_blamed(folder, body):
    assert "Guard the access" in examined(body).message


# ---------------------------------------------------------------- other causes


def test_softmax_without_its_maximum_is_told_of_overflow():
    verdict = online(("- most", "- 0"), ("- top", "- 0"))
    assert "exp(x) overflows above x = 88.7 in float32" in verdict.message


def test_nan_that_no_large_input_makes_is_not_called_overflow():
    verdict = online(("[t] : -3.4028235e38f", "[t] : -1.0f / 0.0f"))
    assert "nan" in verdict.message
    assert "overflows" not in verdict.message


def test_result_that_an_overflowing_sum_makes_0_is_told_of_overflow():
    verdict = course("10.2", ("Part{x[t], 1}", "Part{x[t], expf(x[t])}"))
    assert "got 0" in verdict.message
    assert "exp(x) overflows above x = 88.7 in float32" in verdict.message


def test_zero_that_no_large_input_makes_is_not_called_overflow():
    verdict = course("10.2", ("= expf(x[t] - all.max)", "= 0 * expf(x[t] - all.max)"))
    assert "got 0" in verdict.message
    assert "overflows" not in verdict.message


def test_warning_about_an_unset_variable_is_shown(folder):
    verdict = examined("float ten; if (i < n) out[i] = a[i] + ten;")
    words = "The compiler has warned: ten is used before its value is set."
    assert verdict.message.count(words) == 1


def test_second_variable_of_the_same_name_is_told(folder):
    inner = "float sum = 0; for (int k = 0; k < 1; k++) { float sum = a[i]; }"
    verdict = examined("if (i < n) { " + inner + " out[i] = sum; }")
    words = "sum is declared twice, and one of the two is never read"
    assert verdict.message.count(words) == 1
    assert "Leave out the type" in verdict.message


def test_variables_of_the_same_name_in_two_blocks_are_not_told(folder):
    two = "if (i < n) { int k = i; out[i] = a[k]; } if (i < n) { int k = i; }"
    assert "warned" not in examined(two).message


def test_variable_that_hides_one_behind_it_is_not_told(folder):
    two = "if (i < n) { int k = i; } int k = i; if (i < n) out[k] = a[k];"
    assert "warned" not in examined(two).message


def test_half_of_an_answer_is_not_told_of_names_that_wait_for_the_other_half():
    verdict = course(
        "22.f", ("sum += a[row * K + k] * dy[row * N + col];", "sum += 0;")
    )
    assert "of db are wrong" in verdict.message
    assert "declared twice" not in verdict.message


def test_variable_that_is_only_unused_is_not_told(folder):
    assert "warned" not in examined("float ten = 1; if (i < n) out[i] = 1;").message


def test_warning_is_not_shown_where_there_is_none(folder):
    assert "warned" not in examined("if (i < n) out[i] = 1;").message


SERIAL = "if (i == 0) for (int j = 0; j < n; j++) out[j] = a[j] + 10;"


def test_serial_answer_is_refused(folder):
    verdict = examined(SERIAL, longest_warp=100)
    assert verdict.passed_stages == 5
    assert "one warp executes" in verdict.message
    assert "and at most 100 are allowed" in verdict.message
    assert "one thread does the work of many" in verdict.message


def test_serial_answer_passes_without_the_bound(folder):
    assert examined(SERIAL).passed


def test_parallel_answer_keeps_the_bound(folder):
    assert examined(RIGHT, longest_warp=100).passed


def refuses_fma(kernel):
    if "fma" in kernel.module.ptx:
        raise CheckFailed.explained("There is an FMA.")


LOOK = (("no FMA", refuses_fma),)


def test_compiled_code_is_looked_at_after_the_results(folder):
    verdict = examined(RIGHT, compiled=LOOK)
    assert verdict.passed
    assert verdict.passed_stages == 6


def test_compiled_code_that_is_refused_is_named(folder):
    fused = "if (i < n) out[i] = __fmaf_rn(a[i], 1, 10);"
    verdict = examined(fused, compiled=LOOK)
    assert verdict.passed_stages == 5
    assert verdict.message == "There is an FMA."


# ---------------------------------------------------------------- cells


@pytest.mark.parametrize("text", ["", "\n\n", "// Only a comment.\n"])
def test_empty_cell_is_called_empty(folder, session, text):
    _, error = session.fail(CELL + text)
    words = "The cell is empty: below %%cuda --exercise 42.1 it has no code."
    assert words in str(error)


def test_check_of_an_empty_cell_does_not_see_the_kernel_before(folder, session):
    session.run(CELL + add_ten(RIGHT).replace("add_ten", "addten"))
    session.fail(CELL + "\n")
    shown = session.run('ck.check("42.1")')
    assert "The cell is empty" in shown
    assert "addten" not in shown


def test_empty_cell_keeps_the_text_that_is_saved(folder, session):
    session.run(CELL + add_ten(RIGHT))
    session.fail(CELL + "\n")
    saved = folder.work / "exercises" / "42_tests" / "1_map.cu"
    assert saved.read_text() == add_ten(RIGHT)


def test_cell_with_the_starter_is_not_tried(folder, session):
    session.run(CELL + add_ten("// Your code here.") + "\n\n")
    session.run('ck.check("42.1")')
    assert ck.progress().table.rows[0][-1] == "not tried"


def test_cell_that_has_not_run_is_not_tried(folder, session):
    session.run('ck.check("42.1")')
    assert ck.progress().table.rows[0][-1] == "not tried"


def test_cell_that_does_not_compile_is_tried(folder, session):
    session.fail(CELL + "void f( {\n")
    session.run('ck.check("42.1")')
    assert ck.progress().table.rows[0][-1] == "tried"
