"""Facts about `show` and `show_diff`."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from coursekit import paths
from coursekit.display.source import show, show_diff
from coursekit.errors import ArgumentError, LaunchError

SOURCE = """\
// Scale, step 1: one thread an element.
//
// Launch   grid (ceil(n / 256)), block (256).
//
// expect: n=1024 global_load_sectors = 128   # 1024 * 4 B / 32 B

__global__ void scale(float* a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] *= 2.0f;
}

__global__ void shift(float* a) { a[0] += 1.0f; }
"""
OTHER = (
    SOURCE.replace("step 1: one thread an element", "step 2: guard")
    .replace("//\n// expect", "// More.\n//\n// expect")
    .replace("    if (i < n) a", "    if (i >= n) return;\n    a")
)


@dataclass(frozen=True)
class FakeModule:
    source: str = SOURCE
    name: str = "cell_scale.cu"


def folded(listing):
    return [fold.summary for fold in listing.folds]


def numbers(listing):
    return [int(row.cells[-1].text) for row in listing.rows]


@pytest.fixture
def kernels(tmp_path, monkeypatch):
    """A repository of two steps."""
    folder = tmp_path / "kernels" / "scale"
    folder.mkdir(parents=True)
    (folder / "step_01.cu").write_text(SOURCE)
    (folder / "step_02.cu").write_text(OTHER)
    monkeypatch.setattr(paths, "repository", lambda: tmp_path)
    return folder


@pytest.mark.parametrize(
    "path", ["scale/step_01", "scale/step_01.cu", "kernels/scale/step_01.cu"]
)
def test_a_path_is_found_below_the_kernels(kernels, path):
    assert show(path).caption == "kernels/scale/step_01.cu"


def test_a_path_outside_the_repository_shows_the_name_alone(tmp_path):
    (tmp_path / "mine.cu").write_text("int a;\n")
    assert repr(show(tmp_path / "mine")) == "mine.cu\n1  int a;"


def test_a_missing_file_suggests_the_nearest_name(kernels):
    with pytest.raises(LaunchError, match="scale/step_01.cu"):
        show("scale/stp_01")


def test_source_text_is_not_taken_for_a_path():
    with pytest.raises(ArgumentError, match="source text"):
        show(SOURCE)


def test_an_object_without_source_is_refused():
    with pytest.raises(ArgumentError, match="show got int, which has no source"):
        show(3)


def test_counters_have_no_source_to_show():
    counted = SimpleNamespace(source="simulator")
    with pytest.raises(ArgumentError, match="which has no source"):
        show(counted)


def test_text_is_the_numbered_source():
    lines = repr(show(FakeModule())).split("\n")
    assert lines[0] == "cell_scale.cu"
    assert [line[4:] for line in lines[1:]] == SOURCE.removesuffix("\n").split("\n")


def test_html_folds_the_header_behind_its_first_line():
    assert folded(show(FakeModule())) == ["Scale, step 1: one thread an element."]


def test_the_folded_header_holds_the_expectations():
    (fold,) = show(FakeModule()).folds
    assert fold.rows[-1].text.startswith("// expect: n=1024")


def test_code_starts_after_the_header_and_its_blank_line():
    assert numbers(show(FakeModule())) == list(range(7, 13))


def test_a_header_of_one_line_is_not_folded():
    listing = show(FakeModule("// Short.\nint a;\n"))
    assert (folded(listing), numbers(listing)) == ([], [1, 2])


def test_a_header_without_words_is_folded_all_the_same():
    assert folded(show(FakeModule("//\n//\nint a;\n"))) == ["Header comment"]


def test_an_empty_source_has_one_empty_line():
    assert repr(show(FakeModule(""))) == "cell_scale.cu\n1"


def test_a_leading_blank_line_counts_but_is_not_shown_as_code():
    listing = show(FakeModule("\n// A.\n// B.\nint a;\n"))
    assert (folded(listing), numbers(listing)) == (["A."], [4])


def test_tabs_and_carriage_returns_are_evened_out():
    assert repr(show(FakeModule("a;\r\n\tb;\r\n"))).endswith("1  a;\n2      b;")


def test_lines_selects_a_range():
    listing = show(FakeModule(), lines=(8, 9))
    assert (numbers(listing), listing.caption) == (
        [8, 9],
        "cell_scale.cu, lines 8 to 9",
    )


def test_lines_within_the_header_show_it_unfolded():
    listing = show(FakeModule(), lines=(5, 7))
    assert (folded(listing), numbers(listing)) == ([], [5, 6, 7])


@pytest.mark.parametrize("lines", [(0, 3), (4, 3), (1, 13), (-2, -1)])
def test_lines_outside_the_file_are_refused(lines):
    with pytest.raises(ArgumentError, match="has the lines 1 to 12"):
        show(FakeModule(), lines=lines)


def test_kernel_selects_a_function():
    assert numbers(show(FakeModule(), kernel="scale")) == [7, 8, 9, 10]


@pytest.mark.parametrize("part", [{"kernel": "scale"}, {"lines": (8, 9)}])
def test_a_part_of_the_source_is_shown_without_the_header(part):
    assert folded(show(FakeModule(), **part)) == []


def test_an_unknown_kernel_lists_the_known_ones():
    with pytest.raises(ArgumentError, match="no function scal.*\n.*\n.*scale, shift"):
        show(FakeModule(), kernel="scal")


def test_kernel_and_lines_exclude_each_other():
    with pytest.raises(ArgumentError, match="both kernel= and lines="):
        show(FakeModule(), kernel="scale", lines=(1, 2))


@pytest.mark.parametrize("name", ["shift", "shift<float, 16>", "q::shift"])
def test_a_kernel_object_shows_its_own_function(name):
    kernel = SimpleNamespace(name=name, module=FakeModule())
    assert numbers(show(kernel)) == [12]


def test_a_kernel_that_a_macro_writes_shows_the_whole_source():
    kernel = SimpleNamespace(name="made_by_macro", module=FakeModule())
    assert show(kernel).caption == "cell_scale.cu"


@pytest.mark.parametrize("highlight", [9, [9], range(9, 10)])
def test_highlight_marks_a_line_with_a_sign(highlight):
    text = repr(show(FakeModule(), highlight=highlight))
    assert [t for t in text.split("\n") if t.startswith(">")] == [
        ">  9      if (i < n) a[i] *= 2.0f;"
    ]


def test_a_highlight_in_the_header_unfolds_it():
    assert folded(show(FakeModule(), highlight=3)) == []


@pytest.mark.parametrize("highlight", [0, 13, [9, 99]])
def test_a_highlight_that_is_not_shown_is_refused(highlight):
    with pytest.raises(ArgumentError, match="shows the lines 1 to 12"):
        show(FakeModule(), highlight=highlight)


def test_diff_counts_the_changed_lines(kernels):
    assert show_diff("scale/step_01", "scale/step_02").caption == (
        "kernels/scale/step_01.cu \N{RIGHTWARDS ARROW} kernels/scale/step_02.cu: "
        "2 lines added, 1 removed"
    )


def test_diff_leaves_the_headers_out(kernels):
    rows = show_diff("scale/step_01", "scale/step_02", context=None).rows
    assert [row.text for row in rows if row.text.startswith("//")] == []


def test_diff_folds_both_headers(kernels):
    assert folded(show_diff("scale/step_01", "scale/step_02")) == [
        "kernels/scale/step_01.cu: Scale, step 1: one thread an element.",
        "kernels/scale/step_02.cu: Scale, step 2: guard.",
    ]


def test_diff_text_is_a_unified_diff_with_the_numbers_of_the_files(kernels):
    text = repr(show_diff("scale/step_01", "scale/step_02", context=1))
    assert text.split("\n")[1:] == [
        "--- kernels/scale/step_01.cu",
        "+++ kernels/scale/step_02.cu",
        "@@ -8,3 +9,4 @@",
        "     int i = blockIdx.x * blockDim.x + threadIdx.x;",
        "-    if (i < n) a[i] *= 2.0f;",
        "+    if (i >= n) return;",
        "+    a[i] *= 2.0f;",
        " }",
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a;\nb;\nc;\n", "a;\nc;\n"),
        ("a;\nb;\n", "a;\nnew;\nb;\n"),
        ("a;\n", "b;\n"),
        ("a;\n" * 9 + "b;\n" + "c;\n" * 9, "z;\n" + "a;\n" * 9 + "c;\n" * 9 + "y;\n"),
    ],
)
@pytest.mark.parametrize("context", [0, 1, 3, None])
@pytest.mark.skipif(shutil.which("patch") is None, reason="the patch program is absent")
def test_diff_text_turns_one_file_into_the_other(tmp_path, old, new, context):
    diff = repr(show_diff(FakeModule(old, "a"), FakeModule(new, "b"), context=context))
    file = tmp_path / "file.cu"
    file.write_text(old)
    command = ["patch", "--silent", "--unified", str(file)]
    subprocess.run(command, input=diff + "\n", text=True, check=True)
    assert file.read_text() == new


def test_diff_rows_carry_signs_and_both_line_numbers(kernels):
    rows = show_diff("scale/step_01", "scale/step_02", context=0).rows
    cells = [tuple(cell.text.strip() for cell in row.cells) for row in rows]
    assert cells == [
        ("", "", ""),
        ("9", "", "-"),
        ("", "10", "+"),
        ("", "11", "+"),
        ("", "", ""),
    ]


def test_diff_tells_how_many_lines_are_left_out(kernels):
    rows = show_diff("scale/step_01", "scale/step_02", context=0).rows
    assert [row.text for row in rows if row.kind == "gap"] == [
        "... 2 unchanged lines",
        "... 3 unchanged lines",
    ]


def test_diff_with_all_context_leaves_nothing_out(kernels):
    rows = show_diff("scale/step_01", "scale/step_02", context=None).rows
    assert {row.kind for row in rows} == {"", "added", "removed"}


def test_diff_of_equal_code_says_so(kernels):
    text = repr(show_diff("scale/step_01", FakeModule()))
    assert text.endswith("cell_scale.cu: no line of code differs")


def test_diff_refuses_a_negative_context(kernels):
    with pytest.raises(ArgumentError, match="context=-1"):
        show_diff("scale/step_01", "scale/step_02", context=-1)


def test_nothing_of_this_machine_shows_in_the_html(kernels, tmp_path):
    html = show_diff("scale/step_01", "scale/step_02")._repr_html_()
    assert re.findall(re.escape(str(tmp_path)) + "|0x[0-9a-f]{6}", html) == []


def test_a_missing_file_is_told_without_the_folders_of_this_machine(kernels):
    with pytest.raises(LaunchError, match="neither in the current folder") as caught:
        show("scale/step_99")
    assert str(kernels.parent.parent) not in str(caught.value)


@pytest.mark.parametrize("path", ["", "/", "~nosuch/x.cu", "x" * 5000])
def test_path_that_no_file_can_have_is_a_missing_file(path):
    with pytest.raises(LaunchError, match="There is no file"):
        show(path)


def test_source_of_one_line_is_no_path():
    with pytest.raises(ArgumentError, match="show got source text"):
        show("__global__ void f() {}")
