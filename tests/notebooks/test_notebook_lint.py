"""Each rule of notebook_lint passes a good notebook and names what is bad."""

from __future__ import annotations

import nbformat
import notebook_lint
import pytest
from execute import code_hash, normalise
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from coursekit.simt.memory.counters import Counters

OPENING = """# A lesson

**After this chapter you can** read, write and run.

**Time** 5 minutes

**Needs** nothing

**Numbers shown** none"""


def good_notebook():
    """Build a small notebook that keeps every rule."""
    slide = {"slideshow": {"slide_type": "slide"}}
    cells = [
        new_markdown_cell(OPENING, metadata=slide),
        new_code_cell("import math"),
        new_markdown_cell("## Area\n\nHow big?", metadata=slide | {"minutes": 5}),
        new_code_cell("area = math.pi * 2**2"),
        new_code_cell("assert area > 12", metadata={"tags": ["claim"]}),
    ]
    cells += [
        new_markdown_cell(f"## {heading}", metadata=slide)
        for heading in notebook_lint.CLOSING
    ]
    return as_executed(new_notebook(cells=cells))


def as_executed(notebook):
    """Number the cells and seal the code, as a run would."""
    for count, cell in enumerate(notebook_lint.code_cells(notebook), start=1):
        cell.execution_count = count
    notebook.metadata["coursekit"] = {"executed_sha256": code_hash(notebook)}
    return normalise(notebook)


def with_code(source, *outputs, **metadata):
    """Build the good notebook with another cell in its section."""
    notebook = good_notebook()
    cell = new_code_cell(source, metadata=metadata, outputs=list(outputs))
    notebook.cells.insert(4, cell)
    return as_executed(notebook)


def with_cells(source, *others, **metadata):
    """Build the good notebook with more cells in its section, the first with tags."""
    notebook = with_code(source, **metadata)
    notebook.cells[5:5] = [new_code_cell(other) for other in others]
    return as_executed(notebook)


def with_unfolded(source):
    """Build the good notebook with a cell whose source is not folded away."""
    notebook = with_code(source)
    notebook.cells[4].metadata = {}
    return notebook


def with_prose(source):
    """Build the good notebook with another prose cell in its section."""
    notebook = good_notebook()
    notebook.cells.insert(4, new_markdown_cell(source))
    return as_executed(notebook)


def with_long_prose():
    """Build the good notebook with prose of 61 words in every cell."""
    notebook = good_notebook()
    for cell in notebook_lint.markdown_cells(notebook):
        cell.source = "word " * 61
    return notebook


def with_output(text, **metadata):
    """Build the good notebook with a cell that printed `text`."""
    return with_code("show()", new_output("stream", text=text), **metadata)


def with_strict(counts):
    """Build the good notebook with a strict cell that shows counters."""
    found = Counters(counts)
    data = {"text/plain": repr(found), "text/html": found._repr_html_()}
    output = new_output("display_data", data=data)
    return with_code("show()", output, tags=["nbval-check-output"])


def with_change(place, value):
    """Build the good notebook, one entry of it changed: "cells.0.source", ..."""
    notebook = good_notebook()
    *path, last = [int(key) if key.isdigit() else key for key in place.split(".")]
    node = notebook
    for key in path:
        node = node[key]
    node[last] = value
    return notebook


def figure(**metadata):
    """Build the good notebook with a figure in an output."""
    data = {"image/png": "aGVsbG8=", "text/plain": "<Figure>"}
    return with_code("plot()", new_output("display_data", data=data), **metadata)


def html(text):
    """Build the good notebook with an output in HTML."""
    return with_code("plot()", new_output("display_data", data={"text/html": text}))


@pytest.mark.parametrize("rule", notebook_lint.RULES, ids=lambda rule: rule.__name__)
def test_good_notebook_passes(rule):
    assert list(rule(good_notebook())) == []


BAD = [
    ("valid", with_change("nbformat_minor", 4), "4.4, not 4.5"),
    ("valid", with_change("cells.3.id", "s00-00"), "more than once"),
    ("valid", with_change("cells.3.outputs", [{"output_type": "no"}]), "not a valid"),
    ("canonical", with_change("cells.3.id", "a1b2c3"), "canonical form"),
    ("canonical", with_change("cells.3.metadata.scrolled", True), "canonical form"),
    ("canonical", with_change("cells.4.metadata", {}), "canonical form"),
    ("canonical", with_change("metadata.language_info.version", "3"), "canonical"),
    ("metadata", with_change("metadata.kernelspec.name", "conda"), "not python3"),
    ("metadata", with_change("metadata.widgets", {}), "widget state"),
    ("size", with_output("x" * 300_001), "bytes"),
    ("known_tags", with_code("1", tags=["nbval-skip"]), "nbval-skip"),
    ("known_tags", with_code("1", tags=["nbval-ignore-output"]), "ignore"),
    ("no_paths_beside", with_code("open('../assets/a.png')"), "../"),
    ("no_escapes", with_code("!ls"), "!ls"),
    ("no_escapes", with_code("files = !ls"), "!ls"),
    ("no_escapes", with_code("if True:\n    !ls"), "!ls"),
    ("no_escapes", with_code("%%bash\nls"), "%%bash"),
    ("no_escapes", with_code("%%timeit\n1"), "%%timeit"),
    ("no_escapes", with_code("%timeit 1"), "%timeit"),
    ("no_escapes", with_code("t = %timeit -o 1"), "%timeit"),
    ("no_escapes", with_code("%%writefile a.cu\nx"), "%%writefile"),
    ("no_escapes", with_code("%pip install numpy"), "%pip"),
    ("no_escapes", with_code("import os\nos.system('ls')"), "os.system"),
    ("no_escapes", with_code("run('pip install numpy')"), "installs nothing"),
    ("no_escapes", with_code("# NBVAL_SKIP\n1"), "with a tag"),
    ("no_escapes", with_code("x = = 1"), "syntax error"),
    ("questions_alone", with_code("ck.guess('?', answer=1)\nmath.pi"), "shares"),
    ("questions_alone", with_code("asked = ck.quiz([])"), "shares"),
    ("canonical", with_unfolded("ck.guess('?', answer=1)"), "canonical form"),
    ("exercises", with_code("%%cuda --exercise 05.1\nx"), "tags []"),
    ("exercises", with_code("1", tags=["exercise-05.1"]), "tags ['05.1']"),
    ("exercises", with_code("%%host --exercise 06.1\nx"), "tags []"),
    ("exercises", with_code("%%host\nx", tags=["exercise-06.1"]), "tags ['06.1']"),
    (
        "exercises",
        with_code("%%host --exercise 06.1\nx", tags=["exercise-06.1"]),
        "not the starter",
    ),
    ("checks_follow", with_code("%%cuda --exercise 05.1\nx"), "no check of 05.1"),
    ("claims", with_code("assert area"), "only asserts, without the tag claim"),
    ("claims", with_code("area", tags=["claim"]), "asserts nothing"),
    (
        "claims",
        with_code("assert area", new_output("stream", text="1"), tags=["claim"]),
        "shows something",
    ),
    ("claims", with_code("assert area", tags=["claim"]), "two claims in one section"),
    (
        "claims",
        with_cells("x = 1\nassert x", "print(x)", tags=["claim"]),
        "needs x of the claim s01-02",
    ),
    ("no_escapes", with_code("%%host --exercise 06.1\n!ls"), "!ls"),
    ("no_escapes", with_code("%%host\nimport os\nos.system('ls')"), "os.system"),
    ("sections_stand_alone", with_code("%%host\nprint(radius)"), "`radius`"),
    (
        "exercises",
        with_code("%%cuda --exercise 05.1\nx", tags=["exercise-05.1"]),
        "not the starter",
    ),
    ("sections_stand_alone", with_code("print(radius)"), "`radius`"),
    ("sections_stand_alone", with_code("ck = math\nck.module('f')"), "named f"),
    ("lengths", with_code("\n".join("a" * 26)), "26 lines, above 25"),
    ("lengths", with_code("\n".join("a" * 13)), "one code cell in ten"),
    ("lengths", with_long_prose(), "median prose cell has 61 words"),
    ("executed", with_change("cells.3.execution_count", None), "one run"),
    ("executed", with_change("cells.3.execution_count", 7), "one run"),
    ("executed", with_change("cells.3.source", "area = 13"), "not of this code"),
    ("clean_outputs", with_output("see /home/ada/x"), "/home/ada"),
    ("clean_outputs", with_output("<object at 0x7f3b2c1d>"), "0x7f3b2c1d"),
    ("exact_outputs_checked", with_output(str(Counters({"blocks": 1}))), "Counters ("),
    ("exact_outputs_checked", with_output("Findings (2)"), "Findings ("),
    ("exact_outputs_checked", with_output("array([1, 2])"), "array("),
    ("strict_outputs_exact", with_strict({"branches": 9}), "the count branches"),
    ("pictures_described", with_prose("![](assets/a.png)"), "without alt"),
    ("pictures_described", with_prose('<img src="a.png">'), "without alt"),
    ("pictures_described", with_prose('<img alt="" src="a.png">'), "without alt"),
    ("pictures_described", figure(), "image/png"),
    ("pictures_described", html('<img src="a.png">'), "without alt"),
    ("pictures_described", html("<svg width='1'></svg>"), "without alt"),
    ("opening", with_change("cells.0.source", "# A lesson"), "lacks **Time**"),
    ("opening", with_change("cells.0.source", OPENING[2:]), "not a Markdown title"),
    ("opening", with_change("cells.1.cell_type", "markdown"), "set-up cell"),
    ("closing", with_change("cells.8.source", "## Literature"), "last sections"),
    ("minutes", with_change("cells.2.metadata", {}), "no metadata.minutes"),
    ("minutes", with_change("cells.2.metadata.minutes", 6), "sum to 6"),
    ("slides", with_change("cells.2.metadata.slideshow", {}), "without slide_type"),
    ("list_items", with_prose("1. 32."), "shows a letter"),
    ("slides", with_change("cells.3.metadata.slideshow", {"slide_type": "-"}), "'-'"),
]


@pytest.mark.parametrize(("rule", "notebook", "words"), BAD)
def test_bad_notebook_is_named(rule, notebook, words):
    complaints = " | ".join(getattr(notebook_lint, rule)(notebook))
    assert words in complaints


def test_every_rule_has_a_bad_example():
    assert {rule.__name__ for rule in notebook_lint.RULES} == {rule for rule, *_ in BAD}


ERROR = new_output("error", ename="ValueError", evalue="no", traceback=[])
STDERR = new_output("stream", name="stderr", text="a warning")


@pytest.mark.parametrize(
    ("output", "words"), [(ERROR, "ValueError"), (STDERR, "stderr")]
)
def test_failure_or_warning_may_not_be_stored(output, words):
    complaints = " | ".join(notebook_lint.clean_outputs(with_code("f()", output)))
    assert words in complaints


def test_error_may_be_stored_where_it_is_meant():
    notebook = with_code("1 / 0", ERROR, tags=["raises-exception"])
    assert list(notebook_lint.clean_outputs(notebook)) == []


@pytest.mark.parametrize(
    "notebook",
    [
        figure(alt="Two bars, the right one twice as high."),
        html('<img alt="Two bars." src="a.png">'),
        html("<svg role='img' aria-label='Two bars.'></svg>"),
    ],
    ids=["cell metadata", "alt attribute", "aria-label"],
)
def test_described_picture_passes(notebook):
    assert list(notebook_lint.pictures_described(notebook)) == []


def test_figure_described_by_its_own_metadata_passes():
    data = {"image/png": "aGVsbG8="}
    described = {"image/png": {"alt": "Two bars."}}
    output = new_output("display_data", data=data, metadata=described)
    notebook = with_code("plot()", output)
    assert list(notebook_lint.pictures_described(notebook)) == []


def test_cuda_cell_and_load_ext_are_allowed():
    notebook = with_code("%load_ext coursekit")
    notebook.cells.insert(4, new_code_cell("%%cuda square\n__global__ void f() {}"))
    assert list(notebook_lint.no_escapes(notebook)) == []


def test_exclamation_mark_in_a_string_is_allowed():
    assert list(notebook_lint.no_escapes(with_code("print('!ls')\nx = 1 != 2"))) == []


def test_checked_output_may_hold_counters():
    notebook = with_strict({"blocks": 1})
    assert list(notebook_lint.exact_outputs_checked(notebook)) == []


def test_good_notebook_is_valid_for_nbformat():
    nbformat.validate(good_notebook())


@pytest.mark.parametrize("counts", [{"blocks": 1}, {"blocks": 1, "branches": 9}])
def test_strict_output_may_show_exact_counters(counts):
    notebook = with_strict(Counters(counts).exact.values)
    assert list(notebook_lint.strict_outputs_exact(notebook)) == []


def test_count_of_ptx_may_be_shown_where_the_output_is_not_compared():
    notebook = with_output(str(Counters({"branches": 9})))
    assert list(notebook_lint.strict_outputs_exact(notebook)) == []


CUDA = "%%cuda mine -D N=4\n__global__ void triple(float *x) {}"


@pytest.mark.parametrize(
    "use", ["triple[1, 4](1)", "mine.triple", "f = [triple, mine]"]
)
def test_cuda_cell_binds_its_kernels_and_its_name(use):
    notebook = with_code(use)
    notebook.cells.insert(4, new_code_cell(CUDA))
    assert list(notebook_lint.sections_stand_alone(notebook)) == []


def test_cuda_cell_binds_the_last_part_of_a_name_in_a_namespace():
    notebook = with_code("scale[1, 1]()")
    cell = "%%cuda\nnamespace q { __global__ void scale() {} }"
    notebook.cells.insert(4, new_code_cell(cell))
    assert list(notebook_lint.sections_stand_alone(notebook)) == []


def test_kernel_is_undefined_before_its_cuda_cell():
    notebook = with_code("triple[1, 4](1)")
    notebook.cells.insert(5, new_code_cell(CUDA))
    assert "`triple`" in " ".join(notebook_lint.sections_stand_alone(notebook))


def test_kernel_template_is_not_bound():
    notebook = with_code("copy[1, 4](1)")
    cell = "%%cuda mine\ntemplate <int N> __global__ void copy(float *x) {}"
    notebook.cells.insert(4, new_code_cell(cell))
    assert "`copy`" in " ".join(notebook_lint.sections_stand_alone(notebook))


def test_python_value_in_a_cuda_line_is_a_use():
    notebook = with_code("%%cuda mine -D TILE={tile}\n__global__ void f() {}")
    assert "`tile`" in " ".join(notebook_lint.sections_stand_alone(notebook))


@pytest.mark.parametrize("name", ["mine", "triple"])
def test_module_of_a_cuda_cell_is_found(name):
    notebook = with_code(f"ck = math\nck.module('{name}')")
    notebook.cells.insert(4, new_code_cell(CUDA))
    assert list(notebook_lint.sections_stand_alone(notebook)) == []


@pytest.mark.parametrize(
    "between",
    ["area = 13", "change[1, 32](area)", "%%cuda\n__global__ void area() {}"],
)
def test_two_claims_stand_where_a_cell_between_changes_what_the_first_reads(between):
    notebook = with_cells("assert area > 1", between, tags=["claim"])
    assert list(notebook_lint.claims(notebook)) == []


def test_names_of_a_comprehension_are_its_own():
    source = "assert all(row for row in [area])"
    notebook = with_cells(source, "print([row for row in []])", tags=["claim"])
    (complaint,) = notebook_lint.claims(notebook)
    assert "two claims" in complaint


def test_name_that_a_cell_binds_on_its_way_is_not_a_claims():
    claim = "assert (row := area)"
    notebook = with_cells(claim, "if (row := area): print(row)", tags=["claim"])
    assert list(notebook_lint.claims(notebook)) == []


def test_claims_do_not_count_as_code_to_read():
    notebook = with_code("\n".join(["assert area"] * 26), tags=["claim"])
    assert list(notebook_lint.lengths(notebook)) == []
