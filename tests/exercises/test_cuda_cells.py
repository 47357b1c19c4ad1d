"""Facts about `%%cuda` cells."""

import pytest

from coursekit.errors import ArgumentError, CompileError, LaunchError
from coursekit.exercises.cells import cuda

pytest_plugins = ("notebook_shell",)

SCALE = "__global__ void scale(float* a, int n) { if (n > 0) a[0] *= TILE; }\n"
VEC_ADD = """%%cuda
__global__ void vec_add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
"""
PAIR = "__global__ void first(int* a) {}\n__global__ void second(int* a) {}\n"
TEMPLATE = "template <class T> __global__ void copy(T* a) { a[1] = a[0]; }\n"


def test_a_cell_binds_its_kernel_under_its_own_name(session):
    session.run(VEC_ADD)
    assert session["vec_add"].name == "vec_add"


def test_the_bound_kernel_can_be_configured_for_a_launch(session):
    session.run(VEC_ADD)
    session.run("vec_add[(1, 2), 32]")


def test_the_module_is_found_by_the_kernels_name(session):
    session.run(VEC_ADD)
    assert cuda.module("vec_add") is session["vec_add"].module


def test_a_name_binds_the_module_and_the_kernels(session):
    session.run("%%cuda pair\n" + PAIR)
    assert session["pair"] is cuda.module("pair") is session["second"].module


def test_a_kernel_comes_before_a_module_of_the_same_name(session):
    session.run("%%cuda first\n" + PAIR)
    assert session["first"].name == "first"
    assert cuda.module("first").kernels == ("first", "second")


def test_a_kernel_in_a_namespace_is_bound_without_it(session):
    session.run("%%cuda\nnamespace q { __global__ void inner(int* a) {} }\n")
    assert session["inner"].name == "q::inner"


def test_running_a_changed_cell_binds_the_new_kernel(session):
    session.run("%%cuda\n__global__ void f(int* a) {}\n")
    session.run("%%cuda\n__global__ void f(int* a, int* b) {}\n")
    assert len(session["f"].parameters) == 2


def test_a_failing_cell_leaves_the_earlier_kernel(session):
    session.run(VEC_ADD)
    kernel = session["vec_add"]
    session.fail(VEC_ADD.replace("n)", "n"))
    assert session["vec_add"] is kernel


def test_the_summary_names_the_kernel_with_its_parameters(session):
    assert session.run(VEC_ADD) == (
        "Compiled cell_vec_add.cu:\n"
        "  vec_add(const float* a, const float* b, float* c, int n)\n"
    )


def test_the_summary_of_several_kernels_has_a_line_each(session):
    assert session.run("%%cuda pair\n" + PAIR) == (
        "Compiled pair.cu:\n  first(int* a)\n  second(int* a)\n"
    )


def test_the_summary_tells_how_to_reach_a_template(session):
    output = session.run("%%cuda copying\n" + TEMPLATE)
    assert 'copy<...>: ck.module("copying")["copy<...>"]' in output


def test_the_summary_is_the_same_when_the_cell_runs_again(session):
    assert session.run(VEC_ADD) == session.run(VEC_ADD)


def test_the_summary_holds_warnings_of_the_compiler_without_its_remark(session):
    output = session.run("%%cuda\n__global__ void f(int* a) { int unused; }\n")
    assert 'cell_f.cu(2): warning #177-D: variable "unused"' in output
    assert "Remark" not in output


def test_a_variable_that_is_replaced_is_named(session):
    session.run("first = [3]")
    output = session.run("%%cuda\n" + PAIR)
    assert "Note: replaces your variable first (list)" in output


def test_a_kernel_that_is_replaced_is_not_worth_a_note(session):
    session.run("%%cuda pair\n" + PAIR)
    assert "Note" not in session.run("%%cuda pair\n" + PAIR)


def test_a_hidden_function_of_python_is_named(session):
    output = session.run("%%cuda\n__global__ void sum(int* a) {}\n")
    assert "Note: hides Python's sum" in output


def test_semicolon_that_ends_an_if_is_noted(session):
    output = session.run(
        "%%cuda\n__global__ void k(int* a, int n)\n{\n    if (n > 0);\n"
        "        a[0] = n;\n}\n"
    )
    assert "Note: line 4 has a semicolon right after `if (n > 0)`." in output


def test_a_macro_is_defined_by_the_option(session):
    session.run("%%cuda -D TILE=16\n" + SCALE)
    assert "0f41800000" in session["scale"].module.ptx.lower()


def test_a_macro_takes_a_python_value_in_braces(session):
    session.run("tile = 16")
    session.run("%%cuda -D TILE={tile}\n" + SCALE)
    assert "0f41800000" in session["scale"].module.ptx.lower()


def test_the_architecture_is_chosen_by_the_option(session):
    session.run("%%cuda --arch sm_90a\n" + PAIR)
    assert ".target sm_90a" in cuda.module("first").ptx


def test_a_compile_error_names_the_line_as_the_editor_counts_it(session):
    shown, error = session.fail("%%cuda broken\n\n__global__ void f() { int a = }\n")
    assert isinstance(error, CompileError)
    assert shown.startswith("CompileError: broken.cu:3: ")


def test_a_compile_error_shows_the_caret_and_no_python(session):
    shown, _ = session.fail("%%cuda\n__global__ void f() { int a = }\n")
    assert "^" in shown
    assert "Traceback" not in shown and "magics.py" not in shown


@pytest.mark.parametrize("body", ["", "\n", "\n  \n\n"])
def test_an_empty_cell_fails(session, body):
    _, error = session.fail("%%cuda" + body)
    assert "The %%cuda cell is empty" in str(error)


def test_a_cell_with_an_option_but_no_body_fails(session):
    _, error = session.fail("%%cuda name")
    assert isinstance(error, ArgumentError)


@pytest.mark.parametrize("cell", ["__device__ int x;\n", TEMPLATE])
def test_a_cell_that_binds_nothing_fails(session, cell):
    _, error = session.fail("%%cuda\n" + cell)
    assert "has nothing to bind" in str(error)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--verbose", "has no option --verbose"),
        ("--exercise", "needs a value after --exercise"),
        ("-O3", "has no option -O3"),
        ("one two", "takes one NAME, but got one and two"),
        ("two-words", "cannot bind 'two-words'"),
        ("lambda", "cannot bind 'lambda'"),
        ("-D", "needs a value after -D"),
        ("-D --arch sm_90", "needs a value after -D"),
        ("-D 3=4", "got -D 3=4, which defines no name"),
        ("-D =4", "got -D =4, which defines no name"),
        ("--arch", "needs a value after --arch"),
        ("--arch=", "needs a value after --arch"),
        ("'open", 'cannot read "\'open": No closing quotation'),
    ],
)
def test_a_wrong_option_is_named_beside_the_usage(line, message):
    with pytest.raises(ArgumentError) as caught:
        cuda.Options.parse(line)
    assert message in caught.value.what
    assert caught.value.cure == f"Usage: {cuda.USAGE}"


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ("", cuda.Options()),
        ("vec_add", cuda.Options("vec_add")),
        ("--arch sm_90a f", cuda.Options("f", "sm_90a")),
        ("--arch=sm_90a", cuda.Options(None, "sm_90a")),
        ("-D TILE=16 -DN=4", cuda.Options(defines={"TILE": "16", "N": "4"})),
        ("-D FLAG", cuda.Options(defines={"FLAG": None})),
        ("-D EMPTY=", cuda.Options(defines={"EMPTY": ""})),
        ("-D 'EXPR=a = b'", cuda.Options(defines={"EXPR": "a = b"})),
    ],
)
def test_options_are_read(line, options):
    assert cuda.Options.parse(line) == options


def test_an_unknown_module_lists_those_that_are_bound(session):
    session.run("%%cuda pair\n" + PAIR)
    with pytest.raises(LaunchError, match="Bound are: pair, first, second"):
        cuda.module("other")


def test_outside_a_notebook_no_module_is_bound():
    with pytest.raises(LaunchError, match="Bound are: none"):
        cuda.module("vec_add")


def test_loading_again_keeps_what_is_bound(session):
    session.run(VEC_ADD)
    session.run("%reload_ext coursekit")
    assert cuda.module("vec_add").kernels == ("vec_add",)


def test_loading_again_registers_one_transformer(session):
    session.run("%reload_ext coursekit")
    transformers = session.shell.input_transformers_cleanup
    assert transformers.count(cuda._give_body) == 1
